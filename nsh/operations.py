"""How a pipeline ran, counted from its records: extractions that parse, tools called, fallbacks, seconds."""

import pandas as pd

from nsh.accuracies import KEY, OVERALL, voice_parts, wilson
from nsh.errors import DataError
from nsh.matrix import check_records, tidy
from nsh.tables import Block, table

SHARES = ("parse_rate", "strict_rate", "fallback_rate", "final_parse_rate")
MEANS = ("tools_per_question", "encounters_with_tools", "questions_with_tools", "seconds_per_question")
COLUMNS = KEY | {"n": "int64", "n_extractions": "int64"}
COLUMNS |= dict.fromkeys([name + end for name in SHARES for end in ("", "_lo", "_hi")] + [*MEANS], "float64")
COLUMNS |= {"note": None}
PARSED = ("ok", "repaired")


def operations(records: pd.DataFrame) -> pd.DataFrame:
    """Parse, tool and fallback rates of a pipeline, per model, condition and voice.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.

    Returns
    -------
    DataFrame
        One row per model, condition and voice, then one with ``voice`` "overall". ``n`` answers, ``n_extractions`` of
        them with an extraction. Proportions, each with its 95% Wilson interval (``_lo``, ``_hi``): ``parse_rate`` of
        the extractions, repaired ones included (Table 9's "Agent 1 parse"), ``strict_rate`` without these,
        ``fallback_rate`` of the answers of a condition with a fallback ("Agent 3 fallback"), ``final_parse_rate`` of
        all answers that ended with a letter. ``tools_per_question`` (tool calls per answer, "Tools/Q"),
        ``encounters_with_tools`` (proportion of answers with a call) and ``questions_with_tools`` (of cases with a
        call in some voice). ``seconds_per_question``: wall time summed over an answer's calls, each from the start of
        its batch to its own end, so it depends on batch and machine; over the answers whose time is known. A number of
        something that is not there is NaN, and ``note`` says what: "n = 0", "no extraction", "no router", "no
        fallback", "no times", or "no letters" of pattern counts.

    Raises
    ------
    DataError
        The records lack a column, a case occurs twice in one voice, or a voice is named "overall".

    References
    ----------
    ``facts`` §3.4 and Table 9; ``voices`` Table 11 and Appendix H.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "extract_tools", "voice": "clinical", "correct": True, "letter": "A"}
    >>> rows = [{**row, "case": "1", "extraction": "ok", "tools": ("curb65", "drug_kb"), "fallback": False},
    ...         {**row, "case": "2", "extraction": "none", "tools": (), "fallback": True}]
    >>> operations(records_frame(rows)).loc[0, ["parse_rate", "fallback_rate", "tools_per_question"]].tolist()
    [0.5, 0.5, 1.0]
    """
    check_records(records, needs=("letter", "status", "extraction", "tools", "fallback", "seconds"))
    if records["tools"].map(lambda called: isinstance(called, str)).any():
        raise DataError("tools are text, as written to a file: read the records with nsh.records.read_records")
    return tidy([key | _counted(part) for key, part in voice_parts(records)], COLUMNS)


def _counted(part: pd.DataFrame) -> dict[str, float | str]:
    """The numbers of one row."""
    extractions, fallback = part["extraction"].dropna(), part["fallback"].dropna().astype(bool)
    called, seconds = part["tools"].dropna().map(len).astype(int), part["seconds"].dropna()
    final = part.loc[part["status"] != "pattern", "letter"].notna()
    flags = (extractions.isin(PARSED), extractions == "ok", fallback, final)
    row = {"n": len(part), "n_extractions": len(extractions)}
    for name, flag in zip(SHARES, flags, strict=True):
        row |= dict(zip((name, f"{name}_lo", f"{name}_hi"), (flag.mean(), *wilson(flag.sum(), len(flag))), strict=True))
    with_tools = called > 0
    questions = with_tools.groupby(part["case"].loc[called.index]).any()
    means = (called.mean(), with_tools.mean(), questions.mean(), seconds.mean())
    parts = {"extraction": extractions, "router": called, "fallback": fallback, "times": seconds, "letters": final}
    absent = [f"no {name}" for name, values in parts.items() if values.empty]
    return row | dict(zip(MEANS, means, strict=True)) | {"note": "; ".join(absent) if len(part) else "n = 0"}


def operations_table(records: pd.DataFrame) -> Block:
    """`facts` Table 9 for the models of a run, over all voices; rates in per cent, "–" for what is not there."""
    rows = operations(records)
    rows = rows[rows["voice"] == OVERALL]
    rows = rows.assign(**{name: 100 * rows[name] for name in ("parse_rate", "fallback_rate", "final_parse_rate")})
    labels = {
        "model": "model",
        "n": "answers",
        "parse_rate": "Agent 1 parse, %",
        "tools_per_question": "tools/Q",
        "fallback_rate": "fallback, %",
        "final_parse_rate": "answers with a letter, %",
        "seconds_per_question": "latency, s/Q",
    }
    shown = rows[[*labels, "note"]].astype(object)
    shown = shown.where(shown.notna(), "–")
    formats = dict.fromkeys(list(labels)[2:], ".2f")
    return table(shown, "Table 9 for the models of this run", labels=labels, formats=formats, numeric=list(labels)[1:])
