"""Accuracy per voice with Wilson intervals (option match rate, OMR, in ``facts``)."""

from math import nan, sqrt
from statistics import NormalDist

import pandas as pd

from nsh.errors import DataError, ParameterError
from nsh.matrix import check_records, order_voices, tidy

Z_95 = NormalDist().inv_cdf(0.975)
OVERALL = "overall"
COLUMNS = {
    "model": None,
    "condition": None,
    "voice": None,
    "n": "int64",
    "n_correct": "int64",
    "accuracy": "float64",
    "lo": "float64",
    "hi": "float64",
    "n_unparsed": "Int64",
    "note": None,
}


def accuracy(records: pd.DataFrame) -> pd.DataFrame:
    """Share of correct answers per model, condition and voice, and over all voices. Unparsed answers count as wrong.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.

    Returns
    -------
    DataFrame
        One row per model, condition and voice of the records, then one with ``voice`` "overall" over all their rows.
        ``n`` answers, ``n_correct``, ``accuracy`` (proportion), ``lo`` and ``hi`` (95% Wilson interval), ``n_unparsed``
        (answers whose status is not "ok"; missing for pattern counts, which do not hold it) and ``note``.
        A voice in which a model has no answers has n = 0 and no accuracy.

    Raises
    ------
    DataError
        The records lack a column, a case occurs twice in one voice, or a voice is named "overall".

    References
    ----------
    ``facts`` §3.4 and Table 3; ``voices`` §4. The overall interval takes all answers as independent, as ``facts`` does.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = accuracy(from_patterns(["B1"])).iloc[0]
    >>> print(f"{first.voice}: {first.accuracy:.4f} [{first.lo:.4f}, {first.hi:.4f}]")
    clinical: 0.7290 [0.7006, 0.7556]
    """
    check_records(records, needs=("correct", "status"))
    voices = order_voices(records["voice"].unique())
    if OVERALL in voices:
        raise DataError(f"a voice of the records is named {OVERALL!r}, the name of the row over all voices; rename it")
    rows = []
    for (model, condition), group in records.groupby(["model", "condition"], sort=False, observed=True):
        parts = [(voice, group[group["voice"] == voice]) for voice in voices]
        for voice, part in [*parts, (OVERALL, group)]:
            rows.append({"model": model, "condition": condition, "voice": voice, **_summary(part)})
    return tidy(rows, COLUMNS)


def _summary(rows: pd.DataFrame) -> dict:
    """Counts, proportion and interval of some records."""
    n, n_correct = len(rows), int(rows["correct"].sum())
    lo, hi = wilson(n_correct, n)
    unknown = bool((rows["status"] == "pattern").any())
    return {
        "n": n,
        "n_correct": n_correct,
        "accuracy": n_correct / n if n else nan,
        "lo": lo,
        "hi": hi,
        "n_unparsed": pd.NA if unknown else int((rows["status"] != "ok").sum()),
        "note": "n = 0" if not n else "n_unparsed unknown: pattern counts do not hold it" * unknown,
    }


def wilson(n_correct: int, n: int) -> tuple[float, float]:
    """95% Wilson score interval of a proportion.

    With p = n_correct / n and z = 1.96: centre (p + z²/2n) / (1 + z²/n), half-width
    z √(p(1 − p)/n + z²/4n²) / (1 + z²/n).

    Parameters
    ----------
    n_correct, n : int
        Correct answers and all answers.

    Returns
    -------
    (float, float)
        Bounds (proportions) inside [0, 1]; both nan for n = 0.

    Raises
    ------
    ParameterError
        ``n_correct`` does not lie between 0 and ``n``.

    References
    ----------
    Wilson score interval, as in ``facts`` §3.4.

    Examples
    --------
    >>> [round(bound, 4) for bound in wilson(729, 1000)]
    [0.7006, 0.7556]
    """
    if not 0 <= n_correct <= n:
        raise ParameterError(f"n_correct = {n_correct} of n = {n}: a count between 0 and n is expected")
    if n == 0:
        return nan, nan
    p, z2 = n_correct / n, Z_95**2 / n
    centre, half = p + z2 / 2, sqrt(z2 * p * (1 - p) + z2**2 / 4)
    lo = 0.0 if n_correct == 0 else (centre - half) / (1 + z2)
    hi = 1.0 if n_correct == n else (centre + half) / (1 + z2)
    return lo, hi
