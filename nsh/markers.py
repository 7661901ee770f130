"""Demographic markers in retellings: words that state race, religion, origin or an income figure."""

import re
from collections.abc import Sequence

import pandas as pd

from nsh.cases import Case
from nsh.declared import read_data


def demographic_markers(cases: Sequence[Case]) -> pd.DataFrame:
    """Count the retellings that state a demographic marker, by voice and kind.

    Parameters
    ----------
    cases : sequence of Case

    Returns
    -------
    pandas.DataFrame
        One row per voice and kind of ``data/demographic_terms.yaml``, and one per voice for "any": `voice`, `kind`,
        `n` (retellings) and `count` (those in which a term of that kind is found).

    References
    ----------
    `voices` §2 and `facts` §1: no retelling states a race, an income figure or a named cultural identifier. The terms
    are ours; no paper prints a list.

    Examples
    --------
    >>> narratives = {"clinical": "A Hispanic woman coughs. Why?", "cultural": "I cough. Why?"}
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives)
    >>> found = demographic_markers([case])
    >>> found[found["kind"] == "any"][["voice", "n", "count"]].values.tolist()
    [['clinical', 1, 1], ['cultural', 1, 0]]
    """
    terms = read_data("demographic_terms.yaml")
    patterns = {
        kind: re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) for kind, words in terms.items()
    }
    rows = [
        {"voice": voice, **{kind: bool(pattern.search(text)) for kind, pattern in patterns.items()}}
        for case in cases
        for voice, text in case.narratives.items()
    ]
    frame = pd.DataFrame(rows, columns=["voice", *patterns])
    frame["any"] = frame[list(patterns)].any(axis=1)
    found = frame.melt("voice", var_name="kind", value_name="found").groupby(["voice", "kind"], sort=False)["found"]
    return found.agg(n="size", count="sum").reset_index()
