"""The table of contents, `_toc.yml`: read and checked before anything is built, since Jupyter Book only warns."""

import difflib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from nsh.errors import BuildError

TOP = {"format", "root", "defaults", "options", "parts", "chapters"}
PART = {"caption", "chapters", "numbered", "maxdepth"}
ENTRY = {"file", "title", "sections"}
SUFFIXES = (".md", ".ipynb")


def pages(root: Path) -> list[str]:
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
        If the file is missing or not YAML, is in list form, lacks `root:`, holds an unknown key, lists a file that
        does not exist, or lists one twice.

    Examples
    --------
    >>> pages(Path("."))[0]  # doctest: +SKIP
    'book/intro'
    """
    found = [_without_suffix(page) for page in _walk(_read(root / "_toc.yml"))]
    twice = [page for page, times in Counter(found).items() if times > 1]
    if twice:
        raise BuildError(f"_toc.yml lists {', '.join(twice)} more than once; a page has one place in the book")
    missing = [page for page in found if not any((root / f"{page}{suffix}").is_file() for suffix in SUFFIXES)]
    if missing:
        raise BuildError(f"_toc.yml lists {', '.join(missing)}, but there is no such .md or .ipynb file in {root}")
    return found


def _read(path: Path) -> dict[str, Any]:
    """The top level of the file, known to be a mapping with a root."""
    try:
        toc = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BuildError(f"{path} cannot be read ({error.strerror}); it lists the pages of the book") from None
    except yaml.YAMLError as error:
        raise BuildError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if isinstance(toc, list):
        raise BuildError(f"{path} is a list, the old form; it starts with `format: jb-book` and `root: book/intro`")
    if not isinstance(toc, dict) or "root" not in toc:
        raise BuildError(f"{path} has no `root:`; it names the first page, as in `root: book/intro`")
    if toc.get("format") != "jb-book":
        raise BuildError(f"{path} has `format: {toc.get('format')}`; it must be `format: jb-book`")
    _check_keys(toc, TOP, "at the top")
    return toc


def _walk(toc: dict[str, Any]) -> Iterator[str]:
    """Every listed file in order: the root, then the chapters of each part, then the sections below each."""
    yield toc["root"]
    for number, part in enumerate(_list(toc, "parts"), start=1):
        _check_keys(part, PART, f"in part {number}")
        yield from _entries(_list(part, "chapters"))
    yield from _entries(_list(toc, "chapters"))


def _entries(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        _check_keys(entry, ENTRY, f"beside {entry}")
        if not isinstance(entry.get("file"), str):
            raise BuildError(f"_toc.yml: the entry {entry} names no `file:`")
        yield entry["file"]
        yield from _entries(_list(entry, "sections"))


def _list(holder: dict[str, Any], key: str) -> list[Any]:
    """The list under a key, which may be absent."""
    value = holder.get(key, [])
    if not isinstance(value, list):
        raise BuildError(f"_toc.yml: `{key}:` holds {value!r}; it must be a list of entries")
    return value


def _check_keys(holder: Any, known: set[str], where: str) -> None:
    """Refuse a key that Jupyter Book would pass over or stop at, and name the nearest right one."""
    if not isinstance(holder, dict):
        raise BuildError(f"_toc.yml, {where}: {holder!r} is no entry; write `- file: {holder}`")
    for key in holder:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean `{near[0]}:`?" if near else f"known: {', '.join(sorted(known))}"
            raise BuildError(f"_toc.yml, {where}: unknown key `{key}:`; {hint}")


def _without_suffix(page: str) -> str:
    return next((page.removesuffix(suffix) for suffix in SUFFIXES if page.endswith(suffix)), page)
