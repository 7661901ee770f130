"""Parts of pages: what a run is, what must not be read into it."""

from dataclasses import replace

import pytest
from made_cases import make_cases

from nsh import parts
from nsh.opening import open_page
from nsh.patterns import from_patterns


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)
    return open_page("voices-05-anchoring", models=["scripted"], n_cases=4, resamples=50)


def test_about_says_what_was_run_on_what(study):
    text = str(parts.about(study))
    assert "4 cases from “samples”" in text
    assert "not reviewed by a clinician" in text
    assert "Models run: scripted (condition direct, float32)" in text
    assert "packaged pattern counts" in text


def test_canned_answers_are_marked_fabricated(study):
    assert "FABRICATED" in str(parts.caution(study))
    assert "FABRICATED" in parts.own_accuracy(study).figure.get_label()


def test_a_model_inside_the_interval_of_blind_picking_is_at_chance_level(study):
    """One right of twelve has a Wilson interval of [0.01, 0.35], which holds 0.25; twelve of twelve does not."""
    study.records["letter"] = None
    study.records["correct"] = [True] + [False] * 11
    assert "at chance level: accuracy 0.08 [0.01, 0.35], blind picking 0.25" in parts.chance_note(study)
    study.records["correct"] = True
    assert "chance" not in parts.chance_note(study)


def test_no_model_is_said_once_and_leaves_no_empty_table(study):
    empty = open_page("voices-05-anchoring", models=[], n_cases=4)
    assert "No model was run" in str(parts.caution(empty))
    assert parts.own_accuracy(empty) is parts.own_gaps(empty) is None


def test_an_undefined_interval_is_named():
    assert parts.interval(float("nan"), float("nan"), float("nan")) == "undefined"
    assert parts.interval(-0.1, -0.2, 0.05, ".2f") == "−0.10 [−0.20, 0.05]"


def test_mcnemar_table_says_where_a_test_stays_significant():
    """`facts` Table 4: only BioMistral's clinical and socioeconomic voices (p = 0.0275) do not survive correction."""
    lines = str(parts.mcnemar_table(from_patterns(["B1"]))).splitlines()
    assert [line.split()[0] for line in lines if line.rstrip().endswith("neither")] == ["BioMistral-7B"]
    assert sum(line.rstrip().endswith("both") for line in lines) == 13


def test_table_1_marks_only_where_numbers_should_agree():
    plain = str(parts.table1(make_cases(3, voices=("plain", "rural")), "this run", "plain"))
    assert "✓" not in plain and "≠" not in plain
    assert "rural" in plain and "n = 0" in plain and "nan" not in plain


def test_voices_of_all_cases_are_named(study):
    first, second = make_cases(2, voices=("plain", "rural"))
    cases = [replace(first, narratives={"plain": "It hurts."}), second]
    assert "rural" in str(parts.table1(cases, "this run", "plain"))
    object.__setattr__(study, "cases", cases)
    assert "in the voices plain, rural" in str(parts.about(study))
