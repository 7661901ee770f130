"""One line of the table of benchmarks: a way of doing something, timed against another in the same run."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """Seconds of a way and of what it is held against, from interleaved runs.

    Parameters
    ----------
    what : str
        The way that is timed, with its size and number format.
    against : str
        What it is held against.
    seconds, against_seconds : list of float
        Each run of the two.
    limit : float, optional
        The largest ratio that is good.
    note : str
        What else was measured.

    Examples
    --------
    >>> row = Row("full replies", "pipeline", [2.0, 1.0, 9.0], [4.0, 5.0, 4.0], limit=0.6)
    >>> row.ratio, row.good
    (0.5, True)
    """

    what: str
    against: str
    seconds: list[float]
    against_seconds: list[float]
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """Median of the seconds over the median of what they are held against."""
        return statistics.median(self.seconds) / statistics.median(self.against_seconds)

    @property
    def good(self) -> bool | None:
        """Whether the ratio keeps its limit; None without one."""
        return None if self.limit is None else self.ratio <= self.limit


def interleaved(ways: Mapping[str, Callable[[], Any]], runs: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Time ways in turn, several times over; gives each one's seconds and its last result.

    Examples
    --------
    >>> seconds, results = interleaved({"ours": lambda: 1, "theirs": lambda: 2}, runs=3)
    >>> len(seconds["ours"]), results
    (3, {'ours': 1, 'theirs': 2})
    """
    seconds, results = {name: [] for name in ways}, {}
    for _ in range(runs):
        for name, way in ways.items():
            begun = time.perf_counter()
            results[name] = way()
            seconds[name].append(time.perf_counter() - begun)
    return seconds, results
