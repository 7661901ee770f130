"""Operation rates against counts by hand, and Tools/Q of `facts` Table 9 from the released tool logs."""

import itertools
import math
import random

import pytest

from nsh.case_files import read_file
from nsh.errors import DataError
from nsh.operations import operations, operations_table
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.records import records_frame
from nsh.released import MODELS
from nsh.tool_logs import LOG, tool_use

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
    assert row["note"] == "no extraction; no router; no fallback"


def test_a_voice_without_answers_has_no_rates():
    """The other model answered in a voice of which this one has nothing."""
    frame = operations(records_frame([answer("1", "clinical"), answer("1", "rural", model="other")]))
    row = frame.set_index(["model", "voice"]).loc["m", "rural"]
    assert (row["n"], row["n_extractions"], row["note"]) == (0, 0, "n = 0")
    assert row.drop(["condition", "n", "n_extractions", "note"]).isna().all()


def test_every_answer_from_the_fallback_and_no_tool_called():
    """Five of five: Wilson's lower bound is 5 / (5 + 1.96²) = 0.5655; no tool called is 0, not undefined."""
    row = overall([answer(str(n), "clinical", fallback=True) for n in range(5)])
    assert (row["fallback_rate"], row["fallback_rate_hi"], row["note"]) == (1.0, 1.0, "")
    assert row["fallback_rate_lo"] == pytest.approx(0.5655, abs=5e-5)
    assert (row["tools_per_question"], row["encounters_with_tools"], row["questions_with_tools"]) == (0, 0, 0)


def test_answers_without_a_time_do_not_count_as_quick():
    assert (
        overall([answer("1", "clinical", seconds=4.0), answer("2", "clinical", seconds=None)])["seconds_per_question"]
        == 4.0
    )
    row = overall([answer("1", "clinical", seconds=None)])
    assert math.isnan(row["seconds_per_question"]) and row["note"] == "no times"


@pytest.mark.parametrize("voices", [("clinical", "rural"), ("clinical", "socioeconomic", "cultural", "rural", "plain")])
def test_every_rate_equals_a_count_one_by_one(voices):
    """Two models, twenty questions, drawn at random; each number is counted again in plain Python."""
    draw, rows = random.Random(len(voices)), []
    for model, case, voice in itertools.product(("m", "other"), map(str, range(20)), voices):
        tools = draw.choice([(), (), ("drug_kb",), ("curb65", "drug_kb", "drug_kb")])
        status = draw.choice(["ok", "ok", "repaired", "truncated", "none", "ambiguous"])
        letter, late = draw.choice(["A", "B", None]), draw.random() < 0.3
        rows.append(answer(case, voice, status, tools, late, letter, draw.random(), model=model))
    for found in operations(records_frame(rows)).to_dict("records"):
        own = [row for row in rows if row["model"] == found["model"] and found["voice"] in (row["voice"], "overall")]
        n, called = len(own), [row for row in own if row["tools"]]
        assert found["n"] == found["n_extractions"] == n and found["note"] == ""
        counted = {
            "parse_rate": sum(row["extraction"] in ("ok", "repaired") for row in own) / n,
            "strict_rate": sum(row["extraction"] == "ok" for row in own) / n,
            "fallback_rate": sum(row["fallback"] for row in own) / n,
            "final_parse_rate": sum(row["letter"] is not None for row in own) / n,
            "tools_per_question": sum(len(row["tools"]) for row in own) / n,
            "encounters_with_tools": len(called) / n,
            "questions_with_tools": len({row["case"] for row in called}) / 20,
            "seconds_per_question": sum(row["seconds"] for row in own) / n,
        }
        assert {name: found[name] for name in counted} == pytest.approx(counted)


def test_pattern_counts_know_no_letters():
    rows = operations(from_patterns(["B1"]))
    assert rows["final_parse_rate"].isna().all() and (rows["n"] > 0).all()
    assert rows["note"].str.endswith("no letters").all()


def test_no_records_are_no_rows():
    assert operations(records_frame([])).empty
    assert "no rows" in operations_table(records_frame([])).text


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="extraction"):
        operations(records_frame([answer("1", "clinical")]).drop(columns="extraction"))


def test_the_table_says_which_parts_are_not_there():
    text = operations_table(records_frame([answer("1", "clinical", extraction=None, tools=None, fallback=None)])).text
    assert "–" in text and "nan" not in text and "100.00" in text
    assert "no extraction; no router; no fallback" in text


@pytest.mark.parametrize("key", ["llama31", "mistral7b", "biomistral"])
def test_tools_per_question_of_the_released_logs(released, key):
    """`facts` Table 9 prints 2.04, 1.02 and 0.25; `tool_use` counts the log itself."""
    names = [f"MQ_{n:04d}" for n in range(1, 1001)]
    called = {(case, voice): [] for case in names for voice in ("alpha", "beta", "gamma")}
    for _, line in read_file(released / LOG.format(key=key)):
        called[line["question_id"], line["persona"]].append(line["tool"])
    rows = [answer(case, voice, tools=tuple(tools)) for (case, voice), tools in called.items()]
    printed = published("facts_table9_ns_operations").set_index("model")["tools_per_question"][MODELS[key]]
    row, log = overall(rows), tool_use(released / LOG.format(key=key)).iloc[0]
    assert f"{row['tools_per_question']:.2f}" == printed
    shares = [100 * row["encounters_with_tools"], 100 * row["questions_with_tools"]]
    assert shares == pytest.approx([log["encounters_pct"], log["questions_pct"]])


def test_records_as_written_to_a_file_are_refused():
    """The letters of "drug_kb" are not seven tools."""
    written = records_frame([answer("1", "clinical")]).assign(tools="drug_kb")
    with pytest.raises(DataError, match="read_records"):
        operations(written)
