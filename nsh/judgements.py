"""What judges found, in one frame: out of a run or a file of anyone's judge, and how far judges agree."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from nsh.agreement import kappa
from nsh.case_fields import data_file, identifier, number, wrong
from nsh.case_files import read_file
from nsh.judging import judge_intermediate, read_reply
from nsh.matrix import check_columns, tidy
from nsh.records import STATUSES
from nsh.runner import Outcome

KEY = ("model", "condition", "case", "voice", "judge")
COUNTS = ("n_added", "n_relevant", "n_missing")
COLUMNS = dict.fromkeys(KEY) | dict.fromkeys(COUNTS, "Int64") | {"recall": "float64", "status": None}


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

    Returns
    -------
    DataFrame
        `model` and `condition`, `case`, `voice`, `judge`; `n_added` and `n_relevant` (items that the text adds, and
        those relevant), `n_missing` and `recall` (facts not kept, and the proportion kept; of intermediates only), all
        missing where `status`, the outcome's, is not "ok".

    Examples
    --------
    >>> from nsh import Case
    >>> from nsh.conditions import Answer
    >>> from nsh.judging import judge_added
    >>> from nsh.jobs import Job
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."}, "Knee pain.")
    >>> outcome = Outcome(Job(judge_added, case, "cultural"), iter(()))
    >>> outcome.answer = Answer(None, "ok", '{"added": [{"content": "a fever", "relevant": true}]}')
    >>> judgements([outcome], "J")[["case", "n_added", "n_relevant"]].values.tolist()
    [['1', 1, 1]]
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
        A field is missing or wrong (file, row and field are named), or an item stands twice with one judge.
    MissingDataError
        There is no such file.
    ParameterError
        The file's ending is another one.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "judge.csv")
    >>> _ = file.write_text("case,voice,judge,n_added\\n007,clinical,F,3")
    >>> load_judgements(file)[["case", "n_added", "status"]].values.tolist()
    [['007', 3, 'ok']]
    """
    rows = []
    for where, row in read_file(data_file(path)):
        if lacking := [name for name in KEY[2:] if name not in row]:
            raise wrong(where, lacking[0], "a column of this name", list(row))
        made = {name: row.get(name) or None for name in KEY[:2]}
        made |= {name: identifier(name, row.get(name), where) for name in KEY[2:]}
        made |= {name: number(name, row.get(name), where, low=0, whole=True) for name in COUNTS}
        made |= {"recall": number("recall", row.get("recall"), where, 0, 1), "status": row.get("status") or "ok"}
        if made["status"] not in STATUSES:
            raise wrong(where, "status", f"one of {', '.join(STATUSES)}", made["status"])
        if None not in (made["n_added"], made["n_relevant"]) and made["n_relevant"] > made["n_added"]:
            raise wrong(where, "n_relevant", f"at most n_added, {made['n_added']:.0f}", row["n_relevant"])
        rows.append(made)
    frame = tidy(rows, COLUMNS)
    check_columns(frame, [], f"judgements of {path}", once=KEY)
    return frame


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

    Raises
    ------
    DataError
        A column is missing, or a judge judged an item twice.

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
    needs = (*KEY[2:], "n_relevant", "status")
    check_columns(frame, needs, "judgements", once=[name for name in KEY if name in frame])
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
    table["note"] = notes.where(
        table["spearman"].notna() | (table["n"] == 0), (notes + undefined).str.removeprefix("; ")
    )
    names = {"condition": "voice", "voice_a": "judge_a", "voice_b": "judge_b"}
    return table.rename(columns=names)[[*names.values(), "n", "agreement", "kappa", "spearman", "note"]]
