"""Regressions against statsmodels' HC1 and a sandwich written out, and the numbers of `voices` section 6."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fabricated import fabricated, random_answers
from scipy import stats

from nsh.cases import Case, load_cases
from nsh.explanations import regress, voices_section6
from nsh.matrix import order_voices
from nsh.released import load_released
from nsh.subsets import question_means

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
    """Coefficients, errors, bounds and p clustered by question, written out."""
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
    return np.column_stack([coef, se, coef - half, coef + half, 2 * stats.t.sf(np.abs(coef / se), g - 1)])


@pytest.mark.parametrize("rows_each", [1, 2, 4])
@pytest.mark.parametrize("terms", [["x"], ["x", "z"], ["z", "flag", "x"]])
def test_equals_the_sandwich_written_out(rows_each, terms):
    frame = made_up(rows_each=rows_each)
    found = regress(frame, "gap", terms)
    assert found["term"].tolist() == ["intercept", *terms]
    assert found[NUMBERS].to_numpy() == pytest.approx(sandwich(frame, terms), abs=1e-10)
    assert set(found["n"]) == {len(frame)} and set(found["note"]) == {""}


def test_one_row_per_question_gives_statsmodels_hc1():
    frame = made_up()
    fit = sm.OLS(frame["gap"], sm.add_constant(frame[["x", "z"]].astype(float))).fit(cov_type="HC1", use_t=True)
    found = regress(frame, "gap", ["x", "z"])
    assert found["coef"].tolist() == pytest.approx(fit.params.tolist())
    assert found["se"].tolist() == pytest.approx(fit.bse.tolist())


def test_the_order_of_the_rows_does_not_matter():
    frame = made_up(rows_each=2)
    pd.testing.assert_frame_equal(
        regress(frame.sample(frac=1, random_state=1), "gap", ["x", "z"]), regress(frame, "gap", ["x", "z"])
    )


def test_a_constant_covariate_is_undefined_and_the_others_are_not():
    frame = made_up().assign(one=1)
    found = regress(frame, "gap", ["one", "x"]).set_index("term")
    assert found.loc["one", NUMBERS].isna().all() and found.loc["one", "note"] == "undefined: the covariate is constant"
    assert found.loc["x", NUMBERS].tolist() == regress(frame, "gap", ["x"]).loc[1, NUMBERS].tolist()


@pytest.mark.parametrize(
    ("frame", "note"),
    [
        (made_up().assign(x=lambda frame: 2 * frame["z"]), "undefined: the covariates are collinear"),
        (made_up().assign(gap=0.5), "undefined: the outcome is constant"),
        (made_up(n=1, rows_each=9), "undefined: all rows are of one question"),
        (made_up(n=3), "n = 3: undefined for 3 coefficients"),
        (made_up(n=0), "n = 0"),
    ],
)
def test_what_is_undefined_says_so(frame, note):
    found = regress(frame, "gap", ["x", "z"])
    assert found[NUMBERS].isna().all(axis=None) and found["term"].tolist() == ["intercept", "x", "z"]
    assert set(found["note"]) == {note}


def test_a_single_question_is_undefined():
    found = regress(made_up(n=1), "gap", ["x"])
    assert found["note"].tolist() == ["n = 1: undefined for 1 coefficients"] * 2


def test_rows_with_a_missing_value_are_left_out_and_counted():
    frame = made_up()
    holes = frame.assign(x=frame["x"].astype("Int64").where(frame.index != "q03"))
    found = regress(holes, "gap", ["x"])
    assert found[NUMBERS].to_numpy() == pytest.approx(regress(frame.drop("q03"), "gap", ["x"])[NUMBERS].to_numpy())
    assert set(found["n"]) == {39} and set(found["note"]) == {"1 rows with a missing value left out"}


def cases_of(voices, n=24):
    """Made-up cases whose retellings differ in length, age, question sentence, person and superset."""
    question = "What is the most likely diagnosis?"
    for number in range(n):
        vignette = f"A child of {number} is ill. {question}"
        texts = {
            voice: " ".join(
                ["I said I am ill."] * ((number + place) % 3)
                + [f"At age {number}."] * ((number + place) % 2)
                + [vignette] * (number % 5 == place)
                + [question] * (number % 4 > 0)
                + ["Ill."]
            )
            for place, voice in enumerate(voices)
        }
        yield Case(f"q{number:02d}", question, {"A": "x", "B": "y"}, "A", texts, vignette)


def study(voices, n=24, seed=3):
    """Made-up cases, their answers by two models, an audit and a split."""
    cases = list(cases_of(voices, n))
    ids = [case.id for case in cases]
    records = pd.concat(
        fabricated(random_answers(n, len(voices), seed + m).tolist(), voices=voices, model=f"m{m}", cases=ids)
        for m in range(2)
    )
    audit = pd.DataFrame(
        [(case, voice, judge, (number + place + len(judge)) % 3)
         for number, case in enumerate(ids) for place, voice in enumerate(voices) for judge in ("F", "PP")],
        columns=["case", "voice", "judge", "n_relevant"],
    )  # fmt: skip
    return cases, records, {"additions": audit, "split": {case: "test" if case < "q08" else "train" for case in ids}}


@pytest.mark.parametrize("voices", [("clinical", "rural"), ("clinical", "socioeconomic", "cultural", "rural", "urban")])
def test_section_6_by_brute_force_with_two_and_five_voices(voices):
    cases, records, given = study(voices)
    found = voices_section6(cases, records, **given)
    marked = order_voices(voices, "clinical")[1:]
    right = records.groupby(["case", "voice"])["correct"].mean().unstack()
    gaps = right["clinical"] - right[list(marked)].mean(axis=1)
    test = [case.id for case in cases if case.id < "q08"]
    assert (found["n_test_split"], found["gap_test_split"]) == (8, pytest.approx(gaps[test].mean()))
    assert found["gap_split_difference"] == pytest.approx(gaps[test].mean() - gaps.drop(test).mean())
    explicit = [
        case.id for case in cases if all("age" in case.narratives[v] or "child" in case.narratives[v] for v in marked)
    ]
    assert found["n_age_explicit"] == len(explicit)
    whole = [case.id for case in cases if "child" in case.narratives[marked[0]]]
    assert found["n_superset"] == len(whole) > 1
    assert found["gap_superset"] == pytest.approx((right["clinical"] - right[marked[0]])[whole].mean())
    audit = given["additions"].query("judge == 'F' and voice != 'clinical'").groupby("case")["n_relevant"]
    few = audit.max()[audit.max() <= 1].index
    assert found["n_few_additions_F"] == len(few)
    assert found["n_strict_F"] == len(set(few) & set(explicit))
    slope = stats.linregress(audit.sum().loc[gaps.index], 100 * gaps).slope
    assert found["additions_F_slope_points"] == pytest.approx(slope)
    assert {"length_p_joint", "age_points_joint", "additions_F_p_joint"} <= set(found.index)
    assert "additions_PP_p_joint" not in found and "additions_PP_slope_p" in found


def test_section_6_leaves_out_what_is_undefined():
    cases, records, _ = study(("clinical", "rural"), n=6)
    found = voices_section6(cases, records)
    assert found["n_test_split"] == found["n_train_split"] == found["n_other"] == 0
    assert not {"gap_test_split", "gap_other", "gap_split_difference"} & set(found.index)
    assert found.notna().all() and found["n_overall"] == 6


def test_section_6_does_not_depend_on_the_order_of_rows_or_cases():
    cases, records, given = study(("clinical", "socioeconomic", "cultural"))
    shuffled = voices_section6(cases[::-1], records.sample(frac=1, random_state=2), **given)
    pd.testing.assert_series_equal(shuffled, voices_section6(cases, records, **given))


def test_section_6_of_cases_without_records():
    cases, records, _ = study(("clinical", "rural"), n=6)
    found = voices_section6(cases, records[records["case"] < "q03"])
    assert found["n_overall"] == 3


@pytest.fixture(scope="module")
def section6(released):
    """Section 6 of the seven released models under B1."""
    return voices_section6(load_cases(str(released)), load_released(released, ["B1"]))


def test_subset_sizes_on_the_released_cases(section6):
    # printed: 84 (`voices` section 6), 207 (section 7.5); 424 in the first person was measured beforehand; printed 299
    # questions with the age explicit in both marked retellings, where our rule finds 195
    names = ["superset", "question_verbatim", "first_person", "third_person", "age_explicit"]
    assert [section6[f"n_{name}"] for name in names] == [84, 207, 424, 576, 195]


def test_gaps_on_the_released_answers(section6):
    # measured beforehand: 0.0873 over all (the pooled effect, -8.73 points), 0.087 and 0.088 by narrative person; the
    # rest counted here: `voices` prints them for twelve other models (0.094 and 0.098 by length, 0.085, 0.068)
    names = ["overall", "first_person", "third_person", "shorter_half", "longer_half", "age_explicit", "superset"]
    gaps = [0.0873, 0.0869, 0.0875, 0.0931, 0.0814, 0.0604, 0.0374]
    assert [section6[f"gap_{name}"] for name in names] == pytest.approx(gaps, abs=5e-5)


def test_slopes_on_the_released_answers_equal_scipy(section6, released):
    from nsh.covariates import covariates

    gaps = question_means(load_released(released, ["B1"]))["gap"]
    facts = covariates(load_cases(str(released))).loc[gaps.index]
    assert section6["age_slope_points"] == pytest.approx(stats.linregress(facts["without_age"], 100 * gaps).slope)
    assert section6["length_slope_points"] == pytest.approx(stats.linregress(facts["words"] / 100, 100 * gaps).slope)
