"""Batches of prompts of like length, as plain lists: which rows go together, and where they are padded."""

from collections.abc import Sequence


def rows_that_fit(lengths: Sequence[int], budget: int) -> int:
    """How many rows from the front make one batch: rows x longest <= budget, and at least one.

    Parameters
    ----------
    lengths : sequence of int
        Prompt lengths in tokens, longest first.
    budget : int
        Most tokens in one batch, padding included.

    Examples
    --------
    >>> rows_that_fit([500, 400, 300, 200], budget=1500)
    3
    >>> rows_that_fit([5000, 10], budget=1500)
    1
    """
    return min(len(lengths), max(1, budget // lengths[0]))


def pad_left(rows: Sequence[Sequence[int]], pad: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Pad on the left, where a decoder's padding belongs: the last column is every row's last token.

    Returns
    -------
    ids, mask : lists, rows x longest
        Token ids, and 1 where a token is real.

    Examples
    --------
    >>> pad_left([[5, 6, 7], [8]])
    ([[5, 6, 7], [0, 0, 8]], [[1, 1, 1], [0, 0, 1]])
    """
    width = max(map(len, rows))
    ids = [[pad] * (width - len(row)) + list(row) for row in rows]
    return ids, [[0] * (width - len(row)) + [1] * len(row) for row in rows]
