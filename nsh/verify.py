"""Check the packaged generations: make some of them again on this machine, and say how far the answers agree."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from nsh.engines import StoreEngine
from nsh.errors import MissingDataError
from nsh.jobs import Job
from nsh.place import packaged_generations
from nsh.runner import run
from nsh.store import Store
from nsh.study import Study


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `n` answers made again, out of `known` packaged ones: how many have the same letter (or none again) and
    status, and how many the same texts in every call."""

    n: int
    known: int
    same_answer: int
    same_texts: int

    def __str__(self) -> str:
        return (
            f"{self.n} of {self.known} packaged answers made again: {self.same_answer} with the same letter and "
            f"status, {self.same_texts} with the same texts in every call"
        )


def verify(studies: Iterable[Study], share: float = 0.1, seed: int = 0) -> Agreement:
    """Make a random share of the packaged answers of some studies again, with an empty store.

    In float32 the texts are expected to be the same where the processor rounds as the one that made them; a letter
    can differ where two options are all but equal.

    Parameters
    ----------
    studies : iterable of Study
        Studies of one model, whose generations are all packaged; an answer that several of them need counts once.
    share : float
        Share of the answers (a proportion); at least one is made.
    seed : int
        Seed of the choice.

    Raises
    ------
    MissingDataError
        If a generation is not among the packaged ones, or these are switched off.
    EngineError
        If the model cannot be loaded.

    Examples
    --------
    >>> verify([study])  # doctest: +SKIP
    Agreement(n=7, known=72, same_answer=7, same_texts=7)
    """
    if not packaged_generations():
        raise MissingDataError("NSH_PACKAGED=off: the packaged answers, which are to be made again, are switched off")
    found: dict[tuple[str, str, str, str], tuple[Study, Job]] = {}
    for study in studies:
        for job in study.jobs:
            found.setdefault((job.name, job.case.id, job.voice, repr(job.settings)), (study, job))
    chosen = random.Random(seed).sample(sorted(found), max(1, round(share * len(found))))
    study, jobs = found[chosen[0]][0], [found[key][1] for key in chosen]
    engine = study.engine(study.models[0])
    with TemporaryDirectory() as empty:
        packaged, _ = run(jobs, StoreEngine(engine.identity), Store(empty, packaged_generations()))
        again, _ = run(jobs, engine, store := Store(empty))
        store.close()
    pairs = list(zip(packaged, again, strict=True))
    texts = [[[completion.text for completion in made.completions] for made in pair] for pair in pairs]
    answers = [[(made.answer.letter, made.answer.status) for made in pair] for pair in pairs]
    return Agreement(
        len(chosen), len(found), sum(old == new for old, new in answers), sum(old == new for old, new in texts)
    )
