"""Drive many conditions at once: gather their calls, generate what the store lacks, keep it, and resume them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from nsh.cases import Case
from nsh.conditions import CONDITIONS, Answer, Steps
from nsh.engines import Call, Completion, Engine
from nsh.progress import Progress
from nsh.store import Store, key_of


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be had: a condition, by name or as its generator function, applied to one voice of one case."""

    condition: str | Callable[[Case, str], Steps]
    case: Case
    voice: str


@dataclass(slots=True)
class Outcome:
    """A job under way, and its answer once it has one; the store keys and the completions of every stage, in order.

    `call` is what the job waits for: None before the start and after the end.
    """

    job: Job
    steps: Steps
    call: Call | None = None
    answer: Answer | None = None
    keys: tuple[str, ...] = ()
    completions: tuple[Completion, ...] = ()


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


def jobs(cases: Iterable[Case], condition: str | Callable[[Case, str], Steps]) -> list[Job]:
    """Every voice of every case under a condition.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "...", "cultural": "..."})
    >>> [job.voice for job in jobs([case], "direct")]
    ['clinical', 'cultural']
    """
    return [Job(condition, case, voice) for case in cases for voice in case.narratives]


def run(todo: Iterable[Job], engine: Engine, store: Store, answer_only: bool = False) -> tuple[list[Outcome], Tally]:
    """Run jobs to their answers, paying for each distinct call once.

    Parameters
    ----------
    todo : iterable of Job
        The jobs, of any conditions.
    engine : Engine
        Makes the completions that the store lacks.
    store : Store
        Looked up first; each new completion is put into it the moment it arrives.
    answer_only : bool
        End an answering call once its letter is settled, which no paper does (off by default).

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
    >>> from nsh.engines import ScriptedEngine
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> outcomes, tally = run(jobs([case], "direct"), ScriptedEngine(reply=lambda call: "B"), Store(tempfile.mkdtemp()))
    >>> outcomes[0].answer.letter, tally.generated
    ('B', 1)
    """
    tally = Tally()
    outcomes = [Outcome(job, _task(job)(job.case, job.voice)) for job in todo]
    for outcome in outcomes:
        _advance(outcome, None, answer_only)
    while running := [outcome for outcome in outcomes if outcome.call]:
        waiting: dict[str, list[Outcome]] = {}
        for outcome in running:
            waiting.setdefault(key_of(engine.identity, outcome.call), []).append(outcome)
        tally.shared += len(running) - len(waiting)
        calls = {key: alike[0].call for key, alike in waiting.items()}
        for key, completion in _complete(calls, engine, store, tally):
            for outcome in waiting[key]:
                outcome.keys += (key,)
                outcome.completions += (completion,)
                _advance(outcome, completion, answer_only)
    return outcomes, tally


def _task(job: Job) -> Callable[[Case, str], Steps]:
    """The generator function of a job."""
    return job.condition if callable(job.condition) else CONDITIONS[job.condition]


def _advance(outcome: Outcome, completion: Completion | None, answer_only: bool) -> None:
    """Send a job its completion (None starts it): it asks for another call or answers.

    The run's stop rule is applied to answering calls.
    """
    try:
        call = outcome.steps.send(completion)
        outcome.call = replace(call, answer_only=True) if answer_only and call.letters else call
    except StopIteration as end:
        outcome.call, outcome.answer = None, end.value


def _complete(calls: dict[str, Call], engine: Engine, store: Store, tally: Tally) -> Iterator[tuple[str, Completion]]:
    """Complete calls by key: what the store holds first, then what the engine makes, stored as it arrives."""
    missing = []
    for key in calls:
        completion = store.get(key)
        if completion is None:
            missing.append(key)
        else:
            tally.found += 1
            yield key, completion
    with Progress(len(missing), f"{engine.identity['model']}") as progress:
        for index, completion in engine.generate([calls[key] for key in missing]):
            store.put(missing[index], completion, engine.identity)
            tally.generated += 1
            progress.update()
            yield missing[index], completion
