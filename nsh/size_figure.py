"""The figure of a measure against model size, every model named beside its point."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from nsh.drawing import GRAY, TYPE, WIDTH, finish, points, styled
from nsh.errors import DataError
from nsh.tables import missing_text

SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]  # right, left, above, below, corners
DISTANCES = (6, 16, 30, 50)  # points between a point and its name


@styled
def size_scatter(
    values: pd.Series,
    sizes: Mapping[str, float],
    correlation: Any = None,
    *,
    label: str = "Narrative Anchoring Gap (percentage points)",
    note: str = "",
) -> Figure:
    """Draw a value of each model, in percentage points, against the model's size (`voices`, section 5).

    Parameters
    ----------
    values : pandas.Series
        Proportions indexed by model, for example the NAG or the accuracy.
    sizes : mapping
        Model -> parameters in billions. Models without a size are named below the figure, not drawn.
    correlation : object with `r`, `lo`, `hi`, `p`, `n`, optional
        As `nsh.pooled.size_correlation` returns it; written above the axes.
    label : str
        Label of the vertical axis.
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
    shown = 100 * values[[model for model in values.index if sizes.get(model)]].dropna().astype(float)
    if shown.empty:
        raise DataError(f"size_scatter: no model has both a value and a size; models: {', '.join(values.index)}")
    where = np.array([sizes[model] for model in shown.index], dtype=float)
    figure = Figure(figsize=(WIDTH, 4), layout="constrained")
    axes = figure.subplots()
    axes.scatter(where, shown, s=36, color="black")
    axes.set_xscale("log")
    axes.margins(x=0.12, y=0.12)
    _size_ticks(axes, where)
    axes.set(xlabel="model size (billions of parameters, logarithmic)", ylabel=label)
    axes.grid()
    if correlation is not None:
        axes.set_title(_correlation_text(correlation), loc="left", fontsize=TYPE)
    left_out = [model for model in values.index if model not in shown.index]
    parts = [note, f"Not drawn, value or size unknown: {', '.join(left_out)}." if left_out else ""]
    listed = {model: f"{text} at {sizes[model]:g}" for model, text in zip(shown.index, points(shown), strict=True)}
    what = f"{label} against model size (billions of parameters)"
    finish(figure, [], " ".join(part for part in parts if part), what, listed)
    _name_points(axes, where, shown)
    return figure


def _correlation_text(correlation: Any) -> str:
    """The correlation with its interval, or why there is none."""
    if pd.isna(correlation.r):
        return f"r {missing_text(correlation.note)} (n = {correlation.n} models)"
    text = f"r = {correlation.r:z.2f}, 95% interval [{correlation.lo:z.2f}, {correlation.hi:z.2f}]"
    return f"{text}, p = {correlation.p:.2f}, n = {correlation.n} models".replace("-", "−")


def _size_ticks(axes: Axes, sizes: np.ndarray) -> None:
    """Plain numbers at 1, 2 and 5 times each power of ten, on an axis wide enough to hold one."""
    axes.set_xlim(sizes.min() / 1.7, sizes.max() * 1.7)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _name_points(axes: Axes, sizes: np.ndarray, values: pd.Series) -> None:
    """Write each name at the first free place around its point, or at the freest where all are taken."""
    axes.figure.draw_without_rendering()
    centers = axes.transData.transform(np.column_stack([sizes, values]))
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in centers]
    places = [(side, distance) for distance in DISTANCES for side in SIDES]
    for point, center, name in zip(zip(sizes, values, strict=True), centers, values.index, strict=True):
        trial = axes.annotate(name, point)
        extent, scale = trial.get_window_extent(), axes.figure.dpi / 72
        trial.remove()
        boxes = [_box(center, side, distance * scale, extent) for side, distance in places]
        costs = [_covered(box, taken) + box.width * box.height - _covered(box, [axes.bbox]) for box in boxes]
        best = int(np.argmin(np.round(costs)))
        taken.append(boxes[best])
        _name(axes, name, point, *places[best])


def _box(center: np.ndarray, side: tuple[int, int], distance: float, extent: Bbox) -> Bbox:
    """Where a text of that extent would stand on one side of a point, in pixels, with two pixels of air."""
    size = np.array(extent.size)
    corner = center + np.array(side) * distance + size * (np.array(side) - 1) / 2
    return Bbox.from_bounds(*corner, *size).padded(2)


def _name(axes: Axes, name: str, point: tuple[float, float], side: tuple[int, int], distance: float) -> None:
    """Write a name on one side of its point, tied to it by a line where it stands apart."""
    offset = (side[0] * distance, side[1] * distance)
    line = {"arrowstyle": "-", "color": GRAY, "linewidth": 0.6, "shrinkB": 3} if distance > DISTANCES[0] else None
    text = axes.annotate(name, point, offset, textcoords="offset points", arrowprops=line)
    text.set(ha=("center", "left", "right")[side[0]], va=("center", "bottom", "top")[side[1]], in_layout=False)


def _covered(box: Bbox, others: list[Bbox]) -> float:
    """How much of a box lies under others, in square pixels."""
    parts = [Bbox.intersection(box, other) for other in others]
    return sum(part.width * part.height for part in parts if part is not None)
