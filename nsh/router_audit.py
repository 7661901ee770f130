"""The tool router against its released logs: where question and options alone decide, does it choose the same tools?

The logs hold no extraction, so a choice counts only where it does not depend on one: which risk score is called, and
which options are looked up, in encounters in which the logged results before it leave room for it (the logs never show
a score or a look-up after four results). The released question is the whole vignette, so the whole vignette is what the
router is given here, unlike in a run.
"""

from collections import defaultdict
from pathlib import Path

import pandas as pd

from nsh.case_fields import data_file
from nsh.case_files import read_file
from nsh.cases import Case, load_cases
from nsh.decision_support.drugs import find
from nsh.decision_support.router import LOOKUPS, MOST, RULES, asks_for_treatment, options_asked, scores_asked
from nsh.matrix import tidy
from nsh.released import MODELS
from nsh.tool_logs import LOG
from nsh.voices import released_names

OPTION = "drug_kb, options"
COLUMNS = dict.fromkeys(("model", "tool")) | dict.fromkeys(
    ("n", "decidable", "both", "ours_only", "logs_only"), "int64"
)
COLUMNS |= dict.fromkeys(("precision", "recall"), "float64") | {"differences": None}


def router_against_logs(directory: str | Path) -> pd.DataFrame:
    """Compare the router's choices with those of the released logs.

    Parameters
    ----------
    directory : str or pathlib.Path
        The released repository.

    Returns
    -------
    DataFrame
        One row per model and tool (each risk score, and "drug_kb, options"), and one per tool over all models ("all"):
        ``n`` encounters, ``decidable`` of them; calls of both, of ours only, of the logs only; ``precision`` (both of
        ours) and ``recall`` (both of the logs'), proportions, NaN without any call; ``differences``, the questions
        with calls of one side only, with how many.

    Raises
    ------
    MissingDataError
        If the cases or no log is there.
    DataError
        If a line is broken.

    References
    ----------
    ``facts`` §3.3 and Table 9.

    Examples
    --------
    >>> router_against_logs("released")  # doctest: +SKIP
    """
    cases = load_cases(directory)
    rows = []
    for key in MODELS:
        path = Path(directory, LOG.format(key=key))
        if path.is_file():
            rows += [{"model": MODELS[key], **row} for row in _compared(cases, path)]
    if not rows:
        data_file(Path(directory, LOG.format(key=next(iter(MODELS)))))
    frame = pd.DataFrame(rows)
    tables = [("all", frame), *frame.groupby("model", sort=False)]
    return tidy([_counted(model, tool, part) for model, rows in tables for tool, part in rows.groupby("tool")], COLUMNS)


def _compared(cases: list[Case], path: Path) -> list[dict]:
    """One row per encounter and tool: what the router and the log call, and whether it can be decided."""
    logged = defaultdict(list)
    for _, line in read_file(data_file(path)):
        logged[line["question_id"], released_names()[line["persona"]]].append((line["tool"], line["input"]))
    rows = []
    for case in cases:
        options = {text.strip() for text in case.options.values()}
        ours = scores_asked(" ".join([case.original, *case.options.values()]))
        drugs = [text.strip() for text in options_asked(case.options)] if asks_for_treatment(case.original) else []
        for voice in case.narratives:
            calls = logged[case.id, voice]
            looked = [text.strip() for tool, text in calls if tool == "drug_kb" and text.strip() in options]
            labs = sum(tool == "lab_interpreter" for tool, _ in calls)
            for name in RULES["scores"]:
                calls_of = {"ours": {name} & {*ours}, "logs": {tool for tool, _ in calls if tool == name}}
                rows.append({"tool": name, "case": case, "room": MOST - labs, **calls_of})
            room = MOST - (len(calls) - len(looked))
            calls_of = {"ours": {*drugs[: min(LOOKUPS, max(room, 0))]}, "logs": {*looked}}
            rows.append({"tool": OPTION, "case": case, "room": room, **calls_of})
    return rows


def _counted(model: str, tool: str, part: pd.DataFrame) -> dict:
    """Calls of both and of one only, over the decidable encounters."""
    known = part[part["room"] > 0]
    pairs = list(zip(known["case"], known["ours"], known["logs"], strict=True))
    both = sum(len(ours & logs) for _, ours, logs in pairs)
    ours_only = sum(len(ours - logs) for _, ours, logs in pairs)
    logs_only = sum(len(logs - ours) for _, ours, logs in pairs)
    kinds: dict[str, list[str]] = {}
    for case, ours, logs in pairs:
        for option in ours ^ logs:
            kinds.setdefault(_kind(case, option), []).append(case.id)
    told = [f"{kind}: {len(ids)} ({', '.join(sorted({*ids}))})" for kind, ids in sorted(kinds.items())]
    row = {"model": model, "tool": tool, "n": len(part), "decidable": len(known), "both": both}
    row |= {"ours_only": ours_only, "logs_only": logs_only, "differences": "; ".join(told)}
    shares = {"precision": both + ours_only, "recall": both + logs_only}
    return row | {name: both / n if n else float("nan") for name, n in shares.items()}


def _kind(case: Case, option: str) -> str:
    """Why router and logs differ on an option."""
    named = [drug for text in case.options.values() for drug in find(text)[:1] if drug.name not in text.lower()]
    if not find(option):
        return "parts of words"
    if not asks_for_treatment(case.original):
        return "keyword"
    if "admission" in option.lower() or "discharge" in option.lower():
        return "disposition"
    return "alias" if named else "unexplained"
