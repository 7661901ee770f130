"""How far every headline depends on the parser of the letters, and on what becomes of answers without a letter."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import mcnemar
from nsh.answers import Reading, parse_letter, published_letter
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.measures import measures
from nsh.pooled import pooled_effect

PARSERS = ("stored", "published_letter", "parse_letter")
UNPARSED = ("wrong", "left out")
ALL_MODELS = "all models"
KEY = ["model", "condition", "measure", "voices"]


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
    readings, voices = {}, set(records["voice"])
    for parser in PARSERS:
        read = rescore(records, parser, options)
        for rule, kept in zip(UNPARSED, (read, read[read["letter"].notna()]), strict=True):
            rows = list(_headlines(kept, voices, reference))
            readings[parser, rule] = pd.DataFrame(rows, columns=[*KEY, "n", "value"]).set_index(KEY)
    first = readings["stored", "wrong"].index
    frame = pd.concat({key: table.reindex(first) for key, table in readings.items()}, names=["parser", "unparsed"])
    frame = frame.reset_index().fillna({"n": 0}).astype({"n": "int64", "value": "float64"})
    frame["value"] = frame["value"].where(frame["n"] > 0)
    frame["change"] = frame["value"] - np.tile(frame["value"][: len(first)], len(readings))
    defined, empty = frame["value"].notna(), frame["n"] == 0
    frame["note"] = np.select([defined, empty], ["", "n = 0"], "undefined: no marked voice")
    return frame


def _headlines(records: pd.DataFrame, voices: set[str], reference: str) -> Iterator[tuple]:
    """Model, condition, measure, voices, n and value of every headline that the records allow."""
    held = set(records["voice"])
    for row in accuracy(records).itertuples():
        if row.voice != OVERALL:
            yield row.model, row.condition, "accuracy", row.voice, row.n, row.accuracy
    complete = records if held == voices else records.iloc[:0]  # no case has every voice where one voice is not held
    for row in measures(complete, reference=reference).itertuples():
        yield from ((row.model, row.condition, name, "", row.n, getattr(row, name)) for name in ("gap", "nag", "nse"))
    for row in mcnemar(records, reference if reference in held else None).itertuples():
        pair = f"{row.voice_a}, {row.voice_b}"
        yield from ((row.model, row.condition, f"mcnemar_{n}", pair, row.n, getattr(row, n)) for n in "bc")
    for condition, group in records.groupby("condition", sort=False, observed=True):
        pooled = pooled_effect(group if reference in set(group["voice"]) else group.iloc[:0], reference)
        yield ALL_MODELS, condition, "pooled_effect", "", pooled.n_questions, pooled.effect
