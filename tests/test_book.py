"""The HTML half of the build, on a book of two pages: what it holds, what it leaves out, what stops it."""

import shutil
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nsh import book
from nsh.errors import BuildError

ROOT = Path(__file__).resolve().parents[1]
DISCLAIMER = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["announcement"]
TOC = "format: jb-book\nroot: book/intro\nchapters:\n  - file: notebooks/01-one\n"


def notebook() -> nbformat.NotebookNode:
    """A title, a parameters cell, and a cell with its output stored."""
    table = '<div class="nsh-scroll" tabindex="0"><table class="nsh-table"><tr><td>0.612</td></tr></table></div>'
    shown = new_output("display_data", data={"text/html": table, "text/plain": "0.612"})
    cells = [
        new_markdown_cell("# One page\n\nA proportion $p$."),
        new_code_cell("n_cases = 8", metadata={"tags": ["injected-parameters", "hide-input"]}),
        new_code_cell("show()", outputs=[shown], execution_count=1),
    ]
    language = {"name": "python", "pygments_lexer": "ipython3"}
    kernel = {"name": "python3", "display_name": "Python 3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": language})


def lay_checkout(root: Path) -> Path:
    """The project's own configuration and extension around two pages, and a notebook that is on no list."""
    for name in ("_config.yml", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, root / name)
    for name in ("book/_ext", "book/_static_src"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "book/references.bib", root / "book")
    (root / "book/intro.md").write_text("# Welcome\n\nSee [one](../notebooks/01-one.ipynb).\n")
    (root / "_toc.yml").write_text(TOC)
    for name in ("notebooks", "_build/stage/notebooks"):
        (root / name).mkdir(parents=True)
        nbformat.write(notebook(), root / name / "01-one.ipynb")
        nbformat.write(notebook(), root / name / "stray_run7.ipynb")
    return root


@pytest.fixture(scope="module", autouse=True)
def viewers(tmp_path_factory: pytest.TempPathFactory):
    """An empty folder for the viewers, which these tests do not draw with."""
    folder = tmp_path_factory.mktemp("viewers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book.assets, "vendor", lambda root: folder)
        yield


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose book has been built."""
    folder = lay_checkout(tmp_path_factory.mktemp("checkout"))
    assert book.build_html(folder, ["01-one"]) == folder / "_build/html/index.html"
    return folder


@pytest.mark.slow
def test_only_the_listed_pages_are_built(root: Path):
    html = root / "_build/html"
    built = {str(page.relative_to(html)) for page in html.rglob("*.html") if "_static" not in page.parts}
    assert built == {"index.html", "book/intro.html", "notebooks/01-one.html", "genindex.html", "search.html"}


@pytest.mark.slow
def test_every_page_carries_the_disclaimer_at_top_and_foot(root: Path):
    html = root / "_build/html"
    for page in ("book/intro", "notebooks/01-one", "genindex", "search"):
        assert (html / f"{page}.html").read_text(encoding="utf-8").count(DISCLAIMER) == 2
    assert DISCLAIMER in (html / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_page_names_a_network_script_a_repository_or_a_launch_service(root: Path):
    for page in (root / "_build/html").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert not [word for word in ("thebe", "binder", "colab", "github.com") if word in text.lower()]


@pytest.mark.slow
def test_with_a_repository_the_notebook_pages_launch_their_own_notebook(root: Path, tmp_path: Path):
    checkout = tmp_path / "checkout"
    shutil.copytree(root, checkout)
    config = yaml.safe_load((checkout / "_config.yml").read_text(encoding="utf-8"))
    config["repository"] = {"url": "https://github.com/someone/papers", "branch": "main"}
    config["launch_buttons"] = {
        "notebook_interface": "jupyterlab",
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
    }
    (checkout / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    html = book.build_html(checkout, ["01-one"]).parent
    page = (html / "notebooks/01-one.html").read_text(encoding="utf-8")
    assert 'href="https://mybinder.org/v2/gh/someone/papers/main?urlpath=lab/tree/notebooks/01-one.ipynb"' in page
    assert 'href="https://colab.research.google.com/github/someone/papers/blob/main/notebooks/01-one.ipynb"' in page
    assert "mybinder" not in (html / "book/intro.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_mathematics_is_on_every_page_from_the_disk(root: Path):
    assert "_static/vendor/mathjax/tex-mml-chtml.js" in (root / "_build/html/book/intro.html").read_text()


@pytest.mark.slow
def test_a_broken_link_stops_the_build_and_leaves_the_last_book(root: Path, tmp_path: Path):
    checkout = tmp_path / "checkout"
    shutil.copytree(root, checkout)
    (checkout / "book/intro.md").write_text("# Changed\n\nSee [two](../notebooks/02-two.ipynb).\n")
    with pytest.raises(BuildError) as stopped:
        book.build_html(checkout, ["01-one"])
    lines = str(stopped.value).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("  book/intro.md:3: WARNING:")
    assert "02-two.ipynb" in lines[1]
    assert "Welcome" in (checkout / "_build/html/book/intro.html").read_text()


@pytest.mark.parametrize(("executed", "named"), [([], "01-one"), (["01-one", "02-two"], "02-two")])
def test_executed_pages_and_listed_pages_must_agree(executed: list[str], named: str):
    with pytest.raises(BuildError, match=f"not both: {named}$"):
        book.check_notebooks(["book/intro", "notebooks/01-one"], executed)


def test_jupyter_book_2_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(book, "version", lambda name: "2.1.7")
    with pytest.raises(BuildError, match=r"Jupyter Book 2\.1\.7 cannot read this book.*<2"):
        book.check_version()


def test_a_flood_of_warnings_is_cut():
    said = "\n".join(f"/s/a.md:{line}: WARNING: bad" for line in range(100))
    assert book.complaints(said, Path("/s")).endswith("  a.md:19: WARNING: bad\n  ... and 80 more")


def test_without_a_warning_the_last_lines_are_shown():
    assert book.complaints("one\n\nTraceback\nboom", Path("/s")) == "  one\n  Traceback\n  boom"
