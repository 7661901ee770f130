"""What a method changes against a baseline on the same questions: gap, accuracy, items recovered and broken."""

from collections.abc import Mapping
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd

from nsh.errors import ParameterError
from nsh.matrix import NO_RECORD, VoiceMatrix, check_columns, tidy, voice_matrices
from nsh.resampling import resampled_sums, with_interval

MEASURES = ("gap_reduction", "delta_accuracy", "delta_marked", "recovered", "broken")
BOUNDED = {f"{name}{end}": "float64" for name in MEASURES for end in ("", "_lo", "_hi")}
COLUMNS = {"model": None, "condition": None, "n": "int64", **BOUNDED, "note": None}


def changes(
    records: pd.DataFrame, baseline: str, reference: str = "clinical", resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Changes of every condition against a baseline, per model, over the questions that both answer in every voice.

    Gap reduction = gap(baseline) − gap(condition), positive where the gap shrinks. A victim item is a marked answer
    that is wrong under the baseline while the reference is right there: recovered is the share of these that the
    condition answers right. Broken is the share of marked answers right under the baseline that become wrong.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice; the same case id in two conditions is the same question.
    baseline : str
        The condition that the others are compared with (B1 in the papers).
    reference : str
        The unmarked voice; all other voices of the records are marked.
    resamples, seed : int
        Bootstrap resamples of questions, and their seed; with 0 the intervals are missing.

    Returns
    -------
    DataFrame
        One row per model and other condition: ``n`` common questions; ``gap_reduction``, ``delta_accuracy`` (over all
        voices), ``delta_marked`` (over the marked), ``recovered`` and ``broken`` (proportions), each with a 95% paired
        percentile interval ``_lo``, ``_hi``; ``note``, which counts the answers whose status is not "ok": a gap that
        shrinks because answers without a letter count as wrong in every voice is no improvement. Resamples without a
        victim (or without a right marked answer) do not count for the interval of ``recovered`` (or ``broken``).

    Raises
    ------
    ParameterError
        No record is of the baseline or in the reference voice, or ``resamples`` is negative.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (Metrics), Table 2 and Table 4.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> right = {"B1": "10", "Rewrite": "11"}  # in the clinical and in the cultural voice
    >>> rows = [
    ...     {"model": "m", "condition": condition, "case": "1", "voice": voice, "correct": answer == "1"}
    ...     for condition, answers in right.items()
    ...     for voice, answer in zip(("clinical", "cultural"), answers)
    ... ]
    >>> changes(records_frame(rows), baseline="B1")[["n", "gap_reduction", "recovered"]].values.tolist()
    [[1.0, 1.0, 1.0]]
    """
    found = voice_matrices(records, reference=reference, needs=("status",))
    matrices = {(matrix.model, matrix.condition): matrix for matrix in found}
    conditions = dict.fromkeys(condition for _, condition in matrices)
    if matrices and baseline not in conditions:
        raise ParameterError(f"baseline {baseline!r} is in no record; the records hold {', '.join(conditions)}")
    compared = [matrix for (_, condition), matrix in matrices.items() if condition != baseline]
    pairs = [_common(matrices.get((matrix.model, baseline)), matrix) for matrix in compared]
    items = [_items(before, after) for before, after, _ in pairs]
    drawn, rows = resampled_sums(items, resamples, seed), []
    status: dict[tuple[str, str], dict[str, int]] = {}
    for (model, condition, name), count in records.value_counts(["model", "condition", "status"]).items():
        status.setdefault((model, condition), {})[name] = count
    for matrix, (before, _, left_out), values, sums in zip(compared, pairs, items, drawn, strict=True):
        statuses = [status.get((matrix.model, condition), {}) for condition in (baseline, matrix.condition)]
        row = _summary(values, sums, before.shape[1] - 1, _notes(*statuses, left_out))
        rows.append({"model": matrix.model, "condition": matrix.condition, **row})
    return tidy(rows, COLUMNS)


def _common(first: VoiceMatrix | None, second: VoiceMatrix) -> tuple[np.ndarray, np.ndarray, int]:
    """Answers of the cases that both hold in every voice, and the number of all other cases of either."""
    if first is None:
        return second.codes[:0], second.codes[:0], len(second.cases)
    cases, in_first, in_second = np.intersect1d(first.cases, second.cases, assume_unique=True, return_indices=True)
    before, after = first.codes[in_first], second.codes[in_second]
    whole = ((before != NO_RECORD) & (after != NO_RECORD)).all(axis=1)
    return before[whole], after[whole], len(first.cases) + len(second.cases) - len(cases) - int(whole.sum())


def _items(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Per case: change of the reference, of the marked; victims, recovered ones; right marked answers, broken ones."""
    right, right_after = before == 1, after == 1
    victim = right[:, :1] & ~right
    change = after - before
    parts = change[:, :1], change[:, 1:], victim, victim & right_after, right[:, 1:], (right & ~right_after)[:, 1:]
    return np.column_stack([part.sum(axis=1) for part in parts])


def _notes(before: Mapping[str, int], after: Mapping[str, int], left_out: int) -> list[str]:
    """What a comparison must say of the statuses under both conditions and of the cases left out."""
    if "pattern" in {*before, *after}:
        return ["pattern counts do not link questions across conditions"]
    notes = [f"{left_out} cases not answered in every voice under both left out"] * bool(left_out)
    for where, statuses in (("the baseline", before), ("the condition", after)):
        letterless = sum(count for status, count in statuses.items() if status != "ok")
        notes += [f"{letterless} answers without a letter under {where}, counted as wrong"] * bool(letterless)
    return notes


def _summary(items: np.ndarray, sums: np.ndarray, n_marked: int, notes: list[str]) -> dict:
    """Numbers and note of one model and condition, from its cases and their sums in every resample."""
    n = len(items)
    if n == 0 or not n_marked:
        return {"n": n, "note": "; ".join(["n = 0" if n == 0 else "undefined: no marked voice", *notes])}
    totals, row = items.sum(axis=0), {"n": n}
    undefined = {"n = 1: intervals undefined": n == 1, "recovered undefined: no victim items": totals[2] == 0}
    undefined["broken undefined: no marked answer is right"] = totals[4] == 0
    notes += [note for note, holds in undefined.items() if holds]
    for name, value, drawn in zip(MEASURES, _measures(totals, n, n_marked), _measures(sums, n, n_marked), strict=True):
        row |= with_interval(name, float(value), drawn, n)
    return row | {"note": "; ".join(notes)}


def _measures(totals: np.ndarray, n: int, n_marked: int) -> list[np.ndarray]:
    """The MEASURES, in order, from an array (…, 6) of sums over n questions; a share of nothing is nan."""
    reference, marked, victims, recovered, right, broken = np.moveaxis(totals, -1, 0)
    delta_marked = marked / (n * n_marked)
    accuracies = [delta_marked - reference / n, (reference + marked) / (n * (n_marked + 1)), delta_marked]
    return [*accuracies, recovered / np.where(victims, victims, nan), broken / np.where(right, right, nan)]


class BeyondZero(NamedTuple):
    """Models whose interval lies above zero, those whose interval lies below it, and all that have an interval."""

    above: int
    below: int
    n: int


def models_beyond_zero(frame: pd.DataFrame, measure: str) -> BeyondZero:
    """Count the models whose interval excludes zero.

    Parameters
    ----------
    frame : DataFrame
        One row per model, of one condition, as `changes` or `nsh.gaps.anchoring` returns them.
    measure : str
        A column that has ``_lo`` and ``_hi`` beside it.

    Returns
    -------
    BeyondZero
        Models ``above`` and ``below`` zero, and ``n``, those whose interval is defined.

    Raises
    ------
    DataError
        A model occurs twice, or the frame has no interval of that measure.

    References
    ----------
    ``voices`` §4 and Table 2 ("k/11").

    Examples
    --------
    >>> from nsh.gaps import anchoring
    >>> from nsh.patterns import from_patterns
    >>> models_beyond_zero(anchoring(from_patterns(["B1"])), "gap")
    BeyondZero(above=7, below=0, n=7)
    """
    check_columns(frame, [f"{measure}_lo", f"{measure}_hi"], "rows of one condition", once=["model"])
    lo, hi = frame[f"{measure}_lo"], frame[f"{measure}_hi"]
    return BeyondZero(int((lo > 0).sum()), int((hi < 0).sum()), int(lo.notna().sum()))
