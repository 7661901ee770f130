"""What all figures share: type, width, rows of models, legend, text alternative, and the SVG that a page shows."""

import io
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.style
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsh.errors import DataError
from nsh.tables import format_cell
from nsh.voices import Voice

WIDTH = 7.2  # inches, 691 pixels: the text column of a page
TYPE = 9  # points, as in the style sheet
GRAY, BAND = "#595959", "#E3E3E3"
STYLE = ["default", Path(__file__).parent / "data" / "book.mplstyle"]


@contextmanager
def _style() -> Iterator[None]:
    """Draw under the book's style, whatever the notebook has set, and leave no trace of it.

    The one warning left out says that the font here lacks a script, such as a voice named in Chinese: the SVG holds
    the text itself, and the reader's browser draws it.
    """
    with matplotlib.style.context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


styled = _style()  # decorates a function that draws


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as a page shows it: SVG with its text alternative; the same data give the same bytes.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        Its label is the text alternative: the figure functions leave the values drawn there.

    Examples
    --------
    >>> figure = Figure(label="an empty figure")
    >>> Drawing(figure).svg() == Drawing(figure).svg()
    True
    """

    figure: Figure

    @styled
    def svg(self) -> str:
        """Return the figure as an SVG document whose title is the text alternative."""
        stream = io.StringIO()
        told = {"Title": self.figure.get_label(), "Date": None, "Creator": None}
        self.figure.savefig(stream, format="svg", metadata=told)
        return stream.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        text = self.figure.get_label()
        return {"image/svg+xml": self.svg(), "text/plain": text}, {"image/svg+xml": {"alt": text}}


def checked(frame: pd.DataFrame, figure: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return the frame if it has rows, the columns that a figure draws, and one condition.

    Raises
    ------
    DataError
        Otherwise; the message says which.
    """
    lacking = [column for column in columns if column not in frame]
    if lacking:
        raise DataError(f"{figure}: the frame lacks {', '.join(lacking)}; it has: {', '.join(map(str, frame.columns))}")
    if frame.empty:
        raise DataError(f"{figure}: the frame has no rows; give it at least one model")
    conditions = list(dict.fromkeys(frame["condition"])) if "condition" in frame else []
    if len(conditions) > 1:
        raise DataError(f"{figure}: the frame mixes the conditions {', '.join(conditions)}; pick one")
    return frame


def axes_of(inches: float) -> Axes:
    """Return the axes of a new figure as wide as the text column and `inches` high."""
    return Figure(figsize=(WIDTH, inches), layout="constrained").subplots()


def rows_of(labels: Sequence[str], inches: float) -> tuple[Figure, Axes]:
    """Return a new figure and its axes with one row for each label, the first on top, `inches` high each."""
    axes = axes_of(1.1 + inches * len(labels))
    axes.set_yticks(range(len(labels)), [textwrap.fill(label, 32) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    return axes.figure, axes


def text_columns(axes: Axes, columns: pd.DataFrame) -> dict[str, str]:
    """Write a frame of texts to the right of the rows, where nothing can overlap; return each row as one text."""
    left = 10.0
    for heading, cells in columns.items():
        axes.annotate(heading, (1, 1), (left, 3), "axes fraction", "offset points", color=GRAY, annotation_clip=False)
        for row, cell in enumerate(cells):
            where = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
            axes.annotate(cell, (1, row), (left, 0), annotation_clip=False, **where)
        left += 12 + 0.6 * TYPE * max(map(len, [heading, *cells]))
    return {row: ", ".join(f"{head} {cell}" for head, cell in cells.items()) for row, cells in columns.iterrows()}


def look(style: Voice) -> dict[str, Any]:
    """Return how the values of one voice are drawn."""
    return {"marker": style.marker, "color": style.color, "markersize": 6}


def hollow(shape: str = "o") -> dict[str, Any]:
    """Return how a published value is drawn: larger and hollow, so that an equal value of ours lies inside it."""
    return {"marker": shape, "markersize": 9.5, "markerfacecolor": "none", "markeredgecolor": "black"}


def entry(label: str, **style: Any) -> Line2D:
    """Return a legend entry that is a marker alone."""
    return Line2D([], [], linestyle="none", label=label, **style)


def points(values: pd.Series, notes: pd.Series | None = None) -> list[str]:
    """Return values in percentage points as texts, and for a missing one what its note says."""
    reasons = [""] * len(values) if notes is None else notes
    return [format_cell(value, "z.1f", why) for value, why in zip(values, reasons, strict=True)]


def finish(figure: Figure, entries: Sequence[Artist], note: str, what: str, values: Mapping[str, str]) -> Figure:
    """Name what is drawn on an axis that has no label yet, add the legend and the note outside the data, and leave the
    drawn values as the figure's text alternative."""
    (axes,) = figure.axes
    axes.set_xlabel(axes.get_xlabel() or what)
    if entries:
        columns = _legend_columns([len(item.get_label()) for item in entries])
        figure.legend(handles=entries, loc="outside upper left", ncols=columns)
    if note:
        figure.supxlabel(textwrap.fill(note, 105), x=0.01, ha="left")
    listed = "; ".join(f"{name}: {value}" for name, value in values.items())
    figure.set_label(f"{what}. {listed}." + (f" {note}" if note else ""))
    return figure


def _legend_columns(lengths: Sequence[int], room: int = 92) -> int:
    """The most columns, filled from the top, whose longest labels and markers fit into `room` characters."""
    for columns in range(len(lengths), 1, -1):
        rows = -(-len(lengths) // columns)
        if sum(max(lengths[start : start + rows]) + 7 for start in range(0, len(lengths), rows)) <= room:
            return columns
    return 1
