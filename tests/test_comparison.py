"""Our numbers against printed digits."""

import numpy as np
import pandas as pd
import pytest

from nsh.comparison import compare, compare_printed
from nsh.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("ours", "printed", "equal"),
    [
        (0.15100000000000002, "0.151", True),  # 0.729 - 0.578 in floats
        (0.1510, "0.1510", True),
        (0.15054, "0.151", True),
        (0.15046, "0.151", False),
        (0.15154, "0.151", False),
        (0.1505, "0.151", True),  # half way: half up
        (0.1505, "0.150", True),  # half way: half to even
        (0.125, "0.12", True),
        (0.125, "0.13", True),
        (0.645, ".645", True),
        (3.66, "+3.7", True),
        (-9.8, "-9.8", True),
        (9.8, "-9.8", False),
        (-0.06, "−0.06", True),
        (-0.00001, "0.000", True),
        (0.00004, "0.0000", True),
        (0.00006, "0.0000", False),
        (0.0000004, "<0.000001", True),
        (0.000001, "<0.000001", False),
        (116, "117", False),
        (117.4, "117", True),
        (2000, "2,000", True),
        (np.float64(0.151), "0.151", True),
        (np.nan, "0.151", False),
        (np.nan, "<0.000001", False),
        (np.inf, "1.0", False),
    ],
)
def test_equal_to_the_printed_digits(ours, printed, equal):
    assert compare_printed(ours, printed) is equal


@pytest.mark.parametrize("printed", ["", "some", "n/a", "<"])
def test_what_is_not_a_number_cannot_be_compared(printed):
    with pytest.raises(DataError, match="is not a printed number"):
        compare_printed(0.5, printed)


def test_a_table_beside_ours():
    ours = pd.DataFrame(
        {("clinical", "accuracy"): [0.729, 0.459], "nag": [0.729 - 0.578, 0.07]},
        index=["Llama-3.1-8B-Instruct", "BioMistral-7B"],
    )
    rows = compare(ours, "facts_table3_b1", {"omr_clinical": ("clinical", "accuracy"), "nag": "nag"})
    assert list(rows.columns) == ["model", "column", "printed", "ours", "equal"] and len(rows) == 14
    rows = rows.set_index(["model", "column"])
    assert rows.at[("Llama-3.1-8B-Instruct", "nag"), "equal"]
    assert not rows.at[("BioMistral-7B", "nag"), "equal"]
    assert rows.at[("gemma-3-12b-it", "nag"), "equal"] is pd.NA
    assert rows["equal"].sum() == 3 and rows["equal"].isna().sum() == 10


def test_blank_cells_are_left_out_and_two_keys_work():
    ours = pd.DataFrame({"p": [0.09]}, index=["B1 direct"])
    assert compare(ours, "voice_table2_conditions", {"delta_acc_points": "p"}, on="condition")["ours"].isna().all()
    pair = pd.DataFrame({"n": [124]}, index=pd.MultiIndex.from_tuples([("1.5B vs 3B", "bias_aware")]))
    rows = compare(pair, "sdoh_table5_scale_mcnemar", {"a_correct_b_wrong": "n"}, on=["comparison", "prompt"])
    assert rows["equal"].sum() == 1 and len(rows) == 6


def test_mistakes_are_named():
    ours = pd.DataFrame({"nag": [0.1, 0.2]}, index=["BioMistral-7B", "BioMistral-7B"])
    with pytest.raises(DataError, match="more than one row for 'BioMistral-7B'"):
        compare(ours, "facts_table3_b1", {"nag": "nag"})
    with pytest.raises(DataError, match="no column 'gap'"):
        compare(ours, "facts_table3_b1", {"nag": "gap"})
    with pytest.raises(ParameterError, match="no column 'nga'"):
        compare(ours, "facts_table3_b1", {"nga": "nag"})
