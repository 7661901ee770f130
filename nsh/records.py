"""The only currency of the book: one tidy row per model, condition, case and voice."""

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.case_fields import data_file, escaped, number, wrong
from nsh.case_files import read_file
from nsh.cases import Case
from nsh.errors import DataError, ParameterError
from nsh.prompts import worst_status
from nsh.runner import Outcome

DTYPES = {
    "model": "object",
    "condition": "object",
    "case": "object",
    "voice": "object",
    "gold": "object",
    "letter": "object",
    "status": "object",
    "correct": "bool",
    "text": "object",
    "keys": "object",
    "prompt_tokens": "Int64",
    "new_tokens": "Int64",
    "source": "object",
    "extraction": "object",
    "tools": "object",
    "fallback": "object",
    "seconds": "float64",
    "prompts": "object",
    "settings": "object",
}
COLUMNS = list(DTYPES)
ENDINGS = (".csv", ".parquet", ".html")
NO_TOOL = "none"  # written where a router called nothing; blank is a condition without a router
STATUSES = ("ok", "unparsed", "ambiguous", "refusal", "truncated", "empty", "pattern")  # pattern: counts, no letters


def records_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a records frame; a row may leave out what it does not have.

    Parameters
    ----------
    rows : iterable of mapping
        Each with at least `model`, `condition`, `case`, `voice` and `correct`.

    Returns
    -------
    pandas.DataFrame
        The columns `COLUMNS`, one row per (model, condition, case, voice). `correct` is False where no letter was
        read: unparsed counts as incorrect, and `status` says why. Of a run also: how the `extraction` was read
        (`nsh.parse_json`), the `tools` called and whether the `fallback` was (None where the condition has no such
        part), `seconds` of wall time summed over the calls, how much of the `prompts` is reconstructed
        (`nsh.prompts.STATUSES`), and the `settings` that are not the papers' ("" if none).

    Raises
    ------
    DataError
        If the same answer stands in two rows.

    Examples
    --------
    >>> row = {"model": "m", "condition": "direct", "case": "1", "voice": "clinical", "correct": True}
    >>> records_frame([row]).shape
    (1, 19)
    """
    frame = pd.DataFrame([{**dict.fromkeys(COLUMNS), "keys": (), **row} for row in rows], dtype=object, columns=COLUMNS)
    frame = frame.astype(DTYPES)
    for text in (c for c, kind in DTYPES.items() if kind == "object" and c not in ("keys", "tools")):
        frame[text] = frame[text].where(frame[text].notna(), None)
    twice = frame[frame.duplicated(["model", "condition", "case", "voice"])]
    if len(twice):
        first = twice.iloc[0]
        raise DataError(f"two rows for the same answer: {first.model}, {first.condition}, {first.case}, {first.voice}")
    return frame


def from_outcomes(outcomes: Iterable[Outcome], model: str, settings: str = "") -> pd.DataFrame:
    """Records of a run: text is the answer's, tokens are summed over the stages; `source` is "run", or "scripted"
    where the replies are canned; `settings` opens with what is given."""
    return records_frame(
        {
            "model": model,
            "condition": outcome.job.name,
            "case": outcome.job.case.id,
            "voice": outcome.job.voice,
            "gold": outcome.job.case.gold,
            "letter": outcome.answer.letter,
            "status": outcome.answer.status,
            "correct": outcome.answer.letter == outcome.job.case.gold,
            "text": outcome.answer.text,
            "keys": outcome.keys,
            "prompt_tokens": sum(completion.prompt_tokens for completion in outcome.completions),
            "new_tokens": sum(completion.new_tokens for completion in outcome.completions),
            "source": "scripted" if _scripted(outcome) else "run",
            "extraction": outcome.answer.extraction,
            "tools": outcome.answer.tools,
            "fallback": outcome.answer.fallback,
            "seconds": sum(completion.stamp.get("seconds", nan) for completion in outcome.completions),
            "prompts": worst_status(outcome.stages),
            "settings": "; ".join(filter(None, [settings, *outcome.departures])),
        }
        for outcome in outcomes
    )


def _scripted(outcome: Outcome) -> bool:
    """Whether the completions were canned."""
    return any(completion.stamp.get("engine") == "scripted" for completion in outcome.completions)


def write_records(records: pd.DataFrame, path: str | Path, with_text: bool = False, cases: Sequence[Case] = ()) -> Path:
    """Write records to a .csv or .parquet file, or as the page of `nsh.browser` to an .html file: ids and letters, and
    the replies' text, on the page also that of the cases, only where asked for.

    Raises
    ------
    ParameterError
        As `check_out` does.
    """
    path = check_out(path)
    if path.suffix == ".html":
        from nsh.browser import write_browser

        return write_browser(records, path, cases if with_text else None)
    tools = records["tools"].map(lambda called: None if called is None else " ".join(called) or NO_TOOL)
    table = records.assign(keys=records["keys"].map(" ".join), tools=tools)
    if with_text:
        table["text"] = [text and escaped(text) for text in table["text"]]
    else:
        table = table.drop(columns="text")
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return path


def read_records(path: str | Path) -> pd.DataFrame:
    """Read records that `write_records` wrote; texts that were not written are missing.

    Raises
    ------
    DataError
        If the file is not of that form; row and field are named.
    MissingDataError, ParameterError
        If there is no such file, or its ending is another one.

    Examples
    --------
    >>> read_records("records.csv")["tools"]  # doctest: +SKIP
    """
    truth, rows = {"True": True, "False": False, "true": True, "false": False}, []
    for where, line in read_file(data_file(path)):
        if lacking := [name for name in COLUMNS if name not in (*line, "text")]:
            raise wrong(where, lacking[0], "a column of this name", ", ".join(map(str, line)))
        row = {name: None if value in ("", None) or value != value else value for name, value in line.items()}
        row |= {"keys": tuple((row["keys"] or "").split()), "correct": truth.get(str(row["correct"]))}
        row |= {"fallback": truth.get(str(row["fallback"])), "settings": row["settings"] or ""}
        if row["tools"] is not None:
            row["tools"] = () if row["tools"] == NO_TOOL else tuple(row["tools"].split())
        if row["correct"] is None:
            raise wrong(where, "correct", "True or False", line["correct"])
        counts = {name: number(name, row[name], where, low=0) for name in ("prompt_tokens", "new_tokens", "seconds")}
        rows.append(row | counts)
    return records_frame(rows)


def check_out(path: str | Path, read: Iterable[str | Path] = ()) -> Path:
    """Refuse a file that `write_records` could not write, before anything is run for it.

    Raises
    ------
    ParameterError
        If its ending is none of `ENDINGS`, its folder does not exist, it is a folder, or it is a file that the run
        reads.
    """
    path = Path(path)
    if any(path.resolve() == Path(other).resolve() for other in read):
        raise ParameterError(f"--out {path}: the run reads this file")
    if path.suffix not in ENDINGS or not path.parent.is_dir() or path.is_dir():
        endings = ", ".join(ENDINGS)
        raise ParameterError(f"--out {path}: expected a file that ends in one of {endings}, in a folder that exists")
    return path
