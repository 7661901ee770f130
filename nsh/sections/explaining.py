"""Alternative explanations of the gap (`voices` §6) in the released models and in a run, beside what is printed."""

from collections.abc import Mapping, Sequence
from math import isnan

import pandas as pd
from matplotlib.figure import Figure

from nsh.cases import Case
from nsh.drawing import GRAY, entry, finish, hollow, points, rows_of, styled, text_columns
from nsh.explanations import voices_section6
from nsh.medqa import medqa_split
from nsh.parts import interval
from nsh.place import medqa_test
from nsh.printed import number, published
from nsh.study import Study
from nsh.subsets import question_means
from nsh.tables import Block, callout, table

FIGURE3 = {
    "overall": "all questions",
    "train_split": "MedQA training split",
    "shorter_half": "shorter half of the retellings",
    "longer_half": "longer half of the retellings",
    "few_additions": "at most one relevant addition",
    "age_explicit": "age in digits in every marked voice",
    "test_split": "MedQA test split",
    "strict": "age in digits, at most one addition",
    "superset": "original vignette appended",
}
LOOKS = [{"marker": shape, "color": color, "markersize": 6} for shape, color in (("o", "black"), ("s", GRAY))]


def released_section6(study: Study) -> pd.Series:
    """Numbers of `voices` §6 for the released models, as `nsh.explanations.voices_section6` names them.

    Where the released cases or answers are not on this machine, the packaged pattern counts leave ``gap_overall`` (a
    proportion) alone, without an interval: they do not say which question is which.
    """
    if not study.real_cases or (study.real["source"] == "patterns").any():
        return pd.Series({"gap_overall": question_means(study.real)["gap"].mean()})
    draws = {name: study.values[name] for name in ("resamples", "seed")}
    return _with_share(voices_section6(study.real_cases, study.real, split=_split(study.real_cases), **draws))


def own_section6(study: Study) -> dict[str, pd.Series]:
    """The same for the models of the run, under each condition of the run; nothing where no model was run."""
    split = _split(study.cases) if study.values["source"] == "released" else None
    return {
        name: _with_share(voices_section6(study.cases, rows, split=split, **study.statistics))
        for name, rows in study.records.groupby("condition", sort=False)
    }


def _split(cases: Sequence[Case]) -> pd.Series | None:
    """Which cases are of MedQA's test split, where its file is on this machine."""
    return medqa_split(cases, medqa_test()) if medqa_test() else None


def _with_share(numbers: pd.Series) -> pd.Series:
    """Add the gap with the age in digits as a share of the whole gap (per cent), where that is above zero."""
    whole, part = numbers.get("gap_overall", 0), numbers.get("gap_age_explicit")
    share = {"gap_age_explicit_share_pct": 100 * part / whole} if whole > 0 and part is not None else {}
    return pd.concat([numbers, pd.Series(share, dtype=float)])


def left_out(numbers: pd.Series) -> Block:
    """What the released models' numbers lack on this machine, and what would bring it."""
    said = ["Left out: subsets by added content; the audits of the judges were not released."]
    if "n_overall" not in numbers:
        said.append(
            "The released cases and answers are not on this machine; `nsh data pull` fetches them (about 16 MB)."
        )
        said.append("The packaged counts give the gap over all questions, and no subset.")
    elif not numbers["n_test_split"]:
        said.append("The MedQA split: $NSH_MEDQA_TEST does not name the file of its test split.")
    return callout(" ".join(said), code=True)


def zero_in(low: float, high: float) -> str:
    """What an interval says of zero.

    Examples
    --------
    >>> zero_in(-0.1, 0.2), zero_in(0.1, 0.2), zero_in(float("nan"), 0.2)
    ('covers zero', 'excludes zero', 'is not known')
    """
    if isnan(low + high):
        return "is not known"
    return "covers zero" if low <= 0 <= high else "excludes zero"


def lowered(before: pd.Series, after: pd.Series) -> tuple[int, int]:
    """Subsets of Figure 3 with a smaller gap in the second, and those with a gap in both over as many questions.

    Examples
    --------
    >>> lowered(pd.Series({"gap_overall": 0.1, "n_overall": 9}), pd.Series({"gap_overall": 0.05, "n_overall": 9}))
    (1, 1)
    """
    gaps = pd.DataFrame({"before": before, "after": after}).reindex([f"gap_{name}" for name in FIGURE3])
    sizes = pd.DataFrame({"before": before, "after": after}).reindex([f"n_{name}" for name in FIGURE3])
    both = gaps.notna().all(axis=1) & (sizes["before"] == sizes["after"]).to_numpy()
    return int((gaps["after"] < gaps["before"])[both].sum()), int(both.sum())


