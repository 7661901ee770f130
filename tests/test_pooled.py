"""The pooled effect against pyfixest and a regression with explicit dummies, and the size correlation against SciPy."""

import warnings
from math import isnan

import numpy as np
import pandas as pd
import pyfixest
import pytest
import statsmodels.api as sm
from fabricated import fabricated, random_answers
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.patterns import from_patterns
from nsh.pooled import pooled_effect, size_correlation

pytestmark = pytest.mark.filterwarnings("error")


def several_models(n_models=3, n=14, k=3, drop=0.0, seed=0):
    """Records of several models on the same questions; a share of them is left out."""
    voices = ("clinical", "socioeconomic", "cultural", "rural", "urban")[:k]
    frames = [
        fabricated(random_answers(n, k, seed=seed + 10 * number).tolist(), voices=voices, model=f"m{number}")
        for number in range(n_models)
    ]
    return pd.concat(frames, ignore_index=True).sample(frac=1 - drop, random_state=seed)


def informative(records):
    """Only the answers of questions that a model has in the reference and in a marked voice."""
    groups = [records["model"], records["case"]]
    marked = (records["voice"] != "clinical").groupby(groups)
    return records[(marked.transform("sum") > 0) & ~marked.transform("all")]


def regression(records):
    """Effect and standard error in points by ordinary least squares with a dummy for each question and model."""
    dummies = pd.get_dummies(records["model"] + "|" + records["case"], dtype=float)
    design = dummies.assign(marked=(records["voice"] != "clinical").astype(float))
    cluster = {"groups": pd.factorize(records["case"])[0], "use_correction": False}
    fit = sm.OLS(records["correct"].astype(float), design).fit(cov_type="cluster", cov_kwds=cluster)
    return 100 * fit.params["marked"], 100 * fit.bse["marked"]


def within_regression(records):
    """Effect and interval in points on values demeaned by question and model, with statsmodels' cluster correction."""
    values = records.assign(correct=records["correct"].astype(float), marked=(records["voice"] != "clinical") * 1.0)
    columns = values[["correct", "marked"]]
    demeaned = columns - columns.groupby([values["model"], values["case"]]).transform("mean")
    cluster = {"groups": pd.factorize(records["case"])[0], "use_correction": True}
    fit = sm.OLS(demeaned["correct"], demeaned[["marked"]]).fit(cov_type="cluster", cov_kwds=cluster, use_t=True)
    return 100 * np.array([fit.params["marked"], *fit.conf_int().loc["marked"]])


@pytest.mark.parametrize(("k", "drop"), [(3, 0.0), (2, 0.0), (5, 0.0), (3, 0.15), (5, 0.3)])
def test_equals_a_regression_with_explicit_dummies(k, drop):
    records = several_models(k=k, drop=drop, seed=k)
    found = pooled_effect(records)
    effect, error = regression(records)
    n = informative(records)["case"].nunique()
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)) * error
    assert found.n_questions == n
    assert [found.effect, found.lo, found.hi] == pytest.approx([effect, effect - half, effect + half], abs=1e-8)


@pytest.mark.parametrize(("k", "drop"), [(3, 0.0), (5, 0.3)])
def test_equals_a_regression_on_demeaned_values(k, drop):
    records = several_models(k=k, drop=drop, seed=k)
    found = pooled_effect(records)
    assert [found.effect, found.lo, found.hi] == pytest.approx(
        within_regression(informative(records)).tolist(), abs=1e-8
    )


