"""Covariates of the questions: by hand on made-up cases, and their counts on the released ones."""

import pandas as pd
import pytest

from nsh.cases import Case, load_cases
from nsh.covariates import covariates
from nsh.errors import DataError, ParameterError

ORIGINAL = "A man of 40 has a sore knee. What is the best treatment?"
QUESTION = "What is the best treatment?"


def case(case_id, original=ORIGINAL, options="AB", **narratives):
    """A made-up case."""
    return Case(case_id, QUESTION, dict.fromkeys(options, "x"), "A", narratives, original)


CASES = [
    case("b", clinical="Sore.", rural=f"I hurt. {ORIGINAL}", urban=f"At age 40. {QUESTION.upper()}"),
    case("a", None, clinical="I hurt my knee.", rural="one two three", urban="one"),
]


def audit(*rows):
    """A made-up audit."""
    return pd.DataFrame(rows, columns=["case", "voice", "judge", "n_relevant"])


def test_by_hand():
    frame = covariates(CASES, split={"a": "test"})
    assert frame.index.tolist() == ["a", "b"] and frame.index.name == "case"
    assert frame.drop(columns=["superset_rural", "superset_urban", "split"]).to_dict("index") == {
        "a": {
            "words": 2,
            "without_age": 2,
            "question_verbatim": False,
            "person": "first",
            "question_type": "treatment",
        },
        "b": {
            "words": 11.5,
            "without_age": 0,
            "question_verbatim": True,
            "person": "third",
            "question_type": "treatment",
        },
    }
    assert frame["superset_rural"].tolist() == [pd.NA, True]
    assert frame["superset_urban"].tolist() == [pd.NA, False]
    assert frame["split"].iloc[0] == "test" and frame["split"].isna().tolist() == [False, True]


def test_without_split_and_audit_there_is_nothing_of_them():
    frame = covariates(CASES)
    assert frame["split"].isna().all()
    assert not [name for name in frame if name.startswith("additions")]


def test_additions_per_judge_and_voice_and_their_sum():
    rows = [("a", "rural", "F", 2), ("a", "urban", "F", 3), ("b", "rural", "F", 1), ("a", "clinical", "F", 9)]
    frame = covariates(CASES, additions=audit(*rows, ("b", "rural", "P", 4), ("b", "urban", "P", 0)))
    assert frame.loc["a", ["additions_F_rural", "additions_F_urban", "additions_F"]].tolist() == [2, 3, 5]
    assert frame.loc["b", ["additions_P_rural", "additions_P_urban", "additions_P"]].tolist() == [4, 0, 4]
    assert frame.loc["b", "additions_F_rural"] == 1
    missing = frame.isna()
    assert missing.loc["b", ["additions_F_urban", "additions_F"]].all()  # one of its voices was not audited
    assert missing.loc["a", ["additions_P_rural", "additions_P_urban", "additions_P"]].all()
    assert not [name for name in frame if name.endswith("clinical")]


def test_an_audit_of_other_voices_or_cases_only_is_all_missing():
    frame = covariates(CASES, additions=audit(("z", "clinical", "F", 1)))
    assert frame[["additions_F_rural", "additions_F_urban", "additions_F"]].isna().all(axis=None)


def test_wrong_audits_are_named():
    with pytest.raises(DataError, match="rows of the audit lack the column 'judge'; they have: case, voice"):
        covariates(CASES, additions=audit().drop(columns=["judge", "n_relevant"]))
    with pytest.raises(
        DataError, match="1 rows of the audit occur twice, the first is case 'a', voice 'rural', judge 'F'"
    ):
        covariates(CASES, additions=audit(("a", "rural", "F", 1), ("a", "rural", "F", 2)))


@pytest.mark.parametrize("voices", [("plain", "rural"), ("plain", "a", "b", "c", "d")])
def test_two_voices_and_five_voices_and_ten_options(voices):
    one = case("1", options="ABCDEFGHIJ", **dict.fromkeys(voices, "I hurt, I do."))
    frame = covariates([one], reference="plain")
    assert frame["without_age"].tolist() == [len(voices) - 1] and frame["words"].tolist() == [4]
    assert [name for name in frame if name.startswith("superset")] == [f"superset_{voice}" for voice in voices[1:]]


def test_no_cases_give_a_frame_with_its_columns():
    frame = covariates([], additions=audit())
    assert frame.empty and frame.index.name == "case"
    assert list(frame) == ["words", "without_age", "question_verbatim", "person", "question_type", "split"]


def test_the_reference_voice_must_be_there():
    with pytest.raises(ParameterError, match="reference voice 'plain' is in no case; the cases hold clinical, rural"):
        covariates(CASES, reference="plain")


def test_the_order_of_the_cases_does_not_matter():
    pd.testing.assert_frame_equal(covariates(CASES[::-1]), covariates(CASES))


def test_counts_on_the_released_cases(released):
    # printed: 207 (`voices` section 7.5), 84 (section 6) and 299 with the age explicit in both marked retellings; our
    # rule of an explicit age finds 195. Measured beforehand: 52 cultural supersets, 424 in the first person
    frame = covariates(load_cases(str(released)))
    assert len(frame) == 1000 and frame["question_verbatim"].sum() == 207
    assert frame[["superset_socioeconomic", "superset_cultural"]].sum().tolist() == [84, 52]
    assert frame["without_age"].value_counts().to_dict() == {0: 195, 1: 426, 2: 379}
    assert (frame["person"] == "first").sum() == 424
