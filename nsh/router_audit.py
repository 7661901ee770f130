"""The tool router against its released logs: given the same text, does it call the same tools?

The logs hold no extraction. Each encounter is replayed through the router with a record of the laboratory values and
medications that its log shows and nothing else, so that the router's own order and caps are tried too. What the
released code calls the question is the whole vignette; a run gives the router the question sentence alone. Both are
tried, and what only the rest of the vignette decides is a kind of difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.case_fields import data_file, text
from nsh.case_files import read_file
from nsh.cases import Case, load_cases
from nsh.decision_support.drugs import find
from nsh.decision_support.router import MOST, RULES, asks_for_treatment, route
from nsh.errors import DataError
from nsh.extraction import Extraction
from nsh.matrix import tidy
from nsh.released import MODELS
from nsh.tool_logs import LOG
from nsh.voices import released_names

MEDICATION, OPTION = "drug_kb, medications", "drug_kb, options"
TOOLS = (*RULES["scores"], MEDICATION, OPTION)
KEYS = ["model", "given", "tool"]
COUNTS = ("n", "decidable", "both", "ours_only", "logs_only")
COLUMNS = dict.fromkeys(KEYS) | dict.fromkeys(COUNTS, "int64")
COLUMNS |= {"precision": "float64", "recall": "float64", "differences": None}


def router_against_logs(directory: str | Path) -> pd.DataFrame:
    """Compare the router's calls (`caps="released"`) with those of the released logs.

    Parameters
    ----------
    directory : str or pathlib.Path
        The released repository.

    Returns
    -------
    DataFrame
        One row per `model` ("all" for all together), `given` ("vignette" or "sentence", the text the router saw as the
        question) and `tool` (each score; "drug_kb, options"; "drug_kb, medications"): ``n`` encounters; ``decidable``,
        those in which fewer than four logged results come before the tool's turn; calls ``both``, ``ours_only`` and
        ``logs_only``; ``precision`` (both of ours) and ``recall`` (both of the logs'), proportions over all n
        encounters, NaN without any call, and no precision for medications, since the logs do not show which ones the
        extraction held without a look-up. ``differences`` gives their kinds with the number of calls and the questions:

        - rest of the vignette: the words that decide stand there, not in question sentence and options;
        - parts of words: the text names no drug, but is part of a drug's name or holds one ("X", "AZO");
        - disposition: an option about admission or discharge, which the logs pass over;
        - alias: the released base lacks the name by which an option calls its drug ("TMP-SMX"), so others come up;
        - no keyword: the logs call what our keywords do not; for medications the extraction may have decided;
        - unexplained: none of these.

    Raises
    ------
    MissingDataError
        If the cases or all logs are missing.
    DataError
        If a line is broken or of no encounter of the cases.

    References
    ----------
    ``facts`` §3.3 and Table 9.

    Examples
    --------
    >>> router_against_logs("released")  # doctest: +SKIP
    """
    cases = load_cases(directory)
    logs = {model: Path(directory, LOG.format(key=key)) for key, model in MODELS.items()}
    logs = {model: path for model, path in logs.items() if path.is_file()} or dict(list(logs.items())[:1])
    frame = pd.DataFrame({"model": model, **row} for model, path in logs.items() for row in _replayed(cases, path))
    groups = pd.concat([frame.assign(model="all"), frame]).groupby(KEYS, sort=False)
    return tidy([dict(zip(KEYS, names, strict=True)) | _counted(part) for names, part in groups], COLUMNS)


def _replayed(cases: list[Case], path: Path) -> Iterator[dict[str, Any]]:
    """One row per encounter, text and tool, of one log."""
    logged: dict[tuple[str, str], list[tuple[str, Any]]] = defaultdict(list)
    for where, line in read_file(data_file(path)):
        question, persona, tool = (text(name, line.get(name), where) for name in ("question_id", "persona", "tool"))
        logged[question, persona].append((tool, line.get("input")))
    for case in cases:
        for persona in released_names():
            yield from _encounter(case, logged.pop((case.id, persona), []))
    if logged:
        raise DataError(f"{path}: calls for {next(iter(logged))}, which is no encounter of the cases")


def _encounter(case: Case, log: list[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row per text and tool: what the router and the log call."""
    logs, labs = _by_tool(log, case), [given for tool, given in log if tool == "lab_interpreter"]
    facts = Extraction.model_validate({"labs": labs, "medications_current": logs[MEDICATION]}, context=[])
    before = {MEDICATION: len(log) - len(logs[MEDICATION]) - len(logs[OPTION]), OPTION: len(log) - len(logs[OPTION])}
    texts = {"vignette": case.original or case.question, "sentence": case.question}
    calls = {given: route(facts, question, case.options, caps="released") for given, question in texts.items()}
    ours = {given: _by_tool(((call.tool, call.input) for call in found), case) for given, found in calls.items()}
    for given in texts:
        for tool in TOOLS:
            mine, theirs = {*ours[given][tool]}, {*logs[tool]}
            kinds = [
                "rest of the vignette"
                if (call in ours["vignette"][tool]) != (call in mine)
                else _kind(case, tool, call)
                for call in mine ^ theirs
            ]
            row = {"given": given, "tool": tool, "id": case.id, "room": before.get(tool, len(labs)) < MOST}
            yield row | {"ours": mine, "logs": theirs, "kinds": kinds}


def _by_tool(calls: Iterable[tuple[str, Any]], case: Case) -> dict[str, list[str]]:
    """What was looked up, by tool; for a score its own name."""
    options = {option.strip() for option in case.options.values()}
    found: dict[str, list[str]] = {tool: [] for tool in TOOLS}
    for tool, given in calls:
        if tool == "drug_kb":
            found[OPTION if str(given).strip() in options else MEDICATION].append(str(given).strip())
        elif tool in found:
            found[tool].append(tool)
    return found


def _counted(part: pd.DataFrame) -> dict[str, Any]:
    """Calls of both and of one only, and the kinds of difference."""
    pairs = list(zip(part["ours"], part["logs"], strict=True))
    both = sum(len(ours & logs) for ours, logs in pairs)
    ours_only, logs_only = (sum(len(pair[i] - pair[1 - i]) for pair in pairs) for i in (0, 1))
    kinds = part[["kinds", "id"]].explode("kinds").dropna().groupby("kinds")["id"]
    row = dict(zip(COUNTS, (len(part), sum(part["room"]), both, ours_only, logs_only), strict=True))
    row["differences"] = "; ".join(f"{kind}: {len(ids)} ({', '.join(sorted({*ids}))})" for kind, ids in kinds)
    if part["tool"].iloc[0] != MEDICATION and both + ours_only:
        row["precision"] = both / (both + ours_only)
    return row | ({"recall": both / (both + logs_only)} if both + logs_only else {})


def _kind(case: Case, tool: str, call: str) -> str:
    """Why router and log differ on a call, given the same text."""
    if tool in (MEDICATION, OPTION) and not find(call):
        return "parts of words"
    if tool not in (MEDICATION, OPTION) or not asks_for_treatment(case.original or case.question):
        return "no keyword"
    if tool == OPTION and any(word in call.lower() for word in RULES["disposition"]):
        return "disposition"
    named = [option for option in case.options.values() if find(option)]
    alias = any(find(option)[0].name not in option.lower() for option in named)
    return "alias" if tool == OPTION and alias else "unexplained"
