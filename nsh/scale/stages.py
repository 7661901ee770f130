"""The order in which prompts are read: by stage, so that what the prompts of a stage begin with is read once."""

from collections.abc import Iterable
from dataclasses import replace

from nsh.batching import Row, shared_start

SHARED = 16  # so many first tokens are enough to be read apart


def in_order(rows: Iterable[Row], by_stage: bool = True) -> list[Row]:
    """Rows longest first, and by stage, so that what the prompts of a stage begin with can be read once.

    The rows of a stage also have one budget, and so end at about the same time.

    Examples
    --------
    >>> from nsh.chat import Prompt
    >>> from nsh.engines import Call
    >>> ids, calls = [(1,) * 20, (1,) * 30], [Call((), 9, stage="direct"), Call((), 9, stage="direct")]
    >>> rows = [Row(n, call, Prompt(ids[n], False, True)) for n, call in enumerate(calls)]
    >>> [(row.index, row.shared) for row in in_order(rows)]
    [(1, 19), (0, 19)]
    """
    longest = sorted(rows, key=len, reverse=True)
    if not by_stage:
        return longest
    stages: dict[str, list[Row]] = {}
    for row in longest:
        stages.setdefault(row.call.stage, []).append(row)
    return [row for alike in stages.values() for row in _sharing(alike)]


def _sharing(rows: list[Row]) -> list[Row]:
    """Rows with what they share, where that is enough to be read apart."""
    shared = shared_start([row.prompt.ids for row in rows]) if len(rows) > 1 else 0
    return [replace(row, shared=shared) for row in rows] if shared >= SHARED else rows
