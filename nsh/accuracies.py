"""Accuracy per voice with Wilson intervals (option match rate, OMR, in ``facts``)."""

from collections.abc import Iterator
from math import nan

import pandas as pd
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.matrix import check_records, order_voices, tidy
from nsh.records import STATUSES
from nsh.resampling import check_whole
from nsh.voices import OVERALL

SHARES = [status for status in STATUSES if status != "pattern"]
KEY = {"model": None, "condition": None, "voice": None}
NUMBERS = dict.fromkeys(("accuracy", "lo", "hi"), "float64")
COLUMNS = KEY | {"n": "int64", "n_correct": "int64", **NUMBERS, "n_unparsed": "Int64", "note": None}


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
    return tidy([{**key, **_summary(part)} for key, part in voice_parts(records)], COLUMNS)


def status_rates(records: pd.DataFrame) -> pd.DataFrame:
    """Share of each status per model, condition and voice, and over all voices; that of "ok" is the parse rate.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.

    Returns
    -------
    DataFrame
        One row per model, condition and voice of the records, then one with ``voice`` "overall". ``n`` answers, and
        for each of ``ok``, ``unparsed``, ``ambiguous``, ``refusal``, ``truncated`` and ``empty`` its share (proportion)
        of them; missing for n = 0 and for pattern counts, which do not hold it. ``note`` says which.

    Raises
    ------
    DataError
        The records lack a column, a case occurs twice in one voice, a voice is named "overall", or a status is unknown.

    References
    ----------
    ``sdoh`` §V (invalid outputs); ``voices`` Table 11 (parse rates).

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "B1", "voice": "clinical", "correct": False}
    >>> answers = [{**row, "case": "1", "status": "ok"}, {**row, "case": "2", "status": "empty"}]
    >>> status_rates(records_frame(answers))[["voice", "n", "ok", "empty"]].values.tolist()
    [['clinical', 2, 0.5, 0.5], ['overall', 2, 0.5, 0.5]]
    """
    check_records(records, needs=("status",))
    if not (known := records["status"].isin(STATUSES)).all():
        raise DataError(f"status {records.loc[~known, 'status'].iloc[0]!r} is none of {', '.join(STATUSES)}")
    rows = []
    for key, part in voice_parts(records):
        counts = part["status"].value_counts()
        note = "n = 0" if part.empty else "unknown: pattern counts hold no status" * ("pattern" in counts)
        shares = {} if note else (counts / len(part)).reindex(SHARES, fill_value=0.0)
        rows.append({**key, "n": len(part), **shares, "note": note})
    return tidy(rows, KEY | {"n": "int64"} | dict.fromkeys(SHARES, "float64") | {"note": None})


def voice_parts(records: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """The records of each model, condition and voice, and of all voices, under their key."""
    voices = order_voices(records["voice"].unique())
    if OVERALL in voices:
        raise DataError(f"a voice of the records is named {OVERALL!r}, the name of the row over all voices; rename it")
    for (model, condition), group in records.groupby(["model", "condition"], sort=False, observed=True):
        for voice in (*voices, OVERALL):
            part = group if voice == OVERALL else group[group["voice"] == voice]
            yield {"model": model, "condition": condition, "voice": voice}, part


def _summary(rows: pd.DataFrame) -> dict:
    """Counts, proportion and interval of some records."""
    n, n_correct = len(rows), int(rows["correct"].sum())
    row = {"n": n, "n_correct": n_correct} | dict(
        zip(NUMBERS, (n_correct / (n or nan), *wilson(n_correct, n)), strict=True)
    )
    if (rows["status"] == "pattern").any():
        return row | {"note": "n_unparsed unknown: pattern counts do not hold it"}
    return row | {"n_unparsed": (rows["status"] != "ok").sum(), "note": "" if n else "n = 0"}


def wilson(n_correct: int, n: int) -> tuple[float, float]:
    """95% Wilson score interval of a proportion, as SciPy computes it.

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
        ``n_correct`` or ``n`` is not whole, or ``n_correct`` does not lie between 0 and ``n``.

    References
    ----------
    Wilson score interval, as in ``facts`` §3.4.

    Examples
    --------
    >>> [round(bound, 4) for bound in wilson(729, 1000)]
    [0.7006, 0.7556]
    """
    check_whole(0, n_correct=n_correct, n=n)
    if n_correct > n:
        raise ParameterError(f"n_correct = {n_correct} of n = {n}: a count between 0 and n is expected")
    if n == 0:
        return nan, nan
    lo, hi = stats.binomtest(n_correct, n).proportion_ci(method="wilson")
    return float(lo), float(hi)
