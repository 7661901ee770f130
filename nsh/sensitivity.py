"""How far every headline depends on the parser of the letters, and on what becomes of answers without a letter."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd

from nsh.answers import Reading, parse_letter, published_letter
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.matrix import NO_RECORD, VoiceMatrix, voice_matrices
from nsh.pooled import pooled_effect

PARSERS = ("stored", "published_letter", "parse_letter")
UNPARSED = ("wrong", "left out")
ALL_MODELS = "all models"


def rescore(records: pd.DataFrame, parser: str, options: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Read the letter of every answer again from its stored text.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice, with ``gold`` and ``text``.
    parser : {"stored", "published_letter", "parse_letter"}
        The letter as it stands in the records, or read by one of the two functions of `nsh.answers`.
    options : mapping
        Case id → option letter → option text, as ``{case.id: case.options for case in load_cases(…)}``.

    Returns
    -------
    DataFrame
        The records with new ``letter``, ``status`` and ``correct``; "stored" returns them as they are.

    Raises
    ------
    ParameterError
        ``parser`` is another.
    MissingDataError
        An answer's text or correct letter is not in the records.
    DataError
        ``options`` lacks a case.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "direct", "case": "1", "voice": "clinical", "gold": "B"}
    >>> records = records_frame([row | {"letter": "C", "correct": False, "text": "After a C-section: gout."}])
    >>> rescore(records, "parse_letter", {"1": {"B": "Gout", "C": "Lyme disease"}}).iloc[0].letter
    'B'
    """
    if parser not in PARSERS:
        raise ParameterError(f"parser = {parser!r}: one of {', '.join(PARSERS)} is expected")
    if parser == "stored":
        return records
    lacking = records[records["text"].isna() | records["gold"].isna()]
    if len(lacking):
        first = lacking.iloc[0]
        raise MissingDataError(
            f"{len(lacking)} records lack the reply's text or the correct letter, the first is {first.model}, "
            f"{first.condition}, {first.case}, {first.voice}; give records of `load_released` or of a run"
        )
    if unknown := sorted(set(records["case"]) - set(options)):
        raise DataError(f"case {unknown[0]!r} has no options; they are needed for every case of the records")
    replies = zip(records["text"], records["case"], records["status"], strict=True)
    read = [_read(parser, text, options[case], status) for text, case, status in replies]
    letters = pd.Series([reading.letter for reading in read], records.index, dtype=object)
    return records.assign(letter=letters, status=[r.status for r in read], correct=letters == records["gold"])


def _read(parser: str, text: str, options: Mapping[str, str], status: str) -> Reading:
    """Letter and status of one reply; a reply that was cut off stays so."""
    letters = "".join(options)
    if parser == "parse_letter":
        return parse_letter(text, letters, options, "length" if status == "truncated" else "stop")
    letter = published_letter(text, letters)
    return Reading(letter, "ok" if letter else "unparsed")


def sensitivity(
    records: pd.DataFrame, options: Mapping[str, Mapping[str, str]], reference: str = "clinical"
) -> pd.DataFrame:
    """Every headline under every reading: three parsers, answers without a letter counted as wrong or left out.

    Left out means: accuracy of a voice is over its answers that have a letter; McNemar's counts over the cases with a
    letter in both voices of the pair; gap, NAG and NSE over the cases with a letter in every voice; the pooled effect
    over the answers with a letter whose question has one in the reference and in a marked voice of that model.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice, with ``gold`` and ``text``.
    options : mapping
        Case id → option letter → option text.
    reference : str
        The unmarked voice; all others are marked.

    Returns
    -------
    DataFrame
        One row per reading (``parser``, ``unparsed``: "wrong" or "left out"), ``model``, ``condition``, ``measure``
        and ``voices``. Measures: "accuracy" per voice, "gap", "nag", "nse" (proportions), "mcnemar_b" and "mcnemar_c"
        (right in the first or in the second of a pair of voices only; counts), and "pooled_effect" (percentage points;
        model "all models"). ``n`` answers for accuracy, else questions; ``value``; ``change`` from the first reading
        (stored letters, unparsed wrong); ``note`` says why a value is undefined.

    Raises
    ------
    ParameterError
        No record is in the reference voice.
    MissingDataError, DataError
        As for `rescore`, or a case occurs twice in one voice.

    References
    ----------
    Beyond the papers. Unparsed answers are incorrect in ``sdoh`` (Table I) and in the released marks of ``facts``.
    Measures: ``voices`` §4, ``sdoh`` eq. 4.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "direct", "case": "1", "gold": "B", "letter": "B", "status": "ok"}
    >>> rows = [row | {"voice": voice, "correct": True, "text": "B"} for voice in ("clinical", "cultural")]
    >>> frame = sensitivity(records_frame(rows), {"1": {"A": "Lyme disease", "B": "Gout"}})
    >>> len(frame), int((frame["change"] != 0).sum())
    (48, 0)
    """
    readings = {
        (parser, unparsed): _reading(read, unparsed == "left out", reference)
        for parser in PARSERS
        for read in [rescore(records, parser, options)]
        for unparsed in UNPARSED
    }
    frame = pd.concat(readings, names=["parser", "unparsed"]).reset_index(["parser", "unparsed"]).reset_index(drop=True)
    frame["change"] = frame["value"] - np.tile(readings["stored", "wrong"]["value"], len(readings))
    defined, empty = frame["value"].notna(), frame["n"] == 0
    frame["note"] = np.select([defined, empty], ["", "n = 0"], "undefined: no marked voice")
    return frame


def _reading(records: pd.DataFrame, leave_out: bool, reference: str) -> pd.DataFrame:
    """Headlines of one reading, the same rows in the same order for each."""
    both = (voice_matrices(records, value, reference) for value in ("correct", "letter"))
    rows = []
    for right, letters in zip(*both, strict=True):
        codes = np.where(letters.codes == 0, NO_RECORD, right.codes) if leave_out else right.codes
        rows += [(right.model, right.condition, *row) for row in _headlines(replace(right, codes=codes))]
    kept = records[records["letter"].notna()] if leave_out else records
    for condition in records["condition"].unique():
        group = kept[kept["condition"] == condition]
        pooled = pooled_effect(group if reference in set(group["voice"]) else group.iloc[:0], reference)
        rows.append((ALL_MODELS, condition, "pooled_effect", "", pooled.n_questions, pooled.effect))
    return pd.DataFrame(rows, columns=["model", "condition", "measure", "voices", "n", "value"])


def _headlines(matrix: VoiceMatrix) -> Iterator[tuple[str, str, int, float]]:
    """Measure, voices, n and value of one model and condition."""
    for voice, column in zip(matrix.voices, matrix.codes.T, strict=True):
        answered = column[column != NO_RECORD]
        yield "accuracy", voice, len(answered), _mean(answered)
    complete = matrix.complete()
    first, *marked = [_mean(column) for column in complete.T]
    yield "gap", "", len(complete), first - _mean(np.array(marked))
    yield "nag", "", len(complete), first - min(marked, default=nan)
    yield "nse", "", len(complete), _mean(complete.any(axis=1) & ~complete.all(axis=1))
    for voice_a, voice_b in matrix.pairs():
        a, b = matrix.pair(voice_a, voice_b).T
        for name, only in (("mcnemar_b", a > b), ("mcnemar_c", a < b)):
            yield name, f"{voice_a}, {voice_b}", len(only), only.sum() if len(only) else nan


def _mean(values: np.ndarray) -> float:
    """Mean, nan of nothing."""
    return float(np.mean(values)) if len(values) else nan
