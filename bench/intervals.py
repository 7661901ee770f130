"""How fast all intervals of a large study are computed, against `scipy.stats.bootstrap` on the same intervals.

The study is made up: 12 models, 9 conditions, 1,000 cases in 3 voices (324,000 records), 2,000 resamples; one core.
Ours is everything from the records on: `anchoring` with its null, `case_outcomes`, `changes` against B1, and the pooled
effect of every condition. SciPy gets finished numbers per case and is called paired, percentile and vectorized, in two
ways: once per interval, and once per group (all intervals of one function, model and condition), the fastest way it
has. It runs on a few groups of each function, spread evenly, and its seconds are multiplied up to all of them. Runs are
interleaved.

Before that, every endpoint of one model in two conditions is compared with a plain loop over the same resamples.

The row of the table: the quickest way of SciPy. One processor is used, in a process of its own.
"""

import os
import resource
import time
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from row import Row
from scipy import stats

from nsh.changes import changes
from nsh.gaps import anchoring
from nsh.outcomes import case_outcomes
from nsh.pooled import pooled_effect
from nsh.resampling import resamples_of

RESAMPLES = 2000
KEYS = {
    "model": [f"model {number}" for number in range(12)],
    "condition": [f"B{number}" for number in range(1, 10)],
    "case": [f"{number:04d}" for number in range(1000)],
    "voice": ["clinical", "socioeconomic", "cultural"],
}


class Group(NamedTuple):
    """Measures of one function, model and condition: columns, one number per case each, and what is made of them."""

    function: str
    key: tuple[str, str]
    columns: list[np.ndarray]
    measures: dict[str, tuple[list[int], Callable[..., np.ndarray]]]


def rows(options: Namespace) -> list[Row]:
    """Two rows, of the quickest and of the plainest use of SciPy."""
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = {name: os.environ.get(name) for name in alone}
    os.environ.update(alone)
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(compared, 1 if options.quick else min(options.runs, 3), options.quick).result()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def compared(runs: int, quick: bool) -> list[Row]:
    """Check the endpoints and time the ways in turn."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if quick:
        KEYS.update(model=KEYS["model"][:1], condition=KEYS["condition"][:2], case=KEYS["case"][:50])
    parts = 1 if quick else 3
    records = made_up()
    frames = ours(records)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    work = groups(records)
    checked = check([group for group in work if group.key in (("model 0", "B1"), ("model 0", "B2"))], frames)
    kinds = [[group for group in work if group.function == function] for function in frames]
    ways = {
        "ours": lambda: timed(ours, [records], 1),
        "grouped": lambda: sum(timed(together, kind, parts) for kind in kinds),
        "single": lambda: sum(timed(singly, kind, parts) for kind in kinds),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            resamples_of.cache_clear()
            seconds[name].append(way())
    number = sum(len(group.measures) for group in work)
    what = f"{number:,} bootstrap intervals of {RESAMPLES:,} resamples from {len(records):,} records, one core"
    note = f"{checked} endpoints equal a plain loop; SciPy on {len(kinds) * parts} of {len(work)} groups, multiplied up"
    return [
        Row(what, "SciPy, a call for each group", seconds["ours"], seconds["grouped"], 1.0, note),
        Row(what, "SciPy, a call for each interval", seconds["ours"], seconds["single"], 1.0, f"peak {peak:,.0f} MiB"),
    ]


def timed(way: Callable[[Any], Any], work: list[Any], number: int) -> float:
    """Seconds for all of some work, multiplied up from a number of its parts, spread evenly."""
    chosen = [work[place] for place in np.linspace(0, len(work) - 1, number).astype(int)]
    start = time.perf_counter()
    for part in chosen:
        way(part)
    return (time.perf_counter() - start) * len(work) / number


def made_up() -> pd.DataFrame:
    """Records with random letters, right answers more often in the first voice."""
    records = pd.MultiIndex.from_product(KEYS.values(), names=list(KEYS)).to_frame(index=False).astype(object)
    generator = np.random.default_rng(0)
    wrong = generator.random(len(records)) < np.where(records["voice"] == "clinical", 0.45, 0.6)
    letters = np.where(wrong, generator.integers(1, 4, len(records)), 0)
    letter = np.array(list("ABCD"), dtype=object)[letters]
    return records.assign(letter=letter, correct=letters == 0, status="ok", source="made up")


def ours(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All intervals of the study; the pooled effects are computed and not kept."""
    for _, condition in records.groupby("condition"):
        pooled_effect(condition)
    found = anchoring(records, resamples=RESAMPLES), case_outcomes(records, RESAMPLES), changes(records, "B1")
    return {frame.columns[3]: frame.set_index(["model", "condition"]) for frame in found}


