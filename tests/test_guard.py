"""The guard of a rewrite: what it calls unsupported, and that what it strikes out is gone and nothing else is.

What each made-up sentence states is read off by hand.
"""

import random
import re

import pytest

from nsh.cases import load_cases
from nsh.guard import STRUCK, strike, unsupported

STATED = [
    ("It began 3 yrs ago.", "For 3 years."),
    ("For 6 wks.", "For 6 weeks."),
    ("For 4 hrs.", "For 4 hours."),
    ("For 20 mins.", "For 20 minutes."),
    ("At fifty-three I ache.", "A 53-year-old woman."),
    ("I am 53.", "A fifty-three-year-old woman, 53 years of age."),
    ("I have walked this earth for fifty-three years.", "A 53-year-old woman."),
    ("My pressure was 134 over 76.", "Blood pressure: 134/76 mm Hg."),
    ("My pressure was 134 on top, 76 below.", "Blood pressure: 134/76 mm Hg."),
    ("BP 134/76", "A systolic pressure of 134 mm Hg."),
    ("Eighty-eight beats a minute.", "Pulse is 88/min."),
    ("He breathes 18 times every 60 seconds.", "Respirations are 18/min."),
    ("The sugar was 400 something.", "Glucose is 400 mg/dL."),
    ("I swallow forty milligrams.", "He takes 40 mg."),
    ("A fever of 98.6 F.", "Temperature is 37.0°C."),
    ("They said 37 °C.", "Temperature is 98.6 °F."),
    ("He fell twice, and a dozen times before.", "He fell 2 times, and 12 times before."),
    ("Two falls.", "He fell twice."),
    ("It began a week ago, for a couple of hours.", "A 1-week history, for 2 hours; one week."),
    ("Three or four days.", "For 3-4 days, or three to four days."),
    ("The count was 1,200.", "The count was 1200/mm3."),
    ("Half a tablet, point five.", "0.5 tablets, .5 tablets."),
    ("I'm in my forties.", "A woman in her 40s, in her forties."),
    ("I am 47.", "A man in his mid-40s."),
]
NAMES = [
    "Vitamin B12, T4, HbA1c, CD4, 5-HT, 5-HT3, 5-FU and IL-6 were not measured; COVID-19 was excluded.",
    "She has type 2 diabetes, factor 5 Leiden and trisomy 21; a 12-lead ECG is normal after a C-section.",
    "One of the knees hurts on the 2nd day; she is in the 1st trimester.",
]
INVENTED = [
    ("She is in her late forties.", "A 47-year-old woman.", ("47-year-old",)),
    ("I am 47.", "A man in his 50s, in his fifties.", ("50s", "fifties")),
    ("An elderly man.", "A man in his 60s.", ("60s",)),
    (
        "She tires.",
        "A FIFTY-three-year-old, a 53 year old, 6 months of age.",
        ("FIFTY-three-year-old", "53 year old", "6 months"),
    ),
    ("I have B12, COVID-19 and type 2 diabetes.", "A 19-year-old on 12 mg, 2 falls.", ("19-year-old", "12 mg", "2")),
    ("My heart races.", "Pulse is 118/min and blood pressure 90/60 mm Hg.", ("118/min", "90/60 mm Hg")),
    ("My pressure was 134 over 76.", "Blood pressure is 134/67.", ("134/67",)),
    ("I took 40 mg.", "He took 400 mg.", ("400 mg",)),
    ("I took 500 mcg.", "He took 500 mg.", ("500 mg",)),
    ("For 40 years, 88 days a year.", "He takes 40 mg; pulse is 88/min.", ("40 mg", "88/min")),
    ("My pulse was 87 beats a minute.", "An 87-year-old man.", ("87-year-old",)),
    ("For days.", "For three days and 3 weeks, 5 stools twice daily.", ("three days", "3 weeks", "5", "twice")),
    ("A fever.", "Temperature is 39.2°C, T 38.5C, HR118, BP90/60.", ("39.2°C", "38.5C", "118", "90/60")),
    ("98.6 F", "Temperature 37.5°C.", ("37.5°C",)),
    ("I gave birth.", "She had 2 C-sections, pain 9/10, for 3-5 days.", ("2", "9", "10", "3", "5 days")),
    ("It hurts.", ".5 mg, 0.25 mg and 10,000/mm3.", (".5 mg", "0.25 mg", "10,000/mm3")),
    ("", "A 5 and a 5.", ("5",)),
]


@pytest.mark.parametrize(("narrative", "rewrite"), STATED)
def test_a_value_that_the_narrative_states_is_supported(narrative, rewrite):
    assert unsupported(narrative, rewrite) == ()
    assert strike(narrative, rewrite) == rewrite


@pytest.mark.parametrize("rewrite", NAMES)
def test_a_number_in_a_name_is_no_value(rewrite):
    assert unsupported("It hurts.", rewrite) == ()


@pytest.mark.parametrize(("narrative", "rewrite", "values"), INVENTED)
def test_a_value_that_it_does_not_state_is_named_as_it_stands(narrative, rewrite, values):
    assert unsupported(narrative, rewrite) == values


def test_striking_leaves_every_other_character():
    narrative, rewrite = "I am 61.", "A 61-year-old man, pulse 118/min,  took\n40 mg of B12 for 3 weeks; 5 stools.\r\n"
    struck = f"A 61-year-old man, pulse {STRUCK},  took\n{STRUCK} of B12 for {STRUCK}; {STRUCK} stools.\r\n"
    assert strike(narrative, rewrite) == struck


def test_a_value_named_by_the_word_before_a_struck_one_is_struck_too():
    """Without the 118, the 88 is the pulse, and the narrative has it only as days."""
    assert strike("For 88 days.", "Pulse 118, 88.") == f"Pulse {STRUCK}, {STRUCK}."


def check(narrative: str, rewrite: str) -> int:
    """Strike; nothing unsupported is left, and the pieces between are the rewrite's own, in order."""
    left = strike(narrative, rewrite)
    assert unsupported(narrative, left) == ()
    pieces = map(re.escape, left.split(STRUCK))
    assert re.fullmatch("(.+?)".join(pieces), rewrite, re.DOTALL)
    return left.count(STRUCK)


def test_after_striking_nothing_unsupported_is_left():
    """Every sample's clinical text as the rewrite of every other's narrative, in every voice."""
    cases = load_cases("samples")
    texts = [(case, other.narratives["clinical"]) for case in cases for other in cases[:4] if case is not other]
    assert sum(check(text, rewrite) for case, rewrite in texts for text in case.narratives.values()) > 1000


def test_after_striking_nothing_is_left_of_made_up_texts():
    """Texts of pieces that meet in any order; with no narrative, only numbers after a letter are left."""
    pieces = (
        "pulse T BP fever 118, 88 37.0°C 98.6F 134/76 mm Hg over /min 40 mg -old -year days one forty -five a . - , 3"
    )
    draw = random.Random(0)
    for _ in range(1500):
        narrative, rewrite = ("".join(draw.choices([*pieces.split(), " ", " ", " "], k=12)) for _ in range(2))
        check(narrative, rewrite)
        assert re.findall(r"(?<![^\W_])(?<![^\W\d_]-)(?<!\d,)\d+", strike("", rewrite)) == []


def test_a_retelling_states_the_values_of_its_own_vignette():
    """The samples keep every number in every voice, so little of the original is struck out."""
    cases = load_cases("samples")
    values = [unsupported(text, case.original) for case in cases for text in case.narratives.values()]
    assert sum(map(len, values)) <= 3
