"""The checks of a retelling: each with a text that passes and one that fails it alone."""

from dataclasses import replace

import pytest

from nsh.cases import Case
from nsh.making.checks import CHECKS, failed_checks, length_asked
from nsh.making.voices import register

SHE = {"I am": "She is", " my ": " her ", "mine": "hers"}
QUESTION = "Which drug should be given first?"
ORIGINAL = (
    "A 41-year-old Jewish woman has had a dry cough for 3 weeks. She takes lisinopril 10 mg for hypertension. "
    f"Her pulse is 88/min. {QUESTION}"
)
CASE = Case("7", QUESTION, {"A": "x", "B": "y"}, "A", {}, ORIGINAL)
GOOD = (
    "The till is mine alone on weekdays, and my dry cough of three weeks drives people out. I am forty-one, jewish, "
    "and my lisinopril, 10 mg for the hypertension, is paid. They counted a pulse of 88/min. " + QUESTION
)
BETA = replace(register("socioeconomic"), words=(1.0, 2.0))


def of_her(text: str) -> str:
    """The same told in the third person."""
    for first, third in SHE.items():
        text = text.replace(first, third)
    return text


def test_a_good_retelling_passes_every_check():
    assert failed_checks(CASE, BETA, GOOD) == {}


@pytest.mark.parametrize(
    ("check", "text", "why"),
    [
        ("length", GOOD + " It is so." * 7, "64 words, not 29 to 58"),
        ("length", f"I am forty-one, my cough is of 3 weeks, 10 mg, 88/min. {QUESTION}", "18 words, not 29 to 58"),
        ("forbidden phrase", f"I can’t  AFFORD to\nmiss work. {GOOD}", "I can't AFFORD to miss work"),
        ("forbidden phrase", GOOD.replace("is paid", "I know you're busy"), "I know you're busy"),
        ("label", GOOD.replace("jewish", "Hispanic"), "hispanic"),
        ("label", GOOD.replace("jewish", "a refugee, an immigrant"), "refugee; immigrant"),
        ("value", GOOD.replace("forty-one", "in my forties"), "41-year-old"),
        ("value", GOOD.replace("10 mg", "10 mcg"), "10 mg"),
        ("value", GOOD.replace("three weeks", "a while").replace("88/min", "eighty"), "3 weeks; 88/min"),
        ("question", GOOD.replace("drug should", "medicine should"), QUESTION),
        ("person", of_her(GOOD), "the third person"),
    ],
)
def test_each_check_fails_alone_and_says_why(check, text, why):
    found = failed_checks(CASE, BETA, text)
    assert list(found) == [check]
    assert why in found[check]


def test_every_check_has_a_failing_example():
    marks = next(mark for mark in test_each_check_fails_alone_and_says_why.pytestmark if mark.name == "parametrize")
    assert {row[0] for row in marks.args[1]} == set(CHECKS)


@pytest.mark.parametrize(
    "kept",
    [
        GOOD.replace("forty-one", "41"),
        GOOD.replace("10 mg", "ten milligrams"),
        GOOD.replace(QUESTION, "“which drug should be given FIRST”?"),
        GOOD.replace("my dry cough", "my 'traditional herbal teas' dry cough"),  # forbidden in the other voice
    ],
)
def test_another_form_of_the_same_is_no_failure(kept):
    assert failed_checks(CASE, BETA, kept) == {}


def test_a_register_that_leaves_the_person_open_takes_both():
    told = of_her(GOOD)
    assert failed_checks(CASE, replace(BETA, person=None), told) == {}
    assert failed_checks(CASE, replace(BETA, person="third"), told) == {}


def test_a_forbidden_phrase_is_found_at_word_boundaries_alone():
    only = replace(BETA, forbidden=["tea"], person=None, words=(0.1, 9))
    assert "forbidden phrase" not in failed_checks(CASE, only, GOOD + " My team steams.")
    assert failed_checks(CASE, only, GOOD + " Tea!") == {"forbidden phrase": "Tea"}


def test_the_length_is_rounded_outward_by_hand():
    """137 words (the mean of `voices` Table 1): 0.9 and 1.1 are 123.3 and 150.7; 1.1 and 1.25 are 150.7 and 171.25."""
    original = "word " * 137
    assert length_asked(register("clinical"), original) == (123, 151)
    assert length_asked(register("cultural"), original) == (150, 172)
    assert length_asked(register("clinical"), "word " * 110) == (99, 121)  # whole numbers stay as they are
