"""The papers' tables from records: the same rows and columns, under the names that `nsh.printed` uses."""

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
    "length_words (original 137)": "Length (words; original 137)",
    "explicit_numeric_age_pct": "Explicit numeric age (%)",
    "relevant_addition_pct_judge_F": "≥ 1 relevant addition (%), judge F",
    "relevant_addition_pct_judge_P": "≥ 1 relevant addition (%), judge P",
    "relevant_addition_pct_judge_L": "≥ 1 relevant addition (%), judge L",
    "original_verbatim_pct": "Original appended verbatim (%)",
    "facts_preserved_clinicians_pct": "Facts preserved, clinicians (%)",
    "realism_clinicians_1_to_5": "Realism, clinicians (1 to 5)",
}


def voices_table1(cases: Sequence[Case]) -> pd.DataFrame:
    """The rows of `voices` Table 1 that are counted from the texts.

    Parameters
    ----------
    cases : sequence of Case

    Returns
    -------
    pandas.DataFrame
        One row per printed property (words, then per cent), one column per voice, and "original" for the length.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> voices_table1(load_cases("samples")).index[0]
    'length_words (original 137)'
    """
    rows = describe_retellings(cases)
    wide = rows[rows["property"].isin(TABLE1)].pivot(index="property", columns="voice", values="value")
    voices = [*cases[0].narratives, "original"]
    return wide.reindex(index=list(TABLE1), columns=voices).rename(index=TABLE1).astype(float)


def facts_table3(records: pd.DataFrame, reference: str = "clinical", **resampling: int) -> pd.DataFrame:
    """`facts` Table 3 without its DSS columns: OMR over all answers and per voice, and NAG, as proportions.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    reference : str
        The unmarked voice.
    **resampling
        `resamples`, `permutations` and `seed` of `nsh.gaps.anchoring`, which also gives the intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by model: `omr`, `omr_<voice>`, `nag`, `nag_lo`, `nag_hi`, `null_p95`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> facts_table3(from_patterns(["B1"])).loc["BioMistral-7B", "nag"].round(4)
    np.float64(0.064)
    """
    scores = accuracy(records)
    wide = scores.pivot(index="model", columns="voice", values="accuracy")
    voices = [OVERALL, *dict.fromkeys(scores["voice"][scores["voice"] != OVERALL])]
    names = {voice: "omr" if voice == OVERALL else f"omr_{voice}" for voice in voices}
    gaps = anchoring(records, reference, **resampling).set_index("model")
    return wide[voices].rename(columns=names).join(gaps[["nag", "nag_lo", "nag_hi", "null_p95"]]).loc[gaps.index]


def facts_table4(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """`facts` Table 4: kappa on right and wrong, and McNemar's p (chi-square, corrected for continuity, not for the
    number of tests), for every pair of voices.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    reference : str
        The unmarked voice.

    Returns
    -------
    pandas.DataFrame
        Indexed by model: `kappa_<voice>_<voice>` and `mcnemar_p_<voice>_<voice>`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> facts_table4(from_patterns(["B1"])).shape
    (7, 6)
    """
    parts = []
    for frame, value, name in (
        (kappa(records, "correct", reference), "kappa", "kappa"),
        (mcnemar(records, reference), "p_chi2", "mcnemar_p"),
    ):
        pair = name + "_" + frame["voice_a"] + "_" + frame["voice_b"]
        parts.append(
            frame.assign(pair=pair).pivot(index="model", columns="pair", values=value)[list(dict.fromkeys(pair))]
        )
    return pd.concat(parts, axis=1).loc[list(dict.fromkeys(records["model"]))]


def voices_section5(
    records: pd.DataFrame, sizes: Mapping[str, float], reference: str = "clinical", **resampling: int
) -> pd.Series:
    """The numbers in the running text of `voices` §5, each under its id in `published("voices_section5")`.

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
        over models are unweighted. A number that the records do not allow (kappa on letters from pattern counts, a
        correlation over fewer than three models) is missing.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> numbers = voices_section5(from_patterns(["B1"]), {})
    >>> int(numbers["n_models"]), round(float(numbers["nag_largest"]), 3)
    (7, 0.151)
    """
    per_voice = accuracy(records).pivot(index="model", columns="voice", values="accuracy").drop(columns=OVERALL)
    gaps = anchoring(records, reference, **resampling).set_index("model")
    tests = mcnemar(records, reference).query("voice_a == @reference")
    pooled = pooled_effect(records, reference)
    marked = per_voice.drop(columns=reference)
    errors, marked_errors = float(1 - per_voice[reference].mean()), float(1 - marked.mean(axis=1).mean())
    has_letters = bool(records["letter"].notna().any())
    letters = kappa(records, "letter", reference).query("voice_a == @reference")["kappa"] if has_letters else None
    by_size = [size_correlation(values, sizes) for values in (per_voice.mean(axis=1), gaps["nag"])]
    return pd.Series(
        {
            "n_models": len(gaps),
            **{f"accuracy_{voice}": value for voice, value in per_voice.mean().items()},
            "error_rate_clinical_pct": 100 * errors,
            "error_rate_marked_pct": 100 * marked_errors,
            "more_errors_pct": 100 * (marked_errors / errors - 1) if errors else None,
            "nag_smallest": gaps["nag"].min(),
            "nag_largest": gaps["nag"].max(),
            "null_mean": gaps["null_mean"].mean(),
            "null_p95": gaps["null_p95"].mean(),
            "mcnemar_tests": len(tests),
            "mcnemar_significant_per_model": int(tests["significant_model"].sum()),
            "mcnemar_significant_all": int(tests["significant_reference"].sum()),
            "pooled_effect_points": pooled.effect,
            "pooled_effect_points_lo": pooled.lo,
            "pooled_effect_points_hi": pooled.hi,
            "cultural_hardest_models": int((gaps["worst_voice"] == "cultural").sum()),
            "size_accuracy_r": by_size[0].r,
            "size_nag_r": by_size[1].r,
            "size_nag_p": by_size[1].p,
            "kappa_letters": letters.mean() if has_letters else None,
        },
        dtype=float,
    )
