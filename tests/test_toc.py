"""The table of contents: its reading order, and every mistake that Jupyter Book would pass over or only warn of."""

from pathlib import Path

import pytest

from nsh.errors import BuildError
from nsh.toc import pages

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
    assert pages(root) == ["book/intro", "notebooks/01-one", "book/deeper", "book/references"]


@pytest.mark.parametrize(
    ("toc", "says"),
    [
        ("- file: book/intro\n- file: book/references\n", "is a list, the old form"),
        ("format: jb-book\nchapters:\n  - file: book/intro\n", "has no `root:`"),
        ("", "has no `root:`"),
        ("root: book/intro\n", "must be `format: jb-book`"),
        (GOOD.replace("chapters:", "chapter:", 1), "unknown key `chapter:`; did you mean `chapters:`?"),
        (GOOD.replace("- file: book/references", "- fil: book/references"), "did you mean `file:`?"),
        (GOOD.replace("- file: book/references", "- book/references"), "write `- file: book/references`"),
        (GOOD.replace("- file: book/references", "- title: Only a title"), "names no `file:`"),
        (GOOD.replace("book/references", "book/refrences"), "lists book/refrences, but there is no such"),
        (GOOD.replace("book/references", "book/deeper"), "lists book/deeper more than once"),
        ("format: jb-book\nroot: book/intro\nchapters: book/deeper\n", "it must be a list of entries"),
        ("format: jb-book\nroot: [book/intro\n", "is not valid YAML"),
        ("format: jb-book\n\troot: book/intro\n", "is not valid YAML"),
    ],
)
def test_a_mistake_stops_the_build_in_plain_words(root: Path, toc: str, says: str):
    (root / "_toc.yml").write_text(toc)
    with pytest.raises(BuildError) as stopped:
        pages(root)
    assert says in str(stopped.value)
    assert "\n" not in str(stopped.value)


def test_no_table_of_contents(root: Path):
    with pytest.raises(BuildError, match=r"_toc\.yml cannot be read"):
        pages(root)
