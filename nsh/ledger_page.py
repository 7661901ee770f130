"""The ledger as a page shows it: how many rows stand where, and every row."""

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from nsh.drawing import rows_of, styled
from nsh.ledger import STATUSES, papers
from nsh.ledger_text import ledger_lines, shown_number
from nsh.printed import minus
from nsh.tables import NO_MATH, Block, callout, table

NUMBER = ' class="num"'
SHADES = ("#3B4A6B", "#8C6BB1", "#B8B8B8")  # of the papers; the voices have other colors
HEADS = ("quantity or claim", "printed", "ours", "status")


def ledger_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Count the rows of the ledger by status and paper.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `nsh.ledger.ledger` returns it.

    Returns
    -------
    pandas.DataFrame
        One row per status that occurs, in the order of `STATUSES`, indexed by `status`: a column of counts for each
        paper.

    Examples
    --------
    >>> rows = pd.DataFrame({"status": ["equal", "equal"], "paper": ["facts", "voices"]})
    >>> ledger_counts(rows).loc["equal"].to_dict()
    {'voices': 1, 'facts': 1, 'sdoh': 0}
    """
    present = [status for status in STATUSES if status in set(rows["status"])]
    counts = pd.crosstab(rows["status"], rows["paper"]).reindex(index=present, columns=papers(), fill_value=0)
    return counts.rename_axis(columns=None)


def counts_table(counts: pd.DataFrame) -> Block:
    """The counts with their sums, and what each status means."""
    shown = counts.assign(all=counts.sum(axis=1)).rename(index=lambda status: f"{status}: {STATUSES[status]}")
    return table(shown, "Rows of the ledger by status and paper")


def ledger_table(rows: pd.DataFrame, caption: str, filters: bool = True) -> Block:
    """Show rows of the ledger, each with its arithmetic, command or reason below it.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `nsh.ledger.ledger` returns it.
    caption : str
    filters : bool
        Whether the page's script gives the table its filters, and what is below a row is folded away; without the
        script it is one long table.
    """
    shown = rows.assign(ours=[shown_number(*pair) for pair in rows[["ours", "printed"]].itertuples(index=False)])
    head = "".join(f'<th scope="col"{NUMBER * (name in HEADS[1:3])}>{name}</th>' for name in HEADS)
    body = "".join(_row(row, folded=filters) for row in shown.itertuples())
    inside = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>{body}"
    box = f'<div class="nsh-scroll {NO_MATH}" tabindex="0" role="region" aria-label="{escape(caption)}">'
    html = (
        f'<div class="nsh-ledger{" nsh-filtered" * filters}">{box}<table class="nsh-table">{inside}</table></div></div>'
    )
    return Block(html, ledger_lines(rows))


def _row(row: Any, folded: bool) -> str:
    """One row as a table body of its own: what it says, and below it how that was found."""
    place = f"<small>{escape(row.paper)}, {escape(row.where)}</small>"
    cells = f'<th scope="row">{escape(row.label)} {place}</th>'
    cells += "".join(f"<td{NUMBER}>{escape(minus(text))}</td>" for text in (row.printed, row.ours))
    cells += f"<td>{escape(row.status)}</td>"
    told = f'<summary>how<span class="visually-hidden">: {escape(row.label)}</span></summary>{escape(row.how)}'
    how = f"<details{' open' * (not folded)}>{told}</details>" if row.how else ""
    below = f'<tr class="nsh-how"><td colspan="{len(HEADS)}">{how}</td></tr>' if how else ""
    return f'<tbody data-paper="{escape(row.paper)}" data-status="{escape(row.status)}"><tr>{cells}</tr>{below}</tbody>'


def left_out(sources: Mapping[str, Any]) -> Block:
    """Say in a box what the build could not compute, and why.

    Parameters
    ----------
    sources : mapping
        As `nsh.recomputed.recompute` returns it.
    """
    reasons = sources["left out"]
    return callout(
        " ".join(["Left out in this build:", *reasons]) if reasons else "All released data were used.", code=True
    )


@styled
def status_bars(counts: pd.DataFrame) -> Figure:
    """Draw how many rows of each paper have which status.

    Parameters
    ----------
    counts : pandas.DataFrame
        As `ledger_counts` returns it.
    """
    figure, axes = rows_of([str(status) for status in counts.index], 0.32)
    left = pd.Series(0, index=counts.index)
    for paper, shade in zip(counts, SHADES, strict=True):
        axes.barh(range(len(counts)), counts[paper], left=left, height=0.7, color=shade, label=paper)
        left = left + counts[paper]
    axes.set(xlabel="rows of the ledger")
    axes.legend(loc="lower right")
    told = "; ".join(
        f"{status}: " + ", ".join(f"{paper} {row[paper]}" for paper in counts) for status, row in counts.iterrows()
    )
    figure.set_label(f"Rows of the ledger by status and paper. {told}.")
    return figure
