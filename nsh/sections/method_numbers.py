"""Numbers in the running text of `voices` §7.1–7.4 from the records of a run, by their ids in `voices_text`."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nsh.cases import Case
from nsh.changes import models_beyond_zero
from nsh.operations import PARSED
from nsh.pooled import size_correlation
from nsh.question_types import question_type
from nsh.sections.methods import PRINTED, method_rows
from nsh.subsets import question_means

COMPARED = ("cot_debias", "story_schema", "debias")  # what §7.2 sets the rewrite against
SCHEMA = ("extract", "extract_reason", "extract_tools")


def versus(records: pd.DataFrame, method: str, other: str, **statistics: Any) -> pd.DataFrame:
    """Return the rows of a method with another as their baseline, indexed by model; empty where either is missing.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> versus(from_patterns(["B1", "B3"]), "B3", "B1", resamples=0).shape[0]
    7
    """
    both = records[records["condition"].isin([method, other])]
    if both["condition"].nunique() < 2:
        return pd.DataFrame()
    return method_rows(both, other, **statistics).xs(method, level="condition")


def in_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over models of `method_rows`, in points or per cent, indexed by condition: all of Table 2, or missing."""
    numbers = 100 * rows.drop(columns="note").astype(float)
    return numbers.groupby("condition").mean().reindex(list(PRINTED))


def count_of(flags: pd.Series) -> str:
    """How many of them are true, as the paper prints it.

    Examples
    --------
    >>> count_of(pd.Series([True, False]))
    '1 of 2'
    """
    return f"{int(flags.sum())} of {len(flags)}"


def section72(
    records: pd.DataFrame, cases: Sequence[Case], sizes: Mapping[str, float], **statistics: Any
) -> dict[str, float | str]:
    """Numbers of §7.1 and §7.2: prompting and the rewrite, each against B1, and the rewrite against three others.

    Parameters
    ----------
    records : DataFrame
        Records that hold the condition `direct`, or none.
    cases : sequence of Case
        The cases, for the type of their question.
    sizes : mapping
        Model to billions of parameters.
    **statistics
        `reference`, `resamples` and `seed`.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> section72(records_frame([]), [], {})
    {}
    """
    if records.empty:
        return {}
    rows = method_rows(records, **statistics)
    mean = in_points(rows)
    removed = -100 * mean["delta_gap"] / mean["gap"].where(mean["gap"] > 0)["direct"]
    numbers = {
        "cot_clinical_points": mean.at["cot", "delta_reference"],
        "debias_gap_removed_pct": removed["debias"],
        "debias_clinical_points": -mean.at["debias", "delta_reference"],
        "cot_debias_gap_removed_pct": removed["cot_debias"],
    }
    numbers |= {f"rewrite_{name[12:]}_points": mean.at["rewrite", name] for name in mean if "delta_voice" in name}
    kinds = pd.Series({case.id: question_type(case.question) for case in cases})
    for condition in ("direct", "cot_debias", "rewrite"):
        answers = records[records["condition"] == condition]
        of_type = answers[answers["case"].map(kinds) == "diagnosis"]
        gaps = question_means(of_type, statistics["reference"])["gap"] if len(of_type) else pd.Series(dtype=float)
        numbers[f"gap_diagnosis_{condition}"] = gaps.mean()
    rewritten = versus(records, "rewrite", "direct", **statistics)
    if len(rewritten):
        before = rows.xs("direct", level="condition")["gap"]
        reduction = -rewritten["delta_gap"]
        numbers["rewrite_gap_grows"] = models_beyond_zero(rewritten.reset_index(), "gap_reduction").below
        marked = models_beyond_zero(rewritten.reset_index(), "delta_marked")
        numbers["rewrite_marked_better_models"] = f"{marked.above} of {marked.n}"
        numbers |= {f"gap_direct_{model}": gap for model, gap in before.items()}
        numbers |= {f"gap_rewrite_{model}": gap for model, gap in rewritten["gap"].items()}
        numbers["gap_reduction_r"] = size_correlation(reduction, before).r
        numbers["gap_reduction_size_r"] = size_correlation(reduction, sizes).r
    for other in COMPARED:
        numbers |= _rewrite_against(other, versus(records, "rewrite", other, **statistics))
    if "rewrite_above_cot_debias_points" in numbers:
        numbers["rewrite_below_cot_debias_points"] = -numbers["rewrite_above_cot_debias_points"]
        below = 1 - mean.at["rewrite", "gap"] / mean["gap"].where(mean["gap"] > 0)["cot_debias"]
        numbers["rewrite_smaller_gap_than_cot_debias_pct"] = 100 * below
    return numbers


