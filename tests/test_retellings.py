"""Properties of the retellings: by hand on made-up texts, and the measured rows of `voices` Table 1."""

import pandas as pd
import pytest

from nsh.cases import Case, load_cases
from nsh.retellings import describe_retellings, fold, has_numeric_age, narrative_person, per_case

ORIGINAL = "A man of 40 has a sore knee. Which dose is right?"


def case(case_id: str, clinical: str, rural: str, original: str | None = ORIGINAL) -> Case:
    """A made-up case in two voices."""
    narratives = {"clinical": clinical, "rural": rural}
    return Case(case_id, "Which dose is right?", {"A": "x", "B": "y"}, "A", narratives, original)


CASES = [
    case("1", "Sore knee, age 40. Which dose is right?", f"It hurts.\n\n“{ORIGINAL.upper()}”"),
    case("2", "Sore knee at 40-years old. What now?", "It hurts -- which dose is right"),
    case("3", "Sore knee. Which dose is right?", "I'm forty. It hurts.", original=None),
]


@pytest.mark.parametrize(
    "narrative",
    [
        "A 45-year-old man",
        "a 3 week old baby",
        "45 years of age",
        "a 45yo",
        "at the age of 45",
        "Aged 45",
        "I just turned 45",
        "a woman of 72 years",
        "I'm 45, and tired",
        "I’m 45.",
        "She is only 7 and",
        "he's 45",
    ],
)
def test_ages_in_digits(narrative):
    assert has_numeric_age(narrative)


@pytest.mark.parametrize(
    "narrative",
    [
        "at forty-five",
        "for 45 years",
        "I'm 28 weeks along",
        "I'm 98.6 degrees",
        "I am 120/80",
        "I'm 5 foot 4",
        "I'm 5'4\"",
        "he is 170 pounds",
        "breathing at 45.",
        "page 45",
        "the message 45",
    ],
)
def test_numbers_that_are_no_ages(narrative):
    assert not has_numeric_age(narrative)


@pytest.mark.parametrize(
    ("narrative", "person"),
    [
        ("I hurt. It is my knee.", "first"),
        ("My knee hurts me", "first"),
        ("I’m tired; I've been myself before.", "first"),
        ("He said “I am tired” and left.", "third"),
        ("Type I diabetes. He is economical, mined coal, and met Amy.", "third"),
        ("i. ME", "third"),
        ("We hurt, and our knees do too.", "third"),
        ("", "third"),
    ],
)
def test_narrative_person(narrative, person):
    assert narrative_person(narrative) == person


def test_folding_keeps_letters_and_digits_of_every_script():
    assert fold("“Straße”, 5 µg_≥ 3×!") == "strasse5μg3"


def test_per_case_by_hand():
    frame = per_case(CASES)
    assert list(frame.columns) == [
        "case",
        "voice",
        "words",
        "original_words",
        "numeric_age",
        "superset",
        "question_verbatim",
        "person",
    ]
    assert frame[["case", "voice"]].values.tolist() == [
        [number, voice] for number in "123" for voice in ("clinical", "rural")
    ]
    assert frame["words"].tolist() == [8, 14, 7, 7, 6, 4]
    assert frame["original_words"].tolist() == [12, 12, 12, 12, pd.NA, pd.NA]
    assert frame["numeric_age"].tolist() == [True, True, True, False, False, False]
    assert frame["superset"].tolist() == [False, True, False, False, pd.NA, pd.NA]
    assert frame["question_verbatim"].tolist() == [True, True, False, True, True, False]
    assert set(frame["person"]) == {"third"}


def test_description_by_hand():
    table = describe_retellings(CASES).set_index(["property", "voice"])
    assert (table["note"] == "").all()
    assert table.loc["length", "value"].to_dict() == {"original": 12, "clinical": 7, "rural": pytest.approx(25 / 3)}
    assert table.loc["length", "n"].to_dict() == {"original": 2, "clinical": 3, "rural": 3}
    assert table.loc["superset", "count"].to_dict() == {"clinical": 0, "rural": 1, "any": 1, "every marked": 1}
    assert table.loc[("superset", "rural"), ["n", "value"]].tolist() == [2, 50.0]
    assert table.loc["question_verbatim", "count"].to_dict() == {"clinical": 2, "rural": 2, "any": 3, "every marked": 2}
    assert table.loc["numeric_age", "count"].to_dict() == {"clinical": 2, "rural": 1, "any": 2, "every marked": 1}
    assert set(table["unit"]) == {"words", "%"}


