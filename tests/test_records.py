"""Records: one row per answer, unparsed told apart from wrong."""

import pandas as pd
import pytest
from made_cases import make_cases

from nsh.engines import ScriptedEngine
from nsh.errors import DataError, ParameterError
from nsh.jobs import Settings, jobs
from nsh.records import COLUMNS, STATUSES, from_outcomes, read_records, records_frame, write_records
from nsh.runner import run
from nsh.store import Store

ROW = {"model": "m", "condition": "direct", "case": "007", "voice": "clinical", "correct": True}


def make_records(tmp_path, reply):
    outcomes, _ = run(jobs(make_cases(2), "direct"), ScriptedEngine(reply=reply), Store(tmp_path))
    return from_outcomes(outcomes, "scripted")


def test_a_run_becomes_one_row_per_answer(tmp_path):
    records = make_records(tmp_path, lambda call: "B")
    assert list(records.columns) == COLUMNS
    assert len(records) == 6
    assert records["correct"].tolist() == [False] * 3 + [True] * 3
    assert set(records["source"]) == {"scripted"}


def test_a_record_says_what_its_condition_did_and_whose_words_it_used(tmp_path):
    def reply(call):
        return {"extract": '{"age": 5,}', "reason": "No letter."}.get(call.stage, "A")

    rows = {}
    for condition in ("direct", "extract", "extract_tools", "narrativeshield"):
        outcomes, _ = run(jobs(make_cases(1), condition), ScriptedEngine(reply=reply), Store(tmp_path))
        rows[condition] = from_outcomes(outcomes, "m", "shortened").iloc[0]
    said = rows["extract_tools"]
    assert (said.extraction, said.tools, said.fallback, said.prompts) == ("repaired", (), True, "reconstructed")
    assert (said.text, said.letter, said.settings) == ("No letter.", "A", "shortened")
    assert rows["narrativeshield"].equals(said)
    assert (rows["extract"].extraction, rows["extract"].tools, rows["extract"].fallback) == ("repaired", None, None)
    assert (rows["direct"].prompts, rows["extract"].prompts) == ("verbatim", "partly reconstructed")
    cut, _ = run(jobs(make_cases(1), "direct", Settings(max_new_tokens=20)), ScriptedEngine(), Store(tmp_path))
    assert set(from_outcomes(cut, "m")["settings"]) == {"at most 20 new tokens"}


def test_unparsed_is_not_a_letter_and_counts_as_incorrect(tmp_path):
    records = make_records(tmp_path, lambda call: "")
    assert records["letter"].isna().all()
    assert not records["correct"].any()
    assert set(records["status"]) == {"empty"} <= set(STATUSES)


def test_two_rows_for_one_answer_are_refused():
    with pytest.raises(DataError, match="m, direct, 007, clinical"):
        records_frame([ROW, {**ROW, "correct": False}])


def test_no_rows_have_all_columns():
    frame = records_frame([])
    assert list(frame.columns) == COLUMNS
    assert frame["correct"].dtype == bool


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_exported_records_hold_letters_and_no_text(tmp_path, ending):
    records = make_records(tmp_path / "store", lambda call: "B is what I would say")
    path = write_records(records, tmp_path / f"out.{ending}")
    back = pd.read_csv(path, dtype=str) if ending == "csv" else pd.read_parquet(path)
    assert "text" not in back
    assert back["case"].tolist() == records["case"].tolist()
    assert "what I would say" not in path.read_bytes().decode("utf-8", "ignore")
    assert "text" in pd.read_parquet(write_records(records, tmp_path / "with.parquet", with_text=True))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("condition", ["direct", "extract_tools"])
def test_written_records_are_read_back_as_they_were(tmp_path, ending, condition):
    replies = {"extract": '{"age": 5, "labs": [{"name": "Na", "value": 120, "unit": "mEq/L"}]}', "reason": "?"}
    engine = ScriptedEngine(reply=lambda call: replies.get(call.stage, "B"))
    records = from_outcomes(run(jobs(make_cases(2), condition), engine, Store(tmp_path))[0], "m")
    path = write_records(records, tmp_path / f"r.{ending}", with_text=True)
    pd.testing.assert_frame_equal(read_records(path), records)
    without = read_records(write_records(records, tmp_path / f"w.{ending}"))
    pd.testing.assert_frame_equal(without.drop(columns="text"), records.drop(columns="text"))


def test_a_file_of_another_form_is_refused(tmp_path):
    (tmp_path / "r.csv").write_text("model,condition\nm,direct\n", encoding="utf-8")
    with pytest.raises(DataError, match="case"):
        read_records(tmp_path / "r.csv")


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"out\.xlsx"):
        write_records(records_frame([ROW]), tmp_path / "out.xlsx")
