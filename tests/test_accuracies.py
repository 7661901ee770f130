"""Accuracy and Wilson intervals against the papers' tables, the authors' own files and statsmodels."""

from math import isnan

import pandas as pd
import pytest
from fabricated import fabricated, from_letters
from statsmodels.stats.proportion import proportion_confint

from nsh.accuracies import accuracy, status_rates, wilson
from nsh.errors import DataError, ParameterError
from nsh.patterns import from_patterns
from nsh.printed import published

pytestmark = pytest.mark.filterwarnings("error")


def test_every_accuracy_of_facts_table_3_comes_out_to_the_printed_digit():
    found = accuracy(from_patterns(["B1"])).pivot(index="model", columns="voice", values="accuracy")
    columns = {"omr": "overall", "omr_clinical": "clinical", "omr_socioeconomic": "socioeconomic"}
    columns["omr_cultural"] = "cultural"
    printed = published("facts_table3_b1").set_index("model")
    assert len(printed) == 7
    for model in printed.index:
        for column, voice in columns.items():
            assert f"{found.loc[model, voice]:.4f}" == printed.loc[model, column], (model, voice)


def test_wilson_intervals_equal_those_in_the_authors_own_file(released):
    """b1_evaluation_primary.csv prints every accuracy as "0.6417 [0.6243, 0.6586]"."""
    from nsh.released import MODELS

    authors = pd.read_csv(released / "results/b1_results/b1_results/b1_evaluation_primary.csv")
    found = accuracy(from_patterns(["B1"])).set_index(["model", "voice"])
    voices = {"OMR Overall": "overall", "OMR Pα Control": "clinical"}
    voices |= {"OMR Pβ Socioeconomic": "socioeconomic", "OMR Pγ Cultural": "cultural"}
    assert set(authors["Model"]) == set(MODELS)
    for printed in authors.to_dict("records"):
        for column, voice in voices.items():
            row = found.loc[(MODELS[printed["Model"]], voice)]
            assert f"{row['accuracy']:.4f} [{row['lo']:.4f}, {row['hi']:.4f}]" == printed[column]


@pytest.mark.parametrize(("n_correct", "n"), [(0, 77), (38, 38), (1, 1), (0, 1), (5, 10), (729, 1000), (1, 10**6)])
def test_wilson_equals_statsmodels(n_correct, n):
    expected = proportion_confint(n_correct, n, alpha=0.05, method="wilson")
    assert wilson(n_correct, n) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 38, 77, 1000])
def test_wilson_stays_inside_zero_and_one(n):
    assert wilson(0, n)[0] == 0 and wilson(n, n)[1] == 1
    assert 0 < wilson(0, n)[1] < 1 and 0 < wilson(n, n)[0] < 1


def test_wilson_of_no_answers_is_undefined():
    assert all(isnan(bound) for bound in wilson(0, 0))


@pytest.mark.parametrize(("n_correct", "n"), [(-1, 3), (4, 3), (1.5, 3)])
def test_wilson_refuses_impossible_counts(n_correct, n):
    with pytest.raises(ParameterError, match=rf"n_correct = {n_correct}\b"):
        wilson(n_correct, n)


def test_unparsed_counts_as_wrong_and_is_shown():
    found = accuracy(from_letters([["A", None, "A"], ["A", None, "B"]])).set_index("voice")
    assert found["accuracy"].to_dict() == {"clinical": 1, "socioeconomic": 0, "cultural": 0.5, "overall": 0.5}
    assert found["n_unparsed"].to_dict() == {"clinical": 0, "socioeconomic": 2, "cultural": 0, "overall": 2}
    assert (found["note"] == "").all()


def test_pattern_counts_have_no_number_of_unparsed_answers():
    found = accuracy(from_patterns(["B3"]))
    assert found["n_unparsed"].isna().all()
    assert found["note"].str.startswith("n_unparsed unknown").all()


def test_missing_voice_has_n_0_and_no_accuracy():
    records = pd.concat([fabricated([[1, 0, 1]], model="a"), fabricated([[1, 0, None]], model="b")])
    row = accuracy(records).set_index(["model", "voice"]).loc[("b", "cultural")]
    assert row["n"] == 0 and row["note"] == "n = 0"
    assert isnan(row["accuracy"]) and isnan(row["lo"])


def test_unequal_case_sets_show_in_n():
    found = accuracy(fabricated([[1, 0, 1], [1, None, 0], [None, 1, 1]])).set_index("voice")
    assert found["n"].to_dict() == {"clinical": 2, "socioeconomic": 2, "cultural": 3, "overall": 7}


