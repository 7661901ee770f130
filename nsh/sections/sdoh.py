"""The results of ``sdoh``: Tables III and IV, Figures 2 and 3, from a run, from real models, and as printed."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nsh.drawing import finish, rows_of, styled
from nsh.matrix import RUN
from nsh.parts import interval
from nsh.printed import number, published
from nsh.records import records_frame
from nsh.sections.method_figures import series_in_rows
from nsh.tables import Block, table

PROMPTS = {"zero_shot": "zero-shot", "few_shot": "few-shot", "bias_aware": "bias-aware"}
MEASURES = {"accuracy": "accuracy", "cc": "CC", "correct_cc": "correct CC", "nse": "NSE"}
OUTCOMES = {
    "stable_correct": ("stable correct", "#404040"),
    "narrative_sensitive": ("narrative sensitive", "#DDAA33"),
    "stable_wrong": ("stable wrong", "#8C8C8C"),
    "unstable_wrong": ("unstable wrong", "#D0D0D0"),
    "wrong": ("wrong in all voices", "#B0B0B0"),
}
LOOKS = [{"marker": m, "color": c, "markersize": 6} for m, c in (("o", "black"), ("s", "#B5609A"))]
PATTERNS = {"AAA": "right in three", "AAB": "in two", "ABB": "in one", "BBB": "the same wrong", "BBC": "other wrong"}


def printed_outcomes() -> pd.DataFrame:
    """Tables III and IV as numbers, in the columns of `nsh.outcomes.case_outcomes` (proportions).

    The printed accuracy intervals stand in ``accuracy_rows_lo`` and ``_hi``, since they have the width of those.

    Examples
    --------
    >>> printed_outcomes().set_index(["model", "condition"]).at[("Qwen2.5-7B-Instruct", "bias_aware"), "nse"].item()
    0.3167
    """
    both = published("sdoh_table3_main").merge(published("sdoh_table4_outcomes"), on=["model", "prompt"])
    values = both.set_index(["model", "prompt"]).map(number) / 100
    values.columns = values.columns.str.removesuffix("_pct").str.replace("accuracy_", "accuracy_rows_")
    frame = values.round(6).reset_index().rename(columns={"prompt": "condition"})
    cases = int(published("sdoh_text").set_index("id").at["n_cases", "printed"])
    order = frame["condition"].map(list(PROMPTS).index)
    return frame.assign(n=cases, order=order).sort_values(["model", "order"], kind="stable", ignore_index=True)


def printed_records() -> pd.DataFrame:
    """Answers that come to the printed Tables III and IV, reconstructed from their numbers.

    The four outcomes are counts of 300 cases, and 900 times the accuracy says how many narrative-sensitive cases are
    right in two voices and how many in one. Which voice is right is not printed: the voices are called first, second
    and third, the right letter A.

    Examples
    --------
    >>> records = printed_records()
    >>> len(records), int(records.query("model == 'Qwen2.5-7B-Instruct' and condition == 'zero_shot'")["correct"].sum())
    (8100, 507)
    """
    rows = []
    for row in printed_outcomes().to_dict("records"):
        whole = {name: round(row["n"] * row[name]) for name in list(OUTCOMES)[:4]}
        two = round(3 * row["n"] * row["accuracy"]) - 3 * whole["stable_correct"] - whole["narrative_sensitive"]
        counts = whole["stable_correct"], two, whole["narrative_sensitive"] - two
        counts = *counts, whole["stable_wrong"], whole["unstable_wrong"]
        letters = [pattern for pattern, count in zip(PATTERNS, counts, strict=True) for _ in range(count)]
        key = {name: row[name] for name in RUN} | {"gold": "A", "status": "ok", "source": "printed counts"}
        for case, pattern in enumerate(letters, start=1):
            for voice, letter in zip(("first", "second", "third"), pattern, strict=True):
                rows.append(key | {"case": f"{case:03d}", "voice": voice, "letter": letter, "correct": letter == "A"})
    return records_frame(rows)


def shares_table(sources: Mapping[str, pd.DataFrame], measures: Mapping[str, str], caption: str) -> Block:
    """Measures of `case_outcomes` in per cent with their intervals, one row per model, prompt and source.

    Parameters
    ----------
    sources : mapping of str to DataFrame
        Where the numbers come from, such as "this run" or "as printed", to a frame of `case_outcomes` or
        `printed_outcomes`. Rows of the same model and prompt stand together.
    measures : mapping of str to str
        Column to heading. The interval of ``accuracy`` is that over single answers, as it is printed.
    caption : str
        Plain text.
    """
    held = {name: frame for name, frame in sources.items() if len(frame)}
    rows = pd.concat([frame.assign(source=name) for name, frame in held.items()], ignore_index=True)
    rows["place"] = rows.groupby(RUN, sort=False).ngroup()
    lines = [
        [
            row["model"],
            prompt_name(row["condition"]),
            row["source"],
            f"{row['n']:,}",
            *(_share(row, name) for name in measures),
        ]
        for row in rows.sort_values("place", kind="stable").to_dict("records")
    ]
    heads = ["model", "prompt", "from", "cases", *(f"{label}, %" for label in measures.values())]
    return table(pd.DataFrame(lines, columns=heads), caption, numeric=heads[3:], row_headers=3)


def span(outcomes: pd.DataFrame, measure: str) -> str:
    """The smallest and largest value of a measure in per cent, or why there is none.

    Examples
    --------
    >>> span(printed_outcomes(), "nse"), span(printed_outcomes()[:0], "nse")
    ('31.67 to 43.00%', 'not to be had here')
    """
    values = 100 * outcomes[measure].dropna().astype(float)
    return f"{values.min():.2f} to {values.max():.2f}%" if len(values) else "not to be had here"


def prompt_name(condition: str) -> str:
    """A prompt as the pages name it."""
    return PROMPTS.get(condition, condition)


def _ends(name: str) -> list[str]:
    """Columns of a measure and its interval."""
    bounds = "accuracy_rows" if name == "accuracy" else name
    return [name, f"{bounds}_lo", f"{bounds}_hi"]


def _share(row: Mapping, name: str) -> str:
    """A share in per cent with its interval, where it has one; in words where it needs letters."""
    value, lo, hi = (100 * row.get(column, np.nan) for column in _ends(name))
    if np.isnan(value):
        return "needs letters" if "pattern" in str(row.get("note")) else "undefined"
    return f"{value:.2f}" if np.isnan(lo) else interval(value, lo, hi, ".2f")


def _labels(frame: pd.DataFrame) -> pd.Index:
    """Model and prompt of each row as one text."""
    return pd.Index([f"{row.model}, {prompt_name(row.condition)}" for row in frame[RUN].itertuples()])


def outcome_dots(ours: pd.DataFrame, measures: Mapping[str, str], *, note: str = "") -> Figure:
    """Draw measures of `case_outcomes` per model and prompt, and the printed ones hollow (`sdoh`, Figures 2 and 3).

    Examples
    --------
    >>> from nsh.outcomes import case_outcomes
    >>> outcome_dots(case_outcomes(printed_records(), 0), {"nse": "NSE"}).get_label()[-59:]
    'Qwen2.5-7B-Instruct, bias-aware: NSE 31.67 (printed 31.67).'
    """
    mine, printed = (100 * frame.set_axis(_labels(frame))[list(measures)] for frame in (ours, printed_outcomes()))
    values = mine.astype(float).reindex(mine.index.union(printed.index, sort=False))
    looks = {name: LOOKS[place] | {"label": label} for place, (name, label) in enumerate(measures.items())}
    what = "Share of answers (accuracy) or of cases (%)"
    return series_in_rows(values, looks, what, printed=printed, spec=".2f", note=note)


@styled
def outcome_bars(sources: Mapping[str, pd.DataFrame], *, note: str = "") -> Figure:
    """Draw the four outcomes of a case as stacked bars, one per source, model and prompt (`sdoh`, Table IV).

    Examples
    --------
    >>> outcome_bars({"as printed": printed_outcomes()}).get_label().split("; ")[1].split(", stable wrong")[0]
    'Qwen2.5-1.5B-Instruct, few-shot, as printed: stable correct 18.0, narrative sensitive 42.3'
    """
    frames = [frame.set_axis(_labels(frame) + f", {name}") for name, frame in sources.items() if len(frame)]
    rows = pd.concat(frames)
    known = rows["stable_wrong"].notna()
    rows["wrong"] = (1 - rows["stable_correct"] - rows["narrative_sensitive"]).mask(known, 0)
    figure, axes = rows_of(rows.index, 0.38)
    left, told, entries = np.zeros(len(rows)), {label: [] for label in rows.index}, []
    for name, (head, color) in OUTCOMES.items():
        share = 100 * rows[name].astype(float).fillna(0).to_numpy()
        axes.barh(range(len(rows)), share, 0.75, left, color=color, edgecolor="white", linewidth=0.6)
        left = left + share
        if share.any():
            entries.append(Patch(color=color, label=head))
        for label, value in zip(told, share, strict=True):
            told[label] += [f"{head} {value:.1f}"] * int(value > 0)
    axes.set_xlim(0, 100)
    values = {label: ", ".join(texts) for label, texts in told.items()}
    return finish(figure, entries, note, "Share of cases (%)", values)
