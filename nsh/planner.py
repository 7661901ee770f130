"""How many questions a study of voices needs: power to find a gap, simulated from the discordance of known answers."""

from bisect import bisect_left
from dataclasses import dataclass
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from nsh.errors import ParameterError
from nsh.matrix import voice_matrices

MOST_QUESTIONS = 10_000_000
STEPS = 10_000  # gaps are searched in steps of 0.01 percentage points


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned study.

    Attributes
    ----------
    n : int or None
        Questions, each answered in every voice; None where the number sought does not exist.
    gap, power : float
        True gap, and the share of studies that find it (proportions); nan where undefined.
    note : str
        What is undefined, and why.
    """

    n: int | None
    gap: float
    power: float
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Planner:
    """A population of questions from which studies are drawn; `planner` makes it.

    A question's score is correct in the reference voice less the mean of correct in the marked voices, so the mean
    score is the gap. With k voices its size is one of 0, 1/(k − 1), …, 1.

    The population is given a wanted gap by mirroring: of the questions on the side that is too heavy (reference ahead,
    or behind) one and the same share, whatever their size, has all answers exchanged, right for wrong, which turns
    score g into −g. The share of discordant questions, and of each size, stays as observed, and at the observed gap
    nothing is moved. For two voices b + c is kept and b − c moved.

    A study of n questions is a multinomial draw. It finds the gap where (Σ score)² / Σ score² exceeds the chi-square
    with one degree of freedom: the interval of the gap, its variance taken about zero, excludes zero. For two voices
    this is McNemar's test without continuity correction. Every n and gap is drawn from the same seed.

    Attributes
    ----------
    scores : array of float, shape (2k − 1,)
        Values of a score, from −1 to 1; 0 where all voices are right or all are wrong.
    shares : array of float, shape (2k − 1,)
        Share of questions with each.
    n_records : int
        Questions, summed over models and conditions, that the shares come from.
    alpha : float
        Level of the two-sided test.
    draws, seed : int
        Simulated studies per power, and their seed.
    """

    scores: np.ndarray
    shares: np.ndarray
    n_records: int
    alpha: float
    draws: int
    seed: int

    @property
    def gap(self) -> float:
        """Observed gap (proportion)."""
        return float(self.shares @ self.scores)

    @property
    def largest_gap(self) -> float:
        """Gap if every discordant question favored the reference (proportion)."""
        return round(float(self.shares @ np.abs(self.scores)), 12)

    def power(self, n: int, gap: float) -> Plan:
        """Share of studies of n questions that find a gap; undefined where the discordance cannot hold it.

        Raises
        ------
        ParameterError
            ``n`` is below 1, or ``gap`` is not between 0 and 1.
        """
        if not (n >= 1 and 0 <= gap <= 1):
            raise ParameterError(f"n = {n}, gap = {gap}: n of at least 1 and a gap from 0 to 1 are expected")
        if self.largest_gap == 0:
            return Plan(n, gap, nan, "undefined: no discordant question" if self.n_records else "n = 0")
        if gap > self.largest_gap:
            return Plan(n, gap, nan, f"undefined: the discordance holds gaps up to {self.largest_gap:.4f}")
        return Plan(n, gap, self._share_found(n, gap), "")

    def sample_size(self, gap: float, power: float = 0.8) -> Plan:
        """Fewest questions, by bisection up to 10,000,000, with which a study has a power.

        Raises
        ------
        ParameterError
            ``gap`` or ``power`` is not between 0 and 1.
        """
        _check_proportion("power", power)
        most = self.power(MOST_QUESTIONS, gap)
        if not most.power >= power:
            return Plan(None, gap, most.power, most.note or f"undefined: more than {MOST_QUESTIONS:,} questions")
        n = 1 + bisect_left(range(1, MOST_QUESTIONS), power, key=lambda n: self._share_found(n, gap))
        return self.power(n, gap)

    def minimum_detectable_gap(self, n: int, power: float = 0.8) -> Plan:
        """Smallest gap, by bisection in steps of 0.0001, that a study of n questions finds with a power.

        Raises
        ------
        ParameterError
            ``n`` is below 1, or ``power`` is not between 0 and 1.
        """
        _check_proportion("power", power)
        steps = range(int(self.largest_gap * STEPS) + 1)
        most = self.power(n, steps[-1] / STEPS)
        if not most.power >= power:
            return Plan(n, nan, most.power, most.note or f"undefined: no gap up to {most.gap:.4f} has this power")
        return self.power(n, bisect_left(steps, power, key=lambda step: self._share_found(n, step / STEPS)) / STEPS)

    def _share_found(self, n: int, gap: float) -> float:
        """Share of studies of n questions that find a gap which the discordance can hold."""
        excess = (gap - self.gap) / 2
        heavy = np.where(self.scores * excess < 0, self.shares, 0)
        moved = heavy * min(1, abs(excess) / max(heavy @ np.abs(self.scores), np.finfo(float).tiny))
        shifted = self.shares - moved + moved[::-1]
        drawn = np.random.default_rng(self.seed).multinomial(n, shifted / shifted.sum(), size=self.draws)
        return float(((drawn @ self.scores) ** 2 > stats.chi2.isf(self.alpha, 1) * (drawn @ self.scores**2)).mean())


def planner(
    records: pd.DataFrame, reference: str = "clinical", alpha: float = 0.05, draws: int = 20_000, seed: int = 0
) -> Planner:
    """Make a planner of the answers at hand; several models or conditions count as the mean of their distributions.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice. Cases without every voice are left out.
    reference : str
        The unmarked voice; all others are marked.
    alpha : float
        Level of the two-sided test.
    draws, seed : int
        Simulated studies per power, and their seed. With 20,000 the standard error of a power of 0.8 is 0.003; the
        sample sizes of different seeds have a standard deviation below 1%.

    Returns
    -------
    Planner
        Its methods ``power``, ``sample_size`` and ``minimum_detectable_gap`` give a `Plan`.

    Raises
    ------
    ParameterError
        ``alpha`` is not between 0 and 1, ``draws`` is below 1, or no record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    Beyond the papers; the gap is that of ``voices`` §4.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> plans = planner(from_patterns(["B1"]))
    >>> print(f"gap {plans.gap:.3f} of at most {plans.largest_gap:.3f}")
    gap 0.087 of at most 0.254
    >>> print(f"1,000 questions find {plans.minimum_detectable_gap(1000).gap:.3f}")
    1,000 questions find 0.039
    """
    _check_proportion("alpha", alpha)
    if draws < 1:
        raise ParameterError(f"draws = {draws}: a whole number of at least 1 is expected")
    matrices = sorted(voice_matrices(records, reference=reference), key=lambda matrix: (matrix.condition, matrix.model))
    marked = len(matrices[0].voices) - 1 if matrices else 0
    complete = [codes for matrix in matrices if len(codes := matrix.complete())]
    # Scores times the number of marked voices are whole numbers, counted here from −marked to marked.
    counts = [np.bincount(marked + codes @ [marked, *[-1] * marked], minlength=2 * marked + 1) for codes in complete]
    shares = sum((count / count.sum() for count in counts), np.zeros(2 * marked + 1)) / max(len(counts), 1)
    scores = np.arange(-marked, marked + 1) / max(marked, 1)
    return Planner(scores, shares, sum(map(len, complete)), alpha, draws, seed)


def _check_proportion(name: str, value: float) -> None:
    """Refuse what does not lie between 0 and 1, both excluded."""
    if not 0 < value < 1:
        raise ParameterError(f"{name} = {value}: a number above 0 and below 1 is expected")
