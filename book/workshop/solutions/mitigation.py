"""Lesson 2, two solutions: an instruction in one call, and a plain retelling in two."""

from pathlib import Path

from nsh.conditions import Answer
from nsh.prompts import ask

HERE = Path(__file__).parent


def facts_first(case, voice):
    """Ask once, after an instruction to go by the findings alone."""
    narrative = case.narratives[voice]
    reply = yield ask(HERE / "facts_first.yaml", case, narrative=narrative)
    return Answer.from_completion(reply, case)


def plain_retelling(case, voice):
    """Let the model retell the story in plain words, then answer from the retelling alone."""
    narrative = case.narratives[voice]
    retelling = yield ask(HERE / "plain_retelling.yaml", narrative=narrative)
    reply = yield ask("answer_from", case, heading="PLAIN RETELLING", intermediate=retelling.text)
    return Answer.from_completion(reply, case)
