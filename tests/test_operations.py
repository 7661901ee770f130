"""Operation rates against counts by hand, and Tools/Q of `facts` Table 9 from the released tool logs."""

import math

import pytest

from nsh.case_files import read_file
from nsh.errors import DataError
from nsh.operations import operations, operations_table
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.records import records_frame
from nsh.released import MODELS
from nsh.tool_logs import LOG

VOICES = ("clinical", "socioeconomic", "cultural")
KEY = {"model": "m", "condition": "extract_tools", "correct": False}


def answer(case, voice, extraction="ok", tools=(), fallback=False, letter="A", seconds=1.0, **other):
    row = {"case": case, "voice": voice, "extraction": extraction, "tools": tools, "fallback": fallback}
    return {**KEY, **row, "letter": letter, "status": "ok" if letter else "unparsed", "seconds": seconds, **other}


def overall(rows):
    return operations(records_frame(rows)).set_index("voice").loc["overall"]


def test_rates_are_counted_over_answers_and_questions():
    """Four answers to two questions: three extractions parse, one after repair; tools 2 + 1 + 0 + 0."""
    row = overall(
        [
            answer("1", "clinical", tools=("lab_interpreter", "drug_kb"), seconds=2.0),
            answer("1", "cultural", "repaired", tools=("drug_kb",), fallback=True, seconds=4.0),
            answer("2", "clinical", "truncated", seconds=6.0),
            answer("2", "cultural", letter=None, fallback=True, seconds=8.0),
        ]
    )
    assert (row["n"], row["n_extractions"]) == (4, 4)
    assert (row["parse_rate"], row["strict_rate"]) == (0.75, 0.5)
    assert (row["fallback_rate"], row["final_parse_rate"]) == (0.5, 0.75)
    assert (row["tools_per_question"], row["encounters_with_tools"], row["questions_with_tools"]) == (0.75, 0.5, 0.5)
    assert row["seconds_per_question"] == 5.0


def test_the_interval_is_wilsons():
    """95 of 100: 0.8882 to 0.9785 (statsmodels.stats.proportion.proportion_confint, method "wilson")."""
    row = overall([answer(str(n), "clinical", "ok" if n < 95 else "none") for n in range(100)])
    assert row["parse_rate_lo"] == pytest.approx(0.8882, abs=5e-5)
    assert row["parse_rate_hi"] == pytest.approx(0.9785, abs=5e-5)


def test_a_rate_per_voice_and_over_all():
    rows = [answer("1", voice, "ok" if voice == "clinical" else "none") for voice in ("clinical", "a", "b", "c", "d")]
    table = operations(records_frame(rows)).set_index("voice")["parse_rate"]
    assert table["clinical"] == 1.0 and table["a"] == 0.0 and table["overall"] == 0.2


def test_what_a_condition_does_not_have_is_undefined():
    row = overall([answer("1", "clinical", extraction=None, tools=None, fallback=None, condition="direct")])
    assert (row["n"], row["n_extractions"], row["final_parse_rate"]) == (1, 0, 1.0)
    for name in ("parse_rate", "strict_rate", "fallback_rate", "tools_per_question", "questions_with_tools"):
        assert math.isnan(row[name])


def test_pattern_counts_know_no_letters():
    rows = operations(from_patterns(["B1"]))
    assert rows["final_parse_rate"].isna().all() and (rows["n"] > 0).all()


def test_no_records_are_no_rows():
    assert operations(records_frame([])).empty
    assert "no rows" in operations_table(records_frame([])).text


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="extraction"):
        operations(records_frame([answer("1", "clinical")]).drop(columns="extraction"))


def test_the_table_says_which_parts_are_not_there():
    text = operations_table(records_frame([answer("1", "clinical", extraction=None, tools=None, fallback=None)])).text
    assert "–" in text and "nan" not in text and "100.00" in text


@pytest.mark.parametrize("key", ["llama31", "mistral7b", "biomistral"])
def test_tools_per_question_of_the_released_logs(released, key):
    """`facts` Table 9 prints 2.04, 1.02 and 0.25."""
    names = [f"MQ_{n:04d}" for n in range(1, 1001)]
    called = {(case, voice): [] for case in names for voice in ("alpha", "beta", "gamma")}
    for _, line in read_file(released / LOG.format(key=key)):
        called[line["question_id"], line["persona"]].append(line["tool"])
    rows = [answer(case, voice, tools=tuple(tools)) for (case, voice), tools in called.items()]
    printed = published("facts_table9_ns_operations").set_index("model")["tools_per_question"][MODELS[key]]
    assert f"{overall(rows)['tools_per_question']:.2f}" == printed
