"""Bootstrap over questions: how often each question is drawn, shared by every statistic of the same number of them."""

from collections.abc import Sequence
from functools import lru_cache
from math import nan
from numbers import Integral

import numpy as np

from nsh.errors import ParameterError


def check_whole(least: int, **numbers: int) -> None:
    """Refuse a parameter that is not a whole number, or below the least one.

    Raises
    ------
    ParameterError
        The first such parameter is named.

    Examples
    --------
    >>> check_whole(1, n=10, draws=10.5)
    Traceback (most recent call last):
    nsh.errors.ParameterError: draws = 10.5: a whole number of at least 1 is expected
    """
    for name, number in numbers.items():
        if not (isinstance(number, Integral) and number >= least):
            raise ParameterError(f"{name} = {number}: a whole number of at least {least} is expected")


@lru_cache(maxsize=8)
def resamples_of(n: int, resamples: int, seed: int) -> np.ndarray:
    """Counts of n questions in resamples of n questions drawn with replacement.

    The mean of any number x per question over every resample is ``resamples_of(n, …) @ x / n``. The counts depend on
    the arguments alone, so models and conditions with equally many questions share the resamples, and neither the
    order of the rows nor the other models change a number.

    Parameters
    ----------
    n : int
        Questions.
    resamples : int
        Resamples; 0 where no interval is wanted.
    seed : int
        Seed of the draws.

    Returns
    -------
    array of float, shape (resamples, n)
        Each row sums to n. The array is shared: it is not writeable.

    Raises
    ------
    ParameterError
        ``resamples`` is negative or not whole.

    References
    ----------
    ``voices`` §4 (Metrics): paired bootstrap over questions, 2,000 resamples.

    Examples
    --------
    >>> resamples_of(3, 4, seed=0).sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    check_whole(0, resamples=resamples)
    generator = np.random.default_rng([seed, n])
    counts = np.empty((resamples, n))
    for row in counts:
        row[:] = np.bincount(generator.integers(n, size=n), minlength=n) if n else 0
    counts.flags.writeable = False
    return counts


def resampled_sums(per_question: Sequence[np.ndarray], resamples: int, seed: int) -> list[np.ndarray]:
    """Sums over the questions of every resample, for many models or conditions at once.

    Arrays of equally many questions are put side by side and summed in one product. Sums of whole numbers are exact,
    so what stands beside an array does not change its sums.

    Parameters
    ----------
    per_question : sequence of arrays, shapes (n, m), each with its own n and m
        Whole numbers, one row per question.
    resamples, seed : int
        As in `resamples_of`.

    Returns
    -------
    list of arrays, shapes (resamples, m)

    Raises
    ------
    ParameterError
        ``resamples`` is negative or not whole.

    References
    ----------
    ``voices`` §4 (Metrics).

    Examples
    --------
    >>> [sums.shape for sums in resampled_sums([np.ones((5, 2)), np.ones((7, 3))], 10, seed=0)]
    [(10, 2), (10, 3)]
    """
    found = {}
    for n in {len(values) for values in per_question}:
        places = [place for place, values in enumerate(per_question) if len(values) == n]
        ends = np.cumsum([per_question[place].shape[1] for place in places])
        sums = resamples_of(n, resamples, seed) @ np.hstack([per_question[place] for place in places])
        found |= zip(places, np.split(sums, ends[:-1], axis=1), strict=True)
    return [found[place] for place in range(len(per_question))]


def percentiles(draws: np.ndarray) -> tuple[float, float]:
    """2.5th and 97.5th percentile of bootstrap draws.

    Parameters
    ----------
    draws : array, shape (resamples,)
        A statistic in every resample; nan where a resample leaves it undefined, and such resamples are not counted.

    Returns
    -------
    (float, float)
        Bounds in the unit of ``draws``; both nan if there are none, or none is defined.

    References
    ----------
    ``voices`` §4 (Metrics).

    Examples
    --------
    >>> percentiles(np.linspace(0, 1, 1001))
    (0.025, 0.975)
    """
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return nan, nan
    lo, hi = np.percentile(defined, [2.5, 97.5]).tolist()
    return lo, hi


def with_interval(name: str, value: float, draws: np.ndarray, n: int) -> dict[str, float]:
    """A statistic and its 95% interval under the names of their columns.

    Parameters
    ----------
    name : str
        The statistic's column.
    value : float
        The statistic.
    draws : array, shape (resamples,)
        The same in every resample.
    n : int
        Questions; the interval is undefined for fewer than two.

    Returns
    -------
    dict
        ``name``, ``name_lo`` and ``name_hi``.

    References
    ----------
    ``voices`` §4 (Metrics).

    Examples
    --------
    >>> with_interval("gap", 0.5, np.array([0.5, 0.5]), n=2)
    {'gap': 0.5, 'gap_lo': 0.5, 'gap_hi': 0.5}
    """
    lo, hi = percentiles(draws) if n > 1 else (nan, nan)
    return {name: value, f"{name}_lo": lo, f"{name}_hi": hi}
