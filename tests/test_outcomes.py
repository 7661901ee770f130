"""Case outcomes against the tables of `sdoh`, their definition spelt out per case, and SciPy's bootstrap."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.outcomes import MEASURES, case_outcomes
from nsh.patterns import from_patterns
from nsh.printed import published

pytestmark = pytest.mark.filterwarnings("error")

OUTCOMES = ["stable_correct", "stable_wrong", "narrative_sensitive", "unstable_wrong"]
TABLE3 = published("sdoh_table3_main").merge(published("sdoh_table4_outcomes"), on=["model", "prompt"])


def as_printed(row):
    """Letters of 300 cases that have the printed outcomes and accuracy, in per cent."""
    stable, wrong, mixed, unstable = (round(3 * float(row[f"{name}_pct"])) for name in OUTCOMES)
    twice = round(9 * float(row["accuracy_pct"])) - 3 * stable - mixed
    letters = ["AAA"] * stable + ["BBB"] * wrong + ["AAB"] * twice + ["ACB"] * (mixed - twice) + ["BCD"] * unstable
    return from_letters([list(case) for case in letters])


def by_definition(letters, agree=False):
    """Equations 1 to 4 and the four outcomes, case by case; the right letter is A."""
    counts = dict.fromkeys([*MEASURES, "accuracy"], 0)
    for case in letters:
        same = all(a == b and (agree or a is not None) for a, b in combinations(case, 2))
        right = [letter == "A" for letter in case]
        counts["cc"] += same
        counts["correct_cc"] += all(right)
        counts["nse"] += any(right) and not all(right)
        counts["stable_correct"] += all(right)
        counts["stable_wrong"] += same and not any(right)
        counts["narrative_sensitive"] += any(right) and not all(right)
        counts["unstable_wrong"] += not same and not any(right)
        counts["accuracy"] += sum(right) / len(right)
    return {name: count / len(letters) for name, count in counts.items()}


def random_letters(n, k, options="ABCD", seed=0):
    """Letters of n cases in k voices, often the same within a case, some missing."""
    generator = np.random.default_rng(seed)
    usual = generator.integers(len(options), size=(n, 1))
    chosen = np.where(generator.random((n, k)) < 0.7, usual, generator.integers(len(options), size=(n, k)))
    missing = generator.random((n, k)) < 0.05
    return [[None if m else options[c] for c, m in zip(*row, strict=True)] for row in zip(chosen, missing, strict=True)]


@pytest.mark.parametrize("row", TABLE3.to_dict("records"), ids=lambda row: f"{row['model']} {row['prompt']}")
def test_tables_3_and_4_of_sdoh(row):
    """Every share as printed; bounds of 2,000 other draws may differ by two cases in 300, or five answers in 900."""
    found = case_outcomes(as_printed(row)).iloc[0]
    assert found["n"] == 300 and found[OUTCOMES].sum() == pytest.approx(1)
    for name in (*OUTCOMES, "cc", "correct_cc", "nse", "accuracy"):
        assert f"{100 * found[name]:.2f}" == row[f"{name}_pct"], name
    for end in ("lo", "hi"):
        assert 100 * found[f"cc_{end}"] == pytest.approx(float(row[f"cc_{end}"]), abs=200 / 300 + 0.01)
        assert 100 * found[f"accuracy_rows_{end}"] == pytest.approx(float(row[f"accuracy_{end}"]), abs=500 / 900)


def test_intervals_over_cases_are_wider_than_those_over_rows():
    """`design`: the printed accuracy intervals have half-width 3.2 points, resampling cases gives 4.3 to 4.7."""
    found = pd.concat([case_outcomes(as_printed(row)) for row in TABLE3.to_dict("records")])
    rows = 50 * (found["accuracy_rows_hi"] - found["accuracy_rows_lo"])
    cases = 50 * (found["accuracy_hi"] - found["accuracy_lo"])
    assert rows.between(3.0, 3.4).all() and cases.between(4.0, 5.0).all()


@pytest.mark.parametrize(("k", "options"), [(2, "ABCD"), (3, "ABCD"), (5, "ABCD"), (3, "ABCDEFGHIJ")])
@pytest.mark.parametrize("agree", [False, True])
def test_equals_the_definition_for_any_voices_and_options(k, options, agree):
    letters = random_letters(80, k, options, seed=k)
    records = from_letters(letters, voices=list("vwxyz")[:k])
    found = case_outcomes(records, resamples=10, invalid="agree" if agree else "differ").iloc[0]
    expected = by_definition(letters, agree)
    assert found[list(expected)].to_dict() == pytest.approx(expected)
    assert found[OUTCOMES].sum() == pytest.approx(1)
    assert found["note"] == f"{sum(row.count(None) for row in letters)} answers without a letter"


def test_intervals_over_cases_equal_scipy_within_monte_carlo_error():
    letters = random_letters(300, 3, seed=9)
    found = case_outcomes(from_letters(letters), resamples=20000).iloc[0]
    per_case = np.array([list(by_definition([case]).values()) for case in letters]).T
    for name, values in zip((*MEASURES, "accuracy"), per_case, strict=True):
        how = {"method": "percentile", "n_resamples": 20000, "rng": np.random.default_rng(0)}
        expected = stats.bootstrap((values,), np.mean, **how).confidence_interval
        # Both have a grid of 1/300 (1/900 for accuracy) and a Monte Carlo error of about a twentieth of the spread.
        assert found[[f"{name}_lo", f"{name}_hi"]].tolist() == pytest.approx(list(expected), abs=0.0067), name


def test_interval_over_rows_equals_scipy_within_a_row():
    records = from_letters(random_letters(300, 3, seed=9))
    found = case_outcomes(records, resamples=0).iloc[0]
    how = {"method": "percentile", "n_resamples": 20000, "rng": np.random.default_rng(0)}
    expected = stats.bootstrap((records["correct"].to_numpy(float),), np.mean, **how).confidence_interval
    assert found[["accuracy_rows_lo", "accuracy_rows_hi"]].tolist() == pytest.approx(list(expected), abs=1.5 / 900)


def test_two_invalid_answers_differ_or_agree():
    records = from_letters([[None, None, None], ["B", "B", None]])
    differ, agree = (case_outcomes(records, invalid=how).iloc[0] for how in ("differ", "agree"))
    assert (differ["cc"], differ["stable_wrong"], differ["unstable_wrong"]) == (0, 0, 1)
    assert (agree["cc"], agree["stable_wrong"], agree["unstable_wrong"]) == (0.5, 0.5, 0.5)


def test_pattern_counts_have_what_needs_no_letters():
    """The shares of questions right in all voices and in some, counted from the patterns themselves."""
    patterns = published("patterns").query("condition == 'B1'").set_index("model")
    found = case_outcomes(from_patterns(["B1"])).set_index("model")
    for model, row in found.iterrows():
        counts = patterns.loc[model].drop("condition").filter(regex="^n[01]{3}$").astype(int)
        assert row["correct_cc"] == counts["n111"] / 1000
        assert row["nse"] == (counts.sum() - counts["n111"] - counts["n000"]) / 1000
    assert found[["cc", "cc_lo", "stable_wrong", "unstable_wrong_hi"]].isna().all(axis=None)
    assert found["note"].str.startswith("letters undefined: pattern counts hold none").all()


def test_released_letters_have_the_shares_of_their_patterns(released):
    from nsh.released import load_released

    found = case_outcomes(load_released(released, conditions=("B1",)), resamples=10).set_index("model")
    patterns = case_outcomes(from_patterns(["B1"]), resamples=10).set_index("model").loc[found.index]
    assert found["correct_cc"].equals(patterns["correct_cc"]) and found["nse"].equals(patterns["nse"])
    assert (found["cc"] - found["stable_correct"] - found["stable_wrong"]).abs().max() < 1e-12


def test_n_0_is_said():
    """The first model has one voice, the second shows that there are three."""
    records = pd.concat([from_letters([["A", "B", "C"]]).head(1), from_letters([["A", "B", "C"]], model="other")])
    row = case_outcomes(records).iloc[0]
    assert row["n"] == 0 and row["note"] == "n = 0; 1 cases without every voice left out"
    assert row[["cc", "nse_lo", "accuracy", "accuracy_rows_lo"]].isna().all()


def test_n_1_has_shares_and_no_interval_over_cases():
    row = case_outcomes(from_letters([["A", "A", "B"]])).iloc[0]
    assert (row["n"], row["nse"], row["cc"]) == (1, 1, 0)
    assert (
        row[["nse_lo", "nse_hi", "accuracy_lo"]].isna().all() and "n = 1: intervals over cases undefined" in row["note"]
    )


@pytest.mark.parametrize(("letter", "correct"), [("A", 1), ("B", 0)])
def test_constant_answers_stay_inside_zero_and_one(letter, correct):
    row = case_outcomes(from_letters([[letter] * 3] * 4)).iloc[0]
    assert row[["cc", "cc_lo", "cc_hi"]].tolist() == [1, 1, 1] and row["note"] == ""
    assert row[["accuracy", "accuracy_lo", "accuracy_hi"]].tolist() == [correct] * 3
    assert row[["accuracy_rows_lo", "accuracy_rows_hi"]].tolist() == [correct] * 2


def test_missing_voice_leaves_the_case_out_and_is_counted():
    records = from_letters([["A", "A", "A"], ["A", "B", "B"]]).drop(index=5)
    row = case_outcomes(records).iloc[0]
    assert (row["n"], row["cc"]) == (1, 1) and "1 cases without every voice left out" in row["note"]


def test_numbers_depend_neither_on_row_order_nor_on_other_models():
    frames = [from_letters(random_letters(60, 3, seed=seed), model=f"m{seed}") for seed in range(3)]
    expected = case_outcomes(pd.concat(frames), seed=4).set_index("model")
    shuffled = case_outcomes(pd.concat(frames).sample(frac=1, random_state=1), seed=4).set_index("model")
    pd.testing.assert_frame_equal(shuffled.loc[expected.index], expected, check_exact=True)
    pd.testing.assert_frame_equal(
        case_outcomes(frames[1], seed=4).set_index("model"), expected.loc[["m1"]], check_exact=True
    )


@pytest.mark.parametrize("kind", ["string", "str", "category"])
def test_text_columns_of_every_type_give_the_same_numbers(kind):
    records = from_letters(random_letters(30, 3))
    typed = records.astype(dict.fromkeys(["model", "condition", "case", "voice", "letter", "status"], kind))
    pd.testing.assert_frame_equal(case_outcomes(typed), case_outcomes(records), check_dtype=False)


def test_empty_frame_gives_an_empty_frame_with_its_columns():
    found = case_outcomes(fabricated([]))
    assert len(found) == 0 and {"cc_lo", "accuracy_rows_hi", "note"} <= set(found.columns)


def test_0_resamples_leave_the_intervals_over_cases_missing_and_nothing_else():
    records = from_letters(random_letters(30, 3))
    found, whole = case_outcomes(records, resamples=0), case_outcomes(records, resamples=10)
    missing = [f"{name}{end}" for name in (*MEASURES, "accuracy") for end in ("_lo", "_hi")]
    assert found[missing].isna().all(axis=None) and whole[missing].notna().all(axis=None)
    pd.testing.assert_frame_equal(found.drop(columns=missing), whole.drop(columns=missing))


def test_bad_input_is_refused():
    records = from_letters([["A", "B", "A"]])
    with pytest.raises(ParameterError, match="invalid = 'same': 'differ' or 'agree' is expected"):
        case_outcomes(records, invalid="same")
    with pytest.raises(ParameterError, match="resamples = -1: a whole number of at least 0"):
        case_outcomes(records, resamples=-1)
    with pytest.raises(DataError, match="lack the column 'letter'"):
        case_outcomes(records.drop(columns="letter"))
    with pytest.raises(DataError, match="occur twice"):
        case_outcomes(pd.concat([records, records]))


def test_a_single_voice_has_an_accuracy_only():
    row = case_outcomes(fabricated([[1], [0]], voices=["clinical"]), resamples=5).iloc[0]
    assert row["accuracy"] == 0.5 and row[list(MEASURES)].isna().all()
    assert row["note"].startswith("undefined: no other voice")


def test_pattern_counts_say_once_that_they_hold_no_letters():
    assert case_outcomes(from_patterns(["B2"]), resamples=0)["note"][0] == "letters undefined: pattern counts hold none"
