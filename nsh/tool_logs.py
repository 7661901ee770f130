"""How many tools NarrativeShield's router called, from its released logs: a line per call and encounter."""

from pathlib import Path

import pandas as pd

from nsh.case_fields import data_file, text
from nsh.case_files import read_file
from nsh.errors import DataError, ParameterError
from nsh.released import MODELS

LOG = "results/ns_results/ns_results/tool_call_log_{key}.jsonl"
FIELDS = ("model", "ablation", "question_id", "persona", "tool")
RUN = ["model", "ablation"]
MOST = {"calculator": "calculators_max", "drug": "drug_lookups_max", "once": "tools_four_lab_once"}


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
        `questions_pct` (per cent of questions with a call in some voice), `n_calculators` (kinds of risk calculator)
        and the most calls of an encounter: `max_tools` (§3.3 says "up to four tools"), `calculators_max` ("at most
        one"), `drug_lookups_max` ("two") and `tools_four_lab_once` (of all, the lab interpreter counted as one).

    Raises
    ------
    ParameterError
        If there are no questions or voices.
    MissingDataError
        If there is no such file.
    DataError
        If a line is broken or lacks a field (file and line are named), or more questions or voices have calls than
        were run.

    References
    ----------
    ``facts`` §3.3 and Table 9.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> line = '{"model": "m", "ablation": "full", "question_id": "1", "persona": "alpha", "tool": "drug_kb"}'
    >>> log = Path(mkdtemp(), "log.jsonl")
    >>> _ = log.write_text(f"{line}\\n{line}")
    >>> tool_use(log, n_questions=2)[["n", "n_calls", "max_tools"]].values.tolist()
    [[6, 2, 2]]
    """
    n = n_questions * n_voices
    if n < 1:
        raise ParameterError(f"{n_questions} questions, {n_voices} voices: at least one of each is expected")
    lines = [[text(name, row.get(name), where) for name in FIELDS] for where, row in read_file(data_file(path))]
    calls = pd.DataFrame(lines, columns=FIELDS).replace({"model": MODELS})
    calls = calls.assign(calls=1, drug=calls["tool"] == "drug_kb", lab=calls["tool"] == "lab_interpreter")
    calls["calculator"] = ~(calls["drug"] | calls["lab"])
    counts = calls.groupby(list(FIELDS[:4]), sort=False)[["calls", "drug", "lab", "calculator"]].sum()
    counts["once"] = counts["calls"] - (counts["lab"] - 1).clip(lower=0)
    runs, encounters = calls.groupby(RUN, sort=False), counts.groupby(RUN, sort=False)
    asked = runs[["question_id", "persona"]].nunique()
    if (asked > [n_questions, n_voices]).any(axis=None):
        held = "calls for {} questions in {} voices".format(*asked.max())
        raise DataError(f"{path}: {held}; at most {n_questions} questions in {n_voices} voices were run")
    columns = {"n": n, "n_calls": runs.size(), "tools_per_question": runs.size() / n}
    columns |= {"encounters_pct": 100 * encounters.size() / n, "max_tools": encounters["calls"].max()}
    columns["questions_pct"] = 100 * asked["question_id"] / n_questions
    columns["n_calculators"] = calls["tool"].where(calls["calculator"]).groupby([calls[name] for name in RUN]).nunique()
    return pd.DataFrame(columns).join(encounters[list(MOST)].max().rename(columns=MOST)).reset_index()


def logged_tools(folder: Path | None) -> pd.DataFrame:
    """`tool_use` of the full pipeline, by model, from the released logs that are in a folder."""
    paths = [folder / LOG.format(key=key) for key in MODELS] if folder else []
    runs = [tool_use(path).query("ablation == 'full'").set_index("model") for path in paths if path.is_file()]
    return pd.concat(runs) if runs else pd.DataFrame({"tools_per_question": []}, dtype=float)
