"""What each method changes against direct prompting: per model, over models as `voices` Table 2 has it, as printed."""

from math import nan

import pandas as pd

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import kappa
from nsh.changes import changes, models_beyond_zero
from nsh.matrix import RUN, tidy
from nsh.patterns import from_patterns
from nsh.pooled import pooled_effect
from nsh.printed import number, published
from nsh.released import load_released
from nsh.study import Study

PRINTED = {
    "direct": "B1 direct",
    "cot": "B2 CoT",
    "debias": "B3 debias",
    "cot_debias": "B4 CoT+debias",
    "extract": "Schema (Extract-then-Reason)",
    "extract_reason": "+Reason",
    "extract_tools": "+Tools",
    "story_schema": "Story+Schema",
    "rewrite": "Rewrite-then-Reason",
}  # condition: its row of Table 2
WITHOUT_INTERMEDIATES = "Llama3-OpenBioLLM-8B"  # left out of the paper's mitigation averages (its section 8)
LEVELS = ("reference", "marked", "overall", "gap")
POINTS = {"pooled_effect_points": ".1f", "pooled_lo": ".1f", "pooled_hi": ".1f", "delta_acc_points": "+.1f"}
FORMATS = dict.fromkeys(("acc_clinical", "acc_marked", "acc_overall", "gap"), ".3f") | POINTS
FORMATS |= {"delta_marked_points": "+.1f", "kappa": ".2f"}
FORMATS |= dict.fromkeys(("recovered_pct", "broken_pct", "no_letter_pct"), ".1f")
COUNTS = ("n_models", "n", "models_better", "models_worse")
MEANS = {"condition": None, "gap_significantly_smaller_models": None}
MEANS |= dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(FORMATS, "float64")


def common_cases(records: pd.DataFrame) -> pd.DataFrame:
    """Return the records of the cases that every model answered under every condition in every voice.

    Examples
    --------
    >>> common_cases(from_patterns(["B1"])).empty  # counts do not say which questions are the same
    True
    """
    asked = records[[*RUN, "voice"]].drop_duplicates()
    return records[records.groupby("case")["case"].transform("size") == len(asked)]


def answering(records: pd.DataFrame) -> pd.DataFrame:
    """Return the records of the models that give at least one right answer under every condition that they have.

    Examples
    --------
    >>> answering(from_patterns(["B1", "B3"]))["model"].nunique()  # BioMistral's B3 replies are empty
    6
    """
    right = records.groupby(RUN)["correct"].any()
    return records[~records["model"].isin(right.index[~right].get_level_values("model"))]


def mitigation_records(study: Study) -> pd.DataFrame:
    """Records of a run as the mitigation averages take them: the common cases, without the model left out there."""
    records = study.records
    return common_cases(records[records["model"] != WITHOUT_INTERMEDIATES])


def real_methods(study: Study) -> pd.DataFrame:
    """B1, B2 and B3 of the released models: their released answers where these are here, else the packaged counts.

    B2 is known for two models. B3 is the instruction of `facts`, not that of `voices`.
    """
    counted = from_patterns()
    answers = load_released(study.released) if study.released else counted[:0]
    known = pd.MultiIndex.from_frame(answers[RUN])
    return pd.concat([answers, counted[~pd.MultiIndex.from_frame(counted[RUN]).isin(known)]], ignore_index=True)


