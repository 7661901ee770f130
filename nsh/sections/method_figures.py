"""Figures of what methods change: series of values in rows, printed ones hollow, text at the right."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from nsh.drawing import GRAY, entry, finish, hollow, look, rows_of, styled, text_columns
from nsh.matrix import order_voices
from nsh.sections.methods import PRINTED, printed_means
from nsh.tables import format_cell
from nsh.voices import styles_of

MEAN = {"label": "marked voices, mean", "marker": "D", "color": "black", "markersize": 5.5}
GAP = {"label": "gap", "marker": "X", "color": "#B5609A", "markersize": 7}


def voice_looks(voices: list[str]) -> dict[str, dict[str, Any]]:
    """How the series of each voice is drawn."""
    return {voice: {"label": style.label, **look(style)} for voice, style in styles_of(voices).items()}


@styled
def series_in_rows(
    values: pd.DataFrame,
    looks: Mapping[str, Mapping[str, Any]],
    what: str,
    *,
    printed: pd.DataFrame | None = None,
    texts: pd.DataFrame | None = None,
    spec: str = "z.1f",
    note: str = "",
) -> Figure:
    """Draw one row of markers for each row of a frame.

    Parameters
    ----------
    values : DataFrame
        Rows by series; the index names the rows. A missing value is not drawn.
    looks : mapping
        Series to its `label`, `marker`, `color` and `markersize`.
    what : str
        What the axis shows, with its unit.
    printed : DataFrame, optional
        Printed values of the same rows and series, drawn hollow.
    texts : DataFrame, optional
        Columns of text to the right of the rows.
    spec : str
        Format of the values in the text alternative.
    note : str
        Printed below the figure.

    Examples
    --------
    >>> values = pd.DataFrame({"gap": [4.7]}, index=["Rewrite"])
    >>> series_in_rows(values, {"gap": GAP}, "Gap (points)").get_label()
    'Gap (points). Rewrite: gap 4.7.'
    """
    figure, axes = rows_of(list(values.index), 0.24 + 0.09 * len(looks))
    axes.axvline(0, color=GRAY, linewidth=1, zorder=1)
    told = {row: [] for row in values.index}
    for place, (name, style) in enumerate(looks.items()):
        heights = np.arange(len(values)) + 0.6 * ((place + 0.5) / len(looks) - 0.5)
        axes.plot(values[name].astype(float), heights, linestyle="none", **style)
        beside = values.iloc[:0] if printed is None else printed
        shown = beside.reindex(values.index, columns=[name])[name].astype(float)
        axes.plot(shown, heights, linestyle="none", **hollow(style["marker"]))
        for row, value, other in zip(values.index, values[name], shown, strict=True):
            texts_of = [format_cell(value, spec)] * (value == value or other != other)
            texts_of += [f"(printed {format_cell(other, spec)})"] * (other == other)
            told[row].append(" ".join([style["label"], *texts_of]))
    if texts is not None:
        for row, cells in text_columns(axes, texts).items():
            told[row].append(cells)
    entries = [entry(**style) for style in looks.values()]
    entries += [entry("as printed", **hollow())] * (printed is not None)
    return finish(figure, entries, note, what, {row: ", ".join(cells) for row, cells in told.items()})


def levels_of_models(rows: pd.DataFrame, reference: str) -> Figure:
    """Draw Figure 4 of `voices` model by model: the change of the reference and of the marked voices, and the gaps.

    Parameters
    ----------
    rows : DataFrame
        As `nsh.sections.methods.method_rows` returns it; the baseline's rows are not drawn, nor those without a
        single right answer, which are named below the figure.
    reference : str
        The unmarked voice.
    """
    changed = rows[rows["note"].notna()]
    silent = changed[changed["overall"] == 0]
    shown = changed.drop(index=silent.index)
    labels = [f"{condition}, {model}" for model, condition in shown.index]
    values = 100 * shown[["delta_reference", "delta_marked"]].set_axis([reference, "marked"], axis=1)
    gaps = {"gap before": shown["gap"] - shown["delta_gap"], "after": shown["gap"]}
    texts = pd.DataFrame({head: [f"{gap:z.3f}" for gap in column] for head, column in gaps.items()}, index=labels)
    looks = voice_looks([reference]) | {"marked": MEAN}
    note = "".join(f"Not drawn, no right answer at all: {model} under {name}. " for model, name in silent.index)
    what = "Accuracy change (percentage points)"
    return series_in_rows(values.set_axis(labels), looks, what, texts=texts, note=note.strip())


def levels_of_conditions(means: pd.DataFrame, conditions: list[str], reference: str, note: str = "") -> Figure:
    """Draw Figure 4 of `voices`: the mean change of every condition against `direct`, and its gap; printed hollow.

    Parameters
    ----------
    means : DataFrame
        As `nsh.sections.methods.condition_means` returns it; may be empty, which leaves the printed values.
    conditions : list of str
        The rows, in order; `direct` itself is not drawn.
    reference : str
        The unmarked voice.
    note : str
        Printed below the figure.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> from nsh.sections.methods import condition_means
    >>> none = condition_means(from_patterns(["B1"])[:0])
    >>> print(levels_of_conditions(none, ["direct", "rewrite"], "clinical").get_label().partition(". ")[2])
    Rewrite-then-Reason: clinical (printed −1.2), marked voices, mean (printed 3.9), gap –, printed 0.047.
    """
    others = [name for name in conditions if name != "direct"]
    labels = [PRINTED.get(name, name) for name in others]
    frames, gaps = [], {}
    for head, frame in {"gap": means, "printed": printed_means()}.items():
        rows = frame.reindex(["direct", *others])
        change = 100 * (rows[["acc_clinical", "acc_marked"]] - rows.loc["direct", ["acc_clinical", "acc_marked"]])
        frames.append(change.astype(float).loc[others].set_axis([reference, "marked"], axis=1).set_axis(labels))
        gaps[head] = ["–" if gap != gap else format_cell(gap) for gap in rows.loc[others, "gap"]]
    looks = voice_looks([reference]) | {"marked": MEAN}
    what = "Accuracy change against direct prompting (percentage points)"
    texts = pd.DataFrame(gaps, index=labels)
    return series_in_rows(frames[0], looks, what, printed=frames[1], texts=texts, note=note)


def prose_minus_schema(found: pd.DataFrame, note: str = "") -> Figure:
    """Draw Figure 5 of `voices`: rewrite less schema, the accuracy of every voice and the gap, model by model.

    Parameters
    ----------
    found : DataFrame
        As `nsh.sections.method_numbers.versus` returns it for `rewrite` and `extract`.
    note : str
        Printed below the figure.
    """
    voices = order_voices(name.removeprefix("delta_voice_") for name in found if name.startswith("delta_voice_"))
    columns = {f"delta_voice_{voice}": voice for voice in voices}
    values = 100 * found[[*columns, "delta_gap"]].rename(columns=columns | {"delta_gap": "gap"})
    texts = pd.DataFrame(
        {"overall": [format_cell(100 * value, "+.1f") for value in found["delta_overall"]]}, index=found.index
    )
    looks = voice_looks([*columns.values()]) | {"gap": GAP}
    what = "Rewrite less schema (percentage points)"
    return series_in_rows(values, looks, what, texts=texts, note=note)


def voices_in_rows(
    values: pd.DataFrame, printed: Mapping[str, Mapping[str, float]], what: str, spec: str = "z.1f", note: str = ""
) -> Figure:
    """Draw a number per voice, row by row, and rows of printed ones below.

    Parameters
    ----------
    values : DataFrame
        Rows by voices; may have no rows.
    printed : mapping
        Name of a row to the printed number of each voice.
    what, spec, note : str
        As for `series_in_rows`.

    Examples
    --------
    >>> voices_in_rows(pd.DataFrame(), {"the schema": {"clinical": 0.8}}, "Recall", "z.2f").get_label()
    'Recall. the schema: clinical (printed 0.80).'
    """
    below = pd.DataFrame(dict(printed)).T
    voices = list(order_voices([*values, *below]))
    rows = values.reindex(index=[*values.index, *below.index], columns=voices)
    return series_in_rows(rows, voice_looks(voices), what, printed=below.reindex(columns=voices), spec=spec, note=note)
