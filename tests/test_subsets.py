"""Means of subsets of questions against their definitions and a plain loop over the same resamples."""

from math import isnan

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers

from nsh.errors import DataError, ParameterError
from nsh.patterns import from_patterns
from nsh.resampling import resamples_of
from nsh.subsets import question_means, subset_means

pytestmark = pytest.mark.filterwarnings("error")

CASES = list("abcdefgh")
VALUES = pd.Series([0.5, 0.0, 1.0, -0.5, 0.0, 0.25, 0.75, -1.0], index=CASES)


def among(*cases):
    """The subset of some cases."""
    return pd.Series({case: case in cases for case in CASES})


def test_question_means_by_hand():
    records = pd.concat(
        [
            fabricated([[1, 0, 1], [1, 1, 1]], cases=["q1", "q2"], model="m1"),
            fabricated([[1, 0, 0], [0, 1, 0]], cases=["q1", "q2"], model="m2"),
        ]
    )
    found = question_means(records)
    assert found.index.tolist() == ["q1", "q2"] and found.index.name == "case"
    assert found.to_dict("list") == {
        "clinical": [1, 0.5],
        "socioeconomic": [0, 1],
        "cultural": [0.5, 0.5],
        "marked": [0.25, 0.75],
        "gap": [0.75, -0.25],
        "n_models": [2, 2],
    }


def test_unequal_case_sets_and_a_missing_voice():
    records = pd.concat(
        [
            fabricated([[1, 0, 0], [1, None, 0]], cases=["q1", "q2"], model="m1"),
            fabricated([[1, 1, 1]], cases=["q3"], model="m2"),
            fabricated([[1, 0]], cases=["q1"], model="m3", voices=("clinical", "cultural")),
        ]
    )
    found = question_means(records)
    assert found["gap"].to_dict() == {"q1": 1.0, "q3": 0.0}  # q2 and all of m3 lack a voice
    assert found["n_models"].to_dict() == {"q1": 1, "q3": 1}


@pytest.mark.parametrize("voices", [("plain", "rural"), ("plain", "a", "b", "c", "d")])
def test_two_voices_and_five_voices(voices):
    answers = random_answers(6, len(voices), seed=1)
    found = question_means(fabricated(answers.tolist(), voices=voices), reference="plain")
    assert found["gap"].tolist() == pytest.approx((answers[:, 0] - answers[:, 1:].mean(axis=1)).tolist())


def test_the_mean_of_the_gaps_is_the_gap():
    # `facts` Table 3, B1, Llama-3.1-8B-Instruct: OMR 0.7290, 0.6180, 0.5780
    records = from_patterns(["B1"])
    found = question_means(records[records["model"] == "Llama-3.1-8B-Instruct"])
    assert found["gap"].mean() == pytest.approx(0.7290 - (0.6180 + 0.5780) / 2)


def test_no_records_several_conditions_and_an_unknown_reference():
    assert question_means(fabricated([])).empty
    with pytest.raises(ParameterError, match=r"records of 3 conditions \(B1, B2, B3\): give those of one"):
        question_means(from_patterns())
    with pytest.raises(ParameterError, match="'plain' is in no record"):
        question_means(fabricated([[1, 0, 1]]), reference="plain")
    with pytest.raises(DataError, match="records lack the column 'case'"):
        question_means(fabricated([[1, 0, 1]]).drop(columns="case"))


