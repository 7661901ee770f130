"""Figures of the anchoring gap: the penalty of each voice, NAG with its interval against the null, and against size."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from nsh.accuracies import OVERALL
from nsh.drawing import BAND, GRAY, axes_of, checked, entry, finish, hollow, look, points, rows_of, styled, text_columns
from nsh.errors import DataError
from nsh.printed import minus
from nsh.tables import missing_text
from nsh.voices import styles_of

GAP = "Narrative Anchoring Gap"


@styled
def accuracy_penalty(
    accuracy: pd.DataFrame, anchoring: pd.DataFrame, *, reference: str = "clinical", note: str = ""
) -> Figure:
    """Draw the accuracy penalty of each marked voice against the reference voice (`voices`, Figure 2).

    Parameters
    ----------
    accuracy : pandas.DataFrame
        One row per model and voice: `model`, `voice`, `accuracy` (proportion), `note`; one condition.
    anchoring : pandas.DataFrame
        One row per model: `model`, `nag`, `null_p95` (proportions). Models are sorted by `nag`; the shaded band
        ends at each model's `null_p95`.
    reference : str
        The voice that the others are compared with.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If a frame is empty, lacks a column, mixes conditions, or lacks the reference voice.

    Examples
    --------
    >>> rows = [["tiny", "clinical", 0.6], ["tiny", "cultural", 0.5]]
    >>> accuracy = pd.DataFrame(rows, columns=["model", "voice", "accuracy"])
    >>> anchoring = pd.DataFrame({"model": ["tiny"], "nag": [0.1], "null_p95": [0.03]})
    >>> accuracy_penalty(accuracy, anchoring).get_label()
    'Accuracy penalty against the clinical voice (percentage points). tiny: cultural 10.0.'
    """
    accuracy = checked(accuracy, "accuracy_penalty", ("model", "voice", "accuracy"))
    anchoring = _sorted_by_nag(checked(anchoring, "accuracy_penalty", ("model", "nag", "null_p95")))
    penalty = _penalties(accuracy, reference, anchoring.index)
    figure, axes = rows_of(anchoring.index, 0.3)
    rows, texts = range(len(anchoring)), pd.DataFrame(index=anchoring.index)
    band = _null_band(axes, anchoring["null_p95"])
    axes.hlines(rows, penalty.min(axis=1), penalty.max(axis=1), color=GRAY, linewidth=1, zorder=1)
    styles = styles_of(penalty.columns)
    for voice, style in styles.items():
        axes.plot(penalty[voice], rows, linestyle="none", **look(style))
        notes = accuracy[accuracy["voice"] == voice].set_index("model").reindex(anchoring.index).get("note")
        texts[style.label] = points(penalty[voice], notes)
    what = f"Accuracy penalty against the {reference} voice (percentage points)"
    entries = [*(entry(style.label, **look(style)) for style in styles.values()), band]
    return finish(figure, entries, note, what, text_columns(axes, texts))


def _penalties(frame: pd.DataFrame, reference: str, models: Sequence[str]) -> pd.DataFrame:
    """Reference accuracy minus each other voice's, in points, models x voices, voices in the frame's order."""
    voices = [voice for voice in dict.fromkeys(frame["voice"]) if voice != OVERALL]
    if reference not in voices:
        raise DataError(f"accuracy_penalty: no rows of the reference voice {reference!r}; voices: {', '.join(voices)}")
    wide = frame.pivot(index="model", columns="voice", values="accuracy").reindex(index=models, columns=voices)
    return 100 * wide.drop(columns=reference).rsub(wide[reference], axis=0)


def _sorted_by_nag(anchoring: pd.DataFrame) -> pd.DataFrame:
    """The frame by model, largest NAG first, undefined last."""
    return anchoring.set_index("model").sort_values("nag", ascending=False, kind="stable")


def _null_band(axes: Axes, null_p95: pd.Series) -> Patch:
    """Shade from zero to the 95th percentile of the permutation null, row by row; return its legend entry."""
    axes.barh(range(len(null_p95)), 100 * null_p95.astype(float).fillna(0), height=1, color=BAND, zorder=0)
    axes.axvline(0, color=GRAY, linewidth=1, zorder=1)
    return Patch(color=BAND, label="permutation null up to its 95th percentile")


@styled
def nag_intervals(anchoring: pd.DataFrame, *, published: Mapping[str, float] | None = None, note: str = "") -> Figure:
    """Draw the Narrative Anchoring Gap of each model with its 95% interval against the null band.

    Parameters
    ----------
    anchoring : pandas.DataFrame
        One row per model: `model`, `nag`, `nag_lo`, `nag_hi`, `null_p95` (proportions), `note`; one condition.
    published : mapping, optional
        Model -> printed NAG (proportion), as `nsh.printed.numbers` returns it.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If the frame is empty, lacks a column or mixes conditions.

    Examples
    --------
    >>> row = {"model": ["tiny"], "nag": [0.1], "nag_lo": [0.05], "nag_hi": [0.15], "null_p95": [0.03]}
    >>> nag_intervals(pd.DataFrame(row)).get_label()
    'Narrative Anchoring Gap (percentage points). tiny: NAG [95% interval] 10.0 [5.0, 15.0].'
    """
    columns = ["nag", "nag_lo", "nag_hi"]
    anchoring = _sorted_by_nag(checked(anchoring, "nag_intervals", ("model", *columns, "null_p95")))
    rows, nag = range(len(anchoring)), 100 * anchoring[columns].astype(float)
    figure, axes = rows_of(anchoring.index, 0.3)
    entries = [_null_band(axes, anchoring["null_p95"])]
    ours = {"marker": "o", "color": "black", "markersize": 6}
    axes.hlines(rows, nag["nag_lo"], nag["nag_hi"], color="black", linewidth=1.5)
    axes.plot(nag["nag"], rows, linestyle="none", **ours)
    if published is not None:
        axes.plot(100 * pd.Series(published).reindex(anchoring.index), rows, linestyle="none", **hollow())
        entries.insert(0, entry("as printed", **hollow()))
    whole = [points(nag[column], anchoring.get("note")) for column in columns]
    known = nag["nag"].notna()
    cells = [f"{value} [{lo}, {hi}]" if drawn else value for drawn, value, lo, hi in zip(known, *whole, strict=True)]
    texts = text_columns(axes, pd.DataFrame({"NAG [95% interval]": cells}, index=anchoring.index))
    return finish(figure, [entry("NAG", **ours), *entries], note, f"{GAP} (percentage points)", texts)


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
    label, size = f"{GAP} (percentage points)", "model size (billions of parameters)"
    axes = axes_of(4)
    axes.semilogx(where, shown, "o", color="black")
    axes.set(xlabel=f"{size}, logarithmic axis", ylabel=label, xlim=(where.min() / 1.7, where.max() * 1.7))
    axes.xaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), major_formatter="{x:g}")  # the limits hold one at least
    axes.minorticks_off()
    axes.grid()
    _name_points(axes, where, shown)
    if correlation is not None:
        axes.set_title(_correlation_text(correlation), loc="left")
    left_out = ", ".join(model for model in nag.index if model not in shown.index)
    told = f"{note} Not drawn, value or size unknown: {left_out}.".strip() if left_out else note
    listed = {model: f"{text} at {sizes[model]:g}" for model, text in zip(shown.index, points(shown), strict=True)}
    return finish(axes.figure, [], told, f"{label} against {size}", listed)


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
    return minus(f"{text}, p = {correlation.p:.2f}, n = {correlation.n} models\n{basis}")