def _rewrite_against(other: str, found: pd.DataFrame) -> dict[str, float]:
    """How many models have a smaller or larger gap and more or less accuracy under the rewrite than another method."""
    if found.empty:
        return {}
    gaps, right = (models_beyond_zero(found.reset_index(), name) for name in ("gap_reduction", "delta_accuracy"))
    return {
        f"rewrite_above_{other}_points": 100 * found["delta_overall"].mean(),
        f"rewrite_gap_below_{other}_models": gaps.above,
        f"rewrite_gap_above_{other}_models": gaps.below,
        f"rewrite_better_than_{other}_models": right.above,
        f"rewrite_worse_than_{other}_models": right.below,
    }


def where_parsed(records: pd.DataFrame, condition: str = "extract") -> pd.DataFrame:
    """Return the records of each model's cases whose extraction parsed in every voice (`voices` Table 11)."""
    extracted = records[records["condition"] == condition]
    whole = extracted["extraction"].isin(PARSED).groupby([extracted["model"], extracted["case"]]).all()
    return records[pd.MultiIndex.from_frame(records[["model", "case"]]).isin(whole.index[whole])]


def section73(records: pd.DataFrame, **statistics: Any) -> dict[str, float | str]:
    """Numbers of §7.3: the rewrite against the schema, on all cases and where all extractions parse."""
    found = versus(records, "rewrite", "extract", **statistics)
    if found.empty:
        return {}
    gaps = models_beyond_zero(found.reset_index(), "gap_reduction")
    numbers = {
        "rewrite_schema_gap_models": gaps.above + gaps.below,
        "rewrite_above_schema_points": 100 * found["delta_overall"].mean(),
        "rewrite_above_schema_marked_points": 100 * found["delta_marked"].mean(),
        "rewrite_above_schema_models": count_of(found["delta_overall"] > 0),
        "rewrite_schema_gap_bound_points": 100 * found["delta_gap"].abs().max(),
    }
    parsed = versus(where_parsed(records), "rewrite", "extract", **statistics)
    if len(parsed):
        numbers["rewrite_above_schema_parsed_points"] = 100 * parsed["delta_overall"].mean()
        numbers["rewrite_above_schema_parsed_models"] = count_of(parsed["delta_overall"] > 0)
    return numbers


def tool_effect(records: pd.DataFrame) -> pd.DataFrame:
    """Accuracy with tools and without (+Tools and +Reason) on the answers where a tool was called, per model.

    Returns
    -------
    DataFrame
        Indexed by model: `n` answers of +Tools, `n_fired` of them with a call, `without` and `with` (accuracy on
        these, proportions; missing where no tool was called) and `points`, the second less the first.
    """
    wide = records.pivot(index=["model", "case", "voice"], columns="condition", values="correct")
    pair = wide.reindex(columns=["extract_reason", "extract_tools"]).set_axis(["without", "with"], axis=1)
    tools = records[records["condition"] == "extract_tools"].set_index(["model", "case", "voice"])["tools"]
    fired = tools.map(bool).astype(bool)
    means = pair.loc[fired.index[fired]].astype(float).groupby("model").mean()
    frame = pd.DataFrame({"n": fired.groupby("model").size(), "n_fired": fired.groupby("model").sum()}).join(means)
    return frame.assign(points=100 * (frame["with"] - frame["without"]))


def section74(records: pd.DataFrame, **statistics: Any) -> dict[str, float | str]:
    """Numbers of §7.4, and of §7.3 what the schema variants cost the marked voices."""
    if records.empty:
        return {}
    mean = in_points(method_rows(records, **statistics))
    losses = -mean.loc[list(SCHEMA), "delta_marked"]
    numbers = {"schema_marked_loss_lo_points": losses.min(), "schema_marked_loss_hi_points": losses.max()}
    numbers["reason_gap_change"] = abs(mean.at["extract_reason", "gap"] - mean.at["extract", "gap"]) / 100
    numbers["reason_accuracy_loss_points"] = mean.at["extract", "overall"] - mean.at["extract_reason", "overall"]
    tools = versus(records, "extract_tools", "direct", **statistics)
    if len(tools):
        used = tool_effect(records)
        numbers["tools_worse_models"] = int((tools["delta_overall"] < 0).sum())
        numbers["tools_fire_pct"] = 100 * used["n_fired"].sum() / used["n"].sum()
        numbers["tools_loss_points"] = -used["points"].mean()
    return numbers
