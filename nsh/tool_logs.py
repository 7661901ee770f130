"""How many tools NarrativeShield's router called, from its released logs: a line per call and encounter."""

from pathlib import Path

import pandas as pd

from nsh.case_fields import text
from nsh.case_files import read_file
from nsh.errors import ParameterError
from nsh.matrix import tidy
from nsh.released import MODELS

LOG = "results/ns_results/ns_results/tool_call_log_{key}.jsonl"
CAP = 4  # `facts` §3.3
FIELDS = ("model", "ablation", "question_id", "persona", "tool")
KINDS = {"lab_interpreter": "lab", "drug_kb": "drug"}  # every other tool is a risk calculator
RATES = ("tools_per_question", "capped_per_question", "encounters_pct", "questions_pct")
TOOL_USE = {"model": None, "ablation": None, "n": "int64", "n_calls": "int64", **dict.fromkeys(RATES, "float64")}
TOOL_USE |= {"max_tools": "int64", "n_above_cap": "int64"}


def tool_use(path: str | Path, n_questions: int = 1000, n_voices: int = 3) -> pd.DataFrame:
    """Count the tool calls of a log. An encounter is a question in one voice; one without tools has no line.

    Parameters
    ----------
    path : str or pathlib.Path
        A .jsonl file of `model`, `ablation`, `question_id`, `persona` and `tool`, as `LOG` names it.
    n_questions, n_voices : int
        Questions and voices that were run, with tools or without.

    Returns
    -------
    DataFrame
        One row per model and ablation: `n` (encounters that were run), `n_calls`, `tools_per_question` (`facts`
        Table 9's "Tools/Q": calls per encounter), `capped_per_question` (the same if an encounter's calls beyond the
        fourth did not count: §3.3 says "up to four tools"), `encounters_pct` (per cent of encounters with a call),
        `questions_pct` (per cent of questions with a call in some voice), `max_tools` and `n_above_cap` (the
        most calls of an encounter, and encounters with more than four).

    Raises
    ------
    ParameterError
        If there are no questions or voices.
    MissingDataError
        If there is no such file.
    DataError
        If a line is broken or lacks a field; file and line are named.

    Examples
    --------
    >>> tool_use("tool_call_log_llama31.jsonl")["tools_per_question"].round(2).tolist()  # doctest: +SKIP
    [2.04]
    """
    n = n_questions * n_voices
    if n < 1:
        raise ParameterError(f"{n_questions} questions, {n_voices} voices: at least one of each is expected")
    counts = _calls(path).groupby(list(FIELDS[:4]), sort=False).size()
    rows = []
    for (model, ablation), tools in counts.groupby(["model", "ablation"], sort=False):
        row = {"model": MODELS.get(model, model), "ablation": ablation, "n": n, "n_calls": tools.sum()}
        row |= {"tools_per_question": tools.sum() / n, "capped_per_question": tools.clip(upper=CAP).sum() / n}
        row |= {"encounters_pct": 100 * len(tools) / n, "max_tools": tools.max(), "n_above_cap": (tools > CAP).sum()}
        rows.append(row | {"questions_pct": 100 * tools.index.unique("question_id").size / n_questions})
    return tidy(rows, TOOL_USE)


def tools_by_kind(path: str | Path) -> dict[str, int]:
    """Most calls of each kind for one encounter of a log.

    Parameters
    ----------
    path : str or pathlib.Path
        As for `tool_use`.

    Returns
    -------
    dict of str to int
        `n_calculators` (kinds of risk calculator in the log), `calculators_max` and `drug_lookups_max` (calls of them
        for one encounter), and `tools_four_lab_once` (all calls, where those of the lab interpreter count as one).

    References
    ----------
    ``facts`` §3.3: up to four tools, at most one calculator, two drug look-ups.

    Examples
    --------
    >>> tools_by_kind("tool_call_log_llama31.jsonl")["drug_lookups_max"]  # doctest: +SKIP
    4
    """
    calls = _calls(path)
    kind = calls["tool"].map(KINDS).fillna("calculator")
    counts = pd.crosstab([calls["question_id"], calls["persona"]], kind).reindex(columns=["calculator", "drug", "lab"])
    counts = counts.fillna(0)
    return {
        "n_calculators": calls.loc[kind == "calculator", "tool"].nunique(),
        "calculators_max": int(counts["calculator"].max()),
        "drug_lookups_max": int(counts["drug"].max()),
        "tools_four_lab_once": int(counts.assign(lab=counts["lab"].clip(upper=1)).sum(axis=1).max()),
    }


def _calls(path: str | Path) -> pd.DataFrame:
    """The lines of a log."""
    calls = [[text(name, row.get(name), where) for name in FIELDS] for where, row in read_file(path)]
    return pd.DataFrame(calls, columns=FIELDS)
