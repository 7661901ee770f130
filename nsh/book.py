"""The HTML half of the build: prose, viewers and executed notebooks go through Jupyter Book; the result is checked."""

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml

from nsh import assets
from nsh.errors import BuildError

STRICT = ("-W", "-n", "--keep-going", "--all")  # a warning fails the build; all of them are listed; nothing is stale
NOTEBOOKS = "notebooks/"
SHOWN = 20  # warnings in an error message; the log has all
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def build_html(root: Path, executed: Collection[str], write: Callable[[Path], None] = lambda folder: None) -> Path:
    """Build the book from the prose of the checkout and the notebooks that were executed onto the stage.

    A book that fails its checks leaves the one built before in place.

    Parameters
    ----------
    root : pathlib.Path
        The checkout, with `_config.yml`, `_toc.yml` and `book/`.
    executed : collection of str
        The pages that lie as `_build/stage/notebooks/<slug>.ipynb`; the table of contents must list the same.
    write : callable
        Writes what the prose includes, given the checkout, once the stage is laid out.

    Returns
    -------
    pathlib.Path
        `_build/html/index.html`. What Jupyter Book said is in `_build/book.log`.

    Raises
    ------
    BuildError
        If the table of contents is wrong or does not list the executed pages, npm has no viewers to give, Jupyter Book
        is missing or not version 1, any page gives a warning, or a listed page was not written.

    Examples
    --------
    >>> build_html(Path("."), ["05-anchoring"])  # doctest: +SKIP
    PosixPath('_build/html/index.html')
    """
    check_version()
    pages = listed_pages(root)
    stage = stage_book(root)
    check_notebooks(pages, executed)
    write(root)
    out = root.resolve() / "_build" / "sphinx"
    shutil.rmtree(out, ignore_errors=True)
    log = run_jupyter_book(root.resolve(), stage.resolve(), out)
    fresh = out / "_build" / "html"
    missing = [page for page in ("index", *pages) if not (fresh / f"{page}.html").is_file()]
    if missing:
        raise BuildError(f"the book was built without {', '.join(missing)}; see {log}")
    write_index(root / "_config.yml", fresh / "index.html", pages[0])
    book = root / "_build" / "html"
    shutil.rmtree(book, ignore_errors=True)
    fresh.rename(book)
    return book / "index.html"


def listed_pages(root: Path) -> list[str]:
    """The pages of the book in reading order, the first page first.

    Parameters
    ----------
    root : pathlib.Path
        The checkout, with `_toc.yml` and the listed files.

    Returns
    -------
    list of str
        Paths without suffix, relative to `root`, such as `book/intro` and `notebooks/05-anchoring`.

    Raises
    ------
    BuildError
        If the file is missing, Jupyter Book's own reader refuses it (list form, no `root:`, an unknown key), it is of
        another format, or it lists a file that does not exist, one twice, or files by a pattern.

    Examples
    --------
    >>> listed_pages(Path("."))[0]  # doctest: +SKIP
    'book/intro'
    """
    from sphinx_external_toc.parsing import MalformedError, parse_toc_yaml

    path = root / "_toc.yml"
    try:
        site = parse_toc_yaml(path)
    except (MalformedError, yaml.YAMLError, OSError, TypeError, ValueError, AttributeError) as error:
        raise BuildError(f"{path} is no table of contents: {' '.join(str(error).split())}") from None
    if site.file_format != "jb-book" or site.globs():
        raise BuildError(f"{path}: it must start with `format: jb-book` and list each page by `file:`")
    found = [page.removesuffix(".md").removesuffix(".ipynb") for page in site]
    for page in found:
        if found.count(page) > 1:
            raise BuildError(f"{path} lists {page} more than once; a page has one place in the book")
        if not any((root / f"{page}{suffix}").is_file() for suffix in (".md", ".ipynb")):
            raise BuildError(f"{path} lists {page}, but there is no such .md or .ipynb file")
    return found


def check_version() -> None:
    """Refuse Jupyter Book 2, which passes over this book's configuration and reports success."""
    try:
        found = version("jupyter-book")
    except PackageNotFoundError:
        raise BuildError("Jupyter Book is not installed: pip install 'narrativeshield-papers[book]'") from None
    if int(found.split(".")[0]) != 1:
        raise BuildError(f"Jupyter Book {found} cannot read this book: pip install 'jupyter-book>=1.0.4,<2'")


def stage_book(root: Path) -> Path:
    """Lay out the prose, the styles and the viewers in `_build/stage`, at the paths they have in the checkout.

    The notebooks on the stage are left as they are. Returns the stage.
    """
    stage = root / "_build" / "stage"
    shutil.rmtree(stage / "book", ignore_errors=True)
    shutil.copytree(root / "book", stage / "book", ignore=shutil.ignore_patterns("_ext", "__pycache__"))
    shutil.copytree(assets.vendor(root), stage / "book" / "_static_src" / "vendor")
    return stage


def check_notebooks(pages: Collection[str], executed: Collection[str]) -> None:
    """Hold the notebooks of the table of contents against those that were executed."""
    listed = {page.removeprefix(NOTEBOOKS) for page in pages if page.startswith(NOTEBOOKS)}
    if unequal := listed ^ set(executed):
        raise BuildError(f"either in _toc.yml or executed, but not both: {', '.join(sorted(unequal))}")


def write_index(config: Path, index: Path, first: str) -> None:
    """Replace Jupyter Book's bare redirect by a page: title, link and disclaimer, from the configuration."""
    told = yaml.safe_load(config.read_text(encoding="utf-8"))
    title, disclaimer = html.escape(told["title"]), html.escape(told["html"]["announcement"])
    index.write_text(
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">'
        f'<title>{title}</title><meta http-equiv="refresh" content="0; url={first}.html">\n'
        f'<h1><a href="{first}.html">{title}</a></h1><p>{disclaimer}</p>\n</html>\n',
        encoding="utf-8",
    )


def run_jupyter_book(root: Path, stage: Path, out: Path) -> Path:
    """Run Jupyter Book in this interpreter's environment, raise what it warns of, and return its log."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(stage)]
    places = ["--config", str(root / "_config.yml"), "--toc", str(root / "_toc.yml"), "--path-output", str(out)]
    run = subprocess.run(
        [*command, *places, *STRICT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    log = root / "_build" / "book.log"
    said = COLOR.sub("", run.stdout)
    log.write_text(said, encoding="utf-8")
    if run.returncode:
        raise BuildError("Jupyter Book stopped:\n" + complaints(said, stage) + f"\nEverything it said is in {log}")
    return log


def complaints(said: str, stage: Path) -> str:
    """The warnings and errors among what Jupyter Book said, each once and under the checkout's own paths.

    Examples
    --------
    >>> print(complaints("reading...\\n/s/book/a.md:3: WARNING: unknown target\\ndone", Path("/s")))
      book/a.md:3: WARNING: unknown target
    """
    lines = [line.replace(f"{stage}/", "") for line in said.splitlines()]
    told = list(dict.fromkeys(line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL|\w+ error):", line)))
    if not told:
        told = [line for line in lines if line.strip()][-10:]
    rest = [f"... and {len(told) - SHOWN} more"] if len(told) > SHOWN else []
    return "\n".join(f"  {line}" for line in told[:SHOWN] + rest)
