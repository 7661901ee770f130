"""What is to be run: a condition, by name or anyone's function, on a voice of a case, in the papers' way or another."""

import inspect
import runpy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from nsh.cases import Case
from nsh.conditions import CONDITIONS, Condition, Steps
from nsh.declared import nearest
from nsh.engines import Call
from nsh.errors import ParameterError
from nsh.judging import judge_added

OTHER_NAMES = {"narrativeshield": "extract_tools"}
JUDGED = judge_added.__name__  # asks for no letter, so no page takes it as the condition of its answers
TASKS = (JUDGED, "retell")  # what pages have done besides answering


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run may choose, with the papers' way as the default.

    Parameters
    ----------
    answer_only : bool
        End an answering call once its letter is settled.
    structured : bool
        Hold the decoding of JSON to its schema, so that it always parses.
    max_new_tokens : int, optional
        Most new tokens of any call, where that is less than its own budget.
    scoring, caps, two_shot
        Choices of the conditions that take them (`nsh.conditions`).
    """

    answer_only: bool = False
    structured: bool = False
    max_new_tokens: int | None = None
    scoring: str = "published"
    caps: str = "paper"
    two_shot: bool = False

    def apply(self, call: Call) -> Call:
        """The call as this run makes it."""
        budget = min(call.max_new_tokens, self.max_new_tokens or call.max_new_tokens)
        schema = call.schema if self.structured else ""
        return replace(call, answer_only=self.answer_only and bool(call.letters), schema=schema, max_new_tokens=budget)


PAPERS_WAY = Settings()


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be had: a condition, by name or as its generator function, applied to one voice of one case, in the
    papers' way or another."""

    condition: str | Condition
    case: Case
    voice: str
    settings: Settings = PAPERS_WAY

    @property
    def function(self) -> Condition:
        """The condition's generator function."""
        if self.condition == JUDGED:
            return judge_added
        return find_condition(self.condition) if isinstance(self.condition, str) else self.condition

    @property
    def choices(self) -> dict[str, Any]:
        """The settings that the condition takes."""
        return {name: getattr(self.settings, name) for name in _keywords(self.function)}

    @property
    def name(self) -> str:
        """The condition's name, as records have it."""
        return self.function.__name__

    def start(self) -> Steps:
        """The condition at its beginning."""
        return self.function(self.case, self.voice, **self.choices)


@cache
def _keywords(condition: Condition) -> tuple[str, ...]:
    """What a condition's function takes besides case and voice."""
    return tuple(inspect.signature(condition).parameters)[2:]


def changes_calls(parameter: str, condition: str) -> bool:
    """Whether a parameter of a run changes how a condition is called, its budgets and its cases apart.

    Examples
    --------
    >>> changes_calls("quantization", "direct"), changes_calls("caps", "direct"), changes_calls("caps", "extract_tools")
    (True, False, True)
    """
    always = ("quantization", "answer_only", "structured")
    return parameter in always or (condition not in TASKS and parameter in _keywords(find_condition(condition)))


def own_files(condition: str) -> list[Path]:
    """Of a condition of one's own its code and the prompts beside it; none of a packaged one.

    Examples
    --------
    >>> own_files("direct")
    []
    """
    code = Path(condition.rpartition(":")[0] or ".")
    return [code, *sorted(code.parent.glob("*.yaml"))] if code.is_file() else []


def jobs(cases: Iterable[Case], condition: str | Condition, settings: Settings = PAPERS_WAY) -> list[Job]:
    """Every voice of every case under a condition; of the cases with an original where they are to be judged.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "...", "cultural": "..."})
    >>> [job.voice for job in jobs([case], "direct")]
    ['clinical', 'cultural']
    """
    kept = [case for case in cases if condition != JUDGED or case.original is not None]
    return [Job(condition, case, voice, settings) for case in kept for voice in case.narratives]


@cache
def find_condition(name: str) -> Condition:
    """The function of a condition: one of `CONDITIONS`, or of anyone's file.

    Parameters
    ----------
    name : str
        A name, "narrativeshield" for `extract_tools`, or FILE.py:FUNCTION. Its prompt is a file too: `nsh.prompts.ask`
        takes the path of a .yaml file in the place of a name.

    Raises
    ------
    ParameterError
        If there is none of that name (the nearest is named), the file cannot be run, or the name is taken.

    Examples
    --------
    >>> find_condition("narrativeshield").__name__
    'extract_tools'
    """
    path, colon, function = name.rpartition(":")
    if not colon:
        name = OTHER_NAMES.get(name, name)
        if name not in CONDITIONS:
            near = nearest(name, [*CONDITIONS, *OTHER_NAMES])
            raise ParameterError(f"no condition {name!r}; did you mean {near!r}? Or FILE.py:FUNCTION for one of yours")
        return CONDITIONS[name]
    if function in (*CONDITIONS, *OTHER_NAMES):
        raise ParameterError(f"condition {name!r}: the name {function} is taken")
    try:
        condition = runpy.run_path(path).get(function)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a file does when it is run)
        raise ParameterError(f"condition {name!r}: {type(error).__name__}: {error}") from None
    if condition is None:
        raise ParameterError(f"condition {name!r}: {function} is not in it")
    taken = list(inspect.signature(condition).parameters) if inspect.isgeneratorfunction(condition) else []
    if len(taken) < 2 or condition.__name__ != function or not set(taken[2:]) <= {*Settings.__slots__}:
        choices = ", ".join(Settings.__slots__)
        wanted = f"generator function of that name that takes (case, voice) and any of {choices}"
        raise ParameterError(f"condition {name!r}: {function} is no {wanted}")
    return condition
