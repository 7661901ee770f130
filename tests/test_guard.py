"""The guard of a rewrite: what it calls unsupported, and that what it strikes out is gone and nothing else is."""

import pytest

from nsh.cases import load_cases
from nsh.guard import STRUCK, strike, unsupported

STATED = [
    ("At fifty-three I ache.", "A 53-year-old woman."),
    ("I am 53.", "A fifty-three-year-old woman."),
    ("My pressure was 134 over 76.", "Blood pressure is 134/76 mm Hg."),
    ("Eighty-eight beats a minute.", "Pulse is 88/min."),
    ("A fever of 98.6 F.", "Temperature is 37.0°C."),
    ("They said 37 °C.", "Temperature is 98.6 °F."),
    ("He fell twice, and a dozen times before.", "He fell 2 times, and 12 times before."),
    ("The count was 1,200.", "The count was 1200/mm3."),
    ("It hurts.", "Vitamin B12, T4, HbA1c and CD4 were not measured; COVID-19 was excluded; type 2 diabetes."),
    ("It hurts.", "One of the knees hurts."),
]
INVENTED = [
    ("She is in her late forties.", "A 47-year-old woman.", ("47",)),
    ("My heart races.", "Pulse is 118/min and blood pressure 90/60 mm Hg.", ("118/min", "90/60")),
    ("I took 40 mg.", "He took 400 mg.", ("400 mg",)),
    ("For days.", "For three days and 3 weeks.", ("three", "3")),
    ("A fever.", "Temperature is 39.2°C.", ("39.2°C",)),
    ("98.6 F", "Temperature 37.5°C.", ("37.5°C",)),
    ("", "A 5 and a 5.", ("5",)),
]


@pytest.mark.parametrize(("narrative", "rewrite"), STATED)
def test_a_value_that_the_narrative_states_is_supported(narrative, rewrite):
    assert unsupported(narrative, rewrite) == ()
    assert strike(narrative, rewrite) == rewrite


@pytest.mark.parametrize(("narrative", "rewrite", "values"), INVENTED)
def test_a_value_that_it_does_not_state_is_named_as_it_stands(narrative, rewrite, values):
    assert [value.removesuffix(" mm Hg") for value in unsupported(narrative, rewrite)] == list(values)


def test_striking_leaves_every_other_character():
    narrative, rewrite = "I am 61.", "A 61-year-old man, pulse 118/min,  took\n40 mg of B12."
    assert strike(narrative, rewrite) == f"A 61-year-old man, pulse {STRUCK},  took\n{STRUCK} of B12."


def test_after_striking_nothing_unsupported_is_left():
    """Every sample's clinical text as the rewrite of every other's narrative, in every voice."""
    cases = load_cases("samples")
    struck = 0
    for case in cases:
        for other in cases[:8]:
            for narrative in case.narratives.values():
                left = strike(narrative, other.narratives["clinical"])
                assert unsupported(narrative, left) == ()
                struck += left.count(STRUCK)
    assert struck > 1000


def test_a_retelling_states_the_values_of_its_own_vignette():
    """The samples keep every number in every voice, so little of the original is struck out."""
    cases = load_cases("samples")
    values = [unsupported(text, case.original) for case in cases for text in case.narratives.values()]
    assert sum(map(len, values)) <= 3
