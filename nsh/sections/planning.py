"""The sample-size page: curves of power, and what a number of models can show."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from nsh.drawing import GRAY, axes_of, entry, finish, styled
from nsh.planner import power

LINES = ["-", "--", "-.", ":"]


@styled
def power_curves(
    known: pd.DataFrame, gaps: Sequence[float], counts: Sequence[int], draws: int = 20_000, seed: int = 0
) -> Figure:
    """Draw the power (%) to find each gap (proportion) against the number of questions.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> from nsh.planner import discordance
    >>> power_curves(discordance(from_patterns(["B1"])), [0.05], [24, 1000], draws=500).get_label()[-24:]
    '8%, 1,000 questions 94%.'
    """
    axes, told, entries = axes_of(3.6), {}, []
    for place, gap in enumerate(gaps):
        found = [100 * power(known, n, gap, draws=draws, seed=seed).power for n in counts]
        style = {"color": "black", "marker": "os^D"[place % 4], "markersize": 5}
        axes.semilogx(counts, found, linewidth=1.2, linestyle=LINES[place % 4], **style)
        label = f"gap of {100 * gap:g} points"
        entries.append(entry(label, **style))
        told[label] = ", ".join(f"{n:,} questions {share:.0f}%" for n, share in zip(counts, found, strict=True))
    axes.axhline(80, color=GRAY, linewidth=0.8)
    axes.set_xticks(counts, [f"{n:,}" for n in counts])
    axes.minorticks_off()
    axes.set(xlabel="questions, each in every voice (logarithmic axis)", ylabel="power (%)", ylim=(0, 102))
    return finish(axes.figure, entries, "", "Power (%) by number of questions", told)


def models_needed(gaps: pd.Series, counts: Sequence[int], wanted: float = 0.8, alpha: float = 0.05) -> pd.DataFrame:
    """What a number of models can show, if their gaps spread as those at hand.

    Parameters
    ----------
    gaps : Series
        Gap per model (proportion); its standard deviation is the spread.
    counts : sequence of int
        Numbers of models, four at least.
    wanted, alpha : float
        Power, and level of the two-sided test.

    Returns
    -------
    DataFrame
        ``models``; ``half_width_points``, of the t interval of the mean gap over models; ``least_r``, the smallest
        correlation with size found with the wanted power, by Fisher's z.

    Examples
    --------
    >>> models_needed(pd.Series([0.05, 0.1, 0.15]), [12]).round(2).values.tolist()
    [[12.0, 3.18, 0.73]]
    """
    m = np.asarray(counts)
    half = 100 * stats.t.ppf(1 - alpha / 2, m - 1) * gaps.std() / np.sqrt(m)
    least = np.tanh((stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(wanted)) / np.sqrt(m - 3))
    return pd.DataFrame({"models": m, "half_width_points": half, "least_r": least})
