"""Narrative anchoring within one model: gap, NAG, paired bootstrap intervals and the within-question null."""

import numpy as np
import pandas as pd

from nsh.matrix import VoiceMatrix, tidy, voice_matrices
from nsh.resampling import check_whole, resampled_sums, with_interval

BOUNDED = {f"{name}{end}": "float64" for name in ("gap", "nag") for end in ("", "_lo", "_hi")}
NULL = {"null_mean": "float64", "null_p95": "float64"}
COLUMNS = {"model": None, "condition": None, "n": "int64", **BOUNDED, "worst_voice": None, **NULL, "note": None}


def anchoring(
    records: pd.DataFrame,
    reference: str = "clinical",
    resamples: int = 2000,
    permutations: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Accuracy lost in the marked voices, per model and condition.

    gap = Acc(reference) − mean of the marked voices' Acc; NAG = Acc(reference) − min of the marked voices' Acc.
    A minimum of noisy numbers is biased upward, so NAG stands beside what it would be if voice did not matter: its
    mean and 95th percentile when each question's answers are dealt out to the voices at random.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    reference : str
        The unmarked voice; all other voices of the records are marked.
    resamples, permutations : int
        Bootstrap resamples of questions, and permutations for the null (as many unless given); with 0 the intervals,
        or the null, are missing.
    seed : int
        The draws depend on the seed and on the numbers of questions and voices alone, so a number depends neither on
        the order of the rows nor on the other models.

    Returns
    -------
    DataFrame
        One row per model and condition: ``n`` cases answered in every voice (all others are left out, and ``note``
        counts them), ``gap`` and ``nag`` (proportions) with 95% percentile intervals, ``worst_voice`` (lowest
        accuracy among the marked), ``null_mean`` and ``null_p95`` of NAG, and ``note``.

    Raises
    ------
    ParameterError
        ``resamples`` or ``permutations`` is negative or not whole, or no record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (gap, NAG, bootstrap, null); ``facts`` §3.4 (NAG).

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = anchoring(from_patterns(["B1"])).iloc[0]
    >>> print(f"gap {first.gap:.4f}, NAG {first.nag:.4f}, worst voice {first.worst_voice}")
    gap 0.1310, NAG 0.1510, worst voice cultural
    """
    permutations = resamples if permutations is None else permutations
    check_whole(0, resamples=resamples, permutations=permutations)
    matrices = voice_matrices(records, reference=reference)
    answers = [matrix.complete() for matrix in matrices]
    rows = [
        {"model": matrix.model, "condition": matrix.condition, **_summary(matrix, values, sums, permutations, seed)}
        for matrix, values, sums in zip(matrices, answers, resampled_sums(answers, resamples, seed), strict=True)
    ]
    return tidy(rows, COLUMNS)


def _summary(matrix: VoiceMatrix, values: np.ndarray, sums: np.ndarray, permutations: int, seed: int) -> dict:
    """Numbers and note of one model and condition, from its answers and their sums over voices in every resample."""
    (n, k), notes = values.shape, matrix.left_out()
    if n == 0 or k < 2:
        notes.insert(0, "n = 0" if n == 0 else "undefined: no marked voice")
        return {"n": n, "worst_voice": None, "note": "; ".join(notes)}
    correct = values.sum(axis=0)
    lowest = [voice for voice, count in zip(matrix.voices[1:], correct[1:], strict=True) if count == correct[1:].min()]
    if len(lowest) > 1:
        notes.append(f"worst voice tied: {', '.join(lowest)}")
    if n == 1:
        notes.append("n = 1: intervals undefined")
    if (values == values[:, :1]).all():
        notes.append("no question's answers differ between voices")
    row = {"n": n, "worst_voice": lowest[0]}
    if permutations:
        null = _nag(permuted_means(values, permutations, np.random.default_rng([seed, n, k])))
        row |= {"null_mean": null.mean(), "null_p95": np.percentile(null, 95)}
    for name, measure in (("gap", _gap), ("nag", _nag)):
        row |= with_interval(name, measure(correct / n), measure(sums / n), n)
    return row | {"note": "; ".join(notes)}


def _gap(means: np.ndarray) -> np.ndarray:
    """Reference accuracy less the mean of the marked; voices on the last axis, reference first."""
    return means[..., 0] - means[..., 1:].mean(axis=-1)


def _nag(means: np.ndarray) -> np.ndarray:
    """Reference accuracy less the lowest of the marked; voices on the last axis, reference first."""
    return means[..., 0] - means[..., 1:].min(axis=-1)


def permuted_means(values: np.ndarray, permutations: int, generator: np.random.Generator) -> np.ndarray:
    """Column means after permuting the 0/1 entries within each row: array (n, k) to array (permutations, k).

    Only the number of ones in a row matters. Going through the columns, a row with r ones left for the j columns left
    has a one in the next with probability r / j, so the number of such rows that do is binomial.
    """
    n, k = values.shape
    rows = np.tile(np.bincount(values.sum(axis=1), minlength=k + 1), (permutations, 1))  # rows with r = 0..k ones left
    means = np.empty((permutations, k))
    for column in range(k):
        hits = generator.binomial(rows, np.minimum(np.arange(k + 1) / (k - column), 1))
        rows = rows - hits + np.roll(hits, -1, axis=1)
        means[:, column] = hits.sum(axis=1) / n
    return means
