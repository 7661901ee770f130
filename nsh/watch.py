"""Numbers to watch as they come about: pictures made beforehand, linked to a slider in the page."""

import re
from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd
from ipywidgets import HTML, Play, SelectionSlider, VBox, Widget, jslink
from matplotlib.figure import Figure

from nsh.drawing import BAND, GRAY, Drawing, axes_of, entry, finish, styled
from nsh.explore import NO_MODEL, row_of, stack_of
from nsh.gaps import anchoring
from nsh.matrix import voice_matrices
from nsh.parts import interval
from nsh.resampling import check_whole, percentiles, resampled_sums
from nsh.tables import NO_MATH, Block, callout

SIZES = 12  # most pictures of a slider, so that a page stays small
UNDEFINED = "The gap is undefined: no case was answered in every voice, or there is no marked voice."
DRAWS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def gap_as_cases_are_added(
    records: pd.DataFrame, model: str | None = None, reference: str = "clinical", resamples: int = 2000, seed: int = 0
) -> Widget | Block:
    """Watch the gap of one model, with its interval, as its cases are added in a random order.

    Parameters
    ----------
    records : pandas.DataFrame
        One row per model, condition, case and voice; of the first condition at hand.
    model : str, optional
        The first of the records unless given.
    reference, resamples, seed
        As in `nsh.gaps.anchoring`; the seed also orders the cases.

    Returns
    -------
    Widget or Block
        A slider over at most 12 numbers of cases; a remark where there are no records.

    References
    ----------
    ``voices`` §4 (gap, bootstrap).
    """
    if records.empty:
        return callout(NO_MODEL)
    records = _one(records, model)
    cases = np.random.default_rng(seed).permutation(records["case"].unique())
    first = min(len(cases), max(2, len(cases) // 100))
    sizes = np.unique(np.geomspace(first, len(cases), SIZES).round().astype(int))
    added = [records[records["case"].isin(cases[:size])] for size in sizes]
    gaps = pd.concat([anchoring(part, reference, resamples, 0, seed) for part in added])
    gaps = gaps.dropna(subset="gap").drop_duplicates("n").reset_index()
    if gaps.empty:
        return callout(UNDEFINED)
    pictures = {f"{n}": _picture(_gap_so_far(gaps, place)) for place, n in enumerate(gaps["n"])}
    return _watched("Cases", pictures)


def bootstrap_to_watch(
    records: pd.DataFrame, model: str | None = None, reference: str = "clinical", resamples: int = 2000, seed: int = 0
) -> Widget | Block:
    """Watch the bootstrap distribution of one model's gap build up, draw after draw.

    Parameters
    ----------
    records, model, reference, resamples, seed
        As in `gap_as_cases_are_added`; with at least one resample.

    Returns
    -------
    Widget or Block
        A play button and a slider over at most 10 numbers of draws; a remark where there is no gap to draw.

    Raises
    ------
    ParameterError
        If there is no resample.

    References
    ----------
    ``voices`` §4 (paired bootstrap over questions).
    """
    check_whole(1, resamples=resamples)
    if records.empty:
        return callout(NO_MODEL)
    (matrix,) = voice_matrices(_one(records, model), reference=reference)
    values = matrix.complete()
    if not len(values) or values.shape[1] < 2:
        return callout(UNDEFINED)
    samples = np.vstack([values.sum(axis=0), *resampled_sums([values], resamples, seed)]) / len(values)
    gap, *draws = 100 * (samples[:, 0] - samples[:, 1:].mean(axis=1))
    steps = [step for step in DRAWS if step < resamples] + [resamples]
    pictures = {f"{step}": _picture(_histogram(np.array(draws), step, gap, matrix.model)) for step in steps}
    return _watched("Draws", pictures, play=True)


def _one(records: pd.DataFrame, model: str | None) -> pd.DataFrame:
    """The records of one model, the first unless named, under its first condition."""
    own = records[records["model"] == (model or records["model"].iloc[0])]
    return own[own["condition"] == own["condition"].iloc[0]]


def _watched(what: str, pictures: Mapping[str, str], play: bool = False) -> Widget:
    """Pictures over a slider, and a play button where asked for; one picture needs neither."""
    children = [HTML(picture) for picture in pictures.values()]
    if len(children) == 1:
        return children[0]
    slider = SelectionSlider(options=list(pictures), description=what)
    stack, controls = stack_of(children, slider), [slider]
    if play:
        controls.insert(0, Play(max=len(children) - 1, interval=900, show_repeat=False))
        jslink((controls[0], "value"), (slider, "index"))
    return VBox([row_of(controls), stack])


def _picture(figure: Figure) -> str:
    """A figure as SVG within the page, with its text alternative."""
    svg = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", Drawing(figure).svg(), flags=re.DOTALL)
    told = f'<svg role="img" aria-label="{escape(figure.get_label())}" style="max-width: 100%; height: auto" '
    return f'<div class="nsh-picture {NO_MATH}">{svg.replace("<svg ", told, 1)}</div>'


@styled
def _gap_so_far(gaps: pd.DataFrame, place: int) -> Figure:
    """The gap (percentage points) up to one of the numbers of cases, on the axes of all."""
    points = 100 * gaps[["gap", "gap_lo", "gap_hi"]].astype(float)
    axes, now = axes_of(2.8), slice(place + 1)
    drawn = axes.vlines(gaps["n"][now], points["gap_lo"][now], points["gap_hi"][now], color=GRAY, label="95% interval")
    axes.plot(gaps["n"][now], points["gap"][now], color="black", marker="o", markersize=5)
    axes.axhline(0, color=GRAY, linewidth=1)
    axes.set(xscale="log", xlim=(0.9 * gaps["n"].min(), 1.1 * gaps["n"].max()), xlabel="cases")
    axes.set_ylim(min(0, points.min(axis=None)) - 1, max(0, points.max(axis=None)) + 1)
    axes.set_ylabel("gap (points)")
    axes.xaxis.set_major_formatter("{x:g}")
    values = {f"{gaps['n'][place]} cases": f"{interval(*points.loc[place], '.1f')} points"}
    legend = [entry("gap", color="black", marker="o", markersize=5), drawn]
    what = f"Gap of {gaps['model'][0]} (percentage points) with its 95% interval"
    return finish(axes.figure, legend, "", what, values)


@styled
def _histogram(draws: np.ndarray, step: int, gap: float, model: str) -> Figure:
    """The first draws of a gap (points) as shares of a histogram whose bins are those of all draws."""
    axes, (lo, hi) = axes_of(2.8), percentiles(draws[:step])
    band = axes.axvspan(lo, hi, color=BAND, label="middle 95% of the draws")
    bins = np.histogram_bin_edges(draws, 30)
    axes.hist(draws[:step], bins, weights=np.full(step, 100 / step), color=GRAY)
    line = axes.axvline(gap, color="black", linewidth=1.5, label="gap of the cases themselves")
    axes.set_xlim(bins[0], bins[-1])
    axes.set_ylabel("share of draws (%)")
    what = f"Gap of {model} in bootstrap draws (percentage points)"
    return finish(axes.figure, [line, band], "", what, {f"{step} draws": interval(gap, lo, hi, ".1f")})
