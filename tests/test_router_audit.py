"""The router against the released tool-call logs (`facts`; three models), and against made-up ones."""

import json

import pytest
from router_audit import MEDICATION, OPTION, TOOLS, router_against_logs

from nsh.case_files import QUESTIONS, RETELLINGS
from nsh.errors import DataError, MissingDataError
from nsh.tool_logs import LOG

VOICES = {"alpha": "He hurts.", "beta": "I hurt and cannot pay.", "gamma": "My bones hurt."}
SCORES = list(TOOLS[:5])
ASKED = {"question_id": "MQ_0001", "persona": "alpha", "model": "llama31", "ablation": "full"}


@pytest.fixture(scope="module")
def compared(released):
    return router_against_logs(released).set_index(["model", "given", "tool"]).sort_index()


@pytest.fixture
def made(tmp_path):
    """Write one made-up case and a log of its first voice; return the comparison over all models."""

    def compare(vignette, options, calls, **changes):
        case = {"question_id": "MQ_0001", "question": vignette, "options": options, "answer_idx": "A"}
        told = {f"persona_{voice}": f"{text} What now?" for voice, text in VOICES.items()}
        rows = [ASKED | {"tool": tool, "input": given} | changes for tool, given in calls]
        files = {QUESTIONS: [case], RETELLINGS: [{"question_id": "MQ_0001", **told}], LOG.format(key="llama31"): rows}
        for name, lines in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return router_against_logs(tmp_path).set_index(["model", "given", "tool"]).loc["all"]

    return compare


def test_given_what_the_released_code_had_it_calls_the_same(compared):
    """Per model, over all 3,000 encounters, with the vignette as the question: both at least 95 per cent."""
    same = compared.xs("vignette", level="given")
    assert len(compared) == 4 * 2 * 7 and len(same) == 4 * 7
    assert (same["recall"] >= 0.95).all() and (same["precision"].drop(MEDICATION, level="tool") >= 0.95).all()
    assert (same["n"] == 3000).sum() == 21 and (same.loc["all", "n"] == 9000).all()
    assert "unexplained" not in " ".join(compared["differences"])


def test_options_hold_from_the_question_sentence_too(compared):
    options = compared.xs(("sentence", OPTION), level=("given", "tool"))
    assert (options[["precision", "recall"]] >= 0.95).all(axis=None)


def test_scores_are_called_as_logged(compared):
    """173 score calls in the logs of three models (grep -c); the question sentence alone decides 44 of them."""
    scores = compared.loc["all"].loc[["vignette", "sentence"], :]
    whole, sentence = (scores.loc[given].loc[SCORES] for given in ("vignette", "sentence"))
    assert whole["both"].sum() == 173 and whole[["ours_only", "logs_only"]].to_numpy().sum() == 0
    assert sentence["both"].sum() == 44 and sentence["ours_only"].sum() == 0
    assert all(kinds.startswith("rest of the vignette: ") and ";" not in kinds for kinds in sentence["differences"])


def test_kinds_of_difference(compared):
    differences = compared["differences"]["all"]["vignette"]
    assert differences[OPTION].split("; ") == [
        "alias: 8 (MQ_0752)",
        "disposition: 26 (MQ_0216, MQ_0667, MQ_0900)",
        "parts of words: 9 (MQ_0378)",
    ]
    assert differences[MEDICATION].startswith("no keyword: 11 (MQ_0089, MQ_0280, MQ_0320); parts of words: 9 (")


def test_it_can_fail(made):
    """A log that calls a score without cause and looks up nothing where three options name drugs (three voices)."""
    table = made("A man hurts. What is the best treatment?", {"A": "Aspirin", "B": "Rest"}, [("apgar", {})])
    table = table.loc["vignette"]
    assert table.loc["apgar", ["both", "ours_only", "logs_only", "recall"]].tolist() == [0, 0, 1, 0.0]
    assert table.loc[OPTION, ["n", "both", "ours_only", "precision"]].tolist() == [3, 0, 3, 0.0]
    assert table.loc[["apgar", OPTION], "differences"].tolist() == [
        "unexplained: 1 (MQ_0001)",
        "unexplained: 3 (MQ_0001)",
    ]
    assert table.loc["curb65", ["precision", "recall"]].isna().all()


def test_logged_values_and_medications_take_the_places_they_took(made):
    """Three values and a medication leave no place for an option; three values alone leave one for two options."""
    question, options = "A man hurts. What is the best treatment?", {"A": "Aspirin", "B": "Warfarin"}
    value = ("lab_interpreter", {"name": "Na", "value": "low", "unit": None})
    full = made(question, options, [value] * 3 + [("drug_kb", "metformin 1 g")]).loc["vignette"]
    assert full.loc[OPTION, ["decidable", "ours_only"]].tolist() == [2, 4]
    assert full.loc[MEDICATION, ["decidable", "both", "ours_only"]].tolist() == [3, 1, 0]
    left = made(question, options, [value] * 3 + [("drug_kb", "Aspirin ")]).loc["vignette"]
    assert left.loc[OPTION, ["decidable", "both", "ours_only", "logs_only"]].tolist() == [3, 1, 4, 0]


def test_what_only_the_vignette_says(made):
    table = made("His DVT is back. What is this?", {"A": "Gout", "B": "Lyme"}, [("wells_dvt", {}), ("drug_kb", "x")])
    assert table.loc[("vignette", "wells_dvt"), ["both", "ours_only"]].tolist() == [1, 2]
    assert table.loc[("sentence", "wells_dvt"), ["both", "logs_only"]].tolist() == [0, 1]
    assert table.loc[("sentence", "wells_dvt"), "differences"] == "rest of the vignette: 1 (MQ_0001)"
    assert table.loc[("vignette", MEDICATION), "differences"] == "parts of words: 1 (MQ_0001)"


@pytest.mark.parametrize(
    "changes", [{"question_id": "MQ_9999"}, {"persona": "delta"}, {"tool": " "}, {"persona": None}]
)
def test_lines_of_no_encounter_are_refused(made, changes):
    with pytest.raises(DataError, match="tool_call_log_llama31"):
        made("He hurts. What now?", {"A": "Gout", "B": "Lyme"}, [("apgar", {})], **changes)


def test_missing_logs_are_named(tmp_path, made):
    made("He hurts. What now?", {"A": "Gout", "B": "Lyme"}, [("apgar", {})])
    (tmp_path / LOG.format(key="llama31")).unlink()
    with pytest.raises(MissingDataError, match="tool_call_log"):
        router_against_logs(tmp_path)
