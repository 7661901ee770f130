"""How long replies are, stage by stage: what the store, earlier runs and the packaged generations tell of it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nsh.declared import read_data
from nsh.engines import Call, Completion

LEAST = 8  # fewer replies than this tell little, where other sources tell more
ASSUMED = "assumed: the share of its budget that the packaged model uses"
UNKNOWN = "not known: the whole budget"


def label_of(call: Call) -> str:
    """The stage of a call, marked where its replies are of another length than the papers' way gives.

    Examples
    --------
    >>> label_of(Call((), 16, "AB", answer_only=True, stage="direct"))
    'direct (answer only)'
    """
    return call.stage + " (answer only)" * call.answer_only + " (structured)" * bool(call.schema)


@dataclass(slots=True)
class Length:
    """Replies of a stage: how many, their new tokens, their budgets (0 where those are the ones asked about), and how
    many used their budget up."""

    calls: int = 0
    new_tokens: int = 0
    budget: int = 0
    cut: int = 0

    def add(self, completion: Completion, budget: int = 0) -> None:
        """Count one reply."""
        self.calls += 1
        self.new_tokens += completion.new_tokens
        self.budget += budget
        self.cut += completion.finish == "length"

    def expected(self, budget: int) -> float:
        """Mean new tokens under a budget: with another one than theirs, by their share of it."""
        return min(budget, self.new_tokens * budget / (self.budget or self.calls * budget))


@dataclass(slots=True)
class Lengths:
    """Lengths of replies by stage, from the best source that knows the stage.

    Parameters
    ----------
    logged : mapping of str to Length
        From earlier runs of the model, by `label_of`.
    own : bool
        Whether the model is the packaged one, whose generations come with the book; else its lengths are assumed.

    Examples
    --------
    >>> lengths = Lengths(own=True)
    >>> round(lengths.expected("answer_from", 16), 1), lengths.source("answer_from")
    (5.9, 'the packaged generations')
    >>> lengths.expected("a prompt of one's own", 64)
    64
    """

    logged: Mapping[str, Length] = field(default_factory=dict)
    own: bool = False
    found: dict[str, Length] = field(default_factory=dict)

    def add_found(self, stage: str, completion: Completion) -> None:
        """Count a reply that the store holds for the same jobs."""
        self.found.setdefault(stage, Length()).add(completion)

    def _best(self, label: str) -> tuple[Length | None, str]:
        """Replies of a stage, and where they are known from."""
        stage = label.partition(" (")[0]
        packaged = {name: Length(**row) for name, row in read_data("scale/rates.yaml")["lengths"].items()}
        told = [(self.found.get(stage), "the store"), (self.logged.get(label), "earlier runs")]
        for length, source in told:
            if length and length.calls >= LEAST:
                return length, source
        told.append((packaged.get(label, packaged.get(stage)), "the packaged generations" if self.own else ASSUMED))
        return next(((length, source) for length, source in reversed(told) if length), (None, UNKNOWN))

    def expected(self, label: str, budget: int) -> float:
        """Mean new tokens of a stage's replies, at most the budget."""
        length, _ = self._best(label)
        return length.expected(budget) if length else budget

    def cut(self, label: str) -> float:
        """Share of a stage's replies that use their budget up (a proportion)."""
        length, _ = self._best(label)
        return length.cut / length.calls if length else 1.0

    def source(self, label: str) -> str:
        """Where the length of a stage's replies is known from."""
        return self._best(label)[1]


def logged_lengths(runs: Iterable[Mapping[str, Any]], model: str) -> dict[str, Length]:
    """Lengths of a model's replies in the runs of a log (`nsh.scale.run_log`), by stage.

    Examples
    --------
    >>> row = {"calls": 2, "new_tokens": 9, "budget": 32, "cut": 0}
    >>> logged_lengths([{"model": "m", "stages": {"direct": row}}] * 2, "m")["direct"].expected(16)
    4.5
    """
    lengths: dict[str, Length] = {}
    for stages in (run["stages"] for run in runs if run["model"] == model):
        for label, row in stages.items():
            length = lengths.setdefault(label, Length())
            for name in asdict(length):
                setattr(length, name, getattr(length, name) + row[name])
    return lengths