def subset_table(subsets: Mapping[str, str], computed: Mapping[str, pd.Series], caption: str) -> Block:
    """Gap with its interval and number of questions, one row per subset (id to label), two columns per series."""
    rows = pd.DataFrame({"questions": subsets.values()})
    for head, numbers in computed.items():
        ends = [[numbers.get(f"gap_{name}{end}", float("nan")) for end in ("", "_lo", "_hi")] for name in subsets]
        rows[f"n, {head}"] = [f"{numbers.get(f'n_{name}', 0):,.0f}" for name in subsets]
        rows[f"gap, {head}"] = [interval(*values) for values in ends]
    return table(rows, caption, numeric=rows.columns[1:])


@styled
def subset_gaps(computed: Mapping[str, pd.Series], *, note: str = "") -> Figure:
    """Draw the gap on controlled subsets, the largest subset on top (`voices`, Figure 3).

    Parameters
    ----------
    computed : mapping of str to Series
        Name of a series, such as a condition, to its numbers by the ids of `voices_section6`: ``gap_X``, ``gap_X_lo``
        and ``gap_X_hi`` (proportions; drawn in points) and ``n_X``. A subset without a gap is left blank. Sizes are
        those of the first series, or as printed, or half of all questions.
    note : str
        Printed below the figure.

    Examples
    --------
    >>> figure = subset_gaps({"B1": pd.Series({"gap_overall": 0.1, "n_overall": 50})})
    >>> figure.get_label().split("; ")[0]
    'Gap (percentage points). all questions: printed 9.6, B1 10.0 (n = 50)'
    """
    text = published("voices_text").set_index("id")["printed"].map(number)
    labels = _by_size(next(iter(computed.values()), pd.Series(dtype=float)), text)
    figure, axes = rows_of(list(labels.values()), 0.2 + 0.14 * max(1, len(computed)))
    printed = 100 * pd.Series([text.get(f"gap_{name}") for name in labels], index=labels.values(), dtype=float)
    axes.plot(printed, range(len(labels)), linestyle="none", **hollow("D"))
    told = {label: [f"printed {value}"] for label, value in zip(printed.index, points(printed), strict=True)}
    entries, columns = [entry("as printed, twelve models, B1", **hollow("D"))], {}
    for place, (head, numbers) in enumerate(computed.items()):
        rows = [row + 0.6 * ((place + 0.5) / len(computed) - 0.5) for row in range(len(labels))]
        ends = [[numbers.get(f"gap_{name}{end}") for name in labels] for end in ("", "_lo", "_hi")]
        mean, lo, hi = (100 * pd.Series(values, dtype=float) for values in ends)
        look = LOOKS[place % len(LOOKS)]
        axes.hlines(rows, lo, hi, color=look["color"], linewidth=1.5)
        axes.plot(mean, rows, linestyle="--", linewidth=0.8, **look)
        columns[f"n, {head}"] = [f"{numbers[f'n_{name}']:,.0f}" if f"n_{name}" in numbers else "–" for name in labels]
        for label, value, size in zip(told, points(mean), columns[f"n, {head}"], strict=True):
            told[label].append(f"{head} {value}" + f" (n = {size})" * (size != "–"))
        entries.append(entry(f"{head}, with its 95% interval", **look))
    axes.axvline(0, color=GRAY, linewidth=1, zorder=1)
    text_columns(axes, pd.DataFrame(columns, index=list(told)))
    values = {label: ", ".join(texts) for label, texts in told.items()}
    return finish(figure, entries, note, "Gap (percentage points)", values)


def _by_size(numbers: pd.Series, printed: pd.Series) -> dict[str, str]:
    """The subsets and their labels, the largest first; a size that is unknown is taken from the printed share."""
    total = printed["n_cases"]
    shares = {name: printed.get(f"n_{name}", total / 2) / total for name in FIGURE3} | {"overall": 1}
    known = [numbers.get(f"n_{name}", share * numbers.get("n_overall", total)) for name, share in shares.items()]
    sizes = pd.Series(known, index=list(shares)).sort_values(ascending=False, kind="stable")
    return {name: FIGURE3[name] for name in sizes.index}