def test_means_and_intervals_equal_a_plain_loop_over_the_same_resamples():
    subsets = {"first": among("a", "b", "c", "d"), "overlapping": among("c", "d", "e", "f", "g")}
    found = subset_means(VALUES, subsets, {"difference": ("first", "overlapping")}, resamples=300, seed=5)
    draws = {name: [] for name in (*subsets, "difference")}
    for counts in resamples_of(8, 300, 5):
        drawn = VALUES.repeat(counts.astype(int))
        means = [drawn[subset[drawn.index].to_numpy()].mean() for subset in subsets.values()]
        for name, number in zip(draws, [*means, means[0] - means[1]], strict=True):
            draws[name].append(number)
    bounds = [np.nanpercentile(numbers, [2.5, 97.5]) for numbers in draws.values()]
    assert found[["lo", "hi"]].to_numpy() == pytest.approx(np.array(bounds))
    assert found["mean"].tolist() == pytest.approx([0.25, 0.3, -0.05])
    assert found[["subset", "n", "note"]].values.tolist() == [
        ["first", 4, ""],
        ["overlapping", 5, ""],
        ["difference", 9, ""],
    ]


def test_a_subset_of_all_has_the_interval_of_the_mean():
    found = subset_means(VALUES, {"all": among(*CASES)}).iloc[0]
    means = resamples_of(8, 2000, 0) @ VALUES.to_numpy() / 8
    assert [found["lo"], found["hi"]] == pytest.approx(np.percentile(means, [2.5, 97.5]).tolist())


def test_the_order_of_the_questions_and_the_other_subsets_do_not_matter():
    subsets = {"one": among("a", "b", "c"), "two": among("d", "e")}
    found = subset_means(VALUES, subsets)
    shuffled = subset_means(
        VALUES[::-1], {name: subsets[name].sample(frac=1, random_state=1) for name in ("two", "one")}
    )
    pd.testing.assert_frame_equal(shuffled[::-1].reset_index(drop=True), found)


def test_n_0_and_n_1_are_said():
    subsets = {"none": among(), "one": among("c"), "two": among("a", "b")}
    differences = {"two - one": ("two", "one"), "none - two": ("none", "two")}
    found = subset_means(VALUES, subsets, differences).set_index("subset")
    assert found["n"].to_dict() == {"none": 0, "one": 1, "two": 2, "two - one": 3, "none - two": 2}
    assert found["note"].to_dict() == {
        "none": "n = 0",
        "one": "n = 1: interval undefined",
        "two": "",
        "two - one": "n = 1: interval undefined",
        "none - two": "n = 0",
    }
    assert found.loc["two - one", "mean"] == -0.75
    assert found["mean"].isna().tolist() == [True, False, False, False, True]
    assert found["lo"].isna().tolist() == [True, True, False, True, True]


def test_no_questions_at_all():
    found = subset_means(VALUES[:0], {"all": among(*CASES)}).iloc[0]
    assert found["n"] == 0 and isnan(found["mean"]) and found["note"] == "n = 0"


def test_missing_values_and_cases_that_a_subset_does_not_name_are_left_out():
    values = VALUES.where(VALUES.index != "a")
    named = pd.Series({"a": True, "b": True, "c": True, "z": True})
    unknown = pd.Series({"b": True, "c": pd.NA}, dtype="boolean")
    found = subset_means(values, {"named": named, "unknown": unknown})
    assert found["n"].tolist() == [2, 1] and found["mean"].tolist() == [0.5, 0.0]


def test_equal_values_have_an_interval_of_no_width():
    found = subset_means(VALUES * 0 + 0.5, {"some": among("a", "b", "c")}).iloc[0]
    assert found[["mean", "lo", "hi"]].tolist() == [0.5, 0.5, 0.5]


def test_the_gap_reduction_of_two_conditions():
    before = question_means(fabricated([[1, 0, 0], [1, 1, 0]]))
    after = question_means(fabricated([[1, 1, 1], [1, 1, 0]], condition="rewrite"))
    reduction = (before - after)["gap"]
    assert subset_means(reduction, {"all": pd.Series(True, before.index)})["mean"].tolist() == [0.5]


def test_a_difference_of_an_unknown_subset_is_named():
    gaps = pd.Series({"1": 0.5, "2": 0.0})
    with pytest.raises(ParameterError, match="difference of 'lnog': a subset is expected, one of long"):
        subset_means(gaps, {"long": gaps > 0}, {"d": ("long", "lnog")})
