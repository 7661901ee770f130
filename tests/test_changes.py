"""Changes against a baseline: worked by hand, by plain loops over the same resamples, and against SciPy."""

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from scipy import stats

from nsh.changes import MEASURES, changes, models_beyond_zero
from nsh.errors import DataError, ParameterError
from nsh.gaps import anchoring
from nsh.patterns import from_patterns
from nsh.resampling import resamples_of

pytestmark = pytest.mark.filterwarnings("error")


def study(before, after, model="model", cases=None, voices=("clinical", "socioeconomic", "cultural")):
    """Records of one model under B1 and under a method."""
    options = {"model": model, "voices": voices, "cases": cases}
    return pd.concat([fabricated(before, condition="B1", **options), fabricated(after, condition="CoT", **options)])


def by_definition(before, after):
    """The five measures of lists of rows, the reference voice first; a share of nothing is nan."""
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    gaps = [answers[:, 0].mean() - answers[:, 1:].mean() for answers in (before, after)]
    victims, recovered, right, broken = 0, 0, 0, 0
    for old, new in zip(before, after, strict=True):
        for voice in range(1, len(old)):
            victims += old[0] and not old[voice]
            recovered += old[0] and not old[voice] and new[voice]
            right += old[voice]
            broken += old[voice] and not new[voice]
    shares = [recovered / victims if victims else np.nan, broken / right if right else np.nan]
    return [gaps[0] - gaps[1], after.mean() - before.mean(), after[:, 1:].mean() - before[:, 1:].mean(), *shares]


def random_study(n=60, k=3, seed=0):
    """Answers under the baseline and under a method that changes about a quarter of them."""
    before = random_answers(n, k, seed).astype(int)
    changed = np.random.default_rng(seed + 100).random((n, k)) < 0.25
    return before.tolist(), np.where(changed, 1 - before, before).tolist()


def test_worked_by_hand():
    """Two victims in the first case, of which one is recovered; three right marked answers, of which one breaks."""
    row = changes(study([[1, 0, 0], [1, 1, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0], [0, 1, 0]]), "B1").iloc[0]
    assert (row["model"], row["condition"], row["n"], row["note"]) == ("model", "CoT", 3, "")
    assert row[list(MEASURES)].tolist() == pytest.approx([1 / 3, -1 / 9, 0, 1 / 2, 1 / 3])


@pytest.mark.parametrize("k", [2, 3, 5])
def test_equals_the_definition_for_any_number_of_voices(k):
    before, after = random_study(k=k, seed=k)
    row = changes(study(before, after, voices=list("vwxyz")[:k]), "B1", reference="v").iloc[0]
    assert row[list(MEASURES)].tolist() == pytest.approx(by_definition(before, after))


def test_endpoints_equal_a_plain_loop_over_the_same_resamples():
    before, after = map(np.array, random_study(n=12, seed=1))
    cases = [f"{number:02d}" for number in range(12)]  # resamples draw the cases in the order of their ids
    row = changes(study(before.tolist(), after.tolist(), cases=cases), "B1", resamples=400, seed=3).iloc[0]
    drawn = [np.repeat(np.arange(12), counts.astype(int)) for counts in resamples_of(12, 400, 3)]
    loop = np.array([by_definition(before[cases], after[cases]) for cases in drawn])
    for name, draws in zip(MEASURES, loop.T, strict=True):
        expected = np.nanpercentile(draws, [2.5, 97.5]).tolist()
        assert row[[f"{name}_lo", f"{name}_hi"]].tolist() == pytest.approx(expected, abs=1e-12), name


def test_intervals_equal_scipy_within_monte_carlo_error():
    before, after = map(np.array, random_study(n=300, seed=2))
    row = changes(study(before.tolist(), after.tolist()), "B1", resamples=10000).iloc[0]
    victim, right = before[:, :1] > before[:, 1:], before[:, 1:] == 1
    pairs = {
        "gap_reduction": ((after - before)[:, 1:].mean(axis=1) - (after - before)[:, 0], np.ones(300)),
        "delta_accuracy": ((after - before).mean(axis=1), np.ones(300)),
        "delta_marked": ((after - before)[:, 1:].mean(axis=1), np.ones(300)),
        "recovered": ((victim & (after[:, 1:] == 1)).sum(axis=1), victim.sum(axis=1)),
        "broken": ((right & (after[:, 1:] == 0)).sum(axis=1), right.sum(axis=1)),
    }
    for name, pair in pairs.items():
        found = stats.bootstrap(
            pair,
            lambda part, whole, axis: part.sum(axis=axis) / whole.sum(axis=axis),
            paired=True,
            method="percentile",
            n_resamples=10000,
            rng=np.random.default_rng(0),
        )
        # A 2.5% quantile of 10,000 draws has a standard error of 0.027 standard deviations; two of them differ by 0.04.
        tolerance = 4 * 0.04 * found.standard_error
        bounds = row[[f"{name}_lo", f"{name}_hi"]].tolist()
        assert bounds == pytest.approx(list(found.confidence_interval), abs=tolerance), name


def test_released_conditions_change_the_gap_by_the_difference_of_their_gaps(released):
    from nsh.released import load_released

    records = load_released(released, conditions=("B1", "B3"))
    found = changes(records, "B1", resamples=10).set_index("model")
    gaps = anchoring(records, resamples=0).pivot(index="model", columns="condition", values="gap")
    assert len(found) >= 4 and (found["n"] == 1000).all()
    assert found["gap_reduction"].to_dict() == pytest.approx((gaps["B1"] - gaps["B3"])[found.index].to_dict())
    silent = found.loc["BioMistral-7B"]
    assert (silent["recovered"], silent["broken"]) == (0, 1)  # all its B3 answers are empty


