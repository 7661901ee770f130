"""Batches of prompts of like length: which rows go together, and what they begin with alike."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nsh.chat import Prompt
from nsh.engines import Call
from nsh.errors import EngineError
from nsh.models import ModelSpec


@dataclass(frozen=True, slots=True)
class Row:
    """A call with its place in the stream, its prompt in tokens, and how many of these it shares.

    `shared`: so many first tokens with all rows of its stage, and of those that it comes together with; `branched`: so
    many after them with a few rows, such as those of other stages that tell the same narrative.
    """

    index: int
    call: Call
    prompt: Prompt
    shared: int = 0
    branched: int = 0

    def __len__(self) -> int:
        return len(self.prompt.ids)

    def __str__(self) -> str:
        words = " ".join(text for role, text in self.call.messages if role == "user").split()
        return f'call {self.index} ("{" ".join(words[:8])} ...")'

    @property
    def start(self) -> Sequence[int]:
        """The first tokens, which are read once for all rows that follow one another with them."""
        return self.prompt.ids[: self.shared]

    @property
    def branch(self) -> Sequence[int]:
        """The tokens after the start, which are read once for the rows that share them."""
        return self.prompt.ids[self.shared : self.shared + self.branched]

    @property
    def rest(self) -> Sequence[int]:
        """The other tokens."""
        return self.prompt.ids[self.shared + self.branched :]


def check_length(said: object, tokens: int, budget: int, spec: ModelSpec, config: Any) -> None:
    """Refuse a prompt that does not fit into a model's context with its budget; nothing is ever cut.

    The context is that of the list of models, else that of the configuration, where it names one.

    Raises
    ------
    EngineError

    Examples
    --------
    >>> check_length("call 0", 100, 28, ModelSpec("m", "m", context=128), None)
    """
    context = spec.context or getattr(config, "max_position_embeddings", None)
    if context and tokens + budget > context:
        raise EngineError(
            f"{said}: {tokens} prompt tokens and {budget} new ones exceed the context of {spec.name}, {context}; leave "
            "the case out or take a model with a longer context"
        )


def fits(tokens: float, row: Row) -> bool:
    """Whether a row and its reply stay within so many tokens.

    Examples
    --------
    >>> fits(128, Row(0, Call((), 9), Prompt((1,) * 119, False, True)))
    True
    """
    return len(row) + row.call.max_new_tokens <= tokens


def check_window(row: Row, window: float, model: str) -> None:
    """Refuse a row whose reply may begin before and end after the token from which a model codes all positions in
    another way: what was read before would have to be read again.

    Raises
    ------
    EngineError

    Examples
    --------
    >>> check_window(Row(0, Call((), 9), Prompt((1,) * 119, False, True)), 128, "m")
    """
    if len(row) <= window and not fits(window, row):
        raise EngineError(
            f"{row}: {len(row)} prompt tokens and {row.call.max_new_tokens} new ones may pass token {window}, from "
            f"which {model} codes positions in another way; give it fewer new tokens (max_new_tokens)"
        )


def plan(rows: Iterable[Row], budget: int, room: int) -> list[int]:
    """Sizes of the next batches: each is read within `budget`, and all are then continued together within `room`.

    Parameters
    ----------
    rows : iterable of Row
        In their order; no more are looked at than are taken, and one.
    budget : int
        Most tokens read at once, padding included: rows x longest of the batch, without what they share; and branches
        x longest branch. The rows of a batch have one start, and all have a branch or none has.
    room : int
        Most tokens continued together, padding included: rows x longest of all.

    Returns
    -------
    list of int
        Numbers of rows, taken from the front. There is at least one batch, and a batch has at least one row; one branch
        may have any length.

    Examples
    --------
    >>> rows = [Row(0, Call((), 9), Prompt((1,) * length, False, True)) for length in (500, 400, 300, 300, 200)]
    >>> plan(rows, budget=1000, room=2000)
    [2, 2]
    >>> plan(rows, budget=300, room=300)
    [1]
    """
    sizes, last, longest = [], None, 0
    branches, widest_branch, widest_rest = 0, 0, 0  # of the last batch
    for row in rows:
        number = branches + (last is None or row.branch != last.branch)
        branch, rest = max(widest_branch, row.branched), max(widest_rest, len(row.rest))
        alike = last and row.start == last.start and bool(row.branched) == bool(last.branched)
        fit = alike and (sizes[-1] + 1) * rest <= budget and (number == 1 or number * branch <= budget)
        if not fit:
            number, branch, rest = 1, row.branched, len(row.rest)
        longest = max(longest, row.shared + branch + rest)
        if sizes and (sum(sizes) + 1) * longest > room:
            break
        if fit:
            sizes[-1] += 1
        else:
            sizes.append(1)
        last, branches, widest_branch, widest_rest = row, number, branch, rest
    return sizes


def shared_start(rows: Sequence[Sequence[int]]) -> int:
    """How many first tokens all rows have in common; every row keeps at least one of its own.

    Examples
    --------
    >>> shared_start([[1, 2, 3, 4], [1, 2, 9]]), shared_start([[1, 2], [1, 2]]), shared_start([[1]])
    (2, 1, 0)
    """
    first, last = min(rows), max(rows)  # what the first and the last in order share, all share
    return bisect_left(range(1, min(map(len, rows))), True, key=lambda n: first[:n] != last[:n])