def test_without_original_vignettes_their_rows_say_so():
    table = describe_retellings(CASES[2:]).set_index(["property", "voice"])
    undefined = table[table["value"].isna()]
    assert set(undefined.index) == {("length", "original"), *(("superset", v) for v in table.loc["superset"].index)}
    assert set(undefined["note"]) == {"n = 0"}
    assert (undefined["n"] == 0).all()


def test_no_cases_give_frames_with_their_columns_and_types():
    frame, text = per_case([]), ["case", "voice", "person"]
    assert frame.empty and list(frame) == list(per_case(CASES))
    assert frame.drop(columns=text).dtypes.equals(per_case(CASES).drop(columns=text).dtypes)
    table = describe_retellings([])
    assert list(table) == list(describe_retellings(CASES)) and (table["n"] == 0).all()
    assert (table["note"] == "n = 0").all() and table["value"].isna().all()
    assert set(table["voice"]) == {"original", "any", "every marked"}


def test_voices_are_those_of_all_cases_in_the_papers_order():
    """The second case has another voice than the first and lacks one of its; "any" is over cases with all of them."""
    texts = {"rural": "Age 40.", "cultural": "It hurts.", "clinical": "Age 40."}
    cases = [
        Case(str(number), "Why?", {"A": "x", "B": "y"}, "A", {voice: texts[voice] for voice in voices})
        for number, voices in enumerate(
            (["rural", "clinical"], ["cultural", "clinical"], ["rural", "cultural", "clinical"])
        )
    ]
    table = describe_retellings(cases).set_index(["property", "voice"]).loc["numeric_age"]
    assert table["n"].to_dict() == {"clinical": 3, "cultural": 2, "rural": 2, "any": 1, "every marked": 1}
    assert table["count"].to_dict() == {"clinical": 3, "cultural": 0, "rural": 2, "any": 1, "every marked": 0}
    assert table.index.tolist() == ["clinical", "cultural", "rural", "any", "every marked"]


def test_the_reference_voice_is_chosen():
    table = describe_retellings(CASES, reference="rural").set_index(["property", "voice"])
    assert table.loc[("numeric_age", "every marked"), "count"] == table.loc[("numeric_age", "clinical"), "count"] == 2


@pytest.fixture(scope="module")
def measured(released):
    """The description of the released cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSH_RELEASED_DIR", str(released))
        return describe_retellings(load_cases("released")).set_index(["property", "voice"])


def test_lengths_are_the_printed_ones(measured):
    # `voices` Table 1: original 137, then 117, 261, 301 words
    assert measured.loc["length", "value"].round().to_dict() == {
        "original": 137,
        "clinical": 117,
        "socioeconomic": 261,
        "cultural": 301,
    }


def test_supersets(measured):
    # printed in `voices` section 3 and Table 1: 8.4% socioeconomic, as here; 5.1% cultural, 0.2% clinical and 116
    # questions, where a comparison of letters and digits finds 52, 1 and 119
    counts = measured.loc["superset", "count"]
    assert counts[["socioeconomic", "cultural", "clinical", "any"]].tolist() == [84, 52, 1, 119]


def test_question_sentences(measured):
    # printed in `voices` section 7: 30%, 58%, 207 questions in both marked voices
    counts = measured.loc["question_verbatim", "count"]
    assert counts[["socioeconomic", "cultural", "every marked"]].tolist() == [295, 576, 207]


def test_numeric_ages_differ_from_the_printed_ones_in_the_marked_voices(measured):
    # printed in `voices` Table 1, without its rule: 99.9, 50.7, 52.1
    values = measured.loc["numeric_age", "value"]
    assert values[["clinical", "socioeconomic", "cultural"]].tolist() == [99.9, 41.6, 40.0]


def test_narrative_person_of_the_released_cases(released):
    # measured beforehand: 424 of the 1,000 clinical retellings are in the first person; `voices` Limitations calls the
    # clinical voice third-person and the marked voices first-person
    people = pd.crosstab((frame := per_case(load_cases(str(released))))["voice"], frame["person"])
    assert people["first"].to_dict() == {"clinical": 424, "cultural": 979, "socioeconomic": 988}
