"""The six filters that a question must pass before it is retold (`voices` and `facts`, Appendix A).

Opening pattern, length, term lists and their provenance are data: `nsh/data/making/filters.yaml`, and for the target
phrases `nsh/data/question_types.yaml`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import pandas as pd

from nsh.declared import read_data
from nsh.making.items import Item
from nsh.question_types import phrase_lists

FILTERS = ("stem", "length", "signal", "excluded", "target", "richness")


def declared() -> Mapping[str, dict]:
    """What is declared of the filters, by name; that of `target` with the lists of `nsh.question_types`.

    Examples
    --------
    >>> declared()["length"]["least"]
    300
    """
    known = read_data("making/filters.yaml")
    return {name: known[name] for name in FILTERS} | {"target": {**known["target"], "terms": phrase_lists()}}


def terms(name: str) -> pd.DataFrame:
    """The terms of a filter.

    Returns
    -------
    pandas.DataFrame
        A row per term: `category`, `term`, `status` ("printed" in a paper, or "reconstructed" here); none for the
        filters without a list, `stem` and `length`.

    Examples
    --------
    >>> {name: len(terms(name)) for name in FILTERS}
    {'stem': 0, 'length': 0, 'signal': 49, 'excluded': 21, 'target': 24, 'richness': 27}
    """
    rows = [
        (category, term, "printed" if status == "printed" else "reconstructed")
        for category, lists in declared()[name].get("terms", {}).items()
        for status, found in lists.items()
        for term in found
    ]
    return pd.DataFrame(rows, columns=["category", "term", "status"])


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """An expression that finds any term of a filter where it begins a word of a folded text."""
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, map(str.casefold, terms(name)["term"]))) + ")")


def apply(items: Sequence[Item]) -> pd.DataFrame:
    """Try each question against each filter.

    Returns
    -------
    pandas.DataFrame
        Indexed by the questions' ids: one column of bool per filter, in the papers' order, True where it holds. A
        question is kept where all hold.

    References
    ----------
    ``voices`` Appendix A; ``facts`` §2.1 and Appendix A.

    Examples
    --------
    >>> vignette = "A 9-year-old boy has had fever for the past 3 days. What is the most likely diagnosis?"
    >>> item = Item("1", vignette, "What is the most likely diagnosis?", {"A": "Flu", "B": "Lyme"}, "A")
    >>> apply([item]).loc["1"].tolist()
    [True, False, True, True, True, True]
    """
    stem, least = re.compile(declared()["stem"]["pattern"]), declared()["length"]["least"]
    folded = [" ".join(item.vignette.casefold().split()) for item in items]
    mask = {"stem": [stem.match(item.vignette) is not None for item in items]}
    mask["length"] = [len(item.vignette) >= least for item in items]
    for name in FILTERS[2:]:
        mask[name] = [(_pattern(name).search(text) is None) == (name == "excluded") for text in folded]
    return pd.DataFrame(mask, index=pd.Index([item.id for item in items], name="id"), dtype=bool)


def effect(mask: pd.DataFrame) -> pd.DataFrame:
    """Count what each filter removes.

    Parameters
    ----------
    mask : pandas.DataFrame
        As `apply` returns it.

    Returns
    -------
    pandas.DataFrame
        A row per filter, indexed by its name: `alone`, the questions that fail it; `in_order`, those that fail it and
        none before it; `left`, those that pass it and all before it; `only`, those that fail it and no other. The last
        `left` is the number of questions kept; without a question all are 0.

    Examples
    --------
    >>> effect(pd.DataFrame({"stem": [True, False, False], "length": [False, False, True]})).loc["length"].to_dict()
    {'alone': 2, 'in_order': 1, 'left': 0, 'only': 1}
    """
    left = mask.astype(int).cumprod(axis=1).sum()
    failed = ~mask
    counts = {"alone": failed.sum(), "in_order": -left.diff().fillna(left.iloc[0] - len(mask)), "left": left}
    return pd.DataFrame({**counts, "only": failed[failed.sum(axis=1) == 1].sum()}).astype(int).rename_axis("filter")


def kept(items: Sequence[Item], mask: pd.DataFrame) -> list[Item]:
    """Keep the items that pass all filters, in their order; the mask is that of the same items."""
    return [item for item, passes in zip(items, mask.all(axis=1), strict=True) if passes]
