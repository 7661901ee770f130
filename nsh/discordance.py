"""McNemar's test from discordant counts, and of two sets of records over the same cases and voices."""

from dataclasses import dataclass
from math import nan

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from nsh.errors import ParameterError
from nsh.matrix import check_records


def mcnemar_exact(b: ArrayLike, c: ArrayLike) -> np.ndarray:
    """Two-sided exact p of McNemar's test from discordant counts, at most 1; 1 without discordant pairs.

    Raises
    ------
    ParameterError
        A count is negative.

    Examples
    --------
    >>> float(mcnemar_exact(3, 3)), float(mcnemar_exact(0, 0)), round(float(mcnemar_exact(134, 170)), 6)
    (1.0, 1.0, 0.044531)
    """
    if np.any(np.minimum(b, c) < 0):
        raise ParameterError(f"discordant counts {b} and {c}: none is expected to be negative")
    return np.minimum(1, 2 * stats.binom.cdf(np.minimum(b, c), np.add(b, c), 0.5))


def mcnemar_corrected(b: ArrayLike, c: ArrayLike) -> np.ndarray:
    """Chi-square p of McNemar's test with continuity correction, also where b = c; 1 without discordant pairs.

    Examples
    --------
    >>> round(float(mcnemar_corrected(3, 3)), 4), float(mcnemar_corrected(0, 0))
    (0.6831, 1.0)
    """
    total = np.add(b, c)
    return stats.chi2.sf(np.where(total > 0, (np.abs(np.subtract(b, c)) - 1) ** 2 / np.maximum(total, 1), 0), 1)


def discordance_note(n: int, b: int, c: int) -> str:
    """What a reader must know about a test's p-values."""
    if n == 0:
        return "n = 0"
    if b + c == 0:
        return "no discordant pairs: no change"
    return "b = c: the continuity correction keeps p_chi2 below 1" if b == c else ""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """McNemar's test of two sets of answers.

    Attributes
    ----------
    n : int
        Answers (case and voice) that both sets hold.
    b, c : int
        Right in the first only, and in the second only.
    p_exact, p_chi2 : float
        By `mcnemar_exact` and `mcnemar_corrected`; nan for n = 0.
    note : str
        What is undefined, and how many answers the other set lacks; these are left out.
    """

    n: int
    b: int
    c: int
    p_exact: float
    p_chi2: float
    note: str


def mcnemar_between(first: pd.DataFrame, second: pd.DataFrame) -> PairedTest:
    """McNemar's test of two sets of records over the same cases and voices: two models, or two conditions.

    The test takes the answers as independent pairs, though those of one case are not.

    Parameters
    ----------
    first, second : DataFrame
        One row per case and voice, of one model and condition each. They are joined by case and voice.

    Returns
    -------
    PairedTest

    Raises
    ------
    ParameterError
        A set holds several models or conditions.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``sdoh`` Tables V (two models) and VI (two prompts), exact p.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> records = from_patterns(["B1"]).query("model == 'BioMistral-7B'")
    >>> mcnemar_between(records, records).note
    'no discordant pairs: no change'
    """
    answers = []
    for records in (first, second):
        check_records(records)
        if len(sets := records[["model", "condition"]].drop_duplicates()) > 1:
            raise ParameterError(f"records of {len(sets)} models and conditions; each set must be of one")
        answers.append(records.set_index(["case", "voice"])["correct"].astype(bool))
    paired = pd.concat(answers, axis=1, join="inner", keys=["first", "second"])
    n, b = len(paired), int((paired["first"] & ~paired["second"]).sum())
    c = int((~paired["first"] & paired["second"]).sum())
    left_out = sum(map(len, answers)) - 2 * n
    notes = discordance_note(n, b, c), f"{left_out} answers of one set left out" * bool(left_out)
    p = (float(test(b, c)) if n else nan for test in (mcnemar_exact, mcnemar_corrected))
    return PairedTest(n, b, c, *p, "; ".join(filter(None, notes)))
