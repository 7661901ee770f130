"""The numbers of `voices` section 6 by brute force on made-up answers, and on the released ones."""

from dataclasses import replace

import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from scipy import stats

from nsh.cases import Case, load_cases
from nsh.explanations import voices_section6
from nsh.matrix import order_voices
from nsh.released import load_released
from nsh.subsets import question_means

pytestmark = pytest.mark.filterwarnings("error")


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


def test_section_6_without_any_case():
    found = voices_section6([], fabricated([]))
    assert (found == 0).all() and {"n_overall", "n_split_difference"} <= set(found.index)


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
    described = covariates(load_cases(str(released))).loc[gaps.index]
    for name, covariate in {"age": described["without_age"], "length": described["words"] / 100}.items():
        assert section6[f"{name}_slope_points"] == pytest.approx(stats.linregress(covariate, 100 * gaps).slope)


def test_empty_records_give_n_0():
    found = voices_section6(load_cases("samples"), fabricated([]))
    assert found["n_overall"] == found["n_superset"] == 0 and "gap_overall" not in found


def test_the_order_of_the_cases_does_not_matter_where_the_first_lacks_a_voice():
    cases = load_cases("samples")
    lacking = replace(cases[0], narratives={"clinical": cases[0].narratives["clinical"]})
    records = fabricated([[1, 0, 1]] * len(cases), cases=[case.id for case in cases])
    first, last = (voices_section6(order, records) for order in ([lacking, *cases[1:]], [*cases[1:], lacking]))
    assert first.equals(last)
