"""The pages of sdoh: tables recomputed from printed numbers, against SciPy, the paper's digits and brute force."""

from itertools import pairwise
from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters, random_answers
from made_cases import make_cases
from scipy.stats import binomtest
from test_notebooks import NOTEBOOKS

from nsh.comparison import compare_printed
from nsh.jobs import Settings
from nsh.models import known
from nsh.outcomes import case_outcomes
from nsh.patterns import from_patterns
from nsh.printed import number, published
from nsh.sections import sdoh, sdoh_design, sdoh_statistics

KEY = ["model", "condition"]
QWEN = [f"Qwen2.5-{size}-Instruct" for size in ("1.5B", "3B", "7B")]


@pytest.fixture(scope="module")
def printed():
    return sdoh.printed_outcomes()


@pytest.fixture(scope="module")
def records():
    return sdoh.printed_records()


@pytest.fixture(scope="module")
def from_printed(records):
    return case_outcomes(records, resamples=0)


def test_the_printed_numbers_are_proportions_of_300_cases(printed):
    assert len(printed) == 9 and set(printed["n"]) == {300}
    four = ["stable_correct", "stable_wrong", "narrative_sensitive", "unstable_wrong"]
    assert np.allclose(printed[four].sum(axis=1), 1, atol=2e-4)
    assert (printed["correct_cc"] == printed["stable_correct"]).all()
    assert list(printed["condition"][:3]) == ["zero_shot", "few_shot", "bias_aware"]


@pytest.mark.parametrize("measure", ["accuracy", "cc", "correct_cc", "nse", "stable_wrong", "unstable_wrong"])
def test_table_3_follows_from_table_4_and_the_accuracy(printed, from_printed, measure):
    """Half a unit of the last printed digit: 0.005 points."""
    both = printed.merge(from_printed, on=KEY, suffixes=("_printed", ""))
    assert np.allclose(both[measure], both[f"{measure}_printed"], atol=5.1e-5)


def test_every_reconstructed_case_has_three_answers_and_the_right_number_of_right_ones(records):
    sizes = records.groupby([*KEY, "case"]).size()
    assert (sizes == 3).all() and len(sizes) == 2700
    seven = records.query("model == 'Qwen2.5-7B-Instruct' and condition == 'zero_shot'")
    right = seven.groupby("case")["correct"].sum().value_counts()
    assert right.to_dict() == {3: 121, 0: 83, 2: 48, 1: 48}  # 363 + 96 + 48 = 507 = 900 × 0.5633


def test_a_table_puts_printed_rows_below_ours_of_the_same_model_and_prompt(printed):
    ours = case_outcomes(from_letters([["A", "A", "B"], ["B", "B", "B"]], model=QWEN[2], condition="few_shot"), 20)
    lines = sdoh.shares_table({"this run": ours, "as printed": printed}, sdoh.MEASURES, "Table III").text.splitlines()
    assert "few-shot" in lines[1] and "this run" in lines[1] and "33.33 [0.00, 66.67]" in lines[1]
    assert "few-shot" in lines[2] and "as printed" in lines[2] and "55.78 [52.56, 59.22]" in lines[2]
    assert len(lines) == 11 and lines[2].split()[-1] == "33.67"


def test_what_needs_letters_says_so_and_an_empty_run_leaves_the_printed_rows(printed):
    counted = case_outcomes(from_patterns(["B1"]), resamples=0)
    text = sdoh.shares_table({"released": counted}, sdoh.MEASURES, "Table III").text
    assert text.count("needs letters") == 7 and "38.00" in text  # NSE of Llama-3.1-8B: 380 of 1,000
    empty = case_outcomes(from_letters([]), resamples=0)
    assert (
        len(sdoh.shares_table({"this run": empty, "as printed": printed}, sdoh.MEASURES, "x").text.splitlines()) == 10
    )


def test_an_undefined_share_is_said_in_words():
    alone = case_outcomes(from_letters([["A"]], voices=["clinical"]), resamples=0)
    assert sdoh.shares_table({"this run": alone}, {"nse": "NSE"}, "x").text.split()[-1] == "undefined"
    assert sdoh.span(alone, "nse") == "not to be had here"


