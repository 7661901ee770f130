"""Appendices C and E to G of `voices`: grids, tables and figures of all conditions and models, from records."""

import numpy as np
import pandas as pd
import pytest
from fabricated import THREE_VOICES, fabricated, from_letters, random_answers
from scipy.stats import binomtest, chi2

from nsh.agreement import mcnemar
from nsh.errors import DataError
from nsh.patterns import from_patterns
from nsh.printed import minus, numbers
from nsh.sections.appendices import (
    ELEVEN,
    PROMPTING,
    accuracy_table,
    answer_counts,
    change_grid,
    leave_one_out,
    nag_table,
    pair_table,
    rewrite_table,
)
from nsh.sections.appendix_figures import heat_map, p_values
from nsh.sections.methods import PRINTED, method_rows

STATISTICS = {"resamples": 50, "seed": 1}


def run(conditions=("direct", "rewrite"), models=("small", "large"), n=40):
    """Records of made-up models under some conditions, on the same questions."""
    frames = [
        fabricated(random_answers(n, 3, 10 * row + column), model=model, condition=condition)
        for row, model in enumerate(models)
        for column, condition in enumerate(conditions)
    ]
    return pd.concat(frames, ignore_index=True)


def accuracies(records, model, condition):
    """Accuracy per voice by its definition."""
    part = records[(records["model"] == model) & (records["condition"] == condition)]
    return [part.loc[part["voice"] == voice, "correct"].mean() for voice in THREE_VOICES]


@pytest.fixture(scope="module")
def counted():
    """Levels of the seven released models under B1 and B3, from the packaged counts."""
    return method_rows(from_patterns(["B1", "B3"]), "B1", resamples=0)


def test_a_grid_holds_the_change_of_the_gap_and_of_accuracy_by_definition():
    records = run()
    rows = method_rows(records, "direct", **STATISTICS)
    gaps, overall = change_grid(rows, "gap", {}), change_grid(rows, "overall", {})
    for model in ("small", "large"):
        before, after = (accuracies(records, model, condition) for condition in ("direct", "rewrite"))
        gap = [values[0] - (values[1] + values[2]) / 2 for values in (before, after)]
        assert gaps.at[model, "rewrite"] == pytest.approx(100 * (gap[0] - gap[1]))
        assert overall.at[model, "rewrite"] == pytest.approx(100 * (np.mean(after) - np.mean(before)))


def test_a_grid_orders_models_by_size_and_ends_in_the_printed_means():
    """`voices` Table 2: gaps .098 and .047, so 5.1 points; change of accuracy +2.2."""
    rows = method_rows(run(models=("unknown", "large", "small")), "direct", **STATISTICS)
    sizes = {"large": 24.0, "small": 3.0}
    gaps = change_grid(rows, "gap", sizes, printed=True)
    assert list(gaps.index) == ["small", "large", "unknown", ELEVEN]
    assert gaps.at[ELEVEN, "rewrite"] == pytest.approx(5.1)
    assert change_grid(rows, "overall", sizes, printed=True).at[ELEVEN, "rewrite"] == pytest.approx(2.2)


def test_the_paper_s_means_are_left_out_where_no_condition_is_the_paper_s(counted):
    assert ELEVEN not in change_grid(counted, "gap", {}, printed=True).index


def test_leaving_out_the_model_that_answers_nothing_turns_the_sign(counted):
    """`facts` Tables 3 and 6: OMR of the seven models under B1 and B3; BioMistral's under B3 is 0."""
    change = 100 * (numbers("facts_table6_b3", "omr") - numbers("facts_table3_b1", "omr"))
    grid = change_grid(counted, "overall", {})
    means = leave_one_out(grid)["B3"]
    assert means["no model left out"] == pytest.approx(change.mean(), abs=0.01) and means["no model left out"] < 0
    without = change.drop("BioMistral-7B").mean()
    assert means["without BioMistral-7B"] == pytest.approx(without, abs=0.01) and without > 0
    assert len(means) == 8


def test_leaving_out_the_only_model_leaves_nothing():
    assert leave_one_out(pd.DataFrame({"B3": [1.0]}, index=["one"]))["B3"].isna().tolist() == [False, True]


def test_the_accuracy_table_has_a_row_per_model_and_condition_and_the_printed_means():
    """`voices` Table 2, B2 CoT: .676, marked .586, overall .616."""
    records = run(conditions=("direct", "cot", "rewrite"))
    rows = method_rows(records, "direct", **STATISTICS)
    block = accuracy_table(rows, records, PROMPTING, "Table 5")
    assert "rewrite" not in block.text
    clinical, socioeconomic, cultural = accuracies(records, "large", "cot")
    (row,) = [line.split() for line in block.text.splitlines() if "large" in line and " cot " in line]
    marked, overall = (socioeconomic + cultural) / 2, (clinical + socioeconomic + cultural) / 3
    expected = [f"{value:.3f}" for value in (clinical, socioeconomic, cultural, marked, overall)]
    assert row[3:] == [*expected, "0"]
    (printed,) = [line for line in block.text.splitlines() if ELEVEN in line and " cot " in line]
    assert printed.split()[-7:] == ["–", "0.676", "–", "–", "0.586", "0.616", "–"]
    assert "nan" not in block.html


