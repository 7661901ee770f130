"""The order in which prompts are read: what those of a stage, or of one narrative, begin with is read once."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nsh.batching import Row, shared_start
from nsh.chat import Prompt
from nsh.engines import Call

SHARED = 16  # so many tokens in common are enough to be read apart
LIKE = 4  # times the budget of another row: rows that come together end at about the same time, or steps run half empty


def in_order(rows: Iterable[Row], by_stage: bool = True) -> list[Row]:
    """Rows longest first, and by stage, so that what the prompts of a stage begin with can be read once.

    The rows of a stage also have one budget, and so end at about the same time. Only rows that have much of their own
    text in common, such as several stages' questions about one narrative, and like budgets, come together: they share a
    branch.

    Examples
    --------
    >>> from nsh.chat import Prompt
    >>> from nsh.engines import Call
    >>> ids = [(0,) * 20 + (told,) * 30 + (asked,) for told in (1, 2) for asked in (8, 9)]
    >>> calls = [Call((), 9, stage=stage) for stage in ("direct", "cot", "direct", "cot")]
    >>> rows = [Row(n, call, Prompt(ids[n], False, True)) for n, call in enumerate(calls)]
    >>> [(row.index, row.shared, row.branched) for row in in_order(rows)]
    [(0, 20, 30), (1, 20, 30), (2, 20, 30), (3, 20, 30)]
    """
    longest = sorted(rows, key=_longest_first)
    if not by_stage:
        return longest
    stages: dict[str, list[Row]] = {}
    for row in longest:
        stages.setdefault(row.call.stage, []).append(row)
    alike: dict[tuple[str, ...], list[list[Row]]] = {}
    for family in _families(stages):
        alike.setdefault(tuple(sorted(row.call.stage for row in family)), []).append(family)
    return [
        row
        for names, families in alike.items()
        for row in _sharing(families, [row for name in {*names} for row in stages[name]])
    ]


def _longest_first(row: Row) -> tuple[int, int]:
    return -len(row), row.index


def _families(stages: Mapping[str, Sequence[Row]]) -> list[list[Row]]:
    """Rows that share much of what follows their stages' starts, and have budgets of a size; every other row alone. The
    longest first."""
    starts = {stage: _common(own) for stage, own in stages.items()}
    rows = [row for own in stages.values() for row in own]

    def kin(one: Row, other: Row) -> bool:
        """Whether rows share, after their stages' starts, half of what the shorter one has there, and enough."""
        start = max(starts[row.call.stage] for row in (one, other))
        same = _common([one, other]) - start
        return same >= SHARED and 2 * same >= min(len(one), len(other)) - start

    found = [
        sorted(family, key=_longest_first)
        for alike in _grouped(sorted(rows, key=lambda row: row.prompt.ids), kin)
        for family in _grouped(sorted(alike, key=_budget), lambda one, other: _budget(other) <= LIKE * _budget(one))
    ]
    return sorted(found, key=lambda family: _longest_first(family[0]))


def _grouped(rows: Iterable[Row], alike: Callable[[Row, Row], bool]) -> list[list[Row]]:
    """Rows that follow one another and are like the first of them."""
    groups: list[list[Row]] = []
    for row in rows:
        if groups and alike(groups[-1][0], row):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _budget(row: Row) -> int:
    return row.call.max_new_tokens


def _sharing(families: Sequence[Sequence[Row]], stages: Sequence[Row]) -> Iterator[Row]:
    """The rows of families, with what all rows of their stages share, and what a family shares beyond that."""
    shared = _common(stages) or _common([row for family in families for row in family])
    for family in families:
        branched = max(0, _common(family) - shared)
        yield from (replace(row, shared=shared, branched=branched) for row in family)


def _common(rows: Sequence[Row]) -> int:
    """How many first tokens rows share, where that is enough to be read apart."""
    same = shared_start([row.prompt.ids for row in rows]) if len(rows) > 1 else 0
    return same if same >= SHARED else 0


def read_shares(rows: Iterable[Row]) -> dict[int, float]:
    """For each row, by its index, the share of its prompt that is read for it, where what rows share is read once.

    A start or a branch counts for each of its rows in equal parts.

    Examples
    --------
    >>> from nsh.chat import Prompt
    >>> from nsh.engines import Call
    >>> rows = [Row(n, Call((), 9), Prompt((0,) * 20 + (n,) * 20, False, True)) for n in range(2)]
    >>> read_shares(rows)
    {0: 0.75, 1: 0.75}
    """
    ordered = in_order(rows)
    starts = Counter(row.start for row in ordered)
    branches = Counter((row.start, row.branch) for row in ordered)
    shares = {}
    for row in ordered:
        own = len(row.rest) + row.branched / branches[row.start, row.branch] + row.shared / starts[row.start]
        shares[row.index] = own / max(1, len(row))
    return shares


def read_shares_by_text(calls: Sequence[Call]) -> dict[int, float]:
    """`read_shares` without a tokenizer: of the bytes of each call's turns, which share about as large a part.

    Examples
    --------
    >>> from nsh.engines import Call
    >>> read_shares_by_text([Call((("user", "x" * 15 + word),), 9) for word in ("night", "cough")])
    {0: 0.6, 1: 0.6}
    """
    texts = ("\n".join(word for turn in call.messages for word in turn) for call in calls)
    prompts = (Prompt(text.encode("utf-8", "surrogatepass"), False, True) for text in texts)
    return read_shares(
        Row(index, call, prompt) for index, (call, prompt) in enumerate(zip(calls, prompts, strict=True))
    )
