"""Audits by a judge: a model lists what one text adds to another and, of an intermediate, which facts it lacks.

A judge's task is a generator of calls like a condition, and stands in a job in the place of the condition's name. It
compares the `original` of a case with the text in one voice: the vignette with its retelling, or, in a case made by
`against_narrative`, the narrative with the intermediate made from it. Replies are read strictly: one that is not the
JSON asked for is counted under its status, and nothing is guessed.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from nsh import prompts
from nsh.agreement import kappa
from nsh.case_fields import identifier, once, wrong
from nsh.case_files import read_file
from nsh.cases import Case
from nsh.conditions import Answer, Steps
from nsh.engines import Call
from nsh.errors import DataError
from nsh.matrix import tidy
from nsh.records import STATUSES
from nsh.runner import Outcome

KEY = ("model", "condition", "case", "voice", "judge")
COUNTS = ("n_added", "n_relevant", "n_missing")
COLUMNS = dict.fromkeys(KEY) | dict.fromkeys(COUNTS, "Int64") | {"recall": "float64", "status": None}
BUDGET = 2048  # new tokens; reconstructed


def judge_added(case: Case, voice: str) -> Steps:
    """List what a retelling adds to the original vignette (`voices` Appendix D)."""
    return (yield from _judge("judge_added", case, voice))


def judge_intermediate(case: Case, voice: str) -> Steps:
    """List the narrative's facts, which of them an intermediate keeps, and what it adds (`voices` Appendix H)."""
    return (yield from _judge("judge_intermediate", case, voice))


def _judge(name: str, case: Case, voice: str) -> Steps:
    """Ask for one comparison; the answer has no letter."""
    if case.original is None:
        raise DataError(f"case {case.id} has no original vignette to judge its {voice} retelling against")
    messages = prompts.fill(name, source=case.original, text=case.narratives[voice])
    reply = yield Call(messages, max_new_tokens=BUDGET)
    failed = "truncated" if reply.finish == "length" else "unparsed" if reply.text.strip() else "empty"
    return Answer(None, "ok" if read_reply(reply.text, name == "judge_intermediate") else failed, reply.text)


def against_narrative(case: Case, voice: str, intermediate: str) -> Case:
    """The case of an intermediate: the narrative takes the place of the original vignette.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."})
    >>> made = against_narrative(case, "cultural", "Knee pain.")
    >>> made.original, made.narratives
    ('My knee burns.', {'cultural': 'Knee pain.'})
    """
    return replace(case, narratives={voice: intermediate}, original=case.narratives[voice])


def read_reply(text: str, facts: bool) -> dict[str, list[bool]] | None:
    """Read a judge's reply: the flags of what is added (relevant) and of the facts (kept); None if it is another form.

    Text around a code fence is cut off; what is left must be one JSON object.

    Examples
    --------
    >>> read_reply('{"added": [{"content": "a fever", "relevant": true}]}', facts=False)
    {'added': [True]}
    >>> read_reply("Nothing was added.", facts=False) is None
    True
    """
    fence = None if text.lstrip().startswith("{") else re.search(r"```(?:json)?\s(.*)```", text, re.DOTALL)
    wanted = {"added": "relevant"} | ({"facts": "kept"} if facts else {})
    try:
        reply = json.loads(fence[1] if fence else text, object_pairs_hook=once)
        flags = {field: [item[flag] for item in reply[field]] for field, flag in wanted.items()}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    strict = all(isinstance(reply[field], list) and all(type(flag) is bool for flag in flags[field]) for field in flags)
    return flags if strict else None


def judgements(
    outcomes: Iterable[Outcome], judge: str, model: str | None = None, condition: str | None = None
) -> pd.DataFrame:
    """Frame of a judge's run, one row per outcome, in the columns of `load_judgements`.

    Parameters
    ----------
    outcomes : iterable of Outcome
        Of jobs whose condition is `judge_added` or `judge_intermediate`.
    judge : str
        Name of the judging model.
    model, condition : str, optional
        Whose intermediates were judged.
    """
    rows = []
    for outcome in outcomes:
        job, status = outcome.job, outcome.answer.status
        row = dict(zip(KEY, (model, condition, job.case.id, job.voice, judge), strict=True)) | {"status": status}
        if status == "ok":
            reply = read_reply(outcome.answer.text, facts=job.condition is judge_intermediate)
            row |= {"n_added": len(reply["added"]), "n_relevant": sum(reply["added"])}
            if kept := reply.get("facts"):
                row |= {"n_missing": kept.count(False), "recall": sum(kept) / len(kept)}
        rows.append(row)
    return tidy(rows, COLUMNS)


