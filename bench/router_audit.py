"""The tool router against its released logs: given the same text, does it call the same tools?

The logs hold no extraction. Each encounter is replayed through the router with a record of the laboratory values and
medications that its log shows and nothing else, so that the router's own order and caps are tried too. What the
released code calls the question is the whole vignette; a run gives the router the question sentence alone. Both are
tried, and what only the rest of the vignette decides is a kind of difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
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
from nsh.released import MODELS
from nsh.tool_logs import LOG
from nsh.voices import released_names

MEDICATION, OPTION = "drug_kb, medications", "drug_kb, options"
REST = "rest of the vignette"
TOOLS = (*RULES["scores"], MEDICATION, OPTION)
KEYS = ["model", "given", "tool"]
COUNTS = ["n", "decidable", "both", "ours_only", "logs_only"]
Call = tuple[str, Any]  # a tool and what it was asked


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
        - no keyword: looked up though no treatment keyword stands in the vignette; the extraction may have decided;
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
    table = groups[COUNTS].sum().assign(differences=[_told(part) for _, part in groups]).reset_index()
    table["precision"] = (table["both"] / (table["both"] + table["ours_only"])).mask(table["tool"] == MEDICATION)
    return table.assign(recall=table["both"] / (table["both"] + table["logs_only"]))


def _replayed(cases: list[Case], path: Path) -> Iterator[dict[str, Any]]:
    """One row per encounter, text and tool, of one log."""
    logged: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for where, line in read_file(data_file(path)):
        question, persona, tool = (text(name, line.get(name), where) for name in ("question_id", "persona", "tool"))
        logged[question, persona].append((tool, line.get("input")))
    for case in cases:
        for persona in released_names():
            yield from _encounter(case, logged.pop((case.id, persona), []))
    if logged:
        raise DataError(f"{path}: calls for {next(iter(logged))}, which is no encounter of the cases")


def _encounter(case: Case, log: list[Call]) -> Iterator[dict[str, Any]]:
    """One row per text and tool: how many calls the router and the log share, and the kinds of the others."""
    logs, labs = _named(log, case), [given for tool, given in log if tool == "lab_interpreter"]
    medications, options = ([what for tool, what in logs if tool == name] for name in (MEDICATION, OPTION))
    facts = Extraction.model_validate({"labs": labs, "medications_current": medications}, context=[])
    before = {OPTION: len(log) - len(options), MEDICATION: len(log) - len(options) - len(medications)}
    texts = {"vignette": case.original or case.question, "sentence": case.question}
    routed = {given: route(facts, question, case.options, caps="released") for given, question in texts.items()}
    ours = {given: {*_named(((call.tool, call.input) for call in calls), case)} for given, calls in routed.items()}
    for given, tool in product(texts, TOOLS):
        sides = (ours[given], logs, ours["vignette"])
        mine, theirs, whole = ({call for call in calls if call[0] == tool} for calls in sides)
        counts = (1, before.get(tool, len(labs)) < MOST, len(mine & theirs), len(mine - theirs), len(theirs - mine))
        kinds = [REST if call in mine ^ whole else _kind(case, *call) for call in mine ^ theirs]
        yield {"given": given, "tool": tool, "id": case.id, "kinds": kinds, **dict(zip(COUNTS, counts, strict=True))}


def _named(calls: Iterable[Call], case: Case) -> list[tuple[str, str]]:
    """Each call's tool and what it looks up: an option, a medication, or for other tools nothing."""
    options = {option.strip() for option in case.options.values()}
    looked = [(tool, str(given).strip() if tool == "drug_kb" else "") for tool, given in calls]
    return [((OPTION if what in options else MEDICATION) if what else tool, what) for tool, what in looked]


def _told(part: pd.DataFrame) -> str:
    """Kinds of difference, with their calls and questions."""
    kinds = part.explode("kinds").dropna(subset="kinds").groupby("kinds")["id"]
    return "; ".join(f"{kind}: {len(ids)} ({', '.join(sorted({*ids}))})" for kind, ids in kinds)


def _kind(case: Case, tool: str, what: str) -> str:
    """Why router and log differ on a call, given the same text."""
    if what and not find(what):
        return "parts of words"
    if what and not asks_for_treatment(case.original or case.question):
        return "no keyword"
    if tool == OPTION and any(word in what.lower() for word in RULES["disposition"]):
        return "disposition"
    named = [option for option in case.options.values() if find(option)]
    alias = any(find(option)[0].name not in option.lower() for option in named)
    return "alias" if tool == OPTION and alias else "unexplained"
