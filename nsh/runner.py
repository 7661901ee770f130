"""Drive many conditions at once: gather their calls, generate what the store lacks, keep it, and resume them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from nsh.cases import Case
from nsh.conditions import CONDITIONS, Answer, Steps
from nsh.engines import Call, Completion, Engine
from nsh.progress import Progress
from nsh.store import Store, key_of


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be had: a condition applied to one voice of one case."""

    condition: str
    case: Case
    voice: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A job's answer, with the store keys and the completions of every stage, in order."""

    job: Job
    answer: Answer
    keys: tuple[str, ...]
    completions: tuple[Completion, ...]


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


@dataclass(slots=True)
class _Running:
    """A started job: its generator, the call that it waits for, and what it has seen so far."""

    job: Job
    steps: Steps
    call: Call
    keys: list[str] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)


def jobs(cases: Iterable[Case], condition: str) -> list[Job]:
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
    outcomes: dict[int, Outcome] = {}
    running = {index: _start(job, answer_only) for index, job in enumerate(todo)}
    while running:
        waiting: dict[str, list[int]] = {}
        for index, state in running.items():
            waiting.setdefault(key_of(engine.identity, state.call), []).append(index)
        tally.shared += len(running) - len(waiting)
        for key, completion in _complete({k: running[v[0]].call for k, v in waiting.items()}, engine, store, tally):
            for index in waiting[key]:
                answer = _resume(running[index], key, completion, answer_only)
                if answer:
                    state = running.pop(index)
                    outcomes[index] = Outcome(state.job, answer, tuple(state.keys), tuple(state.completions))
    return [outcomes[index] for index in sorted(outcomes)], tally


def _start(job: Job, answer_only: bool) -> _Running:
    """Start a job's generator and take its first call."""
    steps = CONDITIONS[job.condition](job.case, job.voice)
    return _Running(job, steps, _stop_rule(next(steps), answer_only))


def _resume(state: _Running, key: str, completion: Completion, answer_only: bool) -> Answer | None:
    """Send a completion to a job; its answer, or None if it asks for another call."""
    state.keys.append(key)
    state.completions.append(completion)
    try:
        state.call = _stop_rule(state.steps.send(completion), answer_only)
    except StopIteration as end:
        return end.value
    return None


def _stop_rule(call: Call, answer_only: bool) -> Call:
    """Apply the run's stop rule to an answering call."""
    return replace(call, answer_only=True) if answer_only and call.letters else call


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
            progress.step()
            yield missing[index], completion
