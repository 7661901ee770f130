"""The table of contents: its reading order, and the mistakes that stop the build in one sentence."""

from pathlib import Path

import pytest

from nsh.book import listed_pages
from nsh.errors import BuildError

GOOD = """
format: jb-book
root: book/intro
parts:
  - caption: Lessons
    chapters:
      - file: notebooks/01-one
        sections:
          - file: book/deeper.md
  - caption: Reference
    chapters:
      - file: book/references
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with four pages."""
    for name in ("book/intro.md", "book/deeper.md", "book/references.md", "notebooks/01-one.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_pages_come_in_reading_order_without_suffix(root: Path):
    (root / "_toc.yml").write_text(GOOD)
    assert listed_pages(root) == ["book/intro", "notebooks/01-one", "book/deeper", "book/references"]


@pytest.mark.parametrize(
    ("toc", "says"),
    [
        ("- file: book/intro\n- file: book/references\n", "toc is not a mapping"),
        ("", "toc is not a mapping"),
        ("format: jb-book\nchapters:\n  - file: book/intro\n", "'root' key not found"),
        ("root: book/intro\n", "must start with `format: jb-book`"),
        (GOOD.replace("chapters:", "chapter:", 1), "not a mapping containing 'chapters' key @ '/parts/0/'"),
        (GOOD.replace("parts:", "part:"), "Unknown keys found: {'part'}"),
        (GOOD.replace("- file: book/references", "- fil: book/references"), "@ '/parts/1/chapters/0'"),
        (GOOD.replace("- file: book/references", "- book/references"), "not a mapping type @ '/parts/1/chapters/0'"),
        (GOOD.replace("- file: book/references", "- title: Only a title"), "@ '/parts/1/chapters/0'"),
        (GOOD.replace("file: book/references", "glob: book/*"), "list each page by `file:`"),
        (GOOD.replace("book/references", "book/refrences"), "lists book/refrences, but there is no such"),
        (GOOD.replace("book/references", "book/deeper"), "lists book/deeper more than once"),
        (GOOD.replace("book/references", "book/deeper.md"), "used multiple times: 'book/deeper.md'"),
        ("format: jb-book\nroot: book/intro\nchapters: book/deeper\n", "not a mapping type @ '/chapters/0'"),
        ("format: jb-book\nroot: [book/intro\n", "expected ',' or ']'"),
        ("format: jb-book\n\troot: book/intro\n", "cannot start any token"),
    ],
)
def test_a_mistake_stops_the_build_in_plain_words(root: Path, toc: str, says: str):
    (root / "_toc.yml").write_text(toc)
    with pytest.raises(BuildError) as stopped:
        listed_pages(root)
    assert says in str(stopped.value)
    assert str(stopped.value).startswith(str(root / "_toc.yml"))
    assert "\n" not in str(stopped.value)


def test_no_table_of_contents(root: Path):
    with pytest.raises(BuildError, match=r"No such file or directory: .*_toc\.yml"):
        listed_pages(root)
