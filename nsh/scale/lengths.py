"""How long replies are, stage by stage: what the store, earlier runs and the packaged generations tell of it; and how
many steps of batches that makes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from nsh.declared import read_data
from nsh.engines import Call, Completion

LEAST = 8  # fewer replies than this tell less of a model than its other sources do, but more than another model
ASSUMED = "assumed: as long as the packaged model's"
FULL = "not known: as long as the packaged model's in the papers' way"
UNKNOWN = "not known: the whole budget"


def label_of(call: Call) -> str:
    """The stage of a call, marked where its replies are of another length than the papers' way gives.

    Examples
    --------
    >>> label_of(Call((), 16, "AB", answer_only=True, stage="direct"))
    'direct (answer only)'
    """
    return call.stage + " (answer only)" * call.answer_only + " (structured)" * bool(call.schema)


def counted(completion: Completion, budget: int = 0) -> Counter:
    """One reply: its new tokens, its budget, and whether it used that up.

    Examples
    --------
    >>> dict(counted(Completion("B", new_tokens=2), 16))
    {'calls': 1, 'new_tokens': 2, 'prompt_tokens': 0, 'budget': 16, 'cut': False}
    """
    made = {"new_tokens": completion.new_tokens, "prompt_tokens": completion.prompt_tokens}
    return Counter({"calls": 1, **made, "budget": budget, "cut": completion.finish == "length"})


class Lengths:
    """Lengths of replies by stage, from the best source that knows the stage.

    Parameters
    ----------
    runs : iterable of mapping
        The run log.
    model : str
        Hub id of the model.
    own : bool
        Whether it is the packaged one, whose generations come with the book; else its lengths are assumed.

    Examples
    --------
    >>> lengths = Lengths(own=True)
    >>> round(lengths.expected("answer_from", 16), 1), lengths.source("answer_from")
    (9.0, 'the packaged generations')
    >>> lengths.expected("a prompt of one's own", 64)
    64
    """

    def __init__(self, runs: Iterable[Mapping[str, Any]] = (), model: str = "", own: bool = False):
        self.found: dict[str, Counter] = {}
        self.logged: dict[str, Counter] = {}
        for label, row in (item for run in runs if run["model"] == model for item in run["stages"].items()):
            self.logged[label] = self.logged.get(label, Counter()) + Counter(row)
        self.packaged = read_data("scale/rates.yaml")["lengths"]
        self.own = own

    def add_found(self, stage: str, completion: Completion) -> None:
        """Count a reply that the store holds for the same jobs."""
        self.found[stage] = self.found.get(stage, Counter()) + counted(completion)

    def _best(self, label: str) -> tuple[Mapping[str, int], str]:
        """Replies of a stage, and where they are known from."""
        stage = label.partition(" (")[0]
        told = [(self.found.get(stage), "the store"), (self.logged.get(label), "earlier runs")]
        told.append((self.packaged.get(label), "the packaged generations" if self.own else ASSUMED))
        told.append((self.packaged.get(stage) if stage != label else None, FULL))
        known = [(row, source) for row, source in told if row]
        enough = [(row, source) for row, source in known if row["calls"] >= LEAST and source not in (ASSUMED, FULL)]
        return next(iter(enough or known), ({"calls": 1, "new_tokens": 1, "budget": 1, "cut": 1}, UNKNOWN))

    def expected(self, label: str, budget: int) -> float:
        """Mean new tokens of a stage's replies; those that were cut off are taken to use up a larger budget too."""
        row, _ = self._best(label)
        known = row["budget"] / row["calls"]  # 0 where it is not known
        more = max(0, budget - known) * row["cut"] / row["calls"] if known else 0
        return min(budget, row["new_tokens"] / row["calls"] + more)

    def cut(self, label: str) -> float:
        """Share of a stage's replies that use their budget up (a proportion)."""
        row, _ = self._best(label)
        return row["cut"] / row["calls"]

    def source(self, label: str) -> str:
        """Where the length of a stage's replies is known from."""
        return self._best(label)[1]


def steps(calls: pd.DataFrame, lengths: Lengths, room: int) -> float:
    """Expected steps of the batches that the engine would form of the calls, round by round.

    A batch takes as many as its longest reply has tokens: a whole budget where one of its replies is cut off.

    Parameters
    ----------
    calls : pandas.DataFrame
        As `nsh.scale.plan.count_calls` gives it.
    lengths : Lengths
    room : int
        Most prompt tokens whose rows are continued together, padding included.
    """
    total = 0.0
    for _, alike in calls.groupby("round"):
        alike = alike.sort_values("prompt_tokens", ascending=False, kind="stable")
        sizes = alike["prompt_tokens"].clip(lower=1).astype(int).tolist()
        kinds = list(zip(alike["stage"], alike["most_tokens"], strict=True))
        start = 0
        while start < len(sizes):
            size = max(1, room // sizes[start])
            total += max(_longest(lengths, *kind, n) for kind, n in Counter(kinds[start : start + size]).items())
            start += size
    return total


def _longest(lengths: Lengths, stage: str, budget: int, rows: int) -> float:
    """Expected tokens of the longest of some replies of a stage: the mean where none of them is cut off."""
    none_cut = (1 - lengths.cut(stage)) ** rows
    return none_cut * lengths.expected(stage, budget) + (1 - none_cut) * budget
