"""The MedQA split: on made-up lines, and the printed 139 test items of the released cases."""

import json

import pytest
from conftest import skip_or_fail

from nsh.cases import Case, load_cases
from nsh.errors import DataError, MissingDataError
from nsh.medqa import medqa_split


def case(case_id, original):
    """A made-up case with an original vignette."""
    return Case(case_id, "Why?", {"A": "x", "B": "y"}, "A", {"clinical": "Sore."}, original)


def write(folder, *rows):
    """A made-up test split."""
    path = folder / "test.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_vignettes_are_matched_by_letters_and_digits_before_the_options(tmp_path):
    rows = [
        {"question": "A sore knee.\nFor 3 days: why?\nA) Gout\nB) Lyme\nA) Gout"},
        {"question": "No options here. Why?"},
        {"question": "Vitamin (A) is low.\nWhy?\nA) Diet\nB) Age"},
    ]
    cases = [
        case("same", "a sore knee — for 3 days: “Why?”"),
        case("bare", "No options here.  Why?"),
        case("bracket", "Vitamin (A) is low. Why?"),
        case("with options", "A sore knee. For 3 days: why? A) Gout B) Lyme A) Gout"),
        case("part", "A sore knee."),
        case("none", None),
    ]
    found = medqa_split(cases, write(tmp_path, *rows))
    assert found.to_dict() == {
        "same": "test",
        "bare": "test",
        "bracket": "test",
        "with options": "train",
        "part": "train",
        "none": None,
    }


def test_an_empty_split_and_no_cases(tmp_path):
    path = write(tmp_path)
    assert medqa_split([case("1", "Sore.")], path).to_dict() == {"1": "train"}
    assert medqa_split([], path).empty


def test_a_missing_file_and_a_line_without_a_question_are_named(tmp_path):
    with pytest.raises(MissingDataError, match="there is no file"):
        medqa_split([], tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"test.jsonl, line 2, field 'question': expected text"):
        medqa_split([], write(tmp_path, {"question": "Why?"}, {"vignette": "Why?"}))


@pytest.fixture(scope="session")
def medqa_test(released):
    """MedQA's test split beside the released files."""
    path = released.parent / "medqa" / "test.jsonl"
    if not path.is_file():
        skip_or_fail(f"no MedQA test split at {path}")
    return path


def test_released_cases_are_the_printed_861_and_139(released, medqa_test):
    # `voices` Appendix A: 861 training and 139 test items
    split = medqa_split(load_cases(str(released)), medqa_test)
    assert split.value_counts().to_dict() == {"train": 861, "test": 139}
