"""Decision stability (`facts` §3.4, Tables 3, 5, 6 and 10): DSS of the released answers and of a run's own replies."""

import pandas as pd

from nsh.comparison import compare
from nsh.dss import BELOW, dss_summary, letter_changes
from nsh.errors import NshError
from nsh.printed import numbers, published
from nsh.recomputed import DSS_COLUMNS, TABLES
from nsh.records import records_frame
from nsh.released import load_released
from nsh.study import Study
from nsh.tables import Block, callout, table

CONDITIONS = (*TABLES, "NS")


def released_answers(study: Study) -> pd.DataFrame:
    """The released answers under B1 to B3 that are on this machine; none without the released files."""
    return load_released(study.released) if study.released else records_frame([])


def mean_dss(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean DSS beside the printed one of Tables 3, 5 and 6, as `nsh.compare`; the columns are the conditions."""
    parts = []
    for condition, slug in TABLES.items():
        ours = found.get(condition, pd.DataFrame({"dss": []}, dtype=float))
        parts.append(compare(ours, slug, {"dss": "dss"}).assign(column=condition))
    return pd.concat(parts, ignore_index=True)


def table10(found: dict[str, pd.DataFrame], aggregate: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The share of questions below 0.8 by model and condition, per cent: ours where there are answers, else that of the
    authors' aggregate."""
    theirs = aggregate.get("facts_table10_dss", pd.DataFrame(columns=list(CONDITIONS), dtype=float))
    ours = pd.DataFrame({name: frame[DSS_COLUMNS[1]] for name, frame in found.items()})
    return ours.combine_first(theirs).reindex(columns=list(CONDITIONS))


def printed_shares() -> dict[str, pd.Series]:
    """Table 10 as numbers: per cent by model, a series per condition."""
    return {name: numbers("facts_table10_dss", name) for name in published("facts_table10_dss").columns[1:]}


def stability_table(scores: pd.DataFrame, why: str, what: str) -> Block:
    """Mean DSS and share below 0.8 by model and condition; or a box that says why there is none."""
    if scores.empty:
        return callout(why or "No answers with a text: DSS is not defined.", code=True)
    labels = {"n": "questions", "dss": "mean DSS", "below_pct": f"DSS < {BELOW:.1f}, %"}
    formats = {"dss": ".4f", "below_pct": ".1f"}
    return table(dss_summary(scores), what, labels=labels, formats=formats, row_headers=2)


def letters_table(what: str) -> Block:
    """What DSS makes of one voice answering another letter where replies are single letters."""
    try:
        found = letter_changes()
    except NshError as error:
        return callout(f"DSS could not be computed: {error}")
    shown = found.assign(below=found["dss"] < BELOW)
    labels = {"letter_a": "two voices", "letter_b": "one voice", "dss": "DSS", "below": f"below {BELOW:.1f}"}
    return table(shown[["letter_a", "letter_b", "cosine", "dss", "below"]], what, labels=labels, row_headers=2)


def same_letter(records: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """DSS where all voices got the same letter and where not: `n` questions, mean DSS and share below 0.8 (per cent).

    Examples
    --------
    >>> key = {"model": "m", "condition": "B1", "case": "1", "correct": False, "text": "B"}
    >>> records = records_frame([{**key, "voice": voice, "letter": "B"} for voice in ("clinical", "cultural")])
    >>> scores = pd.DataFrame([{"model": "m", "condition": "B1", "case": "1", "dss": 1.0}])
    >>> same_letter(records, scores)[["letters", "n", "dss"]].values.tolist()
    [['all the same', 1, 1.0]]
    """
    keys = ["model", "condition", "case"]
    letters = records.fillna({"letter": "none"}).groupby(keys)["letter"].nunique().rename("distinct")
    rows = scores.dropna(subset="dss").join(letters, on=keys)
    rows["letters"] = (rows["distinct"] == 1).map({True: "all the same", False: "not all the same"})
    groups = rows.groupby(["condition", "letters"], sort=False)["dss"]
    found = groups.agg(n="size", dss="mean", below_pct=lambda values: 100 * (values < BELOW).mean())
    return found.reset_index()
