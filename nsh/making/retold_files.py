"""What is retold, cases or questions of no voice yet, and the file of the cases that come of it."""

from collections.abc import Sequence
from pathlib import Path

from nsh.case_rows import VOICE_PREFIXES
from nsh.cases import Case, load_cases, source_rows
from nsh.errors import DataError
from nsh.making.items import Item, load_items, write_rows


def to_retell(source: str | Path, n: int | None = None) -> list[Case]:
    """The first n cases of a source, or of its questions where they are not told in any voice yet.

    Examples
    --------
    >>> [list(case.narratives) for case in to_retell("samples", 1)]
    [['clinical', 'socioeconomic', 'cultural']]
    """
    told = any(name.startswith((*VOICE_PREFIXES, "narratives")) for _, row in source_rows(source)[:1] for name in row)
    return (load_cases(source) if told else [case_of(item) for item in load_items(source)])[:n]


def case_of(item: Item) -> Case:
    """The case of a question that is not retold yet."""
    meta = item.metadata | ({"meta_info": item.step} if item.step else {})
    return Case(item.id, item.question, item.options, item.gold, {}, item.vignette, meta)


def write_cases(cases: Sequence[Case], path: str | Path) -> Path:
    """Write cases as JSON lines, as `nsh data check` and every page take them.

    Parameters
    ----------
    cases : sequence of Case
    path : str or pathlib.Path
        As `nsh.making.items.writable` takes it.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    DataError
        If there are none.
    ParameterError
        As `nsh.making.items.writable`.
    """
    if not cases:
        raise DataError(f"{path}: no case was retold in every voice, so there is none to write")
    rows = (
        {"id": case.id, "question": case.question, "options": case.options, "gold": case.gold}
        | {"original": case.original, "narratives": case.narratives, **case.meta}
        for case in cases
    )
    return write_rows(rows, path)
