"""Batches of prompts of like length, as plain lists: which rows go together, and what they begin with alike."""

from collections.abc import Sequence
from itertools import takewhile


def plan(lengths: Sequence[int], budget: int, room: int) -> list[int]:
    """Sizes of the next batches: each is read within `budget`, and all are then continued together within `room`.

    Parameters
    ----------
    lengths : sequence of int
        Prompt lengths in tokens, longest first.
    budget : int
        Most tokens read in one batch, padding included: rows x longest of the batch.
    room : int
        Most tokens continued together, padding included: rows x longest of all.

    Returns
    -------
    list of int
        Numbers of rows, taken from the front. There is at least one batch, and a batch has at least one row.

    Examples
    --------
    >>> plan([500, 400, 300, 300, 200], budget=1000, room=2000)
    [2, 2]
    >>> plan([5000, 10], budget=1000, room=1000)
    [1]
    """
    sizes, most = [], max(1, room // lengths[0])
    while (taken := sum(sizes)) < min(most, len(lengths)):
        sizes.append(min(max(1, budget // lengths[taken]), most - taken, len(lengths) - taken))
    return sizes


def shared_start(rows: Sequence[Sequence[int]]) -> int:
    """How many first tokens all rows have in common; every row keeps at least one of its own.

    Examples
    --------
    >>> shared_start([[1, 2, 3, 4], [1, 2, 9]]), shared_start([[1, 2], [1, 2]]), shared_start([[1]])
    (2, 1, 0)
    """
    columns = zip(*rows, strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    return min(same, min(map(len, rows)) - 1)
