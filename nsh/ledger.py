"""The ledger: every number that the papers print, and every claim that arithmetic can check, with where it stands.

The rows are fixed: the cells of the packaged tables, and the files of numbers in running text (``*_text.csv``) and of
claims (``*_claims.csv``). What can be said of each is computed by the checks of ``data/ledger/checks.csv``: a row is
set beside our own number, or beside what other printed numbers come to.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from nsh.comparison import compare_printed
from nsh.formulas import Unavailable, evaluate
from nsh.ledger_text import arithmetic
from nsh.printed import key_columns, published, published_tables, read_texts

STATUSES = {
    "differs": "computed from the released data, and not the printed digits",
    "inconsistent": "other numbers that the papers print come to something else, by more than rounding",
    "equal": "computed from the released data of every question: the printed digits",
    "equal (authors' aggregate)": "equal to the authors' own released aggregate, whose items are not released",
    "consistent": "other numbers that the papers print come to it, within rounding",
    "earlier run of the same model": "computed from an earlier released run of a model of the same name",
    "recomputed on other models": "the same quantity on the seven released models, where the paper has others",
    "needs generation": "needs a run that this build does not have; the command is given",
    "needs released data": "needs released files that are not on this machine; nsh data pull fetches them",
    "not derivable": "cannot be had from what is published or released; the reason is given",
}  # a row with several checks has the first of these that any of them gives
JUDGED = {
    "released": ("equal", "differs"),
    "aggregate": ("equal (authors' aggregate)", "differs"),
    "published": ("consistent", "inconsistent"),
}
SHOWN = {"other models": "recomputed on other models", "earlier run": "earlier run of the same model"}
SAID = {"generation": "needs generation", "none": "not derivable"}
LACKING = "needs released data"
COLUMNS = ["id", "paper", "where", "label", "printed", "ours", "status", "how"]

# "released" and "aggregate": name of the file -> frame by row and column, or series by id
Sources = Mapping[str, Mapping[str, Any]]


class Row(NamedTuple):
    """One printed number or claim: where it stands in the files, and its printed neighbours."""

    id: str
    paper: str
    where: str
    label: str
    printed: str
    file: str
    column: str
    keys: tuple[str, ...]
    neighbours: Mapping[str, str]


class Verdict(NamedTuple):
    """What one check says of a row."""

    status: str
    ours: float | None
    how: str


def papers() -> list[str]:
    """The short names of the papers, in the order of the ledger."""
    return list(dict.fromkeys(read_texts("ledger/tables.csv")["paper"]))


def ledger_rows() -> list[Row]:
    """Every row of the ledger, in the order of papers and tables, before anything is computed.

    Examples
    --------
    >>> row = next(row for row in ledger_rows() if row.id == "facts_table3_b1/nag/BioMistral-7B")
    >>> row.where, row.printed
    ('Table 3 (Appendix E)', '0.0640')
    """
    tables = read_texts("ledger/tables.csv").itertuples(index=False)
    rows = [row for entry in tables for row in _cells(entry.table, entry.paper, entry.where)]
    listed = [name for name in published_tables() if name.endswith(("_text", "_claims"))]
    return rows + [row for name in listed for row in _listed(name)]


def _cells(table: str, paper: str, where: str) -> Iterator[Row]:
    """A row for every printed cell of a table, column by column."""
    frame = published(table)
    keys = key_columns(table)
    for column in frame.columns[len(keys) :]:
        for cells in frame.to_dict("records"):
            if cells[column]:
                names = tuple(cells[key] for key in keys)
                label = f"{', '.join(names)}: {column}".replace("_pct", " (%)").replace("_", " ")
                row_id = "/".join((table, column, *names))
                neighbours = {**cells, "printed": cells[column]}
                yield Row(row_id, paper, where, label, cells[column], table, column, names, neighbours)


def _listed(name: str) -> Iterator[Row]:
    """A row for every line of a file of numbers in running text, or of claims."""
    paper = name.partition("_")[0]
    for line in published(name).to_dict("records"):
        row_id = f"{name}/{line['id']}"
        printed = {"printed": line["printed"]}
        yield Row(row_id, paper, line["where"], line["label"], line["printed"], name, line["id"], (), printed)


def ledger(sources: Sources, chosen: Callable[[Row], bool] = lambda row: True) -> pd.DataFrame:
    """Compute where every printed number stands.

    Parameters
    ----------
    sources : mapping
        Our own numbers, as `nsh.recomputed.recompute` gives them: "released" and "aggregate", each a mapping from the
        name of a published table to a frame (indexed by the table's rows, columns named as printed), or from the name
        of a ``_text`` or ``_claims`` file to a series by id. What is not there is left out of the checks.
    chosen : callable
        Which rows to check; all unless given.

    Returns
    -------
    pandas.DataFrame
        One row per printed number or claim: `id`, `paper`, `where`, `label`, `printed` (text; for a claim what the
        arithmetic gives if it holds, such as "yes" or "7 of 7"), `ours` (number, missing where we have none; 1 for
        "yes"), `status` (of `STATUSES`) and `how` (lines: note and arithmetic of each check, command or reason).

    Raises
    ------
    ParameterError
        If a check is malformed.

    Examples
    --------
    >>> rows = ledger({}).set_index("id")
    >>> rows.loc["sdoh_table5_scale_mcnemar/p_value/1.5B vs 3B/few_shot", ["printed", "status"]].tolist()
    ['0.044531', 'consistent']
    """
    checks = {rows: part.to_dict("records") for rows, part in read_texts("ledger/checks.csv").groupby("rows")}
    lines = []
    for row in filter(chosen, ledger_rows()):
        found = [_check(row, check, sources) for check in checks.get(f"{row.file}/{row.column}") or checks[row.id]]
        found.sort(key=lambda verdict: list(STATUSES).index(verdict.status))
        told = [verdict for verdict in found if verdict.ours is not None] or found[:1]
        how = "\n".join(dict.fromkeys(verdict.how for verdict in told if verdict.how))
        lines.append([*row[:5], found[0].ours, found[0].status, how])
    return pd.DataFrame(lines, columns=COLUMNS).astype({"ours": float})


def _check(row: Row, check: Mapping[str, str], sources: Sources) -> Verdict:
    """What one check says of a row."""
    basis, formula = check["basis"], check["formula"]
    if basis in SAID:
        return Verdict(SAID[basis], None, check["note"])
    own = sources.get("aggregate" if basis == "aggregate" else "released", {})
    try:
        if formula:
            found = evaluate(formula, row.neighbours, lambda *name: _ours(own, *name))
            value, slack, how = found.value, found.slack, arithmetic(formula, found, row.printed)
        else:
            value, slack, how = _ours(own, row.file, row.column, *row.keys), 0.0, ""
    except Unavailable as lacking:
        return Verdict(LACKING, None, str(lacking))
    how = "\n".join(filter(None, [check["note"], how]))
    if basis in SHOWN:
        return Verdict(SHOWN[basis], value, how)
    agrees, disagrees = JUDGED[basis]
    return Verdict(agrees if compare_printed(value, row.printed, slack) else disagrees, value, how)


def _ours(own: Mapping[str, Any], file: str, column: str, *keys: str) -> float:
    """Our number for a printed cell.

    Raises
    ------
    Unavailable
        If it is not among the sources, or undefined.
    """
    frame = own.get(file)
    found = None
    if isinstance(frame, pd.Series):
        found = frame.get(column)
    elif frame is not None and column in frame and (key := keys if len(keys) > 1 else keys[0]) in frame.index:
        found = frame.at[key, column]
    if found is None or pd.isna(found):
        raise Unavailable(f"no value of ours for {'/'.join((file, column, *keys))}")
    return float(found)