def test_answers_without_a_letter_are_counted_where_they_are_known():
    records = run()
    records.loc[(records["model"] == "small") & (records["case"] == "case 3"), "status"] = "empty"
    text = accuracy_table(method_rows(records, "direct", **STATISTICS), records, ["direct"], "Table 5").text
    assert [line.split()[-1] for line in text.splitlines() if "direct" in line] == ["3", "0", "–"]
    counted = from_patterns(["B1"])
    text = accuracy_table(method_rows(counted, "B1", resamples=0), counted, ["B1"], "Table 5").text
    assert "without a letter" not in text


def test_the_nag_table_says_which_intervals_exclude_zero():
    """`facts` Table 3: NAG of Llama-3.1 is 0.151; two questions are too few for an interval above zero."""
    text = nag_table(from_patterns(["B1"]), "Table 7", resamples=200, seed=1).text
    assert text.count(" yes ") == 7
    assert "0.151 [0.1" in text
    assert "no" in nag_table(fabricated([[1, 0, 0], [0, 1, 1]]), "Table 7", **STATISTICS).text.split()
    assert "undefined" in nag_table(fabricated([[1, 0, 0]]), "Table 7", **STATISTICS).text


def test_the_rewrite_table_ends_in_the_printed_means():
    records = run()
    block = rewrite_table(method_rows(records, "direct", **STATISTICS), "Table 4")
    (own,) = [line for line in block.text.splitlines() if line.split()[0] == "small"]
    before = accuracies(records, "small", "direct")
    assert own.split()[2] == f"{before[0] - (before[1] + before[2]) / 2:.3f}"
    (printed,) = [line for line in block.text.splitlines() if ELEVEN in line]
    assert printed.split()[4:] == ["–", "0.098", "0.047", "5.1", "2.2", "0.570", "0.660"]
    assert ELEVEN not in rewrite_table(method_rows(run(("own", "rewrite")), "own", **STATISTICS), "Table 4").text


def test_the_pair_table_is_mcnemar_s_test_of_all_three_pairs():
    """BioMistral, clinical and socioeconomic: 144 and 108 right in one only; p from SciPy's distributions."""
    text = pair_table(from_patterns(["B1"]), "Table 10").text
    assert len(text.splitlines()) == 1 + 21
    (row,) = [line for line in text.splitlines() if "BioMistral-7B      clinical socioeconomic" in line]
    p, exact = chi2.sf((144 - 108 - 1) ** 2 / (144 + 108), 1), binomtest(108, 252).pvalue
    assert row.split()[4:] == ["144", "108", minus(f"{p:.1e}"), minus(f"{exact:.1e}"), "no"]


def test_answers_are_counted_per_condition_and_voice():
    records = pd.concat([from_letters([list("ABB")], model="a"), from_letters([["A", "B", None]], model="b")])
    counts = answer_counts(records, "ABCD")
    assert counts.loc["direct, clinical"].to_dict() == {"A": 2, "B": 0, "C": 0, "D": 0, "no letter": 0}
    assert counts.loc["direct, cultural", ["B", "no letter"]].tolist() == [1, 1]
    assert list(counts.index) == [f"direct, {voice}" for voice in THREE_VOICES]
    assert answer_counts(records.iloc[:0], "AB").empty


def test_the_heat_map_writes_every_number_and_says_what_is_missing():
    values = pd.DataFrame({"extract_tools": [-7.1, np.nan], "rewrite": [2.2, 0.0]}, index=["model $x$", "b"])
    figure = heat_map(values, "Change (points)")
    assert figure.get_label() == (
        "Change (points). model $x$: extract_tools −7.1, rewrite +2.2; b: extract_tools n = 0, rewrite +0.0."
    )
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["−7.1", "+2.2", "n = 0", "+0.0"]
    assert axes.get_xticklabels()[0].get_text() == "extract tools"
    with pytest.raises(DataError, match="no rows"):
        heat_map(pd.DataFrame(), "Change")


def test_a_map_of_nothing_but_missing_numbers_is_drawn():
    assert "n = 0" in heat_map(pd.DataFrame({"a": [np.nan]}, index=["m"]), "Change").get_label()


def test_p_values_are_drawn_against_their_levels():
    tests = mcnemar(from_patterns(["B1"]))
    figure = p_values(tests, {"model": 0.05 / 3, "all": 0.05 / 14}, "clinical")
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert "BioMistral-7B: clinical, socioeconomic 2.7e−02" in figure.get_label()
    assert [entry.get_text() for entry in figure.legends[0].get_texts()] == [
        "clinical, socioeconomic",
        "clinical, cultural",
        "socioeconomic, cultural",
        "model",
        "all",
    ]


def test_the_conditions_stand_in_the_paper_s_order():
    assert tuple(PRINTED)[:4] == PROMPTING
