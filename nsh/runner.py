"""Drive many conditions at once: gather their calls, generate what the store lacks, keep it, and resume them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nsh.conditions import Answer, Steps
from nsh.engines import Call, Completion, Engine
from nsh.errors import NshError, ParameterError
from nsh.jobs import PAPERS_WAY, Job
from nsh.progress import Progress
from nsh.store import Store, key_of


@dataclass(slots=True)
class Outcome:
    """A job under way, and its answer once it has one; name, store key and completion of every stage, in order.

    `call` is what the job waits for: None before the start and after the end. `departures`, in order and each once,
    are where the run went another way than the papers.
    """

    job: Job
    steps: Steps
    call: Call | None = None
    answer: Answer | None = None
    stages: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    completions: tuple[Completion, ...] = ()
    departures: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chosen = self.job.choices.items()
        self.departures = {f"{name} {value}": None for name, value in chosen if value != getattr(PAPERS_WAY, name)}

    def advance(self, completion: Completion | None) -> None:
        """Send the job its completion (None starts it): it asks for another call or answers.

        Raises
        ------
        ParameterError
            If the condition raises an error, asks for no `Call`, or answers with no `Answer` or no option's letter.
        """
        if completion and completion.stamp.get("forced_tokens"):
            self.departures["cut and closed"] = None
        try:
            wanted = self.steps.send(completion)
        except StopIteration as end:
            self.call, self.answer = None, end.value
            if not isinstance(end.value, Answer):
                raise ParameterError(
                    f"condition {self.job.name} returned {end.value!r}; an Answer is expected"
                ) from None
            if end.value.letter not in (None, *self.job.case.options):
                letters = ", ".join(self.job.case.options)
                raise ParameterError(
                    f"condition {self.job.name} answered {end.value.letter!r}; None or one of {letters} is expected"
                ) from None
            return
        except NshError:
            raise
        except Exception as error:
            where = f"condition {self.job.name}, case {self.job.case.id}, {self.job.voice}"
            raise ParameterError(f"{where}: {type(error).__name__}: {error}") from error
        if not isinstance(wanted, Call):
            raise ParameterError(f"condition {self.job.name} yielded {wanted!r}; a Call is expected (nsh.prompts.ask)")
        self.call = self.job.settings.apply(wanted)
        self.stages += (wanted.stage,)
        self.departures |= dict.fromkeys(_departures(wanted, self.call))


def _departures(wanted: Call, made: Call) -> Iterator[str]:
    """Where a call is not as its condition asks for it."""
    if made.answer_only:
        yield "answer only"
    if made.schema:
        yield "structured"
    if made.max_new_tokens < wanted.max_new_tokens:
        yield f"at most {made.max_new_tokens} new tokens"


@dataclass(slots=True)
class Tally:
    """What a run did with its calls: generated, found in the store, or shared with another job of the run."""

    generated: int = 0
    found: int = 0
    shared: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.generated + other.generated, self.found + other.found, self.shared + other.shared)

    def __str__(self) -> str:
        return f"generations: {self.generated} made, {self.found} found in the store"


def run(todo: Iterable[Job], engine: Engine, store: Store) -> tuple[list[Outcome], Tally]:
    """Run jobs to their answers, paying for each distinct call once.

    Parameters
    ----------
    todo : iterable of Job
        The jobs, of any conditions and settings.
    engine : Engine
        Makes the completions that the store lacks.
    store : Store
        Looked up first; each new completion is put into it the moment it arrives.

    Returns
    -------
    outcomes : list of Outcome
        In the order of `todo`.
    tally : Tally
        How many calls were generated, found in the store, and shared.

    Raises
    ------
    MissingDataError
        If the engine is the `store` engine and a generation is missing.
    EngineError
        If the model cannot be loaded or refuses a call.

    Examples
    --------
    >>> import tempfile
    >>> from nsh import Case
    >>> from nsh.engines import ScriptedEngine
    >>> from nsh.jobs import jobs
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> outcomes, tally = run(jobs([case], "direct"), ScriptedEngine(reply=lambda call: "B"), Store(tempfile.mkdtemp()))
    >>> outcomes[0].answer.letter, tally.generated
    ('B', 1)
    """
    tally = Tally()
    outcomes = [Outcome(job, job.start()) for job in todo]
    for outcome in outcomes:
        outcome.advance(None)
    while running := [outcome for outcome in outcomes if outcome.call]:
        waiting: dict[str, list[Outcome]] = {}
        for outcome in running:
            waiting.setdefault(key_of(_identity(engine, outcome.call), outcome.call), []).append(outcome)
        tally.shared += len(running) - len(waiting)
        calls = {key: alike[0].call for key, alike in waiting.items()}
        for key, completion in _complete(calls, engine, store, tally):
            for outcome in waiting[key]:
                outcome.keys += (key,)
                outcome.completions += (completion,)
                outcome.advance(completion)
    return outcomes, tally


def _identity(engine: Engine, call: Call) -> dict[str, Any]:
    """What shapes the text of a call: the engine's identity, or of an engine of several models, that of the call's."""
    return engine.identity_of(call) if hasattr(engine, "identity_of") else engine.identity


def _complete(calls: dict[str, Call], engine: Engine, store: Store, tally: Tally) -> Iterator[tuple[str, Completion]]:
    """Complete calls by key: what the store holds first, then what the engine makes, stored as it arrives."""
    missing = dict.fromkeys(calls)
    for key, completion in store.find(calls):
        del missing[key]
        tally.found += 1
        yield key, completion
    missing = list(missing)
    with Progress(len(missing), f"{engine.identity['model']}") as progress:
        for index, completion in engine.generate([calls[key] for key in missing]):
            store.put(missing[index], completion, _identity(engine, calls[missing[index]]))
            tally.generated += 1
            progress.update()
            yield missing[index], completion
