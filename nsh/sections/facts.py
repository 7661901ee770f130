"""The tables and figures of `facts` §4 beside the printed ones, and what its claims can be set against."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from nsh.aggregates import authors_aggregates
from nsh.comparison import compare
from nsh.facts_tables import facts_table4
from nsh.ledger import ledger
from nsh.parts import interval
from nsh.printed import numbers, published
from nsh.recomputed import TABLES, answer_tables, condition_table
from nsh.sections.method_figures import series_in_rows, voice_looks
from nsh.study import Study
from nsh.tables import Block, callout, table
from nsh.told import told_of_replies
from nsh.tool_logs import logged_tools

NS7, NS9 = "facts_table7_ns", "facts_table9_ns_operations"
HEADS = {
    "omr": "overall",
    "nag": "NAG",
    "dss": "DSS",
    "dss_below_0.8_pct": "DSS < 0.8, %",
    "parse_rate_pct": "parse rate, %",
    "agent1_parse_pct": "Agent 1 parse, %",
    "agent3_fallback_pct": "fallback, %",
    "tools_per_question": "tools/Q",
    "latency_s_per_question": "latency, s/Q",
}
PULL = "The released files are not on this machine; `nsh data pull` fetches them (about 16 MB)."
RUN = "No answers under {} in this run. `nsh run {} -f params/paper.yaml` makes them on a GPU host."


def head(column: str) -> str:
    """The heading of a column of `facts` Tables 1 to 10.

    Examples
    --------
    >>> head("parse_rate_pct"), head("omr_cultural"), head("mcnemar_p_clinical_cultural"), head("B1")
    ('parse rate, %', 'cultural', 'p, clinical, cultural', 'B1')
    """
    measure, _, voices = column.partition("_")
    pair = {"kappa": "κ, ", "mcnemar": "p, "}.get(measure, "") + voices.removeprefix("p_").replace("_", ", ")
    return HEADS.get(column) or (voices if measure == "omr" else pair if voices else column)


def against(ours: pd.DataFrame, slug: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Our numbers beside a printed table, over the columns that both have, or those named; as `nsh.compare`."""
    shared = [name for name in published(slug) if name != "model" and (name in columns if columns else name in ours)]
    return compare(ours.reindex(columns=shared), slug, {name: name for name in shared})


def heads(compared: pd.DataFrame) -> dict[str, str]:
    """The headings of a comparison, as `nsh.beside` takes them."""
    return {name: head(name) for name in compared["column"].unique()}


def aggregates(study: Study) -> dict[str, pd.DataFrame]:
    """The authors' own aggregates by slug of the printed table, indexed by model; none without the released files."""
    found = authors_aggregates(study.released) if study.released else {}
    return {slug: frame.set_index("model") for slug, frame in found.items()}


def sources(study: Study, real: pd.DataFrame) -> dict[str, Any]:
    """What the ledger takes for `facts` §4 (`nsh.ledger.ledger`), without DSS, which its own page computes."""
    draws = {name: study.values[name] for name in ("resamples", "seed")}
    found = answer_tables(real, **draws)
    found[NS9], found["facts_text"] = logged_tools(study.released), pd.Series(told_of_replies(real))
    return {"released": found, "aggregate": aggregates(study)}


def section_rows(found: Mapping[str, Any], *places: str) -> pd.DataFrame:
    """The numbers in running text and the claims of `facts` in these places ("section 4.2"), from the ledger."""
    files = ("facts_text", "facts_claims")
    return ledger(found, lambda row: row.file in files and any(place in row.where for place in places))


def condition_dots(
    ours: Mapping[str, pd.Series], printed: Mapping[str, pd.Series], what: str, percent: bool = False
) -> Figure:
    """Draw a number per model and condition, with the printed one hollow around it (`facts`, Figures 2 and 3).

    Parameters
    ----------
    ours, printed : mapping of str to Series
        Condition to numbers by model: proportions, drawn in points, unless they are per cent. What we lack is not
        drawn.
    what : str
        What the numbers are, with their unit.
    percent : bool
        Whether they are per cent already.

    Examples
    --------
    >>> condition_dots({}, {"NS": pd.Series({"m": 0.037})}, "NAG (points)").get_label()
    'NAG (points). m: NS (printed 3.7).'
    """
    factor = 1 if percent else 100
    above = factor * pd.DataFrame(printed)
    values = factor * pd.DataFrame(ours).astype(float).reindex(index=above.index, columns=above.columns)
    return series_in_rows(values, voice_looks(list(above)), what, printed=above)


def printed_columns(column: str) -> dict[str, pd.Series]:
    """One column of Tables 3, 5, 6 and, where it has it, 7, by condition.

    Examples
    --------
    >>> float(printed_columns("omr")["NS"]["gemma-4-E4B-it"])
    0.6807
    """
    slugs = {**TABLES, "NS": NS7}
    return {name: numbers(slug, column) for name, slug in slugs.items() if column in published(slug)}


def own_conditions(study: Study, conditions: Sequence[str], what: str, agreement: bool = False) -> Block:
    """`facts` Tables 3 and 5 to 8 for the run's own models: OMR, NAG with its interval, replies with a letter, kappa.

    Parameters
    ----------
    study : Study
        Its records are counted, and its slug is named where it has none.
    conditions : sequence of str
        Those to show.
    what : str
        The caption.
    agreement : bool
        Whether kappa on right and wrong is shown for every pair of voices.
    """
    frames = []
    for condition in conditions:
        rows = study.records[study.records["condition"] == condition]
        if len(rows):
            frame = condition_table(rows, condition, **study.statistics)
            frame["NAG"] = [interval(*values) for values in frame[["nag", "nag_lo", "nag_hi"]].to_numpy()]
            frame = frame.drop(columns=["nag", "nag_lo", "nag_hi", "null_p95"])
            frame = frame.join(facts_table4(rows, study.reference).filter(like="kappa" if agreement else "nothing"))
            frame.insert(0, "cases", rows.groupby("model")["case"].nunique())
            frame.insert(0, "condition", condition)
            frames.append(frame.rename(columns=head).reset_index())
    if not frames:
        return callout(RUN.format(", ".join(conditions), study.slug), code=True)
    shown = pd.concat(frames).astype(object)
    return table(shown.where(shown.notna(), "undefined"), what, numeric=shown.columns[2:], row_headers=2)
