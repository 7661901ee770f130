"""The order in which prompts are read: what those of a stage, or of one narrative, begin with is read once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nsh.batching import Row, shared_start

SHARED = 16  # so many tokens in common are enough to be read apart


def in_order(rows: Iterable[Row], by_stage: bool = True) -> list[Row]:
    """Rows longest first, and by stage, so that what the prompts of a stage begin with can be read once.

    The rows of a stage also have one budget, and so end at about the same time. Only rows that have most of their own
    text in common, such as several stages' questions about one narrative, come together: they share a branch.

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
    alike: dict[tuple[str, ...], list[list[Row]]] = {}
    for family in _families(longest):
        alike.setdefault(tuple(sorted(row.call.stage for row in family)), []).append(family)
    return [row for families in alike.values() for row in _sharing(families)]


def _longest_first(row: Row) -> tuple[int, int]:
    return -len(row), row.index


def _families(longest: Sequence[Row]) -> list[list[Row]]:
    """Rows that have most of what follows their stage's start in common; every other row alone. Longest first."""
    stages: dict[str, list[Row]] = {}
    for row in longest:
        stages.setdefault(row.call.stage, []).append(row)
    starts = {stage: _common(own) for stage, own in stages.items()}
    families: list[list[Row]] = []
    for row in sorted(longest, key=lambda row: row.prompt.ids):
        if families and _kin(families[-1][0], row, starts):
            families[-1].append(row)
        else:
            families.append([row])
    ordered = [sorted(family, key=_longest_first) for family in families]
    return sorted(ordered, key=lambda family: _longest_first(family[0]))


def _kin(one: Row, other: Row, starts: Mapping[str, int]) -> bool:
    """Whether two rows share as much after their stages' starts as they do not share, and enough to be read apart."""
    start = max(starts[row.call.stage] for row in (one, other))
    same = _common([one, other]) - start
    return same >= SHARED and 2 * same >= max(len(one), len(other)) - start


def _sharing(families: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """The rows of families, with what all of them share and what a family shares beyond that."""
    shared = _common([row for family in families for row in family])
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
    return {
        row.index: (len(row.rest) + row.branched / branches[row.start, row.branch] + row.shared / starts[row.start])
        / len(row)
        for row in ordered
    }
