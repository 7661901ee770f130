"""Appendices A, B and D of `voices`: composition, allocation, lengths, checks, and fabricated verdicts."""

from dataclasses import replace

import pandas as pd
import pytest
from made_cases import make_cases
from scipy.stats import spearmanr

from nsh.cases import Case, load_cases
from nsh.sections.appendix_cases import (
    MOST,
    agreement_numbers,
    case_facts,
    composition,
    extra_words,
    fabricated_verdicts,
    opening_styles,
    program_audit,
    relevant_shares,
    retelling_checks,
    within,
)

SAMPLES = load_cases("samples", n_cases=8)


def told(narratives, original=None, number=1, **meta):
    """A case told in the given words."""
    return Case(str(number), "Why?", {"A": "x", "B": "y"}, "A", narratives, original, meta)


def test_composition_counts_steps_letters_and_types():
    steps = ["step1"] * 6 + ["step2&3"] * 2
    cases = [replace(case, meta={"meta_info": step}) for case, step in zip(make_cases(8), steps, strict=True)]
    counts = composition(case_facts(cases)).set_index(["property", "value"])
    assert counts.loc[("exam step", "step1"), ["cases", "share, %"]].tolist() == [6, 75.0]
    assert counts.loc["answer letter", "cases"].to_dict() == dict.fromkeys("ABCD", 2)
    assert counts.loc[("question type", "other"), "cases"] == 8
    assert counts.loc[("MedQA split", "not stated"), "cases"] == 8


def test_the_split_is_read_from_the_file_of_the_test_split(tmp_path, monkeypatch):
    file = tmp_path / "test.jsonl"
    file.write_text('{"question": "Knee pain. Why?"}')
    monkeypatch.setenv("NSH_MEDQA_TEST", str(file))
    cases = [told({"clinical": "."}, text, number) for number, text in enumerate(["Knee pain.  Why?", "Fever.", None])]
    of_medqa = [replace(case, meta={"meta_info": "step1"}) for case in cases]
    assert case_facts(of_medqa)["MedQA split"].tolist() == ["test", "train", "not stated"]
    assert set(case_facts(cases)["MedQA split"]) == {"not stated"}  # no exam step: not MedQA's


def test_extra_words_are_a_share_of_the_original_and_need_one():
    cases = [
        told({"clinical": "a b c", "cultural": "a b c d e f"}, "a b c"),
        told({"clinical": "a", "cultural": "b"}, None, 2),
    ]
    assert extra_words(cases)[["voice", "extra"]].values.tolist() == [["clinical", 0.0], ["cultural", 100.0]]


def test_lengths_are_held_against_what_was_asked_of_each_voice():
    extra = pd.DataFrame({"voice": ["cultural"] * 4 + ["clinical"] * 4, "extra": [5.0, 10, 25, 90, -10, 10, 11, -30]})
    table = within(extra, "clinical", 10, 10, 25).set_index("voice")
    assert list(table.index) == ["clinical", "cultural"]
    assert table.loc["clinical", ["retellings", "as long as asked", "longer than asked"]].tolist() == [4, 2, 1]
    assert table.loc["cultural", ["median extra words, %", "as long as asked", "longer than asked"]].tolist() == [
        17.5,
        2,
        1,
    ]


def test_the_samples_were_written_to_the_length_asked_of_the_clinical_voice():
    table = within(extra_words(SAMPLES), "clinical", 10, 10, 25).set_index("voice")
    assert table.at["clinical", "as long as asked"] == len(SAMPLES)


def test_checks_count_formulas_person_and_labels():
    cases = [
        told({"clinical": "A man, 30, coughs.", "cultural": "I was told by my family. Me, I cough."}, None, 1),
        told({"clinical": "A Hispanic woman limps.", "cultural": "I was TOLD to rest. My family insisted."}, None, 2),
        told({"clinical": "A boy of 3.", "cultural": "Traditional herbal teas failed."}, None, 3),
    ]
    rows = retelling_checks(cases).set_index("property")
    assert list(rows) == ["clinical", "cultural"]
    assert rows.loc["retellings"].tolist() == [3, 3]
    assert rows.loc["first three words shared with another case"].tolist() == [0, 2]
    assert rows.loc["a phrase that the prompts forbid"].tolist() == [0, 2]
    assert rows.loc["told in the first person"].tolist() == [0, 2]
    assert rows.loc["states: race or ethnicity"].tolist() == [1, 0]


