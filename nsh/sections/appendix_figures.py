"""Figures of the appendices of `voices`: a map of numbers, and p values against corrected levels."""

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from nsh.drawing import GRAY, checked, entry, finish, look, rows_of, styled
from nsh.errors import DataError
from nsh.tables import format_cell
from nsh.voices import styles_of

LIGHT = 2  # the darkest colors are kept for twice the largest value, so that black type stays readable


@styled
def heat_map(values: pd.DataFrame, what: str, *, spec: str = "+z.1f", missing: str = "n = 0", note: str = "") -> Figure:
    """Draw a table of numbers as colored cells with the numbers in them (`voices`, Figure 6).

    Parameters
    ----------
    values : pandas.DataFrame
        Rows and columns named by their index; purple is above zero, orange below.
    what : str
        What the numbers are, with their unit.
    spec, missing : str
        Format of a number; what stands where there is none.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If there is no row or no column.

    Examples
    --------
    >>> heat_map(pd.DataFrame({"rewrite": [5.1]}, index=["tiny"]), "Gap reduction (points)").get_label()
    'Gap reduction (points). tiny: rewrite +5.1.'
    """
    if values.empty:
        raise DataError("heat_map: the frame has no rows or no columns; give it at least one number")
    figure, axes = rows_of([str(name) for name in values.index], 0.36)
    cells, edges = values.to_numpy(dtype=float), [np.arange(size + 1) - 0.5 for size in values.shape]
    limit = LIGHT * (np.nanmax(np.abs(cells), initial=0) or 1)
    axes.pcolormesh(edges[1], edges[0], np.ma.masked_invalid(cells), cmap="PuOr", vmin=-limit, vmax=limit, linewidth=0)
    texts = [[format_cell(value, spec, missing) for value in row] for row in cells]
    for (row, column), text in np.ndenumerate(np.array(texts)):
        axes.text(column, row, text, ha="center", va="center")
    heads = [textwrap.fill(str(name).replace("_", " "), 88 // len(values.columns)) for name in values.columns]
    axes.set_xticks(range(len(heads)), heads)
    axes.tick_params(axis="x", length=0, labeltop=True, labelbottom=False)
    axes.grid(visible=False)
    listed = {
        str(name): ", ".join(f"{head} {text}" for head, text in zip(values.columns, row, strict=True))
        for name, row in zip(values.index, texts, strict=True)
    }
    return finish(figure, [], note, what, listed)


@styled
def p_values(
    tests: pd.DataFrame, levels: Mapping[str, float], reference: str = "clinical", *, note: str = ""
) -> Figure:
    """Draw the p of McNemar's test of each pair of voices, per model, against the levels (`voices`, Appendix G).

    Parameters
    ----------
    tests : pandas.DataFrame
        As `nsh.agreement.mcnemar` returns it, of one condition. A pair without the reference voice is drawn as a cross.
    levels : mapping
        Name to level, drawn as a dashed line each.
    reference, note : str
        The unmarked voice; printed below the figure.

    Raises
    ------
    DataError
        If the frame is empty, lacks a column or mixes conditions.
    """
    tests = checked(tests, "p_values", ("model", "voice_a", "voice_b", "p_chi2"))
    models, styles = list(dict.fromkeys(tests["model"])), styles_of([*tests["voice_a"], *tests["voice_b"]])
    (figure, axes), entries, texts = rows_of(models, 0.3), [], {model: [] for model in models}
    crosses = iter("x+*1234")
    for (a, b), part in tests.groupby(["voice_a", "voice_b"], sort=False):
        cross = {"marker": next(crosses), "color": GRAY, "markersize": 7} if a != reference else {}
        style = cross or look(styles[b])
        axes.plot(part["p_chi2"], part["model"].map(models.index), linestyle="none", **style)
        entries.append(entry(f"{styles[a].label}, {styles[b].label}", **style))
        for model, p in zip(part["model"], part["p_chi2"], strict=True):
            texts[model].append(f"{a}, {b} {format_cell(p, '.1e', 'n = 0')}")
    for (name, level), dash in zip(levels.items(), ("--", ":"), strict=False):
        entries.append(axes.axvline(level, color="black", linewidth=1.2, linestyle=dash, label=name))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    listed = {model: "; ".join(found) for model, found in texts.items()}
    return finish(figure, entries, note, "p of McNemar's test (logarithmic axis; left of a line: significant)", listed)
