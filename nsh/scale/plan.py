"""What a run would cost, counted before it is paid for: its calls and prompt tokens, and what it is likely to write.

The real runner drives the real jobs over the real store, with an engine that answers what the store lacks with a
placeholder. So a call is counted where the run would pay for it, after all sharing. A prompt without a placeholder is
the one that the model would be given, and its tokens are exact; one with a placeholder holds a reply yet to come, which
is counted at its expected length.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsh.conditions import CONDITIONS
from nsh.engines import Call, Completion
from nsh.jobs import Job
from nsh.overview import calls as possible_calls
from nsh.runner import Outcome, run
from nsh.scale.lengths import Lengths, label_of
from nsh.store import Store

HEX, WORD = "0123456789abcdef", "abcdefghijklmnop"
PENDING = re.compile(rf"Pending([{WORD}]{{8}})(?:\nAnswer: [A-J])?")
Messages = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Noted:
    """A call that the store lacks: the round it is made in, its stage, budget and condition, the tokens of its prompt
    without the replies to come, and the numbers of the calls that those are awaited from."""

    round: int
    stage: str
    budget: int
    tokens: int
    awaited: tuple[int, ...]
    condition: str = ""


class PlanningEngine:
    """Generates nothing: notes each call and answers with a placeholder, which is a letter too where one is asked for.

    Parameters
    ----------
    identity : mapping
        That of the engine that the run would use.
    count : callable
        From the turns of a call to its tokens.

    Examples
    --------
    >>> engine = PlanningEngine({"model": "m"}, lambda messages: 7)
    >>> [reply.text for _, reply in engine.generate([Call((("user", "Which?"),), 16, "AB")])]
    ['Pendingaaaaaaaa\\nAnswer: A']
    >>> engine.noted[0].tokens, engine.noted[0].awaited
    (7, ())
    """

    def __init__(self, identity: Mapping[str, Any], count: Callable[[Messages], int]):
        self.identity = {"model": f"{identity['model']}, counting"}  # what the progress bar shows
        self.noted: list[Noted] = []
        self._identity, self._count, self._round = dict(identity), count, 0

    def identity_of(self, call: Call) -> dict[str, Any]:
        """The identity that the store knows the call's completion by."""
        return self._identity

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Note calls and give their placeholders."""
        self._round += 1
        for index, call in enumerate(calls):
            awaited = tuple(_number(word) for _, text in call.messages for word in PENDING.findall(text))
            known = tuple((role, PENDING.sub("", text)) for role, text in call.messages) if awaited else call.messages
            number = len(self.noted)
            self.noted.append(Noted(self._round, label_of(call), call.max_new_tokens, self._count(known), awaited))
            yield index, Completion(_placeholder(number, call.letters), stamp={"noted": number})


def _placeholder(number: int, letters: str) -> str:
    """A word that no model writes, without a digit that could be taken for a value of the narrative."""
    word = "Pending" + f"{number:08x}".translate(str.maketrans(HEX, WORD))
    return f"{word}\nAnswer: {letters[0]}" if letters else word


def _number(word: str) -> int:
    """The number of the call that a placeholder stands for."""
    return int(word.translate(str.maketrans(WORD, HEX)), 16)


class ReadOnlyStore:
    """A store that is looked up and never written; what is put into it stays in memory.

    Examples
    --------
    >>> import tempfile
    >>> store = ReadOnlyStore(Store(folder := tempfile.mkdtemp()))
    >>> store.put("0" * 64, Completion("B"), {"model": "m"})
    >>> [completion.text for _, completion in store.find(["0" * 64])], len(Store(folder))
    (['B'], 0)
    """

    def __init__(self, store: Store):
        self._store, self._put = store, {}

    def find(self, keys: Collection[str]) -> Iterator[tuple[str, Completion]]:
        """Each of the keys that was put or is kept, with its completion."""
        put = {key: self._put[key] for key in keys if key in self._put}
        yield from put.items()
        yield from self._store.find(key for key in keys if key not in put)

    def put(self, key: str, completion: Completion, identity: Mapping[str, Any]) -> None:
        """Keep a completion in memory."""
        self._put[key] = completion


@dataclass(slots=True)
class Line:
    """What a condition costs beyond what the store holds and earlier conditions pay for.

    `calls` includes `awaiting`, calls whose prompts hold replies yet to come; `more` such may follow besides (a letter
    asked for once more, a corrected rewrite), None where that is not known; `found` are in the store. `prompt_tokens`
    of which `exact_tokens` are those of prompts known whole; `new_tokens` expected, at most `most_tokens`.
    """

    condition: str
    answers: int = 0
    calls: int = 0
    awaiting: int = 0
    more: int | None = 0
    found: int = 0
    prompt_tokens: float = 0
    exact_tokens: int = 0
    new_tokens: float = 0
    most_tokens: int = 0


@dataclass(slots=True)
class Counted:
    """The lines of a plan by condition, every call as noted with its prompt's and its reply's tokens, and how long
    replies were taken to be."""

    lines: dict[str, Line]
    noted: list[Noted]
    prompts: list[float]
    replies: list[float]
    lengths: Lengths

    @property
    def sources(self) -> dict[str, list[str]]:
        """Where lengths are known from, and the stages that it tells of."""
        sources: dict[str, list[str]] = {}
        for stage in dict.fromkeys(call.stage for call in self.noted):
            sources.setdefault(self.lengths.source(stage), []).append(stage)
        return sources

    @property
    def total(self) -> Line:
        """All lines together."""
        total = Line("all")
        for line in self.lines.values():
            for name in Line.__slots__[1:]:
                one, other = getattr(total, name), getattr(line, name)
                setattr(total, name, None if one is None or other is None else one + other)
        return total


def count_calls(
    jobs: Iterable[Job],
    identity: Mapping[str, Any],
    store: Store,
    count: Callable[[Messages], int],
    lengths: Lengths,
) -> Counted:
    """Count what a run of jobs would have to generate; nothing is generated and nothing written.

    Parameters
    ----------
    jobs : iterable of Job
    identity : mapping
        That of the engine of the run.
    store : Store
        What is in it is not paid for again.
    count : callable
        From the turns of a call to its tokens.
    lengths : Lengths
        How long replies have been; those that the store holds for these jobs are added.

    Returns
    -------
    Counted
        `calls`, `found` and `exact_tokens` of its lines are exact but for replies yet to come: two of them that are
        alike make one later call of two, one without a letter a further call.

    Examples
    --------
    >>> import tempfile
    >>> from nsh import Case
    >>> from nsh.jobs import jobs
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> words = lambda messages: sum(len(text.split()) for _, text in messages)
    >>> counted = count_calls(jobs([case], "rewrite"), {"model": "m"}, Store(tempfile.mkdtemp()), words, Lengths())
    >>> counted.total.calls, counted.total.awaiting
    (2, 1)
    """
    engine = PlanningEngine(identity, count)
    outcomes, _ = run(jobs, engine, ReadOnlyStore(store))
    lines, paid = {}, set()
    for outcome in outcomes:
        line = lines.setdefault(outcome.job.name, Line(outcome.job.name))
        line.answers += 1
        for key, stage, completion in zip(outcome.keys, outcome.stages, outcome.completions, strict=True):
            number = completion.stamp.get("noted")
            if key in paid:
                continue
            paid.add(key)
            if number is not None:
                engine.noted[number].condition = line.condition
            else:
                line.found += 1
                lengths.add_found(stage, completion)
        further = _further(outcome)
        line.more = None if further is None or line.more is None else line.more + further
    return _counted(lines, engine.noted, lengths)


def _further(outcome: Outcome) -> int | None:
    """How many calls may follow besides those that an outcome was driven through; None where that is not known."""
    if not any("noted" in completion.stamp for completion in outcome.completions):
        return 0
    function = outcome.job.function
    return len(possible_calls(function)) - len(outcome.stages) if function in CONDITIONS.values() else None


def _counted(lines: dict[str, Line], noted: list[Noted], lengths: Lengths) -> Counted:
    """Add up calls by condition, each prompt with the expected length of the replies that it awaits."""
    replies = [lengths.expected(call.stage, call.budget) for call in noted]
    prompts = [call.tokens + sum(replies[number] for number in call.awaited) for call in noted]
    for call, prompt, reply in zip(noted, prompts, replies, strict=True):
        line = lines[call.condition]
        line.calls += 1
        line.awaiting += bool(call.awaited)
        line.prompt_tokens += prompt
        line.exact_tokens += 0 if call.awaited else call.tokens
        line.new_tokens += reply
        line.most_tokens += call.budget
    return Counted(lines, noted, prompts, replies, lengths)
