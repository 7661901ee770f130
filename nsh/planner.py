"""How many questions a study of voices needs: power to find a gap, simulated from the discordance of known answers.

A question's score is correct in the reference voice less the mean of correct in the marked voices; its mean is the gap.
The questions at hand are given a wanted gap by mirroring: of those on the side that is too heavy (reference ahead, or
behind) one and the same share, whatever their score, has all answers exchanged, right for wrong, which turns score g
into −g. The share of discordant questions, and of each size, stays; at the observed gap nothing is moved. For two
voices b + c is kept and b − c moved. A study is a multinomial draw of n questions. It finds the gap where
(Σ score)² / Σ score² exceeds the chi-square with one degree of freedom: the interval of the gap, its variance taken
about zero, excludes zero. For two voices this is McNemar's test without continuity correction. Every n and gap is drawn
from the same seed. Beyond the papers; the gap is that of `voices` §4.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from nsh.errors import ParameterError
from nsh.matrix import voice_matrices
from nsh.resampling import check_whole

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
    note: str = ""


def discordance(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """How often the answers at hand differ between voices, and which way: the population that studies are drawn from.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice. Cases without every voice are left out.
    reference : str
        The unmarked voice; all others are marked.

    Returns
    -------
    DataFrame
        Indexed by ``score``, from -1 to 1: ``share`` of questions with that score (proportion, the mean over models and
        conditions) and ``n``, their number over all of these. Empty where no case has every voice.

    Raises
    ------
    ParameterError
        No record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> discordance(from_patterns(["B1"]))["n"].to_dict()
    {-1.0: 323, -0.5: 522, 0.0: 4436, 0.5: 1048, 1.0: 671}
    """
    counts = {}
    for matrix in voice_matrices(records, reference=reference):
        marked = len(matrix.voices) - 1
        scores = pd.Series(matrix.complete() @ [marked, *[-1] * marked], dtype=float)
        if len(scores):
            counts[matrix.condition, matrix.model] = (scores / max(marked, 1)).value_counts()
    frame = pd.DataFrame(dict(sorted(counts.items()))).fillna(0).sort_index().rename_axis("score")
    return pd.DataFrame({"share": (frame / frame.sum()).mean(axis=1), "n": frame.sum(axis=1).astype("int64")})


def power(known: pd.DataFrame, n: int, gap: float, alpha: float = 0.05, draws: int = 20_000, seed: int = 0) -> Plan:
    """Share of studies of n questions that find a gap.

    Parameters
    ----------
    known : DataFrame
        As `discordance` gives it.
    n, gap : int, float
        Questions, each answered in every voice, and the true gap (proportion).
    alpha : float
        Level of the two-sided test.
    draws, seed : int
        Simulated studies, and their seed. With 20,000 the standard error of a power of 0.8 is 0.003.

    Returns
    -------
    Plan
        Undefined where the discordance cannot hold the gap.

    Raises
    ------
    ParameterError
        ``n`` or ``draws`` is below 1 or not whole, or ``gap`` or ``alpha`` is not between 0 and 1.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> print(f"{power(discordance(from_patterns(['B1'])), n=500, gap=0.05).power:.2f}")
    0.72
    """
    check_whole(1, n=n, draws=draws)
    if not 0 <= gap <= 1 or not 0 < alpha < 1:
        wrong = f"alpha = {alpha}" if 0 <= gap <= 1 else f"gap = {gap}"
        raise ParameterError(f"{wrong}: a gap from 0 to 1 and alpha between them are expected")
    if (largest := _largest_gap(known)) == 0:
        return Plan(n, gap, nan, "undefined: no discordant question" if len(known) else "n = 0")
    if gap > largest:
        return Plan(n, gap, nan, f"undefined: the discordance holds gaps up to {largest:.4f}")
    scores, shares = known.index.to_numpy(), known["share"].to_numpy()
    excess = (gap - shares @ scores) / 2
    heavy = np.where(scores * excess < 0, shares, 0)
    moved = heavy * min(1, abs(excess) / max(heavy @ np.abs(scores), np.finfo(float).tiny))
    chances = np.concatenate([shares - moved, moved])
    drawn = np.random.default_rng(seed).multinomial(n, chances / chances.sum(), size=draws)
    scores = np.concatenate([scores, -scores])
    found = (drawn @ scores) ** 2 > stats.chi2.isf(alpha, 1) * (drawn @ scores**2)
    return Plan(n, gap, float(found.mean()))


def sample_size(known: pd.DataFrame, gap: float, wanted: float = 0.8, **how: float) -> Plan:
    """Fewest questions, by bisection up to 10,000,000, with which a study finds a gap with the wanted power.

    Parameters
    ----------
    known, gap, **how
        As for `power`.
    wanted : float
        Wanted power (proportion).

    Returns
    -------
    Plan
        ``n`` is None where no number of questions has the power.

    Raises
    ------
    ParameterError
        ``wanted`` is not between 0 and 1, or as `power`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> sample_size(discordance(from_patterns(["B1"])), gap=0.05).n
    614
    """
    return _search(lambda n: power(known, n, gap, **how), range(1, MOST_QUESTIONS + 1), wanted, {"n": None})


def minimum_detectable_gap(known: pd.DataFrame, n: int, wanted: float = 0.8, **how: float) -> Plan:
    """Smallest gap, by bisection in steps of 0.0001, that a study of n questions finds with the wanted power.

    Parameters
    ----------
    known, n, **how
        As for `power`.
    wanted : float
        Wanted power (proportion).

    Returns
    -------
    Plan
        ``gap`` is nan where none has the power.

    Raises
    ------
    ParameterError
        ``wanted`` is not between 0 and 1, or as `power`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> print(f"{minimum_detectable_gap(discordance(from_patterns(['B1'])), n=1000).gap:.3f}")
    0.040
    """
    steps = range(int(_largest_gap(known) * STEPS) + 1)
    return _search(lambda step: power(known, n, step / STEPS, **how), steps, wanted, {"gap": nan})


def _search(study: Callable[[int], Plan], places: range, wanted: float, missing: Mapping[str, float | None]) -> Plan:
    """The first of the studies, ordered by power, that has the wanted one."""
    if not 0 < wanted < 1:
        raise ParameterError(f"wanted = {wanted}: a power above 0 and below 1 is expected")
    most = study(places[-1])
    if most.power >= wanted:
        return study(places[bisect_left(places, wanted, key=lambda place: study(place).power)])
    note = f"undefined: {most.n:,} questions and a gap of {most.gap:.4f} have a power of {most.power:.3f}"
    return replace(most, note=most.note or note, **missing)


def _largest_gap(known: pd.DataFrame) -> float:
    """Gap if every discordant question favored the reference (proportion)."""
    return round(float(known["share"] @ np.abs(known.index)), 12)
