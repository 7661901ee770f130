"""Regressions against a sandwich written out, statsmodels' HC1, and pyfixest with fixed effects."""

import warnings

import numpy as np
import pandas as pd
import pyfixest
import pytest
import statsmodels.api as sm
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.regression import regress

pytestmark = pytest.mark.filterwarnings("error")

NUMBERS = ["coef", "se", "lo", "hi", "p"]


def made_up(n=40, rows_each=1, seed=0):
    """A gap that depends on two covariates, one row per question or several with a common error."""
    generator = np.random.default_rng(seed)
    index = pd.Index(np.repeat([f"q{number:02d}" for number in range(n)], rows_each), name="case")
    frame = pd.DataFrame({"x": generator.integers(0, 3, len(index)), "z": generator.normal(size=len(index))}, index)
    common = np.repeat(generator.normal(size=n), rows_each)
    return frame.assign(gap=0.1 * frame["x"] - 0.2 * frame["z"] + common, flag=frame["z"] > 0)


def sandwich(frame, terms):
    """Coefficients, errors, bounds and p clustered by question, with an intercept, written out."""
    design = np.column_stack([np.ones(len(frame)), frame[list(terms)].to_numpy(float)])
    n, k = design.shape
    bread = np.linalg.inv(design.T @ design)
    coef = bread @ design.T @ frame["gap"].to_numpy()
    residuals = frame["gap"].to_numpy() - design @ coef
    questions = frame.index.unique()
    scores = np.array([design[frame.index == case].T @ residuals[frame.index == case] for case in questions])
    g = len(questions)
    variance = g / (g - 1) * (n - 1) / (n - k) * bread @ scores.T @ scores @ bread
    se = np.sqrt(np.diag(variance))
    half = stats.t.ppf(0.975, g - 1) * se
    return np.column_stack([coef, se, coef - half, coef + half, 2 * stats.t.sf(np.abs(coef / se), g - 1)])[1:]


@pytest.mark.parametrize("rows_each", [1, 2, 4])
@pytest.mark.parametrize("terms", [["x"], ["x", "z"], ["z", "flag", "x"]])
def test_equals_the_sandwich_written_out(rows_each, terms):
    frame = made_up(rows_each=rows_each)
    found = regress(frame, "gap", terms)
    assert found["term"].tolist() == terms
    assert found[NUMBERS].to_numpy() == pytest.approx(sandwich(frame, terms), abs=1e-10)
    assert set(found["n"]) == {len(frame)} and set(found["note"]) == {""}


def test_one_row_per_question_gives_statsmodels_hc1():
    frame = made_up()
    fit = sm.OLS(frame["gap"], sm.add_constant(frame[["x", "z"]].astype(float))).fit(cov_type="HC1", use_t=True)
    found = regress(frame, "gap", ["x", "z"])
    assert found["coef"].tolist() == pytest.approx(fit.params[1:].tolist())
    assert found["se"].tolist() == pytest.approx(fit.bse[1:].tolist())


@pytest.mark.parametrize("terms", [["x"], ["z", "x"], ["z", "flag", "x"]])
def test_within_equals_pyfixest(terms):
    """feols with case^model effects, CRV1 by case, and G / (G - 1) as its only correction; unequal groups."""
    frame = made_up(rows_each=6, seed=1).assign(model=["a", "a", "a", "b", "b", "c"] * 40).iloc[:-4]
    frame["gap"] += np.random.default_rng(2).normal(size=len(frame))  # the common part is taken out with the question
    data = frame.reset_index().astype({"flag": float})
    with warnings.catch_warnings(action="ignore"):  # pandas 3.1 on code of pyfixest 0.60
        model = pyfixest.feols(
            f"gap ~ {' + '.join(terms)} | case^model", data, vcov={"CRV1": "case"}, ssc=pyfixest.ssc(k_adj=False)
        ).tidy()
    expected = model.loc[terms, ["Estimate", "Std. Error", "2.5%", "97.5%", "Pr(>|t|)"]]
    found = regress(frame, "gap", terms, within="model")
    assert found[NUMBERS].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-8)


def test_the_order_of_the_rows_does_not_matter():
    frame = made_up(rows_each=2)
    shuffled = regress(frame.sample(frac=1, random_state=1), "gap", ["x", "z"])
    pd.testing.assert_frame_equal(shuffled, regress(frame, "gap", ["x", "z"]), rtol=1e-10)


def test_a_constant_covariate_is_undefined_and_the_others_are_not():
    frame = made_up().assign(one=1)
    found = regress(frame, "gap", ["one", "x"]).set_index("term")
    assert found.loc["one", NUMBERS].isna().all() and found.loc["one", "note"] == "undefined: the covariate is constant"
    assert found.loc["x", NUMBERS].tolist() == regress(frame, "gap", ["x"]).loc[0, NUMBERS].tolist()


@pytest.mark.parametrize(
    ("frame", "note", "defined"),
    [
        (made_up(), "", NUMBERS),
        (made_up().assign(x=lambda f: 2 * f["z"]), "undefined: the covariates are collinear in 40 rows", []),
        (made_up(n=2), "undefined: the covariates are collinear in 2 rows", []),
        (made_up(n=3), "n = 3: errors undefined", ["coef"]),
        (made_up(n=1, rows_each=9), "n = 1: errors undefined", ["coef"]),
        (made_up(n=0), "n = 0", []),
    ],
)
def test_what_is_undefined_says_so(frame, note, defined):
    found = regress(frame, "gap", ["x", "z"])
    assert found["term"].tolist() == ["x", "z"] and set(found["note"]) == {note}
    assert [name for name in NUMBERS if found[name].notna().all()] == defined
    assert found[[name for name in NUMBERS if name not in defined]].isna().all(axis=None)


@pytest.mark.parametrize("constant", [0.5, 0.1, 1 / 3])
def test_a_constant_outcome_has_slopes_of_exactly_0_and_no_p(constant):
    found = regress(made_up().assign(gap=constant), "gap", ["x", "z"])
    assert (found[["coef", "se", "lo", "hi"]] == 0).all(axis=None) and found["p"].isna().all()
    assert set(found["note"]) == {"p undefined: the outcome is constant"}


def test_a_single_row_has_no_covariate_that_varies():
    found = regress(made_up(n=1), "gap", ["x"])
    assert found["note"].tolist() == ["undefined: the covariate is constant"] and found["coef"].isna().all()


def test_rows_with_a_missing_value_are_left_out_and_counted():
    frame = made_up()
    holes = frame.assign(x=frame["x"].astype("Int64").where(frame.index != "q03"))
    found = regress(holes, "gap", ["x"])
    assert found[NUMBERS].to_numpy() == pytest.approx(sandwich(frame.drop("q03"), ["x"]), abs=1e-10)
    assert set(found["n"]) == {39} and set(found["note"]) == {"1 rows with a missing value left out"}


def test_a_column_that_is_missing_text_or_named_twice_is_named():
    frame = pd.DataFrame({"gap": [0.0, 0.2, 0.3], "x": [0, 1, 3], "kind": ["a", "b", "a"]}, index=list("123"))
    with pytest.raises(DataError, match="column 'kind' holds 'a': no number"):
        regress(frame, "gap", ["x", "kind"])
    with pytest.raises(DataError, match="lack the column 'y'"):
        regress(frame, "gap", ["y"])
    with pytest.raises(ParameterError, match="gap, x, x: each is expected once"):
        regress(frame, "gap", ["x", "x"])