def test_stacked_bars_fill_each_row_and_join_what_letters_would_tell_apart(printed):
    counted = case_outcomes(from_patterns(["B1"]), resamples=0)
    figure = sdoh.outcome_bars({"released": counted, "as printed": printed})
    (axes,) = figure.axes
    ends = {}
    for bar in axes.patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0), bar.get_x() + bar.get_width())
    assert len(ends) == 16 and np.allclose(list(ends.values()), 100, atol=0.02)
    assert "wrong in all voices 17.3" in figure.get_label().split("; ")[0]  # 100 − 44.7 − 38.0


def test_figure_2_draws_ours_filled_and_the_printed_hollow():
    ours = case_outcomes(from_letters([["A", "A", "A"], ["A", "B", "B"]], model="m", condition="zero_shot"), 0)
    label = sdoh.outcome_dots(ours, {"accuracy": "accuracy", "cc": "CC"}).get_label()
    assert "m, zero-shot: accuracy 66.67, CC 50.00;" in label
    assert "Qwen2.5-3B-Instruct, few-shot: accuracy (printed 42.67), CC (printed 39.00)" in label


def test_table_5_against_scipy():
    for row in sdoh_statistics.table5().itertuples():
        assert row.p == pytest.approx(binomtest(row.b, row.b + row.c).pvalue)
        assert row.points == pytest.approx(row.table3_points, abs=0.011)  # two printed accuracies, each ± 0.005
    assert sdoh_statistics.table5_table().text.count("✓") == 6


