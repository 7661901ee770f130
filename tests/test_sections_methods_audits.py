"""Audits of a scripted run's intermediates, and controls on subsets, against counts made by hand or by brute force."""

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers

from nsh.audits import audit_frame
from nsh.cases import load_cases
from nsh.opening import open_page
from nsh.sections import method_audits as audits
from nsh.sections import method_controls as controls


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSH_STORE", str(tmp_path_factory.mktemp("store")))
        patch.delenv("NSH_RELEASED_DIR", raising=False)
        opened = open_page("voices-h-audits", models=["scripted"], n_cases=3, resamples=20)
        assert len(opened.records)
        yield opened


def row(voice, intermediate, case="1", narrative="My head hurts.", model="m", condition="rewrite"):
    texts = {"narrative": narrative, "intermediate": intermediate, "original": "A 53-year-old. Pulse is 88/min."}
    return {"model": model, "condition": condition, "case": case, "voice": voice, **texts}


def test_every_intermediate_of_the_run_is_audited_and_joined_to_its_answer(study):
    """The scripted model echoes its last message, so all listed facts of the account are found in what it makes."""
    frame = audits.audited(study, ["rewrite", "extract"])
    assert len(frame) == 18 and frame["recall"].eq(1).all()
    merged = study.records.set_index(["condition", "case", "voice"])["correct"]
    keys = pd.MultiIndex.from_frame(frame[["condition", "case", "voice"]])
    assert (frame["correct"].to_numpy() == merged.loc[keys].to_numpy()).all()
    assert audits.audited(open_page("voices-h-audits", models=[], n_cases=2), ["rewrite"]).empty


def test_recall_stands_above_that_of_the_accounts(study):
    recall = audits.recall_by_voice(audits.audited(study, ["rewrite"]), study.cases)
    assert recall.index.to_list() == ["Rewrite-then-Reason, scripted", "the account itself"]
    assert list(recall) == ["clinical", "socioeconomic", "cultural"]
    numbers = audits.recall_numbers(audits.audited(study, ["extract"]), study.records)
    assert numbers["schema_recall"] == 1 and numbers["lossless_extractions_pct"] == 100
    assert numbers["extractions_parse_pct"] == 0
    assert "95.9" in str(audits.parse_table(study.records, list(recall)))
    assert "0.0" in str(audits.parse_table(study.records, list(recall))).splitlines()[1]


def test_numbers_of_section_8_by_hand():
    """Of two marked rewrites one invents age 45 (8 years off 53) and pulse 88, which the original states."""
    texts = ["A patient with a headache.", "A 45-year-old with a headache, pulse 88/min.", "A patient with a headache."]
    rows = [row(voice, text) for voice, text in zip(("clinical", "socioeconomic", "cultural"), texts, strict=True)]
    frame = audit_frame(rows).assign(recall=[1.0, 0.5, 0.5], correct=[True, False, False])
    records = fabricated([[1, 0, 0]], cases=["1"], model="m", condition="rewrite")
    numbers = audits.section8(frame, records, "clinical", resamples=20, seed=1)
    assert numbers["invented_age_pct"] == 50 and numbers["invented_age_error_years"] == 8
    shares = [numbers[f"invented_value_{voice}_pct"] for voice in ("clinical", "socioeconomic", "cultural")]
    assert shares == [0, 100, 0] and numbers["invented_matches_original_pct"] == 100
    assert numbers["invention_rate_lo_pct"] == numbers["invention_rate_hi_pct"] == 50
    assert numbers["rewrite_nag_lo"] == 1 and numbers["words_rewrite_clinical"] == 5
    text = str(audits.invention_table(frame, "Rewrites"))
    assert "100.0" in text and "nan" not in text and text.splitlines()[1].split()[2] == "clinical"
    assert audits.section8(frame[:0], records, "clinical") == {}


def test_the_original_as_rewrite_shows_the_room_for_invention():
    cases = load_cases("samples", 3)
    room = audits.originals(cases)
    assert len(room) == 9 and set(room["words"]) == {len(case.original.split()) for case in cases}
    shares = audits.shares_by_voice([room], "n_invented")
    assert list(shares) == ["clinical", "socioeconomic", "cultural"]
    made = audits.shares_by_voice(
        [audit_frame([row("cultural", "Pulse 88."), row("cultural", "Pain.", "2")])], "n_invented"
    )
    assert made.at["m", "cultural"] == 50


def test_changes_on_a_subset_are_means_over_its_questions():
    names = ("direct", "extract", "rewrite")
    records = pd.concat([fabricated(random_answers(12, 3, place), condition=name) for place, name in enumerate(names)])
    half = pd.Series({case: number % 2 == 0 for number, case in enumerate(sorted(records["case"].unique()))})
    found = controls.control_means(records, {"half": half}, resamples=20, seed=1)
    part = records[records["case"].map(half)]
    right = part.groupby(["condition", "voice"])["correct"].mean().unstack()
    marked = right[["socioeconomic", "cultural"]].mean(axis=1)
    gaps = right["clinical"] - marked
    assert found.at[("gap, rewrite", "half"), "mean"] == pytest.approx(gaps["rewrite"])
    assert found.at[("gap reduction", "half"), "mean"] == pytest.approx(100 * (gaps["direct"] - gaps["rewrite"]))
    assert found.at[("marked gain", "half"), "mean"] == pytest.approx(100 * (marked["rewrite"] - marked["direct"]))
    advantage = 100 * (right.loc["rewrite"].mean() - right.loc["extract"].mean())
    assert found.at[("rewrite less schema", "half"), "mean"] == pytest.approx(advantage)
    text = str(controls.control_table(found, {"gap, rewrite": ".3f", "marked gain": ".1f"}, "Subsets"))
    assert "half" in text and "nan" not in text


def test_section_7_5_names_its_subsets_and_counts_the_texts():
    cases = load_cases("samples")
    subsets = controls.control_subsets(cases, "clinical")
    records = pd.concat(
        [fabricated([[1, 1, 0]] * 24, condition=name, cases=[c.id for c in cases]) for name in ("direct", "rewrite")]
    )
    numbers = controls.section75(controls.control_means(records, subsets, resamples=10), cases, "clinical")
    held = [
        all(case.question.casefold() in case.narratives[v].casefold() for v in ("socioeconomic", "cultural"))
        for case in cases
    ]
    assert numbers["n_question_verbatim"] == pytest.approx(sum(held), abs=1)
    assert numbers["rewrite_gap_subsets_lo"] == numbers["rewrite_gap_subsets_hi"] == 0.5
    assert ("verbatim_gap_reduction_points" in numbers) == bool(np.any(held))
    none = controls.section75(controls.control_means(records[:0], {}), cases, "clinical")
    assert "rewrite_gap_subsets_lo" not in none and "question_verbatim_cultural_pct" in none