def load_judgements(path: str | Path) -> pd.DataFrame:
    """Load any judge's results from a .csv, .jsonl or .parquet file.

    Parameters
    ----------
    path : str or pathlib.Path
        One row per `case`, `voice`, `judge` (and `model`, `condition` of intermediates), with any of `n_added`,
        `n_relevant`, `n_missing` (counts), `recall` (proportion) and `status` ("ok" unless given).

    Returns
    -------
    DataFrame
        These columns, `model` and `condition` first; missing what the file does not give.

    Raises
    ------
    DataError
        A field is missing or wrong, or an item stands twice with one judge (file, row and field are named), or, as
        MissingDataError, there is no such file.
    """
    rows: dict[tuple, dict[str, Any]] = {}
    for where, row in read_file(path):
        made = {name: row.get(name) or None for name in KEY[:2]}
        made |= {name: identifier(name, row.get(name), where) for name in KEY[2:]}
        made |= {name: _number(name, row.get(name), where) for name in (*COUNTS, "recall")}
        made["status"] = row.get("status") or "ok"
        if made["status"] not in STATUSES:
            raise wrong(where, "status", f"one of {', '.join(STATUSES)}", made["status"])
        if None not in (made["n_added"], made["n_relevant"]) and made["n_relevant"] > made["n_added"]:
            raise wrong(where, "n_relevant", f"at most n_added, {made['n_added']:.0f}", row["n_relevant"])
        if (key := tuple(made[name] for name in KEY)) in rows:
            raise wrong(where, "case", "each item once with one judge", made["case"])
        rows[key] = made
    return tidy(list(rows.values()), COLUMNS)


def _number(name: str, value: Any, where: str) -> float | None:
    """A count, or the recall; None where it is not given."""
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = nan
    if not (0 <= number <= 1 if name == "recall" else number >= 0 and number % 1 == 0):
        raise wrong(where, name, "a proportion" if name == "recall" else "a whole number of at least 0", value)
    return number


def judge_agreement(frame: pd.DataFrame, reference: str | None = None) -> pd.DataFrame:
    """Agreement of each pair of judges on clinically relevant additions.

    Parameters
    ----------
    frame : DataFrame
        As `load_judgements` returns it. Rows with a status other than "ok" are left out.
    reference : str, optional
        The judge whose pairs come first; the first by default.

    Returns
    -------
    DataFrame
        One row per `voice` ("all voices" first), `judge_a` and `judge_b`: `n` items that both judged, `agreement` (raw
        proportion) and `kappa` on "at least one relevant addition", `spearman` of the counts, and `note`.

    References
    ----------
    ``voices`` Appendix D.

    Examples
    --------
    >>> rows = [{"case": c, "voice": "cultural", "judge": j, "n_relevant": n, "status": "ok"}
    ...         for j, counts in {"F": (0, 1, 2), "P": (0, 2, 4)}.items() for c, n in zip("abc", counts)]
    >>> judge_agreement(pd.DataFrame(rows)).loc[0, ["n", "agreement", "kappa", "spearman"]].tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
    known = frame[(frame["status"] == "ok") & frame["n_relevant"].notna()].reset_index(drop=True)
    item = known.groupby([name for name in KEY[:4] if name in known], dropna=False).ngroup()
    relevant = known["n_relevant"].astype(int) > 0
    judged = known.assign(model="", condition=known["voice"], case=item, voice=known["judge"], correct=relevant)
    judged = pd.concat([judged.assign(condition="all voices"), judged])
    table = kappa(judged, "correct", reference or next(iter(known["judge"]), ""))
    counts = judged.pivot(index=["condition", "case"], columns="voice", values="n_relevant").astype(float)
    ranks = counts.groupby("condition").corr(method="spearman")
    table["spearman"] = [ranks.at[(row.condition, row.voice_a), row.voice_b] for row in table.itertuples()]
    notes, undefined = table["note"].str.replace("voice", "judge"), "; spearman undefined: constant counts"
    table["note"] = notes.where(table["spearman"].notna(), (notes + undefined).str.removeprefix("; "))
    names = {"condition": "voice", "voice_a": "judge_a", "voice_b": "judge_b"}
    return table.rename(columns=names)[[*names.values(), "n", "agreement", "kappa", "spearman", "note"]]
