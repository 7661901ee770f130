"""Demographic markers in retellings: words that state race, religion, origin or an income figure."""

import re
from collections.abc import Sequence
from functools import cache

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
    told = [item for case in cases for item in case.narratives.items()]
    frame = pd.DataFrame({"voice": [voice for voice, _ in told]})
    for kind, pattern in _patterns().items():
        frame[kind] = [pattern.search(text) is not None for _, text in told]
    frame["any"] = frame.drop(columns="voice").any(axis=1)
    found = frame.melt("voice", var_name="kind", value_name="found").groupby(["voice", "kind"], sort=False)["found"]
    return found.agg(n="size", count="sum").reset_index()


def labels(text: str) -> tuple[str, ...]:
    """The demographic markers that a text states, each once, in lower case.

    Examples
    --------
    >>> labels("A Hispanic woman coughs; her husband is hispanic too, and a refugee.")
    ('hispanic', 'refugee')
    """
    return tuple(dict.fromkeys(found[0].casefold() for rule in _patterns().values() for found in rule.finditer(text)))


@cache
def _patterns() -> dict[str, re.Pattern]:
    """The terms of each kind as one pattern."""
    kinds = read_data("demographic_terms.yaml").items()
    return {kind: re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) for kind, words in kinds}
