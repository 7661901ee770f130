"""Conditions by name or from anyone's file, and the settings of a run."""

import pytest
from made_cases import make_cases

from nsh.conditions import CONDITIONS
from nsh.engines import Call
from nsh.errors import ParameterError
from nsh.jobs import Job, Settings, find_condition

OUTSIDE = '''
from pathlib import Path
from nsh.conditions import Answer
from nsh.prompts import ask

PROMPT = Path(__file__).with_name("whisper.yaml")


def whisper(case, voice, scoring="published"):
    """Ask in one word."""
    reply = yield ask(PROMPT, case, narrative=case.narratives[voice])
    return Answer.from_completion(reply, case)
'''
PROMPT = """
source: ours
status: reconstructed
note: for a test
max_new_tokens: 24
budget: reconstructed
user: |
  WHISPER
  {narrative}
  {options}
"""


@pytest.fixture
def outside(tmp_path):
    """A condition of one function and one prompt file, outside the package."""
    (tmp_path / "whisper.yaml").write_text(PROMPT, encoding="utf-8")
    (tmp_path / "mine.py").write_text(OUTSIDE, encoding="utf-8")
    return f"{tmp_path / 'mine.py'}:whisper"


def test_every_condition_is_found_by_its_name():
    assert {name: find_condition(name) for name in CONDITIONS} == CONDITIONS
    assert len(CONDITIONS) == 16
    assert find_condition("narrativeshield") is CONDITIONS["extract_tools"]


def test_a_condition_of_a_file_is_found(outside):
    job = Job(outside, make_cases(1)[0], "clinical", Settings(scoring="safe"))
    call = next(job.start())
    assert job.function.__name__ == "whisper"
    assert call.messages[0][1].startswith("WHISPER\nStory 0") and call.max_new_tokens == 24
    assert job.choices == {"scoring": "safe"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rewite", "did you mean 'rewrite'"),
        ("", "no condition ''"),
        ("nosuch.py:whisper", "nosuch.py"),
        ("{folder}/mine.py:shout", "shout is not in it"),
        ("{folder}/mine.py:direct", "the name direct is taken"),
        ("{folder}/broken.py:whisper", "invalid syntax"),
        ("{folder}/lost.py:whisper", "No module named"),
        ("{folder}/leaves.py:whisper", "SystemExit"),
        ("{folder}/lacks.py:whisper", "KeyError: 'tone'"),
        ("{folder}/mine.py:PROMPT", "is no generator function"),
    ],
)
def test_a_condition_that_is_not_there_is_named(outside, tmp_path, name, message):
    (tmp_path / "broken.py").write_text("def whisper(:\n", encoding="utf-8")
    (tmp_path / "lost.py").write_text("import nosuchmodule_\n", encoding="utf-8")
    (tmp_path / "leaves.py").write_text("raise SystemExit\n", encoding="utf-8")
    (tmp_path / "lacks.py").write_text("{}['tone']\n", encoding="utf-8")
    with pytest.raises(ParameterError) as error:
        find_condition(name.format(folder=tmp_path))
    assert message in str(error.value)


def test_settings_shape_the_call():
    call = Call((("user", "Which?"),), 128, "ABCD", stage="direct", schema="{}")
    assert Settings().apply(call) == Call((("user", "Which?"),), 128, "ABCD", stage="direct")
    made = Settings(answer_only=True, structured=True, max_new_tokens=64).apply(call)
    assert (made.answer_only, made.schema, made.max_new_tokens) == (True, "{}", 64)
    assert Settings(max_new_tokens=500).apply(call).max_new_tokens == 128
    assert not Settings(answer_only=True).apply(Call((), 9)).answer_only


def test_only_conditions_that_take_a_choice_are_given_it():
    case, safe = make_cases(1)[0], Settings(scoring="safe", two_shot=True)
    choices = {name: Job(name, case, "clinical", safe).choices for name in CONDITIONS}
    assert {name: chosen for name, chosen in choices.items() if chosen} == {
        "extract_tools": {"scoring": "safe", "caps": "paper"},
        "facts_cot": {"two_shot": True},
    }
