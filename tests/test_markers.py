"""Demographic markers: what counts as one, and what only looks like one."""

import pytest

from nsh.cases import Case
from nsh.markers import demographic_markers


def kinds(text: str) -> set[str]:
    """Kinds of marker found in one retelling."""
    case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {"clinical": text, "plain": "Pain. Why?"})
    found = demographic_markers([case])
    return set(found.loc[(found["count"] > 0) & (found["voice"] == "clinical"), "kind"]) - {"any"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A 40-year-old African-American woman.", "race or ethnicity"),
        ("A BLACK male patient.", "race or ethnicity"),
        ("She is Latina.", "race or ethnicity"),
        ("They are Jehovah’s Witnesses.", "religion"),
        ("He immigrated last year.", "origin"),
        ("I make $400 and rent is due.", "income figure"),
        ("It pays 30,000 dollars a year.", "income figure"),
    ],
)
def test_markers(text, kind):
    assert kinds(text) == {kind}


@pytest.mark.parametrize(
    "text",
    ["White cells 12,000.", "Black stools and white plaques.", "The copay is $40.", "Caucasianoid", "I spent $2,000."],
)
def test_what_is_no_marker(text):
    assert kinds(text) == set()


def test_counts_are_by_voice():
    case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {"clinical": "A Hindu.", "plain": "A Hindu refugee."})
    found = demographic_markers([case, case]).set_index(["voice", "kind"])
    assert found.loc[("plain", "any"), ["n", "count"]].tolist() == [2, 2]
    assert found.loc[("clinical", "origin"), "count"] == 0
