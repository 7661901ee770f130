"""Controls for the mitigation (`voices` §7.5): what the rewrite changes on subsets of the questions."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nsh.cases import Case
from nsh.covariates import covariates
from nsh.explanations import CONTRASTS
from nsh.parts import interval
from nsh.retellings import describe_retellings
from nsh.subsets import question_means, subset_means
from nsh.tables import Block, table

ALL = "all questions"
REDUCTION, GAIN, ADVANTAGE = "gap reduction", "marked gain", "rewrite less schema"


def control_subsets(cases: Sequence[Case], reference: str, split: pd.Series | None = None) -> dict[str, pd.Series]:
    """The subsets of `nsh.explanations.CONTRASTS` and all questions, each as booleans by case.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> list(control_subsets(load_cases("samples", 2), "clinical"))[:3]
    ['all questions', 'shorter half', 'longer half']
    """
    described = covariates(cases, reference, split=split)
    subsets = {ALL: described["words"] >= 0}
    for first, second, rule in CONTRASTS.values():
        chosen = rule(described).astype("boolean")
        subsets |= {first.replace("_", " "): chosen, second.replace("_", " "): ~chosen}
    return {name: chosen for name, chosen in subsets.items() if chosen.any()}


def control_means(
    records: pd.DataFrame, subsets: Mapping[str, pd.Series], reference: str = "clinical", **resampling: Any
) -> pd.DataFrame:
    """Means over subsets of the questions, averaged over models first.

    Parameters
    ----------
    records : DataFrame
        Of `direct`, `rewrite` and `extract`, or some of them, on the same cases.
    subsets : mapping
        Name to booleans by case.
    reference : str
        The unmarked voice.
    **resampling
        `resamples` and `seed` of `nsh.subsets.subset_means`.

    Returns
    -------
    DataFrame
        Indexed by `measure` and `subset`, as `subset_means` returns it: the "gap, <condition>" of each condition (a
        proportion), and in points the "gap reduction" and "marked gain" of the rewrite against `direct` and, over all
        voices, "rewrite less schema". Without records no rows.
    """
    means = {name: question_means(part, reference) for name, part in records.groupby("condition", sort=False)}
    values = {f"gap, {name}": found["gap"] for name, found in means.items()}
    if {"direct", "rewrite"} <= set(means):
        change = 100 * (means["rewrite"] - means["direct"])
        values |= {REDUCTION: -change["gap"], GAIN: change["marked"]}
    if {"extract", "rewrite"} <= set(means):
        voices = means["extract"].columns.difference(["marked", "gap", "n_models"])
        values[ADVANTAGE] = 100 * (means["rewrite"] - means["extract"])[voices].mean(axis=1)
    tables = {name: subset_means(numbers, subsets, **resampling) for name, numbers in values.items()}
    if not tables:
        return pd.DataFrame(columns=["n", "mean", "lo", "hi", "note"])
    return pd.concat(tables, names=["measure"]).reset_index("measure").set_index(["measure", "subset"])


def control_table(found: pd.DataFrame, measures: Mapping[str, str], what: str) -> Block:
    """Show measures (name to the format of its numbers) on every subset, each with its 95% interval."""
    shown = {name: found.loc[name] for name in measures if name in found.index.get_level_values("measure")}
    first = next(iter(shown.values()))
    rows = pd.DataFrame({"questions": first["n"]})
    for name, part in shown.items():
        rows[name] = [interval(*ends, measures[name]) for ends in part[["mean", "lo", "hi"]].to_numpy()]
    return table(rows.rename_axis("subset"), what, numeric=list(shown))


def section75(found: pd.DataFrame, cases: Sequence[Case], reference: str) -> dict[str, float]:
    """Numbers of `voices` §7.5 from the means on subsets and from the texts of the cases."""
    shares = describe_retellings(cases, reference).query("property == 'question_verbatim'").set_index("voice")
    numbers = {f"question_verbatim_{voice}_pct": value for voice, value in shares["value"].items()}
    numbers["n_question_verbatim"] = shares["count"]["every marked"]
    wanted = {
        "verbatim_gap_reduction_points": (REDUCTION, "question verbatim"),
        "verbatim_marked_points": (GAIN, "question verbatim"),
        "elsewhere_gap_reduction_points": (REDUCTION, "question reworded"),
        "test_gap_reduction_points": (REDUCTION, "test split"),
        "train_gap_reduction_points": (REDUCTION, "train split"),
    }
    for name, key in wanted.items():
        if key in found.index:
            numbers |= dict(zip((name, f"{name}_lo", f"{name}_hi"), found.loc[key, ["mean", "lo", "hi"]], strict=True))
    if "gap, rewrite" in found.index.get_level_values(0):
        gaps = found.loc["gap, rewrite", "mean"]
        numbers |= {"rewrite_gap_subsets_lo": gaps.min(), "rewrite_gap_subsets_hi": gaps.max()}
    return numbers
