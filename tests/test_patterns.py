"""The packaged pattern counts: equal to the released answers, and honest about what they do not hold."""

import numpy as np
import pandas as pd
import pytest

from nsh.errors import ParameterError
from nsh.matrix import voice_matrices
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.records import COLUMNS

pytestmark = pytest.mark.filterwarnings("error")


def pattern_counts(records):
    """Count right/wrong patterns per condition and model, as in patterns.csv."""
    rows = []
    for matrix in voice_matrices(records):
        codes = matrix.complete() @ np.array([4, 2, 1])
        counts = dict(zip([f"n{number:03b}" for number in range(8)], np.bincount(codes, minlength=8), strict=True))
        rows.append({"condition": matrix.condition, "model": matrix.model, **counts})
    return pd.DataFrame(rows).set_index(["condition", "model"])


def packaged():
    """The packaged table as whole numbers."""
    return published("patterns").set_index(["condition", "model"]).astype(int)


def test_expansion_holds_exactly_the_packaged_counts():
    pd.testing.assert_frame_equal(pattern_counts(from_patterns()), packaged(), check_dtype=False)


def test_counts_are_those_of_the_released_answers(released):
    from nsh.released import load_released

    found = pattern_counts(load_released(released))
    pd.testing.assert_frame_equal(found, packaged().loc[found.index], check_dtype=False)
    assert {(condition, model) for condition, model in packaged().index if condition == "B1"} <= set(found.index)


def test_every_model_and_condition_has_a_thousand_questions_in_three_voices():
    sizes = from_patterns().groupby(["condition", "model"]).size()
    assert len(sizes) == 16 and (sizes == 3000).all()


def test_no_case_is_shared_between_models_or_conditions():
    records = from_patterns()
    owners = records[["model", "condition", "case"]].drop_duplicates()
    assert owners["case"].is_unique and len(owners) == 16000


def test_records_have_the_shared_columns_and_hold_no_letters_or_text():
    records = from_patterns(["B2"])
    assert list(records.columns) == COLUMNS
    assert records[["gold", "letter", "text", "prompt_tokens", "new_tokens"]].isna().all(axis=None)
    assert set(records["status"]) == {"pattern"} and set(records["source"]) == {"patterns"}
    assert set(records["keys"]) == {()} and records["correct"].dtype == bool


def test_conditions_are_chosen_and_no_condition_is_an_empty_frame():
    assert set(from_patterns(["B3"])["condition"]) == {"B3"}
    assert len(from_patterns([])) == 0


def test_unknown_condition_is_refused():
    with pytest.raises(ParameterError, match="'direct' has no pattern counts; known are B1, B2, B3"):
        from_patterns(["B1", "direct"])