def test_empty_frame_gives_an_empty_frame_with_its_columns():
    found = accuracy(fabricated([]))
    assert len(found) == 0 and {"accuracy", "lo", "hi", "note"} <= set(found.columns)


def test_five_voices_come_known_first_then_by_name():
    found = accuracy(fabricated([[1, 1, 1, 0, 0]], voices=("z", "rural", "cultural", "clinical", "a")))
    assert found["voice"].tolist() == ["clinical", "cultural", "a", "rural", "z", "overall"]
    assert found["accuracy"].tolist() == [0, 1, 0, 1, 1, 0.6]


def test_a_voice_named_overall_is_refused():
    with pytest.raises(DataError, match="named 'overall'"):
        accuracy(fabricated([[1, 0]], voices=("clinical", "overall")))


def test_row_order_and_other_models_do_not_matter():
    records = from_patterns(["B1"])
    expected = accuracy(records).set_index(["model", "voice"])
    shuffled = accuracy(records.sample(frac=1, random_state=1)).set_index(["model", "voice"])
    pd.testing.assert_frame_equal(shuffled.loc[expected.index], expected)
    alone = accuracy(records[records["model"] == "BioMistral-7B"]).set_index(["model", "voice"])
    pd.testing.assert_frame_equal(alone, expected.loc[alone.index])


def with_statuses(statuses, voices=("clinical", "cultural")):
    """Records with the given statuses, cases × voices, all of them wrong."""
    records = fabricated([[0] * len(voices) for _ in statuses], voices=voices)
    return records.assign(status=[status for case in statuses for status in case])


def test_status_rates_are_counted_per_voice_and_overall():
    found = status_rates(with_statuses([["ok", "empty"], ["ok", "refusal"], ["unparsed", "ok"]])).set_index("voice")
    assert found["n"].to_dict() == {"clinical": 3, "cultural": 3, "overall": 6}
    assert found["ok"].to_dict() == pytest.approx({"clinical": 2 / 3, "cultural": 1 / 3, "overall": 1 / 2})
    assert found.loc["overall", ["unparsed", "empty", "refusal", "ambiguous", "truncated"]].tolist() == pytest.approx(
        [1 / 6, 1 / 6, 1 / 6, 0, 0]
    )
    assert (found["note"] == "").all()


def test_status_rates_of_the_invalid_outputs_of_sdoh():
    """10, 22 and 6 invalid of 2,700 answers (`sdoh` §V)."""
    for row in published("sdoh_invalid_outputs").to_dict("records"):
        invalid, n = int(row["invalid"]), int(row["responses"])
        statuses = [["unparsed" if case < invalid else "ok"] for case in range(n)]
        found = status_rates(with_statuses(statuses, voices=("clinical",))).iloc[-1]
        assert (found["n"], found["unparsed"], found["ok"]) == (
            n,
            pytest.approx(invalid / n),
            pytest.approx(1 - invalid / n),
        )


def test_released_biomistral_answers_to_b3_are_all_empty(released):
    from nsh.released import load_released

    records = load_released(released, conditions=("B3",))
    found = status_rates(records).set_index(["model", "voice"]).loc[("BioMistral-7B", "overall")]
    assert (found["n"], found["empty"], found["ok"]) == (3000, 1, 0)


def test_status_rates_of_no_answers_and_of_pattern_counts_are_missing_and_say_so():
    records = pd.concat([fabricated([[1, 0, 1]], model="a"), fabricated([[1, 0, None]], model="b")])
    row = status_rates(records).set_index(["model", "voice"]).loc[("b", "cultural")]
    assert row["n"] == 0 and isnan(row["ok"]) and row["note"] == "n = 0"
    counted = status_rates(from_patterns(["B3"]))
    assert counted["ok"].isna().all() and counted["note"].str.startswith("unknown: pattern counts").all()
    assert len(status_rates(fabricated([]))) == 0


def test_status_rates_depend_neither_on_row_order_nor_on_the_column_type():
    records = with_statuses([["ok", "empty"], ["truncated", "ok"]])
    expected = status_rates(records)
    pd.testing.assert_frame_equal(status_rates(records.sample(frac=1, random_state=2)), expected)
    for kind in ("string", "category"):
        pd.testing.assert_frame_equal(status_rates(records.astype({"status": kind})), expected)


def test_an_unknown_status_is_refused():
    with pytest.raises(DataError, match="status 'fine' is none of ok, unparsed"):
        status_rates(with_statuses([["ok", "fine"]]))
