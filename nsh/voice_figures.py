"""Figures of the voices themselves: accuracy per voice, agreement per pair of voices, length of the retellings."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsh.accuracies import OVERALL
from nsh.drawing import BAND, GRAY, checked, entry, finish, hollow, look, rows_of, styled
from nsh.tables import format_cell, missing_text
from nsh.voices import styles_of

SHAPES = "os^DvPX<>h"  # of the pairs of voices, in their order
FEW = 60  # cases that can be drawn one by one


@styled
def voice_accuracy(
    accuracy: pd.DataFrame, *, chance: float | None = None, published: pd.DataFrame | None = None, note: str = ""
) -> Figure:
    """Draw the accuracy of each model in each voice with its Wilson interval (`facts`, Table 3).

    Parameters
    ----------
    accuracy : pandas.DataFrame
        One row per model and voice: `model`, `voice`, `accuracy`, `lo`, `hi` (proportions), `note`; one condition.
        Rows of the voice "overall" are left out.
    chance : float, optional
        Accuracy of guessing, one over the number of options, drawn as a dashed line.
    published : pandas.DataFrame, optional
        Printed accuracies: `model`, `voice`, `value` (proportion), as `nsh.printed.by_voice` returns them.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If the frame is empty, lacks a column or mixes conditions.

    Examples
    --------
    >>> rows = [["tiny", "clinical", 0.6, 0.5, 0.7], ["tiny", "cultural", 0.5, 0.4, 0.6]]
    >>> frame = pd.DataFrame(rows, columns=["model", "voice", "accuracy", "lo", "hi"])
    >>> voice_accuracy(frame).get_label()
    'Accuracy (proportion of cases answered correctly). tiny: clinical 0.600, cultural 0.500.'
    """
    accuracy = checked(accuracy, "voice_accuracy", ("model", "voice", "accuracy", "lo", "hi"))
    accuracy = accuracy[accuracy["voice"] != OVERALL]
    styles = styles_of(accuracy["voice"])
    looks = {(voice,): {"label": style.label, **look(style)} for voice, style in styles.items()}
    axes, entries, values = _series(accuracy, published, ["voice"], "accuracy", looks)
    if chance is not None:
        entries.append(axes.axvline(chance, color=GRAY, linestyle="--", label=f"chance level ({chance:.2f})"))
    return finish(axes.figure, entries, note, "Accuracy (proportion of cases answered correctly)", values)


@styled
def kappa_dots(kappa: pd.DataFrame, *, published: pd.DataFrame | None = None, note: str = "") -> Figure:
    """Draw Cohen's kappa of each pair of voices, per model (`facts`, Tables 4 and 8; `voices`, section 5).

    Parameters
    ----------
    kappa : pandas.DataFrame
        One row per model and pair: `model`, `voice_a`, `voice_b`, `kappa`, `note`; one condition. A marker has the
        colors of both its voices.
    published : pandas.DataFrame, optional
        Printed values: `model`, `voice_a`, `voice_b`, `value`, as `nsh.printed.by_voice` returns them.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If the frame is empty, lacks a column or mixes conditions.

    Examples
    --------
    >>> frame = pd.DataFrame([["tiny", "clinical", "cultural", 0.4]], columns=["model", "voice_a", "voice_b", "kappa"])
    >>> kappa_dots(frame).get_label()
    "Cohen's kappa between two voices (1 = the same answers). tiny: clinical and cultural 0.400."
    """
    kappa = checked(kappa, "kappa_dots", ("model", "voice_a", "voice_b", "kappa"))
    styles = styles_of([*kappa["voice_a"], *kappa["voice_b"]])
    looks = {}
    for position, (a, b) in enumerate(dict.fromkeys(zip(kappa["voice_a"], kappa["voice_b"], strict=True))):
        colors = {"markerfacecolor": styles[a].color, "markerfacecoloralt": styles[b].color, "color": styles[a].color}
        shape = {"marker": SHAPES[position % len(SHAPES)], "markersize": 7, "fillstyle": "left", "markeredgewidth": 0}
        looks[a, b] = {"label": f"{styles[a].label} and {styles[b].label}", **shape, **colors}
    axes, entries, values = _series(kappa, published, ["voice_a", "voice_b"], "kappa", looks)
    return finish(axes.figure, entries, note, "Cohen's kappa between two voices (1 = the same answers)", values)


def _series(
    frame: pd.DataFrame, published: pd.DataFrame | None, on: list[str], value: str, looks: Mapping[tuple, dict]
) -> tuple[Axes, list, dict[str, str]]:
    """Draw each series in a row of its own within each model; return axes, legend entries, and values as texts.

    A series holds the rows whose columns `on` have the values that it is named by.
    """
    models = list(dict.fromkeys(frame["model"]))
    _, axes = rows_of(models, 0.14 + 0.11 * len(looks))
    axes.hlines(np.arange(1, len(models)) - 0.5, 0, 1, color=BAND, linewidth=0.6, transform=axes.get_yaxis_transform())
    values = {model: [] for model in models}
    for position, (name, style) in enumerate(looks.items()):
        heights = np.arange(len(models)) + 0.8 * ((position + 0.5) / len(looks) - 0.5)
        cells = [(*name, model) for model in models]
        part = frame.set_index([*on, "model"]).reindex(cells)
        if "lo" in part:
            axes.hlines(heights, part["lo"], part["hi"], color=style["color"], linewidth=1.5)
        axes.plot(part[value], heights, linestyle="none", **style)
        if published is not None:
            printed = published.set_index([*on, "model"])["value"].reindex(cells)
            axes.plot(printed, heights, linestyle="none", **hollow(style["marker"]))
        notes = part.get("note", [""] * len(models))
        for model, height, number, why in zip(models, heights, part[value], notes, strict=True):
            values[model].append(f"{style['label']} {format_cell(number, None, why)}")
            if pd.isna(number):
                text, where = f"{style['label']}: {missing_text(why)}", ("axes fraction", "data")
                place = {"va": "center", "backgroundcolor": "white"}
                axes.annotate(text, (0, height), (4, 0), where, "offset points", **place)
    entries = [entry(**style) for style in looks.values()] + [entry("as printed", **hollow())] * (published is not None)
    return axes, entries, {model: ", ".join(texts) for model, texts in values.items()}


@styled
def retelling_lengths(lengths: pd.DataFrame, *, published: Mapping[str, float] | None = None, note: str = "") -> Figure:
    """Draw how long the retellings of each voice are (`voices`, Table 1).

    Parameters
    ----------
    lengths : pandas.DataFrame
        One row per case and voice: `voice` and `words`, the number of words. Drawn as a distribution with its
        quartiles, or as one stroke per case where there are at most 60; the marker is the mean.
    published : mapping, optional
        Voice -> printed mean number of words.
    note : str
        Printed below the figure.

    Raises
    ------
    DataError
        If the frame is empty or lacks a column.

    Examples
    --------
    >>> lengths = pd.DataFrame({"voice": ["clinical", "cultural"] * 2, "words": [100, 250, 120, 310]})
    >>> retelling_lengths(lengths, published={"cultural": 301}).get_label()
    'Words per retelling. clinical: mean 110 (n = 2); cultural: mean 280, printed 301 (n = 2).'
    """
    lengths = checked(lengths, "retelling_lengths", ("voice", "words"))
    styles, printed = styles_of(lengths["voice"]), dict(published) if published is not None else {}
    groups = lengths.groupby("voice")["words"]
    colors = {voice: style.color for voice, style in styles.items()}
    figure, axes = rows_of([style.label for style in styles.values()], 0.5)
    many = lengths[lengths["voice"].map(groups.size()) > FEW]
    if len(many):
        shown = {"data": many, "x": "words", "y": "voice", "order": list(styles), "hue": "voice", "palette": colors}
        sns.violinplot(**shown, inner="quart", cut=0, linewidth=1, alpha=0.5, legend=False, ax=axes)
    values = {}
    for row, (voice, style) in enumerate(styles.items()):
        words = groups.get_group(voice)
        mean, count = words.mean(), words.count()
        if count <= FEW:
            axes.plot(words, [row] * count, "|", color=style.color, markersize=12)
        axes.plot(mean, row, **look(style))
        also = f", printed {printed[voice]:g}" if voice in printed else ""
        values[style.label] = f"mean {mean:.0f}{also} (n = {count})"
        axes.plot(printed.get(voice, np.nan), row, **hollow("D"))
    axes.set(xlabel="words per retelling", ylabel="")
    axes.set_xlim(left=0)
    entries = [entry("mean", marker="o", color=GRAY)] + [entry("mean as printed", **hollow("D"))] * bool(printed)
    return finish(figure, entries, note, "Words per retelling", values)