def groups(records: pd.DataFrame) -> list[Group]:
    """The same intervals, each by its definition."""
    whole = records["letter"].to_numpy().reshape([len(names) for names in KEYS.values()])
    found = []
    for i, model in enumerate(KEYS["model"]):
        for j, condition in enumerate(KEYS["condition"]):
            letters, key = whole[i, j], (model, condition)
            right, before = letters == "A", whole[i, 0] == "A"
            found.append(
                Group("gap", key, list(right.T.astype(float)), {"gap": ([0, 1, 2], gap), "nag": ([0, 1, 2], nag)})
            )
            every, some, same = right.all(axis=1), right.any(axis=1), (letters == letters[:, :1]).all(axis=1)
            shares = {"cc": same, "correct_cc": every, "nse": some & ~every, "stable_correct": every}
            shares |= {"stable_wrong": same & ~some, "narrative_sensitive": some & ~every}
            shares |= {"unstable_wrong": ~some & ~same, "accuracy": right.mean(axis=1)}
            means = {name: ([place], mean) for place, name in enumerate(shares)}
            found.append(Group("cc", key, [values.astype(float) for values in shares.values()], means))
            if j:
                found.append(Group("gap_reduction", key, transitions(before, right), CHANGES))
    return found


def transitions(before: np.ndarray, after: np.ndarray) -> list[np.ndarray]:
    """Per case: accuracy change of the reference, of the marked; victims, recovered; right marked answers, broken."""
    marked, victim = before[:, 1:], before[:, :1] & ~before[:, 1:]
    counts = [victim, victim & after[:, 1:], marked, marked & ~after[:, 1:]]
    change = after.astype(float) - before
    return [change[:, 0], change[:, 1:].mean(axis=1), *(count.sum(axis=1).astype(float) for count in counts)]


def mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Mean over the cases."""
    return values.mean(axis=axis)


def gap(reference: np.ndarray, first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    """Reference accuracy less the mean of the marked."""
    return reference.mean(axis=axis) - (first.mean(axis=axis) + second.mean(axis=axis)) / 2


def nag(reference: np.ndarray, first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    """Reference accuracy less the lower of the marked."""
    return reference.mean(axis=axis) - np.minimum(first.mean(axis=axis), second.mean(axis=axis))


def reduction(reference: np.ndarray, marked: np.ndarray, axis: int = -1) -> np.ndarray:
    """Gap before less gap after, from the changes of both accuracies."""
    return marked.mean(axis=axis) - reference.mean(axis=axis)


def overall(reference: np.ndarray, marked: np.ndarray, axis: int = -1) -> np.ndarray:
    """Change of the accuracy over all three voices."""
    return (reference.mean(axis=axis) + 2 * marked.mean(axis=axis)) / 3


def ratio(whole: np.ndarray, part: np.ndarray, axis: int = -1) -> np.ndarray:
    """Share of a part in a whole."""
    return part.sum(axis=axis) / whole.sum(axis=axis)


CHANGES = {
    "gap_reduction": ([0, 1], reduction),
    "delta_accuracy": ([0, 1], overall),
    "delta_marked": ([1], mean),
    "recovered": ([2, 3], ratio),
    "broken": ([4, 5], ratio),
}


def check(work: list[Group], frames: dict[str, pd.DataFrame]) -> int:
    """Compare endpoints with a plain loop over the same resamples; gives their number."""
    counts = resamples_of(len(KEYS["case"]), RESAMPLES, 0)
    drawn = [np.repeat(np.arange(counts.shape[1]), row.astype(int)) for row in counts]
    number = 0
    for group in work:
        for name, (places, measure) in group.measures.items():
            draws = [measure(*(group.columns[place][cases] for place in places)) for cases in drawn]
            row = frames[group.function].loc[group.key]
            np.testing.assert_allclose(row[[f"{name}_lo", f"{name}_hi"]].tolist(), np.percentile(draws, [2.5, 97.5]))
            number += 2
    return number


def singly(group: Group) -> None:
    """One call of SciPy for every interval."""
    for places, measure in group.measures.values():
        bootstrap([group.columns[place] for place in places], measure)


def together(group: Group) -> None:
    """One call of SciPy for all intervals of a group."""

    def measures(*columns: np.ndarray, axis: int = -1) -> np.ndarray:
        """All measures, stacked."""
        return np.stack(
            [one(*(columns[place] for place in places), axis=axis) for places, one in group.measures.values()]
        )

    bootstrap(group.columns, measures)


def bootstrap(columns: list[np.ndarray], statistic: Callable[..., np.ndarray]) -> None:
    """SciPy's paired percentile bootstrap over cases."""
    how = {"paired": True, "vectorized": True, "method": "percentile", "n_resamples": RESAMPLES}
    stats.bootstrap(columns, statistic, rng=np.random.default_rng(0), **how)
