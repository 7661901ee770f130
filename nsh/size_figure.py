"""The figure of the Narrative Anchoring Gap against model size, every model named beside its point."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from nsh.drawing import TYPE, WIDTH, finish, points, styled
from nsh.errors import DataError
from nsh.tables import missing_text


@styled
def size_scatter(nag: pd.Series, sizes: Mapping[str, float], correlation: Any = None, *, note: str = "") -> Figure:
    """Draw the NAG of each model, in percentage points, against the model's size (`voices`, section 5).

    Parameters
    ----------
    nag : pandas.Series
        Proportions indexed by model.
    sizes : mapping
        Model -> parameters in billions. Models without a size are named below the figure, not drawn.
    correlation : object with `r`, `lo`, `hi`, `p`, `n`, `note`, optional
        As `nsh.pooled.size_correlation` returns it; written above the axes.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If no model has both a value and a size.

    Examples
    --------
    >>> size_scatter(pd.Series({"tiny": 0.1}), {"tiny": 0.135}).get_label()
    'Narrative Anchoring Gap (percentage points) against model size (billions of parameters). tiny: 10.0 at 0.135.'
    """
    shown = 100 * nag[[model for model in nag.index if sizes.get(model)]].dropna().astype(float)
    if shown.empty:
        raise DataError(f"size_scatter: no model has both a value and a size; models: {', '.join(nag.index)}")
    where = shown.index.map(sizes.get).astype(float)
    label, size = "Narrative Anchoring Gap (percentage points)", "model size (billions of parameters)"
    figure = Figure(figsize=(WIDTH, 4), layout="constrained")
    axes = figure.subplots()
    axes.semilogx(where, shown, "o", color="black")
    axes.set(xlabel=f"{size}, logarithmic axis", ylabel=label, xlim=(where.min() / 1.7, where.max() * 1.7))
    axes.xaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), major_formatter="{x:g}")  # the limits hold one at least
    axes.minorticks_off()
    axes.grid()
    _name_points(axes, where, shown)
    if correlation is not None:
        axes.set_title(_correlation_text(correlation), loc="left", fontsize=TYPE)
    left_out = ", ".join(model for model in nag.index if model not in shown.index)
    told = f"{note} Not drawn, value or size unknown: {left_out}.".strip() if left_out else note
    listed = {model: f"{text} at {sizes[model]:g}" for model, text in zip(shown.index, points(shown), strict=True)}
    return finish(figure, [], told, f"{label} against {size}", listed)


def _name_points(axes: Axes, where: pd.Index, shown: pd.Series) -> None:
    """Write each name toward the middle of the axis, and on alternate sides from the top down within one size."""
    middle = (where.min() * where.max()) ** 0.5
    for size, alike in shown.groupby(where):
        for number, (name, value) in enumerate(alike.sort_values(ascending=False).items()):
            left = (number + (size > middle)) % 2
            offset, side = (-6, "right") if left else (6, "left")
            axes.annotate(name, (size, value), (offset, 0), textcoords="offset points", ha=side, va="center")


def _correlation_text(correlation: Any) -> str:
    """The correlation with its interval, or why there is none."""
    if pd.isna(correlation.r):
        return f"r {missing_text(correlation.note)} (n = {correlation.n} models)"
    basis = "r is computed on the number of parameters itself, not on its logarithm"
    text = f"r = {correlation.r:z.2f}, 95% interval [{correlation.lo:z.2f}, {correlation.hi:z.2f}]"
    return f"{text}, p = {correlation.p:.2f}, n = {correlation.n} models\n{basis}".replace("-", "−")