def test_answers_without_a_counterpart_carry_no_information_and_are_counted():
    whole = fabricated([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    lone = fabricated([[1, None, None], [None, 0, 1]], cases=["lone 1", "lone 2"])
    found, expected = pooled_effect(pd.concat([whole, lone])), pooled_effect(whole)
    assert (found.effect, found.lo, found.hi) == (expected.effect, expected.lo, expected.hi)
    assert (found.n_questions, found.n_records) == (3, 9)
    assert found.note == "3 answers without a counterpart left out" and expected.note == ""


def test_complete_records_have_minus_the_mean_gap():
    records = several_models()
    by_voice = records.groupby("voice")["correct"].mean()
    marked = by_voice.drop("clinical").mean()
    assert pooled_effect(records).effect == pytest.approx(100 * (marked - by_voice["clinical"]))


def test_seven_released_models(released):
    """Measured beforehand on the released B1 answers: -8.73 [-10.20, -7.26]."""
    from nsh.released import load_released

    found = pooled_effect(load_released(released, conditions=("B1",)))
    assert [found.effect, found.lo, found.hi] == pytest.approx([-8.73, -10.20, -7.26], abs=0.005)
    assert (found.n_questions, found.n_models, found.n_records, found.note) == (1000, 7, 21000, "")


def test_equals_pyfixest_on_the_released_answers(released):
    """The fixed effects are nested in the clusters and not counted: ssc(k_fixef="none").

    pyfixest's own default counts one for all nested effects: (N - 1) / (N - 2), 0.00002 points more.
    """
    from nsh.released import load_released

    records = load_released(released, conditions=("B1",))
    frame = pd.DataFrame(
        {
            "correct": records["correct"].astype(float),
            "marked": (records["voice"] != "clinical").astype(float),
            "case": records["case"],
            "case_model": records["case"] + "|" + records["model"],
        }
    )
    corrections = pyfixest.ssc(k_fixef="none"), pyfixest.ssc()
    with warnings.catch_warnings(action="ignore"):  # pandas 3.1 on code of pyfixest 0.60
        nested, default = (
            pyfixest.feols("correct ~ marked | case_model", frame, vcov={"CRV1": "case"}, ssc=ssc)
            for ssc in corrections
        )
    found = pooled_effect(records)
    assert [found.effect, found.se] == pytest.approx(
        [100 * nested.coef()["marked"], 100 * nested.se()["marked"]], abs=1e-8
    )
    bounds = 100 * nested.confint().loc["marked"].to_numpy()
    assert [found.lo, found.hi] == pytest.approx(bounds.tolist(), abs=1e-8)
    assert found.se == pytest.approx(100 * default.se()["marked"], abs=2e-5)


def test_pattern_counts_give_the_point_and_no_interval():
    found = pooled_effect(from_patterns(["B1"]))
    assert found.effect == pytest.approx(-8.73, abs=0.005)
    assert isnan(found.lo) and isnan(found.hi) and isnan(found.se) and found.n_questions is None
    assert "do not link questions across models" in found.note


def test_pattern_counts_of_one_model_give_an_interval():
    records = from_patterns(["B1"])
    found = pooled_effect(records[records["model"] == "Llama-3.1-8B-Instruct"])
    assert found.lo < found.effect < found.hi < 0 and found.n_questions == 1000 and found.note == ""


def test_row_and_model_order_do_not_matter():
    records = several_models(drop=0.1)
    assert pooled_effect(records.sample(frac=1, random_state=1)) == pooled_effect(records)


def test_numbers_are_plain():
    found = pooled_effect(several_models())
    assert {type(value) for value in (found.effect, found.lo, found.hi, found.se)} == {float}
    assert {type(value) for value in (found.n_questions, found.n_models, found.n_records)} == {int}


@pytest.mark.parametrize("answers", [[], [[1, None, None]], [[None, 0, 1], [1, None, None]]])
def test_n_0_is_said(answers):
    found = pooled_effect(fabricated(answers))
    assert isnan(found.effect) and (found.n_questions, found.n_models, found.n_records) == (0, 0, 0)
    assert found.note.startswith("n = 0")


def test_n_1_has_a_point_and_no_interval():
    found = pooled_effect(fabricated([[1, 0, 0]]))
    assert found.effect == pytest.approx(-100) and isnan(found.lo) and found.note == "n = 1: errors undefined"


def test_several_conditions_are_refused():
    with pytest.raises(ParameterError, match=r"records of 3 conditions \(B1, B2, B3\)"):
        pooled_effect(from_patterns())


def test_unknown_reference_is_refused():
    with pytest.raises(ParameterError, match="'plain' is in no record"):
        pooled_effect(fabricated([[1, 0, 1]]), reference="plain")


SIZES = {"a": 3.0, "b": 7.0, "c": 8.0, "d": 12.0, "e": 24.0}
VALUES = pd.Series({"a": 0.14, "b": 0.09, "c": 0.15, "d": 0.1, "e": 0.13})


def test_correlation_equals_scipy_and_fishers_interval():
    found = size_correlation(VALUES, SIZES)
    expected = stats.pearsonr(list(SIZES.values()), VALUES)
    assert (found.r, found.p, found.n, found.note) == (pytest.approx(expected[0]), pytest.approx(expected[1]), 5, "")
    half = 1.959964 / np.sqrt(5 - 3)
    bounds = np.tanh(np.arctanh(found.r) + np.array([-half, half]))
    assert [found.lo, found.hi] == pytest.approx(bounds.tolist(), abs=1e-6)
    assert {type(value) for value in (found.r, found.lo, found.hi, found.p)} == {float}


def test_correlation_joins_by_model_not_by_order():
    assert size_correlation(VALUES[::-1], SIZES) == size_correlation(VALUES, SIZES)


def test_models_without_size_or_value_are_left_out_by_name():
    found = size_correlation(VALUES, {key: size for key, size in SIZES.items() if key != "c"})
    assert found.n == 4 and found.note == "left out, no value or no size: c"
    found = size_correlation(VALUES.where(VALUES.index != "d"), SIZES | {"unused": 1.0})
    assert found.n == 4 and found.note == "left out, no value or no size: d"


@pytest.mark.parametrize("n", [0, 1, 2])
def test_correlation_of_fewer_than_three_models_is_undefined(n):
    found = size_correlation(VALUES[:n], SIZES)
    assert isnan(found.r) and found.note == f"n = {n}: undefined for fewer than three models"


def test_correlation_of_three_models_has_no_information_on_the_interval():
    found = size_correlation(VALUES[:3], SIZES)
    assert (found.lo, found.hi) == (-1, 1)


def test_correlation_of_equal_values_is_undefined():
    found = size_correlation(VALUES * 0, SIZES)
    assert isnan(found.r) and found.note == "undefined: all values or all sizes are equal"


def test_a_model_that_occurs_twice_is_refused():
    with pytest.raises(DataError, match="1 values occur twice, the first is model 'a'"):
        size_correlation(pd.concat([VALUES, VALUES[:1]]), SIZES)


def test_values_that_are_equal_but_for_their_summation_have_no_correlation():
    found = size_correlation(pd.Series({"a": 0.1 + 0.2, "b": 0.3, "c": 0.3}), {"a": 1, "b": 2, "c": 3})
    assert np.isnan(found.r) and found.note == "undefined: all values or all sizes are equal"


def test_without_any_discordance_the_effect_is_exactly_0():
    found = pooled_effect(fabricated([[1, 1, 1]] * 7 + [[0, 0, 0]] * 6))
    assert (found.effect, found.lo, found.hi) == (0, 0, 0) and found.note == "p undefined: the outcome is constant"
