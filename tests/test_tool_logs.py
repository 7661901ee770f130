"""Tools per question against `facts` Table 9 and the authors' aggregate file."""

import json

import pytest

from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.printed import numbers
from nsh.tool_logs import LOG, tool_use


@pytest.fixture
def log(tmp_path):
    """Write a log of (question, voice) calls, or of whole lines."""

    def written(*calls):
        path = tmp_path / "log.jsonl"
        base = {"model": "llama31", "ablation": "full", "tool": "drug_kb"}
        lines = [
            call if isinstance(call, str) else json.dumps({**base, "question_id": call[0], "persona": call[1]})
            for call in calls
        ]
        path.write_text("\n".join(lines))
        return path

    return written


@pytest.mark.parametrize(("key", "encounters_pct"), [("llama31", 52.30), ("mistral7b", 39.43), ("biomistral", 15.93)])
def test_tools_per_question_equal_the_printed_ones(released, key, encounters_pct):
    """Per cent of encounters: the authors' ns_evaluation_pipeline_full.csv, "Questions With Tools (%)"."""
    row = tool_use(released / LOG.format(key=key)).iloc[0]
    assert (
        round(row["tools_per_question"], 2) == numbers("facts_table9_ns_operations", "tools_per_question")[row["model"]]
    )
    assert round(row["encounters_pct"], 2) == encounters_pct


def test_llama_31_calls_more_tools_than_the_paper_allows(released):
    """Counts of the released log's lines per question and voice, made with grep, sort, uniq and awk."""
    row = tool_use(released / LOG.format(key="llama31")).iloc[0]
    assert (row["n_calls"], row["max_tools"]) == (6134, 16)
    assert round(row["questions_pct"], 1) == 61.7


def test_counts_of_a_made_up_log(log):
    """Two questions in two voices: five calls, none, one; none in the other question."""
    row = tool_use(log(*[("1", "alpha")] * 5, ("1", "beta")), n_questions=2, n_voices=2).iloc[0]
    assert (row["n"], row["n_calls"], row["tools_per_question"]) == (4, 6, 1.5)
    assert (row["encounters_pct"], row["questions_pct"], row["max_tools"]) == (50, 50, 5)


def test_most_calls_of_each_kind_for_one_encounter(log):
    """In one voice two readings, a look-up and two calculators; in the other three look-ups."""
    tools = [("alpha", "lab_interpreter")] * 2 + [("alpha", "drug_kb"), ("alpha", "apgar"), ("alpha", "gcs")]
    lines = [
        json.dumps({"model": "m", "ablation": "full", "question_id": "1", "persona": persona, "tool": tool})
        for persona, tool in tools + [("beta", "drug_kb")] * 3
    ]
    most = {"n_calculators": 2, "calculators_max": 2, "drug_lookups_max": 3, "tools_four_lab_once": 4}
    assert tool_use(log(*lines))[list(most)].iloc[0].to_dict() == most
    assert tool_use(log(*lines))["max_tools"].tolist() == [5]
    assert tool_use(log(lines[0])).at[0, "n_calculators"] == 0


def test_models_are_kept_apart_and_an_empty_log_has_none(log):
    other = json.dumps({"model": "new", "ablation": "full", "tool": "apgar", "question_id": "1", "persona": "rural"})
    assert tool_use(log(("1", "alpha"), other))["model"].tolist() == ["Llama-3.1-8B-Instruct", "new"]
    assert tool_use(log("")).empty


def test_bad_lines_are_named(log):
    with pytest.raises(DataError, match=r"log\.jsonl, line 2: expected one JSON object"):
        tool_use(log(("1", "alpha"), '{"model": "llama31", '))
    with pytest.raises(DataError, match=r"log\.jsonl, line 1, field 'persona': expected text that is not blank"):
        tool_use(log(("1", "")))
    with pytest.raises(DataError, match=r"log\.jsonl, line 1, field 'model'"):
        tool_use(log('{"question_id": "1"}'))


def test_no_file_and_no_questions_are_errors(log, tmp_path):
    with pytest.raises(MissingDataError, match="there is no file"):
        tool_use(tmp_path / "none.jsonl")
    with pytest.raises(ParameterError, match="0 questions, 3 voices"):
        tool_use(log(("1", "alpha")), n_questions=0)


def test_runs_of_one_model_are_not_merged(log):
    """The same encounter under two ablations, one calculator each, of another kind."""
    call = {"model": "m", "question_id": "1", "persona": "alpha"}
    runs = [{"ablation": "full", "tool": "gcs"}, {"ablation": "half", "tool": "apgar"}]
    found = tool_use(log(*(json.dumps(call | run) for run in runs)))
    assert found["ablation"].tolist() == ["full", "half"]
    assert (found[["n_calls", "n_calculators", "max_tools"]] == 1).all(axis=None)


def test_more_questions_or_voices_than_were_run_are_refused(log):
    calls = log(("1", "alpha"), ("2", "alpha"), ("2", "beta"))
    with pytest.raises(DataError, match=r"2 questions in 2 voices; at most 1 questions in 3 voices were run"):
        tool_use(calls, n_questions=1)
    with pytest.raises(DataError, match=r"at most 9 questions in 1 voices"):
        tool_use(calls, n_questions=9, n_voices=1)


def test_a_file_is_looked_for_whatever_its_ending(tmp_path):
    with pytest.raises(MissingDataError, match="there is no file"):
        tool_use("nofile")
    (tmp_path / "log.txt").write_text("")
    with pytest.raises(ParameterError, match=r"log\.txt: expected a file that ends in \.jsonl, \.csv, \.parquet$"):
        tool_use(tmp_path / "log.txt")
