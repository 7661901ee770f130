"""Proportional stratified sampling over exam step and answer letter (`facts` Appendix B), by a generator of our own.

`facts` prints `random_state=42`; which rows that draws depends on their order and on the library and its version, none
of which is printed. Here every draw takes the first of the questions when they are ordered by the SHA-256 of seed,
purpose and id: the same on every machine, whatever the order of the rows. They are not the questions of the release.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from nsh.errors import ParameterError
from nsh.making.items import Item

UNKNOWN = "not stated"


def stratum_sizes(items: Iterable[Item]) -> pd.Series:
    """Questions per stratum, an exam step with an answer letter.

    Returns
    -------
    pandas.Series
        Indexed by `exam step` ("not stated" where the source has none) and `answer letter`, sorted.

    Examples
    --------
    >>> stratum_sizes([Item(str(n), "Why?", "Why?", {"A": "x", "B": "y"}, "B", "step1") for n in range(3)]).to_dict()
    {('step1', 'B'): 3}
    """
    strata = pd.DataFrame(map(_stratum, items), columns=["exam step", "answer letter"])
    return strata.value_counts(sort=False).sort_index().rename("pool")


def allocation(sizes: Mapping | pd.Series, n: int) -> pd.DataFrame:
    """Draws per stratum, before the top-up: min(pool_h, max(1, int(n · pool_h / pool))).

    Parameters
    ----------
    sizes : mapping or pandas.Series
        Questions per stratum.
    n : int
        Draws that are wanted in all.

    Returns
    -------
    pandas.DataFrame
        Per stratum `pool`, `exact` (n · pool_h / pool) and `drawn`. As `int` cuts the fraction off, `drawn` adds up to
        less than n unless every exact share is a whole number or small strata are raised to 1.

    References
    ----------
    ``facts`` Appendix B.

    Examples
    --------
    >>> allocation({"a": 50, "b": 30, "c": 1}, 10)["drawn"].to_dict()
    {'a': 6, 'b': 3, 'c': 1}
    """
    pool = pd.Series(sizes, dtype=int)
    whole = (n * pool) // pool.sum()
    return pd.DataFrame({"pool": pool, "exact": n * pool / pool.sum(), "drawn": whole.clip(lower=1, upper=pool)})


def draw_table(items: Sequence[Item], drawn: Sequence[Item]) -> pd.DataFrame:
    """What a draw took of each stratum of its pool: the columns of `allocation`, and `sample`, with the top-up.

    Examples
    --------
    >>> items = [Item(str(n), "Why?", "Why?", {"A": "x", "B": "y"}, "AB"[n % 3 == 0], "step1") for n in range(40)]
    >>> draw_table(items, sample(items, 10))[["drawn", "sample"]].sum().to_dict()
    {'drawn': 9, 'sample': 10}
    """
    table = allocation(stratum_sizes(items), len(drawn))
    return table.assign(sample=stratum_sizes(drawn).reindex(table.index, fill_value=0))


def topped_up(table: pd.DataFrame) -> int:
    """How many of a `draw_table` are top-up; none where small strata were raised to more than was wanted."""
    return max(int(table["sample"].sum() - table["drawn"].sum()), 0)


def sample(items: Sequence[Item], n: int = 1000, seed: int = 42) -> list[Item]:
    """Draw n questions in proportion to the strata.

    What the strata lack of n after `allocation` is topped up from all questions left, whatever their stratum; then the
    drawn are shuffled and cut to n (more than n are drawn only where many strata are raised to 1).

    Parameters
    ----------
    items : sequence of Item
        The questions that passed the filters, each with an id of its own.
    n : int
        Number of questions, at most those there are.
    seed : int
        Seed of the orders.

    Returns
    -------
    list of Item
        The same for the same ids, steps, letters and seed, whatever the order of the items.

    Raises
    ------
    ParameterError
        If there are not n questions, n is below 1, or two have the same id.

    References
    ----------
    ``facts`` Appendix B; ``voices`` Appendix A.

    Examples
    --------
    >>> items = [Item(str(n), "Why?", "Why?", {"A": "x", "B": "y"}, "AB"[n % 2], "step1") for n in range(40)]
    >>> drawn = sample(items, 10)
    >>> len(drawn), drawn == sample(items[::-1], 10)
    (10, True)
    """
    if not 1 <= n <= len(items):
        raise ParameterError(f"n={n!r}: expected a whole number from 1 to {len(items)}, the questions there are")
    if len({item.id for item in items}) < len(items):
        raise ParameterError("two questions have the same id: the draw is ordered by ids")
    shares = allocation(stratum_sizes(items), n)["drawn"].to_dict()
    drawn = []
    for stratum, share in shares.items():
        drawn += ranked([item for item in items if _stratum(item) == stratum], seed, "stratum")[:share]
    taken = {item.id for item in drawn}
    rest = [item for item in items if item.id not in taken]
    drawn += ranked(rest, seed, "top-up")[: max(n - len(drawn), 0)]
    return ranked(drawn, seed, "shuffle")[:n]


def ranked(items: Iterable[Item], seed: int, purpose: str) -> list[Item]:
    """Order items by the SHA-256 of "seed:purpose:id", which is as good as random and the same everywhere.

    Examples
    --------
    >>> items = [Item(id, "Why?", "Why?", {"A": "x", "B": "y"}, "A") for id in "abc"]
    >>> [item.id for item in ranked(items, 42, "shuffle")]
    ['b', 'a', 'c']
    """
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed}:{purpose}:{item.id}".encode()).hexdigest())


def _stratum(item: Item) -> tuple[str, str]:
    """Exam step and answer letter."""
    return item.step or UNKNOWN, item.gold