def test_openings_are_those_of_the_samples_or_none():
    assert list(opening_styles(SAMPLES)) == ["socioeconomic", "cultural"]
    assert opening_styles(make_cases(3)).empty or not len(opening_styles(make_cases(3)).columns)


def test_a_program_finds_a_value_that_the_original_lacks():
    case = told({"clinical": "Pulse 88/min.", "cultural": "Pulse 88/min, BP 120/80."}, "A man with pulse 88/min.")
    found = program_audit([case]).set_index(["voice", "measure"])["value"]
    assert found["clinical", "invention"] == 0 and found["cultural", "invented value"] == 1
    assert program_audit(make_cases(2)).empty


def test_fabricated_verdicts_are_the_same_for_a_seed_and_depend_on_the_text():
    first = fabricated_verdicts(SAMPLES[:2])
    pd.testing.assert_frame_equal(first, fabricated_verdicts(SAMPLES[:2]))
    assert len(first) == 2 * 3 * 3 and set(first["judge"]) == set("FPL") and set(first["status"]) == {"ok"}
    longer = [replace(SAMPLES[0], narratives={v: text * 4 for v, text in SAMPLES[0].narratives.items()})]
    before = first[first["case"] == SAMPLES[0].id]["n_added"].sum()
    assert fabricated_verdicts(longer)["n_added"].sum() > before
    assert not fabricated_verdicts(SAMPLES[:2], seed=1)["n_added"].equals(first["n_added"])


def test_judges_share_items_and_not_flags():
    wide = fabricated_verdicts(SAMPLES).pivot(
        index=["case", "voice"], columns="judge", values=["n_added", "n_relevant"]
    )
    assert wide["n_added"].nunique(axis=1).eq(1).all()
    assert wide["n_relevant"].nunique(axis=1).gt(1).any()


def test_no_case_with_an_original_gives_no_verdict():
    assert fabricated_verdicts(make_cases(2)).empty
    many = [replace(SAMPLES[0], id=str(number)) for number in range(MOST + 5)]
    assert fabricated_verdicts(many)["case"].nunique() == MOST


def verdicts(counts):
    """Verdicts of judges (rows: judge, voice, case, relevant items)."""
    frame = pd.DataFrame(counts, columns=["judge", "voice", "case", "n_relevant"])
    return frame.assign(model=None, condition=None, n_added=9, status="ok")


def test_shares_and_agreement_are_those_of_the_definition():
    rows = [("F", "cultural", case, n) for case, n in zip("abcd", (0, 1, 2, 0), strict=True)]
    rows += [("P", "cultural", case, n) for case, n in zip("abcd", (0, 2, 3, 1), strict=True)]
    rows += [("L", "cultural", case, n) for case, n in zip("abcd", (1, 0, 2, 0), strict=True)]
    found = agreement_numbers(verdicts(rows))
    assert found["judge_agreement_P_pct"] == 75.0 and found["judge_agreement_L_pct"] == 50.0
    assert found["judge_kappa_P"] == pytest.approx(0.5) and found["judge_kappa_L"] == pytest.approx(0)
    assert found["judge_spearman_P"] == pytest.approx(spearmanr((0, 1, 2, 0), (0, 2, 3, 1)).statistic)
    assert found["judge_kappa_P_within_lo"] == found["judge_kappa_P_within_hi"] == pytest.approx(0.5)
    assert found["n_no_addition_judge_P"] == 1
    assert relevant_shares(verdicts(rows))["cultural"].to_dict() == {"F": 50.0, "L": 50.0, "P": 75.0}
