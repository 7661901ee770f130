"""Published tables: digits as printed, and inner agreement of the printed numbers."""

import math

import pytest

from nsh.comparison import compare_printed
from nsh.errors import ParameterError
from nsh.printed import by_voice, decimals, number, numbers, published, published_tables

VOICES = ["clinical", "socioeconomic", "cultural"]


def test_every_table_is_text_without_missing_cells():
    assert len(published_tables()) >= 18
    for table in published_tables():
        frame = published(table)
        assert len(frame) and all(isinstance(cell, str) for cell in frame.to_numpy().ravel()), table
        assert not {"alpha", "beta", "gamma"} & {part for column in frame for part in column.split("_")}, table


def test_digits_are_kept():
    assert published("voice_table2_conditions").loc[0, ["acc_clinical", "kappa"]].to_list() == [".645", ".57"]
    assert published("facts_table3_b1").loc[0, "dss_below_0.8_pct"] == "40.80"


def test_a_returned_table_can_be_changed_without_harm():
    changed = published("facts_table1_nag")
    changed.loc[0, "B1"] = "9"
    assert published("facts_table1_nag").loc[0, "B1"] == "0.151"


@pytest.mark.parametrize("table", ["facts_table3_b1", "facts_table5_b2", "facts_table6_b3", "facts_table7_ns"])
def test_printed_nag_and_overall_follow_from_the_printed_accuracies(table):
    """The definitions of `facts`: NAG is clinical minus the worse marked voice, OMR the mean over the voices."""
    frame = published(table)
    accuracy = frame[[f"omr_{voice}" for voice in VOICES]].map(number)
    nag = accuracy["omr_clinical"] - accuracy[["omr_socioeconomic", "omr_cultural"]].min(axis=1)
    for ours, printed in [*zip(nag, frame["nag"], strict=True), *zip(accuracy.mean(axis=1), frame["omr"], strict=True)]:
        assert compare_printed(ours, printed)


@pytest.mark.parametrize(
    ("printed", "value", "places"),
    [
        (".645", 0.645, 3),
        ("+3.7", 3.7, 1),
        ("-9.8", -9.8, 1),
        ("−0.06", -0.06, 2),
        ("2,000", 2000, 0),
        ("1.0000*", 1, 4),
    ],
)
def test_numbers_as_printed(printed, value, places):
    assert number(printed) == value and decimals(printed) == places


@pytest.mark.parametrize("printed", ["", "<0.000001", "some", "nan", "1.2.3"])
def test_what_is_not_one_number(printed):
    assert math.isnan(number(printed))


def test_by_voice_and_by_pair():
    accuracy = by_voice("facts_table3_b1", "omr")
    assert list(accuracy.columns) == ["model", "voice", "printed", "value"] and len(accuracy) == 21
    assert accuracy["voice"].unique().tolist() == VOICES
    kappa = by_voice("facts_table4_b1_agreement", "kappa")
    assert list(kappa.columns) == ["model", "voice_a", "voice_b", "printed", "value"] and len(kappa) == 21
    lengths = by_voice("voice_table1_retellings")
    assert lengths[lengths["property"].str.startswith("length")]["value"].to_list() == [117, 261, 301]


def test_numbers_in_running_text_are_the_printed_ones():
    frame = published("voices_text").set_index("id")
    assert frame.index.is_unique
    value = frame["printed"].map(number)
    assert frame["printed"][value.isna()].tolist() == ["<0.0001", "Twelve percent"]
    assert value["nag_rank_medgemma-4b-it"] == 2 and value["n_voices"] == 3  # printed as words
    assert frame["label"].is_unique
    marked = (value["accuracy_socioeconomic"] + value["accuracy_cultural"]) / 2
    assert compare_printed(100 * (1 - marked), frame.printed["error_rate_marked_pct"])
    assert compare_printed(
        100 * ((1 - marked) / (1 - value["accuracy_clinical"]) - 1), frame.printed["more_errors_pct"]
    )
    assert compare_printed(0.05 / 24, frame.printed["mcnemar_alpha_all"])  # Bonferroni over 24 tests


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(ParameterError, match=r"'facts_table3_b2'; nearest is 'facts_table"):
        published("facts_table3_b2")
    with pytest.raises(ParameterError, match="no column 'B9'"):
        numbers("facts_table1_nag", "B9")
    with pytest.raises(ParameterError, match="no columns 'dss' per voice"):
        by_voice("facts_table3_b1", "dss")
