"""The table of contents, `_toc.yml`, checked before anything is built: Jupyter Book only warns of some mistakes."""

from pathlib import Path

import yaml

from nsh.errors import BuildError


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
        If the file is missing, Jupyter Book's own reader refuses it (list form, no `root:`, an unknown key), it is of
        another format, or it lists a file that does not exist, one twice, or files by a pattern.

    Examples
    --------
    >>> pages(Path("."))[0]  # doctest: +SKIP
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
