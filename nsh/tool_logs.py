"""How many tools NarrativeShield's router called, from its released logs: a line per call and encounter."""

from pathlib import Path

import pandas as pd

from nsh.case_fields import text
from nsh.case_files import read_file
from nsh.errors import ParameterError
from nsh.released import MODELS

LOG = "results/ns_results/ns_results/tool_call_log_{key}.jsonl"
FIELDS = ("model", "ablation", "question_id", "persona", "tool")
KINDS = {"lab_interpreter": "lab", "drug_kb": "drug"}  # every other tool is a risk calculator


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
        Table 9's "Tools/Q": calls per encounter), `encounters_pct` (per cent of encounters with a call),
        `questions_pct` (per cent of questions with a call in some voice) and `max_tools` (the most calls of an
        encounter; §3.3 says "up to four tools").

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
    calls = _calls(path)
    runs = calls.groupby(["model", "ablation"], sort=False)
    encounters = calls.groupby(list(FIELDS[:4]), sort=False).size().groupby(["model", "ablation"], sort=False)
    columns = {"n": n, "n_calls": runs.size(), "tools_per_question": runs.size() / n}
    columns |= {"encounters_pct": 100 * encounters.size() / n, "max_tools": encounters.max()}
    questions_pct = 100 * runs["question_id"].nunique() / n_questions
    return pd.DataFrame({**columns, "questions_pct": questions_pct}).reset_index()


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
    counts = pd.crosstab([calls["question_id"], calls["persona"]], kind)
    counts = counts.reindex(columns=["calculator", "drug", "lab"], fill_value=0)
    return {
        "n_calculators": calls.loc[kind == "calculator", "tool"].nunique(),
        "calculators_max": int(counts["calculator"].max()),
        "drug_lookups_max": int(counts["drug"].max()),
        "tools_four_lab_once": int(counts.assign(lab=counts["lab"].clip(upper=1)).sum(axis=1).max()),
    }


def _calls(path: str | Path) -> pd.DataFrame:
    """The lines of a log."""
    calls = [[text(name, row.get(name), where) for name in FIELDS] for where, row in read_file(path)]
    return pd.DataFrame(calls, columns=FIELDS).replace({"model": MODELS})
