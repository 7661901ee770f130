"""Transcripts: what a page shows of each call, to the letter and escaped."""

import json
from pathlib import Path

import pytest
from made_cases import make_cases

from nsh.engines import ScriptedEngine
from nsh.errors import DataError, ParameterError
from nsh.jobs import Settings, jobs
from nsh.opening import open_page
from nsh.runner import run
from nsh.store import Store
from nsh.transcripts import chosen, hidden, reply_lengths, shown, transcript, written_out

SAMPLES = Path(__file__).resolve().parents[1] / "nsh" / "data" / "samples.jsonl"
NASTY = "Hb <5 g/dL <b>x</b><script>1</script> $a$ α"


def reply(call):
    return {"rewrite": NASTY, "extract": NASTY, "reason": NASTY}.get(call.stage, "C")


def outcomes_of(tmp_path, condition, **settings):
    todo = jobs(make_cases(1), condition, Settings(**settings))
    return run(todo, ScriptedEngine(reply=reply), Store(tmp_path))[0]


@pytest.mark.parametrize("condition", ["direct", "rewrite", "extract_tools", "guarded_rewrite"])
def test_a_transcript_holds_the_calls_that_were_made(tmp_path, condition):
    sent = []
    engine = ScriptedEngine(reply=lambda call: sent.append(call) or reply(call))
    (outcome, *_), _ = run(jobs(make_cases(1), condition, Settings(max_new_tokens=64))[:1], engine, Store(tmp_path))
    steps = transcript(outcome)
    assert [step.call for step in steps] == sent
    assert tuple(step.completion for step in steps) == outcome.completions
    assert all(step.call.max_new_tokens <= 64 for step in steps)


def test_every_text_is_shown_literally(tmp_path):
    outcome = outcomes_of(tmp_path, "extract_tools")[0]
    block = written_out(outcome)
    assert "<script>" not in block.html and "&lt;script&gt;1&lt;/script&gt; $a$ α" in block.html
    assert "mathjax_ignore" in block.html
    for step in transcript(outcome):
        assert all(text in block.text for _, text in step.call.messages) and step.completion.text in block.text
    assert "extraction: none; tools: none; fallback: yes" in block.text
    assert "facts, section 3.3, Agent 3" in block.text and "reconstructed" in block.text


def test_departures_are_told(tmp_path):
    block = written_out(outcomes_of(tmp_path, "direct", max_new_tokens=20)[0])
    assert "at most 20 new tokens" in block.text


def test_the_figure_has_a_row_per_call_and_a_marker_per_voice(tmp_path):
    figure = reply_lengths(outcomes_of(tmp_path, "guarded_rewrite"))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "rewrite",
        "rewrite_again",
        "answer_from",
    ]
    assert "answer_from: clinical 1, socioeconomic 1, cultural 1" in figure.get_label()


def test_without_an_outcome_there_is_nothing_to_draw():
    with pytest.raises(DataError, match="no outcome"):
        reply_lengths([])


def test_a_page_shows_the_voice_that_it_names(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    page = {"models": ["scripted"], "condition": "rewrite"}
    assert chosen(open_page("voices-04-setup", **page)).job.voice == "clinical"
    assert chosen(open_page("voices-04-setup", **page, voice="cultural")).job.voice == "cultural"
    with pytest.raises(ParameterError, match="told in clinical, socioeconomic, cultural"):
        chosen(open_page("voices-04-setup", **page, voice="loud"))


def test_without_a_model_there_is_nothing_to_show():
    study = open_page("voices-04-setup", models=[])
    assert chosen(study) is None
    assert "No model was run" in str(shown(study, None))


@pytest.mark.parametrize("source", ["released", "hf:someone/data.csv", "folder/of/released"])
def test_only_samples_and_the_reader_s_own_files_are_shown(tmp_path, monkeypatch, source):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    study = open_page("voices-04-setup", models=["scripted"], n_cases=1)
    outcome = chosen(study)
    for own in ("samples", "own.jsonl"):
        study.values["source"] = own
        assert hidden(study) is None and study.cases[0].question in str(shown(study, outcome))
    study.values["source"] = source
    assert str(shown(study, outcome)) == str(hidden(study)) and source in str(hidden(study))


def test_a_file_that_was_made_of_medqa_is_not_shown(tmp_path):
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()[:2]]
    file = tmp_path / "sampled.jsonl"
    file.write_text("\n".join(json.dumps(row | {"meta_info": "step1"}) for row in rows), encoding="utf-8")
    assert hidden(open_page("voices-04-setup", models=[], source=str(file)))
