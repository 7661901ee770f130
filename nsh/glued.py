"""Numbers in prose: a page glues them under a name, and its text pastes them by that name."""

from typing import Any

from nsh.printed import minus
from nsh.tables import format_cell

RECORD = "application/papermill.record/"  # as myst_nb.glue writes it, without loading the builder of the book


def glue(**values: Any) -> None:
    """Glue values as text, for ``{glue:text}`` in the page's prose.

    Parameters
    ----------
    **values
        Name to value, or to (value, format specification) such as ``(0.151, ".3f")``. Integers get thousands
        separators and other numbers three decimals by default; a missing number is glued as "undefined", and a minus
        is "−".

    Examples
    --------
    >>> glue(nag_largest=(0.15100000000000002, ".2f"))  # doctest: +SKIP
    """
    from IPython.display import display

    for name, given in values.items():
        value, spec = given if isinstance(given, tuple) else (given, None)
        text = {f"{RECORD}text/plain": repr(minus(format_cell(value, spec, "undefined")))}
        display(text, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": RECORD}})