def accuracy_levels(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """Accuracy of every model and condition: `voice_<name>`, `reference`, `marked` (mean of the marked voices),
    `overall` (all answers) and `gap`, proportions, indexed by model and condition.

    Examples
    --------
    >>> accuracy_levels(from_patterns(["B1"])).at[("Llama-3.1-8B-Instruct", "B1"), "marked"].round(3)
    np.float64(0.598)
    """
    wide = accuracy(records).pivot(index=RUN, columns="voice", values="accuracy").add_prefix("voice_")
    overall, of_reference = wide.pop(f"voice_{OVERALL}"), wide[f"voice_{reference}"]
    marked = wide.drop(columns=f"voice_{reference}").mean(axis=1)
    return wide.assign(reference=of_reference, marked=marked, overall=overall, gap=of_reference - marked)


def method_rows(
    records: pd.DataFrame, baseline: str = "direct", reference: str = "clinical", resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Levels of every model and condition, and their change against a baseline.

    Parameters
    ----------
    records, baseline, reference, resamples, seed
        As for `nsh.changes.changes`.

    Returns
    -------
    DataFrame
        Indexed by model and condition, in the order of the records: the columns of `accuracy_levels`; the change of
        each, `delta_<column>`, which needs no link of questions across conditions; `n` cases; `kappa` on letters (mean
        over the pairs of the reference); from `changes` the intervals `gap_reduction_lo` and so on, `recovered`,
        `broken` (proportions) and `note`, missing for the baseline.

    Raises
    ------
    ParameterError, DataError
        As `changes`: above all if no record is of the baseline.

    Examples
    --------
    >>> rows = method_rows(from_patterns(["B1", "B3"]), "B1", resamples=0)
    >>> print(f"{rows.at[('Llama-3.1-8B-Instruct', 'B3'), 'delta_gap']:.4f}")
    -0.0105
    """
    intervals = changes(records, baseline, reference, resamples, seed).set_index(RUN)
    levels = accuracy_levels(records, reference)
    before = levels.xs(baseline, level="condition").reindex(levels.index.get_level_values("model"))
    frame = levels.join((levels - before.to_numpy()).add_prefix("delta_"))
    pairs = kappa(records, "letter", reference).query("voice_a == @reference")
    frame = frame.assign(n=records.groupby(RUN)["case"].nunique(), kappa=pairs.groupby(RUN)["kappa"].mean())
    frame = frame.join(intervals.drop(columns=["n", "delta_marked"]))
    return frame.reindex(pd.MultiIndex.from_frame(records[RUN].drop_duplicates()))


def condition_means(
    records: pd.DataFrame, baseline: str = "direct", reference: str = "clinical", resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """`voices` Table 2: the mean of every condition over its models.

    Parameters
    ----------
    records, baseline, reference, resamples, seed
        As for `method_rows`. A change is averaged over the models that also answered under the baseline.

    Returns
    -------
    DataFrame
        Indexed by condition, with the columns of ``published("voice_table2_conditions")`` in its units
        (`acc_clinical` is the accuracy in the reference voice), `n_models`, `n` (cases) and `no_letter_pct`, the
        answers without a letter. Empty for no records.

    Raises
    ------
    ParameterError, DataError
        As `method_rows`.

    Examples
    --------
    >>> float(condition_means(from_patterns(["B1"]), "B1", resamples=0).at["B1", "gap"].round(4))
    0.0873
    """
    found = [] if records.empty else method_rows(records, baseline, reference, resamples, seed).groupby("condition")
    rows = []
    for condition, part in found:
        answers = records[records["condition"] == condition]
        pooled = pooled_effect(answers, reference)
        models = part.reset_index()
        smaller, changed = (models_beyond_zero(models, name) for name in ("gap_reduction", "delta_accuracy"))
        own = part.drop(columns=["note"]).astype(float).mean()
        deltas = 100 * own[["delta_overall", "delta_marked"]] if condition != baseline else (nan, nan)
        row = {"condition": condition, "n_models": len(part), "n": part["n"].max(), "gap": own["gap"]}
        row |= dict(zip(("acc_clinical", "acc_marked", "acc_overall"), own[list(LEVELS[:3])], strict=True))
        row |= {"pooled_effect_points": pooled.effect, "pooled_lo": pooled.lo, "pooled_hi": pooled.hi}
        row |= dict(zip(("delta_acc_points", "delta_marked_points"), deltas, strict=True)) | {"kappa": own["kappa"]}
        row |= {"recovered_pct": 100 * own["recovered"], "broken_pct": 100 * own["broken"]}
        if smaller.n:
            row |= {"gap_significantly_smaller_models": f"{smaller.above}/{smaller.n}"}
            row |= {"models_better": changed.above, "models_worse": changed.below}
        if not (answers["status"] == "pattern").any():
            row["no_letter_pct"] = 100 * (answers["status"] != "ok").mean()
        rows.append(row)
    order = records["condition"].drop_duplicates()
    return tidy(rows, MEANS).set_index("condition").reindex(order)


def printed_means() -> pd.DataFrame:
    """`voices` Table 2 as numbers, indexed by our names of the conditions.

    Examples
    --------
    >>> float(printed_means().at["rewrite", "gap"])
    0.047
    """
    rows = published("voice_table2_conditions").set_index("condition")
    return rows.loc[list(PRINTED.values())].set_axis(list(PRINTED)).rename_axis("condition").map(number)
