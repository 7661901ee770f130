"""The gate between an executed notebook and the book: nothing unfinished, failed or blank passes."""

import re
from typing import Any

import nbformat

from nsh.errors import CellError

_GLUE = "application/papermill.record/"
_BLANK = re.compile(r"^'?(\s*|nan|None|NaT|<NA>|-?inf|undefined|not computed)'?$|np\.\w+\(", re.IGNORECASE)


def faults(notebook: nbformat.NotebookNode) -> list[str]:
    """What is wrong with an executed notebook, one sentence each; empty if nothing is.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        As papermill wrote it.

    Returns
    -------
    list of str
        A cell that holds an error or never ran, a glued value that is blank or not a plain number or text.

    Examples
    --------
    >>> cell = nbformat.v4.new_code_cell("1 + 1")
    >>> faults(nbformat.v4.new_notebook(cells=[cell]))
    ['cell 1 was not executed: 1 + 1']
    """
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        first_line = cell.source.strip().splitlines()[0]
        if cell.execution_count is None:
            found.append(f"cell {number} was not executed: {first_line}")
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"cell {number} ended in {output.ename}: {output.evalue}")
            if output.get("name") == "stderr" and "Warning:" in output.text:
                found.append(f"cell {number} gave a warning: {output.text.strip().splitlines()[0]}")
            found += [f"cell {number}: the glued value {key!r} is blank: {text}" for key, text in _blank_glue(output)]
    return found


def _blank_glue(output: Any) -> list[tuple[str, str]]:
    """Glued names whose value is empty, missing, or an undisplayable NumPy scalar."""
    name = output.get("metadata", {}).get("scrapbook", {}).get("name")
    values = [v for kind, v in output.get("data", {}).items() if kind == _GLUE + "text/plain"]
    return [(name, value) for value in values if _BLANK.search(value)]


def check_executed(notebook: nbformat.NotebookNode, slug: str) -> None:
    """Refuse an executed notebook that has faults.

    Raises
    ------
    CellError
        Naming the page and each fault.
    """
    found = faults(notebook)
    if found:
        raise CellError(f"page {slug} is refused: " + "; ".join(found))