def test_pattern_counts_link_no_questions_between_conditions():
    row = changes(from_patterns(["B1", "B2"]), "B1", resamples=5).iloc[0]
    assert row["n"] == 0 and row["note"] == "n = 0; pattern counts do not link questions across conditions"
    assert row[list(MEASURES)].isna().all()


def test_a_model_without_the_baseline_has_n_0():
    other = fabricated([[1, 0, 1]], model="other", condition="CoT")
    row = changes(pd.concat([study([[1, 0, 1]], [[1, 1, 1]]), other]), "B1").set_index("model").loc["other"]
    assert row["n"] == 0 and row["note"].startswith("n = 0") and row[["gap_reduction", "recovered_lo"]].isna().all()


def test_n_1_has_changes_and_no_interval():
    row = changes(study([[1, 0, 1]], [[1, 1, 1]]), "B1").iloc[0]
    assert row[list(MEASURES)].tolist() == pytest.approx([0.5, 1 / 3, 0.5, 1, 0])
    assert row[[f"{name}_lo" for name in MEASURES]].isna().all() and row["note"] == "n = 1: intervals undefined"


def test_unequal_case_sets_and_missing_voices_are_joined_by_id_and_counted():
    before = fabricated([[1, 0, 0], [1, 1, 1], [0, 0, None]], condition="B1", cases=["a", "b", "c"])
    after = fabricated([[0, 1, 1], [1, 1, 1], [1, 1, 0]], condition="CoT", cases=["d", "a", "c"])
    row = changes(pd.concat([before, after]), "B1").iloc[0]
    assert (row["n"], row["recovered"]) == (1, 1)
    assert row["note"].startswith("3 cases not answered in every voice under both left out")


def test_without_victims_or_right_answers_the_shares_are_undefined():
    row = changes(study([[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [0, 0, 0]]), "B1").iloc[0]
    assert row[["recovered", "broken", "recovered_lo", "broken_hi"]].isna().all()
    assert row["note"] == "recovered undefined: no victim items; broken undefined: no marked answer is right"
    assert row["delta_accuracy"] == 0.5


def test_a_single_voice_has_no_marked_voice():
    row = changes(study([[1], [0]], [[1], [1]], voices=("clinical",)), "B1").iloc[0]
    assert row["n"] == 2 and row["note"] == "undefined: no marked voice"


def test_numbers_depend_neither_on_row_order_nor_on_other_models():
    frames = [study(*random_study(seed=seed), model=f"m{seed}") for seed in range(3)]
    expected = changes(pd.concat(frames), "B1", seed=4).set_index("model")
    shuffled = changes(pd.concat(frames).sample(frac=1, random_state=1), "B1", seed=4).set_index("model")
    pd.testing.assert_frame_equal(shuffled.loc[expected.index], expected, check_exact=True)
    alone = changes(frames[1], "B1", seed=4).set_index("model")
    pd.testing.assert_frame_equal(alone, expected.loc[["m1"]], check_exact=True)


@pytest.mark.parametrize("kind", ["string", "str", "category"])
def test_text_columns_of_every_type_give_the_same_numbers(kind):
    records = study(*random_study())
    typed = records.astype(dict.fromkeys(["model", "condition", "case", "voice"], kind))
    pd.testing.assert_frame_equal(changes(typed, "B1"), changes(records, "B1"), check_dtype=False)


def test_0_resamples_leave_the_intervals_missing_and_nothing_else():
    records = study(*random_study())
    found, whole = changes(records, "B1", resamples=0), changes(records, "B1", resamples=10)
    missing = [f"{name}{end}" for name in MEASURES for end in ("_lo", "_hi")]
    assert found[missing].isna().all(axis=None) and whole[missing].notna().all(axis=None)
    pd.testing.assert_frame_equal(found.drop(columns=missing), whole.drop(columns=missing))


def test_unknown_baseline_is_refused_and_no_records_give_no_rows():
    with pytest.raises(ParameterError, match="baseline 'B2' is in no record; the records hold B1, CoT"):
        changes(study([[1, 0, 1]], [[1, 1, 1]]), "B2")
    assert len(changes(fabricated([]), "B1")) == 0


def test_models_beyond_zero_are_counted():
    frame = pd.DataFrame(
        {"model": list("abcd"), "gap_lo": [0.1, -0.2, 0.0, np.nan], "gap_hi": [0.2, -0.1, 0.3, np.nan]}
    )
    found = models_beyond_zero(frame, "gap")
    assert found == (1, 1, 3) and {type(count) for count in found} == {int}
    with pytest.raises(DataError, match="rows of one condition lack the column 'nag_lo'; they have: model, gap_lo"):
        models_beyond_zero(frame, "nag")
    with pytest.raises(DataError, match="4 rows of one condition occur twice, the first is model 'a'"):
        models_beyond_zero(pd.concat([frame, frame]), "gap")


def test_answers_without_a_letter_are_counted_beside_the_numbers():
    """A method without any letter has no gap left; the note says why."""
    records = study([[1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 0, 0]])
    records.loc[records["condition"] == "CoT", "status"] = "empty"
    row = changes(records, "B1").iloc[0]
    assert row["gap_reduction"] == 0.75
    assert row["note"] == "6 answers without a letter under the condition, counted as wrong"
