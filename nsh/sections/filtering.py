"""Appendix A of `voices`, `facts` Appendices A and B: the filters and the draw on the questions that are here."""

from collections.abc import Mapping, Sequence

import pandas as pd

from nsh.making.filters import FILTERS, apply, declared, effect, terms
from nsh.making.items import Item, items_of, load_items
from nsh.making.sampling import draw_table, sample
from nsh.place import medqa_test
from nsh.study import Study

DRAWN, ELIGIBLE = 1000, 2921  # `voices` Appendix A, `facts` Appendix B


def pools(study: Study) -> dict[str, list[Item]]:
    """The questions to filter, by where they are from: this run's always, the papers' and MedQA's where they are here.

    A case without an original vignette gives no question.
    """
    found = {"this run": items_of(study.cases)}
    if study.real_cases:
        found["released questions"] = items_of(study.real_cases)
    if medqa_test():
        found["MedQA test split"] = load_items(medqa_test())
    return found


def term_lists() -> pd.DataFrame:
    """What each filter looks for: a row per category of terms, with the printed and the reconstructed ones.

    Examples
    --------
    >>> term_lists()["terms"].sum()
    np.int64(121)
    """
    rows = []
    for name in FILTERS:
        for category, found in terms(name).groupby("category", sort=False):
            words = {status: ", ".join(part["term"]) for status, part in found.groupby("status")}
            label = {"filter": declared()[name]["label"], "category": category, "terms": len(found)}
            rows.append(label | {status: words.get(status, "none") for status in ("printed", "reconstructed")})
    return pd.DataFrame(rows)


def effects(found: Mapping[str, Sequence[Item]]) -> pd.DataFrame:
    """What each filter removes of each pool: `questions`, `filter` (its label), and the counts of `effect`."""
    tables = {name: effect(apply(items)).rename(lambda row: declared()[row]["label"]) for name, items in found.items()}
    return pd.concat(tables, names=["questions"]).reset_index()


def not_passing(items: Sequence[Item]) -> pd.DataFrame:
    """The ids of the questions that fail a filter, filter by filter: `filter`, `fail`, `ids`."""
    failed = ~apply(items)
    ids = {name: list(failed.index[failed[name]]) for name in FILTERS}
    rows = [(declared()[name]["label"], len(found), ", ".join(found) or "none") for name, found in ids.items()]
    return pd.DataFrame(rows, columns=["filter", "fail", "ids"])


def drawn_of(items: Sequence[Item], seed: int = 42) -> pd.DataFrame:
    """The `nsh.making.sampling.draw_table` of the printed fraction of a pool (1,000 of 2,921)."""
    n = max(DRAWN * len(items) // ELIGIBLE, min(len(items), 1))
    return draw_table(items, sample(items, n, seed) if n else [])
