"""The tables and numbers of `voices` from cases and records, under the names that `nsh.printed` uses."""

from collections.abc import Mapping, Sequence

import pandas as pd

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import kappa, mcnemar
from nsh.cases import Case
from nsh.gaps import anchoring
from nsh.pooled import pooled_effect, size_correlation
from nsh.retellings import describe_retellings

TABLE1 = {
    "length": "length_words (original 137)",
    "numeric_age": "explicit_numeric_age_pct",
    "superset": "original_verbatim_pct",
}
TABLE1_LABELS = {
    "length_words (original 137)": "Length (words)",
    "explicit_numeric_age_pct": "Numeric age (%)",
    "relevant_addition_pct_judge_F": "≥ 1 relevant addition (%), judge F",
    "relevant_addition_pct_judge_P": "≥ 1 relevant addition (%), judge P",
    "relevant_addition_pct_judge_L": "≥ 1 relevant addition (%), judge L",
    "original_verbatim_pct": "Original appended (%)",
    "facts_preserved_clinicians_pct": "Facts preserved, clinicians (%)",
    "realism_clinicians_1_to_5": "Realism, clinicians (1 to 5)",
}


def voices_table1(cases: Sequence[Case], reference: str = "clinical") -> pd.DataFrame:
    """The rows of `voices` Table 1 that are counted from the texts.

    Parameters
    ----------
    cases : sequence of Case
    reference : str
        The unmarked voice.

    Returns
    -------
    pandas.DataFrame
        One row per printed property and per voice or "original": `property`, `voice`, `value` (mean words, or per cent
        of cases), `count` (cases that have the property) and `note`.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> voices_table1(load_cases("samples"))["property"].unique().tolist()
    ['length_words (original 137)', 'explicit_numeric_age_pct', 'original_verbatim_pct']
    """
    rows = describe_retellings(cases, reference)
    voices = {"original", *(voice for case in cases for voice in case.narratives)}
    rows = rows[rows["property"].isin(TABLE1) & rows["voice"].isin(voices)]
    return rows.assign(property=rows["property"].map(TABLE1))[["property", "voice", "value", "count", "note"]]


def voices_section5(
    records: pd.DataFrame, sizes: Mapping[str, float], reference: str = "clinical", **resampling: int
) -> pd.Series:
    """Numbers in the running text of `voices` §5, each under its id in `published("voices_text")`.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    sizes : mapping
        Model to billions of parameters.
    reference : str
        The unmarked voice.
    **resampling
        `resamples`, `permutations` and `seed` of `nsh.gaps.anchoring`.

    Returns
    -------
    pandas.Series
        Accuracies, NAG and null as proportions; pooled effect in percentage points; counts of models and tests; means
        over models are unweighted, and `size_accuracy_r` takes a model's mean accuracy over voices. A number that the
        records do not allow (kappa on letters from pattern counts, a
        correlation over fewer than three models, what is told of the clinical or cultural voice where the reference is
        another or there is no such voice) is missing.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> numbers = voices_section5(from_patterns(["B1"]), {})
    >>> int(numbers["n_models"]), round(float(numbers["nag_largest"]), 3)
    (7, 0.151)
    """
    per_voice = accuracy(records).pivot(index="model", columns="voice", values="accuracy").drop(columns=OVERALL)
    errors = 1 - per_voice[reference].mean(), 1 - per_voice.drop(columns=reference).mean(axis=1).mean()
    gaps = anchoring(records, reference, **resampling).set_index("model")
    tests = mcnemar(records, reference).query("voice_a == @reference")
    pooled = pooled_effect(records, reference)
    by_size = [size_correlation(values, sizes) for values in (per_voice.mean(axis=1), gaps["nag"])]
    return pd.Series(
        {
            "n_models": len(gaps),
            **{f"accuracy_{voice}": value for voice, value in per_voice.mean().items()},
            "error_rate_clinical_pct": 100 * errors[0] if reference == "clinical" else None,
            "error_rate_marked_pct": 100 * errors[1],
            "more_errors_pct": 100 * (errors[1] / errors[0] - 1) if errors[0] else None,
            "nag_smallest": gaps["nag"].min(),
            "nag_largest": gaps["nag"].max(),
            "null_mean": gaps["null_mean"].mean(),
            "null_p95": gaps["null_p95"].mean(),
            "mcnemar_tests": len(tests),
            "mcnemar_significant_per_model": tests["significant_model"].sum(),
            "mcnemar_significant_all": tests["significant_reference"].sum(),
            "pooled_effect_points": pooled.effect,
            "pooled_effect_points_lo": pooled.lo,
            "pooled_effect_points_hi": pooled.hi,
            "cultural_hardest_models": (gaps["worst_voice"] == "cultural").sum() if "cultural" in per_voice else None,
            "size_accuracy_r": by_size[0].r,
            "size_nag_r": by_size[1].r,
            "size_nag_p": by_size[1].p,
            "kappa_letters": _mean_kappa(records, reference),
        },
        dtype=float,
    )


def _mean_kappa(records: pd.DataFrame, reference: str) -> float | None:
    """Mean kappa on letters between the reference and each marked voice; None where the records hold no letters."""
    if records["letter"].isna().all():
        return None
    return kappa(records, "letter", reference).query("voice_a == @reference")["kappa"].mean()
