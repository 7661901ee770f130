"""Consistency of a case's answers across voices: CC, correct CC, NSE and the four outcomes of a case (``sdoh``)."""

import numpy as np
import pandas as pd
from scipy import stats

from nsh.errors import ParameterError
from nsh.matrix import VoiceMatrix, tidy, voice_matrices
from nsh.resampling import resampled_sums, with_interval

MEASURES = ("cc", "correct_cc", "nse", "stable_correct", "stable_wrong", "narrative_sensitive", "unstable_wrong")
NEEDS_LETTERS = ("cc", "stable_wrong", "unstable_wrong")
BOUNDED = {f"{name}{end}": "float64" for name in (*MEASURES, "accuracy") for end in ("", "_lo", "_hi")}
BY_ROWS = {"accuracy_rows_lo": "float64", "accuracy_rows_hi": "float64"}
KEY = ("model", "condition")
COLUMNS = {**dict.fromkeys(KEY), "n": "int64", **BOUNDED, **BY_ROWS, "note": None}


def case_outcomes(records: pd.DataFrame, resamples: int = 2000, seed: int = 0, invalid: str = "differ") -> pd.DataFrame:
    """How far a case's answers agree across voices, per model and condition.

    Over the n cases answered in every voice: CC is the share with the same letter in all voices, correct CC that with
    the right letter in all, NSE that with a right answer in one voice and a wrong one in another. Each case has one of
    four outcomes: stable correct (right in all voices), stable wrong (the same wrong letter in all), narrative
    sensitive (right in some), unstable wrong (right in none, not the same letter in all).

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    resamples, seed : int
        Bootstrap resamples of cases, and their seed; with 0 the intervals over cases are missing.
    invalid : {"differ", "agree"}
        Whether two answers without a letter count as equal, which ``sdoh`` does not say.

    Returns
    -------
    DataFrame
        One row per model and condition: ``n`` cases (those lacking a voice are left out, and ``note`` counts them);
        ``cc``, ``correct_cc``, ``nse``, ``stable_correct``, ``stable_wrong``, ``narrative_sensitive``,
        ``unstable_wrong`` and ``accuracy`` (proportions), each with the 95% percentile interval ``_lo``, ``_hi`` over
        cases; ``accuracy_rows_lo`` and ``_hi``, the interval over single answers as if they were independent; ``note``.
        Pattern counts hold no letters: what compares letters is missing there. Where the records hold a single voice,
        only the accuracy is defined.

    Raises
    ------
    ParameterError
        ``invalid`` is neither "differ" nor "agree", or ``resamples`` is negative.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``sdoh`` eqs. 1 to 4, Tables III and IV. Its printed accuracy intervals have the width of those over rows. Answers
    resampled singly have a binomial number of right ones, whose percentiles are taken without drawing.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = case_outcomes(from_patterns(["B1"])).iloc[0]
    >>> print(f"correct CC {first.correct_cc:.3f}, NSE {first.nse:.3f} [{first.nse_lo:.3f}, {first.nse_hi:.3f}]")
    correct CC 0.447, NSE 0.380 [0.350, 0.409]
    """
    if invalid not in ("differ", "agree"):
        raise ParameterError(f"invalid = {invalid!r}: 'differ' or 'agree' is expected")
    letters = voice_matrices(records, "letter", reference=None, needs=("status",))
    matrices = voice_matrices(records, reference=None)
    outcomes = [_outcomes(*both, invalid == "agree") for both in zip(matrices, letters, strict=True)]
    counted = records.loc[records["status"] == "pattern", ["model", "condition"]]
    letterless = set(counted.itertuples(index=False, name=None))
    rows = []
    for matrix, values, sums in zip(matrices, outcomes, resampled_sums(outcomes, resamples, seed), strict=True):
        key = matrix.model, matrix.condition
        rows.append(dict(zip(KEY, key, strict=True)) | _summary(matrix, values, sums, key in letterless))
    return tidy(rows, COLUMNS)


def _outcomes(right: VoiceMatrix, letters: VoiceMatrix, invalid_agree: bool) -> np.ndarray:
    """Per case: 0 or 1 for each of the MEASURES, then the numbers of right answers and of answers without a letter."""
    correct, codes = right.complete(), letters.complete()
    every, some, invalid = correct.all(axis=1), correct.any(axis=1), codes == 0
    same = (codes == codes[:, :1]).all(axis=1) & (invalid_agree | ~invalid.any(axis=1))
    shares = [same, every, some & ~every, every, same & ~some, some & ~every, ~same & ~some]
    return np.column_stack([*shares, correct.sum(axis=1), invalid.sum(axis=1)])


def _summary(matrix: VoiceMatrix, values: np.ndarray, sums: np.ndarray, letterless: bool) -> dict:
    """Numbers and note of one model and condition, from its cases and their sums in every resample."""
    n, k, notes = len(values), len(matrix.voices), matrix.left_out()
    if n == 0:
        return {"n": 0, "note": "; ".join(["n = 0", *notes])}
    if n == 1:
        notes.append("n = 1: intervals over cases undefined")
    *totals, n_right, n_invalid = values.sum(axis=0).tolist()
    if letterless:
        notes.insert(0, "letters undefined: pattern counts hold none")
    elif n_invalid:
        notes.append(f"{n_invalid} answers without a letter")
    if k < 2:
        notes.insert(0, "undefined: no other voice to compare with")
    row = {"n": n} | with_interval("accuracy", n_right / (n * k), sums[:, -2] / (n * k), n)
    for name, total, drawn in zip(MEASURES, totals, sums.T[:-2], strict=True):
        if k > 1 and not (letterless and name in NEEDS_LETTERS):
            row |= with_interval(name, total / n, drawn / n, n)
    lo, hi = stats.binom.ppf([0.025, 0.975], n * k, n_right / (n * k)) / (n * k)
    return row | {"accuracy_rows_lo": lo, "accuracy_rows_hi": hi, "note": "; ".join(notes)}
