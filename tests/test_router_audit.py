"""The router against the released tool-call logs (`facts`; three models), and against made-up ones."""

import json

import pytest

from nsh.case_files import QUESTIONS, RETELLINGS
from nsh.errors import MissingDataError
from nsh.router_audit import OPTION, router_against_logs
from nsh.tool_logs import LOG

VOICES = {"alpha": "He hurts.", "beta": "I hurt and cannot pay.", "gamma": "My bones hurt."}


@pytest.fixture(scope="module")
def compared(released):
    return router_against_logs(released).set_index(["model", "tool"])


def test_precision_and_recall_are_at_least_95_per_cent(compared):
    """Per tool and model, over all encounters whose logged results leave room for the choice."""
    assert len(compared) == 4 * 6
    assert (compared["precision"] >= 0.95).all() and (compared["recall"] >= 0.95).all()
    assert (compared["n"] == 3000).sum() == 18 and (compared.loc["all", "n"] == 9000).all()
    assert (compared["decidable"] > 0.78 * compared["n"]).all()


def test_scores_are_called_as_logged(compared):
    """173 score calls in the logs of three models, counted with grep."""
    scores = compared.loc["all"].drop(index=OPTION)
    assert scores["both"].sum() == 173 and scores[["ours_only", "logs_only"]].to_numpy().sum() == 0


def test_every_difference_has_a_kind(compared):
    told = " ".join(compared["differences"])
    assert "unexplained" not in told
    assert "parts of words: 9 (MQ_0378)" in compared.loc[("all", OPTION), "differences"]


def test_it_can_fail(tmp_path):
    """A made-up log that calls a score without cause and looks up nothing."""
    question = "A man hurts. What is the best treatment?"
    case = {"question_id": "MQ_0001", "question": question, "options": {"A": "Aspirin", "B": "Rest"}, "answer_idx": "A"}
    told = {f"persona_{voice}": f"{text} What is the best treatment?" for voice, text in VOICES.items()}
    for name, row in ((QUESTIONS, case), (RETELLINGS, {"question_id": "MQ_0001", **told})):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(row), encoding="utf-8")
    log = tmp_path / LOG.format(key="llama31")
    log.parent.mkdir(parents=True)
    line = {"question_id": "MQ_0001", "persona": "alpha", "model": "llama31", "ablation": "full", "tool": "apgar"}
    log.write_text(json.dumps(line | {"input": {}}), encoding="utf-8")
    table = router_against_logs(tmp_path).set_index(["model", "tool"]).loc["all"]
    assert table.loc["apgar", ["both", "ours_only", "logs_only", "recall"]].tolist() == [0, 0, 1, 0.0]
    assert table.loc[OPTION, ["both", "ours_only", "precision"]].tolist() == [0, 3, 0.0]


def test_missing_logs_are_named(tmp_path):
    with pytest.raises(MissingDataError):
        router_against_logs(tmp_path)
