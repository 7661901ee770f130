"""`voices` Table 1 and the numbers of §5, against hand counts."""

import pandas as pd
import pytest
from fabricated import fabricated, from_letters
from made_cases import make_cases

from nsh.cases import load_cases
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.voices_tables import TABLE1, TABLE1_LABELS, voices_section5, voices_table1

RIGHT = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]]  # clinical 3/4, socioeconomic 1/4, cultural 1/4


def test_section_5_by_hand():
    records = pd.concat([fabricated(RIGHT, model="a"), fabricated([[1, 1, 1]] * 4, model="b")], ignore_index=True)
    found = voices_section5(records, {"a": 1, "b": 2}, resamples=50)
    assert found["n_models"] == 2
    assert found["accuracy_clinical"] == pytest.approx((3 / 4 + 1) / 2)
    assert found["error_rate_clinical_pct"] == pytest.approx(12.5)
    assert found["error_rate_marked_pct"] == pytest.approx(37.5)
    assert found["more_errors_pct"] == pytest.approx(200)
    assert (found["nag_smallest"], found["nag_largest"]) == (0, 0.5)
    assert found["mcnemar_tests"] == 4
    assert found["pooled_effect_points"] == pytest.approx(-25)
    assert pd.isna(found["size_nag_r"])


def test_no_errors_have_no_rate_of_more_errors():
    assert pd.isna(voices_section5(fabricated([[1, 1, 1]] * 3), {}, resamples=10)["more_errors_pct"])


def test_kappa_on_letters_is_the_mean_over_control_pairs():
    """Kappa by hand: one pair agrees wholly (1), the other no better than chance (0)."""
    letters = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "A"], ["B", "B", "B"]]
    assert voices_section5(from_letters(letters), {}, resamples=10)["kappa_letters"] == pytest.approx(0.5)


def test_pattern_counts_have_no_letters():
    assert pd.isna(voices_section5(from_patterns(["B1"]), {}, resamples=10)["kappa_letters"])


def test_every_number_has_a_printed_counterpart():
    ids = set(published("voices_text")["id"])
    assert set(voices_section5(from_patterns(["B1"]), {}, resamples=10).index) <= ids


def test_pooled_effect_of_the_released_models(released):
    """Measured beforehand on the seven released B1 models: −8.73 [−10.20, −7.26] points."""
    from nsh.released import load_released

    found = voices_section5(load_released(released, ["B1"]), {}, resamples=10)
    effect = found[["pooled_effect_points", "pooled_effect_points_lo", "pooled_effect_points_hi"]]
    assert effect.tolist() == pytest.approx([-8.73, -10.20, -7.26], abs=0.05)


def test_table_1_of_the_released_cases(released):
    """`voices` Table 1: mean words 137, 117, 261, 301; §6: 84 socioeconomic supersets."""
    rows = voices_table1(load_cases(released)).set_index(["property", "voice"])
    words = rows.loc["length_words (original 137)", "value"]
    assert words.round().to_dict() == {"original": 137, "clinical": 117, "socioeconomic": 261, "cultural": 301}
    assert rows.loc[("original_verbatim_pct", "socioeconomic"), "count"] == 84


def test_table_1_of_other_voices():
    rows = voices_table1(make_cases(2, voices=("plain", "rural")), "plain")
    assert set(rows["voice"]) == {"original", "plain", "rural"}
    assert rows.loc[rows["voice"] == "original", "note"].tolist() == ["n = 0"]


def test_every_printed_row_of_table_1_has_a_label():
    assert set(TABLE1_LABELS) == set(published("voice_table1_retellings")["property"])
    assert set(TABLE1.values()) <= set(TABLE1_LABELS)


def test_voices_of_all_cases_are_counted():
    cases = make_cases(2, voices=("plain",)) + make_cases(2, voices=("plain", "rural"))[1:]
    assert set(voices_table1(cases[::2], "plain")["voice"]) == {"original", "plain", "rural"}


def test_what_is_told_of_one_voice_is_missing_for_others():
    records = fabricated(RIGHT, voices=("plain", "clinical", "rural"))
    found = voices_section5(records, {}, reference="plain", resamples=10)
    assert found[["cultural_hardest_models", "error_rate_clinical_pct"]].isna().all()
    assert voices_section5(fabricated(RIGHT), {}, resamples=10)["cultural_hardest_models"] == 0
