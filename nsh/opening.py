"""Open a page: the first line of every notebook after its parameters."""

import ast
import sys
from typing import Any

from nsh.declared import find_page
from nsh.making.study import study_of
from nsh.params import check, for_page
from nsh.study import Study


def _injected() -> dict[str, Any]:
    """Parameters that papermill wrote into this notebook: papermill itself lets an unknown name pass."""
    cells = getattr(sys.modules.get("__main__"), "In", [])
    injected = next((cell for cell in cells if cell.startswith("# Parameters\n")), "")
    names = [node.targets[0].id for node in ast.parse(injected).body if isinstance(node, ast.Assign)]
    return {name: getattr(sys.modules["__main__"], name) for name in names}


def open_page(slug: str, **values: Any) -> Study:
    """Open the study of a page; the first line of every notebook after its parameters.

    Parameters
    ----------
    slug : str
        The page.
    **values
        Its parameters; each is checked, one not given has its default.

    Raises
    ------
    ParameterError
        If the page or a parameter is unknown, or a value has the wrong type or is outside its set.

    Examples
    --------
    >>> open_page("voices-03-benchmark", n_cases=2).values["source"]
    'samples'
    """
    page = find_page(slug)
    values = {**_injected(), **values}
    checked = {name: check(name, value, f"page {slug}", page.parameters) for name, value in values.items()}
    return study_of(page, for_page(page, checked))