def test_table_6_by_trying_every_pair_of_counts():
    """The p grows with the number of discordant answers, so none beyond 200 of them can give it again."""
    accuracy = sdoh.printed_outcomes().set_index(KEY)["accuracy"]
    for row in sdoh_statistics.table6().itertuples():
        apart = round(900 * (accuracy[row.model, "bias_aware"] - accuracy[row.model, "zero_shot"]))
        totals = range(abs(apart), 201, 2)
        found = [n for n in totals if compare_printed(binomtest((n - apart) // 2, n).pvalue, row.p_value)]
        assert row.b + row.c == found[0] and row.c - row.b == apart
        assert row.n_pairs == len(found) or apart == -1  # for these every pair gives p = 1
    text = sdoh_statistics.table6_table().text
    assert "47 and 60" in text and "450 pairs give it" in text


def test_half_widths_against_the_normal_approximation(records):
    widths = sdoh_statistics.half_widths(2000, seed=42)
    right = records.groupby([*KEY, "case"])["correct"].sum()
    for row in widths.itertuples():
        of = right[row.model, row.condition] / 3
        answers = 196 * (of.mean() * (1 - of.mean()) / 900) ** 0.5
        assert row.accuracy_answers == pytest.approx(answers, abs=0.1)
        assert row.accuracy_printed == pytest.approx(answers, abs=0.15)
        assert row.accuracy_cases == pytest.approx(196 * of.std() / 300**0.5, abs=0.3)
    assert (widths["accuracy_cases"] > widths["accuracy_printed"] + 0.7).all()


def test_sizes_of_one_family_are_compared_with_the_next():
    models = [known()[name] for name in (QWEN[2], "gemma-3-12b-it", QWEN[0], QWEN[1], "Phi-4-mini-instruct")]
    assert sdoh_statistics.size_pairs(models) == list(pairwise(QWEN))


def test_a_paired_test_against_its_definition():
    first, second = random_answers(40, 3, seed=1), random_answers(40, 3, seed=2)
    records = pd.concat([fabricated(first, condition="a"), fabricated(second, condition="b")])
    row = sdoh_statistics.paired_tests(records, [("a", "b"), ("a", "absent")], resamples=2000).iloc[0]
    b, c = int((first & ~second).sum()), int((~first & second).sum())
    assert (row["n"], row["b"], row["c"]) == (120, b, c)
    assert row["p"] == pytest.approx(binomtest(b, b + c).pvalue)
    change = second.astype(int) - first
    assert row["points"] == pytest.approx(100 * change.mean())
    assert row["rows_hi"] - row["points"] == pytest.approx(196 * change.std() / 120**0.5)
    by_case = change.mean(axis=1)
    assert row["cases_hi"] - row["cases_lo"] == pytest.approx(2 * 196 * by_case.std() / 40**0.5, rel=0.1)


def test_two_sizes_are_compared_within_a_prompt():
    parts = [fabricated(random_answers(9, 3, n), model=name, condition="few_shot") for n, name in enumerate(QWEN)]
    tests = sdoh_statistics.all_tests(pd.concat(parts), known().values(), [], resamples=10)
    assert tests[["within", "first", "second"]].to_numpy().tolist() == [["few_shot", *pair] for pair in pairwise(QWEN)]
    assert "few-shot" in sdoh_statistics.differences_table(tests, "x").text


def test_counts_without_a_link_and_an_empty_run_are_said_in_a_box():
    counts = from_patterns(["B1", "B3"]).query("model in ['Llama-3.2-3B-Instruct', 'Llama-3.1-8B-Instruct']")
    for records in (counts, from_letters([])):
        tests = sdoh_statistics.all_tests(records, known().values(), [("B1", "B3")], resamples=10)
        assert tests.empty and "nsh data pull" in sdoh_statistics.differences_table(tests, "x").text


@pytest.mark.parametrize(("p", "text"), [(0.5, "0.500000"), (2e-7, "2.0e-07"), (0.0, "<1e-300"), (np.nan, "undefined")])
def test_a_p_as_text(p, text):
    row = {"within": "m", "first": "a", "second": "b", "n": 3, "b": 1, "c": 0, "p": p, "points": 1.0}
    row |= dict.fromkeys(("rows_lo", "rows_hi", "cases_lo", "cases_hi"), 0.0)
    assert text in sdoh_statistics.differences_table(pd.DataFrame([row]), "x").text


def made_study(n_models):
    """What the design page reads of a study."""
    values, settings = {"quantization": None, "dtype": "float32"}, Settings(max_new_tokens=64)
    cases, models = make_cases(2), [None] * n_models
    records = range(n_models * sum(len(case.narratives) for case in cases))
    names = {"cases": cases, "models": models, "conditions": ["few_shot"], "records": records}
    return SimpleNamespace(**names, values=values, settings=settings)


def test_the_printed_design_multiplies_out():
    text = published("sdoh_text").set_index("id")["printed"].map(number)
    assert text["n_cases"] * text["n_voices"] == text["n_rows"]
    assert text["n_rows"] * text["n_prompts"] == text["responses_per_model"]
    assert text["responses_per_model"] * text["n_models"] == text["n_responses"]


@pytest.mark.parametrize("n_models", [0, 2])
def test_the_design_of_a_run_multiplies_out_too(n_models):
    study = made_study(n_models)
    counts = sdoh_design.design_counts(study)
    assert counts["n_responses"] == n_models * counts["responses_per_model"]
    assert counts["n_rows"] == counts["n_cases"] * counts["n_voices"]
    lines = sdoh_design.design_table(study).text.splitlines()
    assert lines[-2].split()[-2:] == ["120", "64"] and lines[-1].endswith("none (float32)")


def test_table_1_counts_the_words_that_are_sent():
    (case,) = make_cases(1)
    voice = next(iter(case.narratives))
    text = sdoh_design.prompts_table(case, voice).text
    assert "Ignore writing style or patient background unless clinically relevant." in text
    sent = {line.split()[0]: int(line.partition(".")[2].split()[0]) for line in text.splitlines()[1:3]}
    assert sent["few-shot"] > sent["zero-shot"] > len(case.narratives[voice].split())


@pytest.mark.parametrize("slug", ["sdoh-03-design", "sdoh-05-results", "sdoh-05-statistics"])
def test_pages_name_their_tables_and_type_no_printed_result(slug):
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOKS / f"{slug}.ipynb", 4).cells)
    assert "Table" in text and "{cite}`sdoh`" in text
    numbers = published("sdoh_table3_main").iloc[:, 2:].to_numpy().ravel()
    assert not [printed for printed in numbers if printed in text]
