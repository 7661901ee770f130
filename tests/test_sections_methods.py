"""Levels and changes of methods against brute force, and their tables beside the printed Table 2 of `voices`."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters, random_answers

from nsh.errors import ParameterError
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.sections import method_numbers, method_tables, methods

QUIET = {"resamples": 40, "seed": 1}


@pytest.fixture(scope="module")
def run():
    """Two models under three conditions, 30 cases in three voices."""
    parts = [
        fabricated(random_answers(30, 3, 10 * number + place), model=model, condition=condition)
        for number, model in enumerate(("a", "b"))
        for place, condition in enumerate(("direct", "extract", "rewrite"))
    ]
    return pd.concat(parts, ignore_index=True)


def test_levels_and_changes_are_those_of_the_means(run):
    rows = methods.method_rows(run, **QUIET)
    right = run.pivot_table(index=["model", "condition"], columns="voice", values="correct", aggfunc="mean")
    marked = right[["socioeconomic", "cultural"]].mean(axis=1)
    assert rows.index.to_list() == [(m, c) for m in "ab" for c in ("direct", "extract", "rewrite")]
    for key, row in rows.iterrows():
        gap = right.at[key, "clinical"] - marked[key]
        before = right.at[(key[0], "direct"), "clinical"] - marked[(key[0], "direct")]
        assert row["gap"] == pytest.approx(gap) and row["delta_gap"] == pytest.approx(gap - before)
        assert row["overall"] == pytest.approx(right.loc[key].mean()) and row["n"] == 30


def test_means_over_models_have_the_units_of_table_2(run):
    rows, means = methods.method_rows(run, **QUIET), methods.condition_means(run, **QUIET)
    rewrite = rows.xs("rewrite", level="condition")
    assert means.at["rewrite", "delta_acc_points"] == pytest.approx(100 * rewrite["delta_overall"].mean())
    assert means.at["rewrite", "broken_pct"] == pytest.approx(100 * rewrite["broken"].mean())
    assert means.at["rewrite", "pooled_effect_points"] == pytest.approx(-100 * rewrite["gap"].mean())
    smaller = (rewrite["gap_reduction_lo"] > 0).sum()
    assert means.at["rewrite", "gap_significantly_smaller_models"] == f"{smaller}/2"
    assert means.loc["direct"].isna()[["delta_acc_points", "recovered_pct", "models_better"]].all()
    assert set(published("voice_table2_conditions")) <= {"condition", *means}


def test_a_changed_letter_changes_the_table(run):
    changed = run.copy()
    changed.loc[changed["condition"] == "rewrite", "correct"] = True
    before, after = (str(_table(methods.condition_means(records, **QUIET))) for records in (run, changed))
    assert before != after and "1.000" in after


def _table(means):
    return method_tables.table2(means, ["direct", "rewrite"], "clinical", "Table 2")


def test_printed_rows_stand_below_ours_and_missing_numbers_are_dashes(run):
    text = str(_table(methods.condition_means(run, **QUIET))).splitlines()
    assert "this run" in text[1] and "as printed" in text[2] and "−4.7 [−5.7, −3.8]" in text[4]
    assert "nan" not in "".join(text) and ".098" in text[2]
    only_printed = str(_table(methods.condition_means(run[:0])))
    assert "this run" not in only_printed and "56.8 / 19.8" in only_printed


def test_pattern_counts_give_levels_and_no_transitions():
    """Overall accuracies of B1 and B3 are those that `facts` Tables 3 and 6 print."""
    rows = methods.method_rows(from_patterns(["B1", "B3"]), "B1", resamples=0)
    for condition, table in (("B1", "facts_table3_b1"), ("B3", "facts_table6_b3")):
        printed = published(table).set_index("model")["omr"].astype(float)
        ours = rows.xs(condition, level="condition")["overall"]
        assert ours[printed.index].to_numpy() == pytest.approx(printed.to_numpy(), abs=5.1e-5)
    assert rows["recovered"].isna().all() and rows["kappa"].isna().all()
    text = str(method_tables.change_table(rows, "clinical", "B3"))
    assert "(no interval)" in text and "–" in text and "nan" not in text


def test_released_models_that_never_answer_are_left_out():
    real = methods.real_methods(SimpleNamespace(released=None))
    assert real["condition"].value_counts().to_dict() == {"B1": 21000, "B3": 21000, "B2": 6000}
    assert "BioMistral-7B" not in set(methods.answering(real)["model"])


def test_only_cases_that_every_condition_answered_are_compared(run):
    short = run.drop(run[(run["condition"] == "rewrite") & (run["case"] > "case 2")].index)
    study = SimpleNamespace(records=pd.concat([short, run[:3].assign(model=methods.WITHOUT_INTERMEDIATES)]))
    kept = methods.mitigation_records(study)
    assert set(kept["case"]) == set(short.loc[short["condition"] == "rewrite", "case"])
    assert kept.groupby(["model", "condition"])["case"].nunique().nunique() == 1


def test_a_baseline_that_is_in_no_record_is_refused(run):
    with pytest.raises(ParameterError, match="baseline 'cot'"):
        methods.method_rows(run, "cot", **QUIET)


def test_section_7_2_counts_and_differences(run):
    numbers = method_numbers.section72(run, [], {"a": 1.0, "b": 2.0}, reference="clinical", **QUIET)
    right = run.groupby(["model", "condition", "voice"])["correct"].mean()
    moved = [right[m, "rewrite", "cultural"] - right[m, "direct", "cultural"] for m in "ab"]
    assert numbers["rewrite_cultural_points"] == pytest.approx(100 * np.mean(moved))
    assert numbers["rewrite_marked_better_models"].endswith("of 2")
    assert "rewrite_below_cot_debias_points" not in numbers and np.isnan(numbers["cot_clinical_points"])
    text = str(method_tables.numbers_table(numbers, r"7\.[12]", "Numbers"))
    assert "nan" not in text and "not computed" in text


def test_section_7_3_on_all_cases_and_where_everything_parses(run):
    numbers = method_numbers.section73(run, reference="clinical", **QUIET)
    right = run.groupby(["model", "condition"])["correct"].mean()
    above = [right[m, "rewrite"] - right[m, "extract"] for m in "ab"]
    assert numbers["rewrite_above_schema_points"] == pytest.approx(100 * np.mean(above))
    assert numbers["rewrite_above_schema_models"] == f"{sum(value > 0 for value in above)} of 2"
    assert "rewrite_above_schema_parsed_points" not in numbers
    parsed = run.assign(extraction=np.where(run["condition"] == "extract", "ok", None))
    parsed.loc[(parsed["condition"] == "extract") & (parsed["case"] != "case 7"), "extraction"] = "none"
    assert set(method_numbers.where_parsed(parsed)["case"]) == {"case 7"}
    assert method_numbers.section73(run[:0]) == {}


def test_tools_are_judged_where_they_were_called():
    """Two of six answers have a tool; one of them is right with it and none without: 50 points."""
    tools = fabricated([[1, 0, 0], [1, 1, 1]], condition="extract_tools")
    tools["tools"] = pd.Series([("curb65",), ("drug_kb",), (), (), (), ()])
    reason = fabricated([[0, 0, 0], [1, 1, 1]], condition="extract_reason")
    records = pd.concat([tools, reason, fabricated([[1, 1, 0], [1, 1, 1]])], ignore_index=True)
    used = method_numbers.tool_effect(records)
    assert used.loc["model", ["n", "n_fired", "without", "with", "points"]].to_list() == [6, 2, 0.0, 0.5, 50.0]
    numbers = method_numbers.section74(records, reference="clinical", **QUIET)
    assert numbers["tools_loss_points"] == -50 and numbers["tools_fire_pct"] == pytest.approx(100 / 3)
    assert numbers["tools_worse_models"] == 1
    assert "33.3" in str(method_tables.tools_table(records)) and "50.0" in str(method_tables.effect_table(records))
    assert method_tables.tools_table(reason) is method_tables.effect_table(reason) is None


def test_the_page_says_what_was_not_run():
    study = SimpleNamespace(models=[], values={"source": "samples"}, slug="voices-07-schema", released=None)
    assert "nsh run voices-07-schema -f params/paper.yaml" in str(method_tables.needs_gpu(study))
    study.values = {"source": "released", "models": ["SmolLM2-135M-Instruct"]}
    assert "were not run" in str(method_tables.needs_gpu(study))
    study.values = {"source": "released", "models": ["Qwen2.5-7B-Instruct"]}
    assert "were run here" in str(method_tables.needs_gpu(study))
    assert "nsh data pull" in str(method_tables.logs_table(study))


def test_kappa_is_the_mean_over_the_pairs_of_the_reference():
    letters = [["A", "A", "B"], ["B", "B", "A"], ["C", "C", "C"], ["A", "B", "A"]]
    rows = methods.method_rows(from_letters(letters), **QUIET)
    pairs = methods.kappa(from_letters(letters)).query("voice_a == 'clinical'")["kappa"]
    assert rows["kappa"].iloc[0] == pytest.approx(pairs.mean())


def test_the_effect_of_the_instruction_follows_from_the_printed_tables():
    """`facts` Tables 3 and 6 print OMR per voice for the models; BioMistral's B3 has no answer at all."""
    gaps = {}
    for name in ("facts_table3_b1", "facts_table6_b3"):
        omr = published(name).set_index("model")[["omr_clinical", "omr_socioeconomic", "omr_cultural"]].astype(float)
        omr = omr.drop(index="BioMistral-7B")
        gaps[name] = (omr["omr_clinical"] - (omr["omr_socioeconomic"] + omr["omr_cultural"]) / 2).mean()
    effect = methods.condition_means(methods.answering(from_patterns(["B1", "B3"])), "B1", resamples=0)
    assert effect["n_models"].tolist() == [6, 6]
    assert effect["gap"].tolist() == pytest.approx(list(gaps.values()), abs=1e-9)
