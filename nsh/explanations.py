"""Alternative explanations of the gap: subsets of the questions and regressions, `voices` §6 as a whole."""

from collections.abc import Mapping, Sequence
from math import nan

import pandas as pd

from nsh.cases import Case
from nsh.covariates import covariates
from nsh.matrix import order_voices
from nsh.question_types import phrases
from nsh.regression import regress
from nsh.subsets import question_means, subset_means

CONTRASTS = {  # difference: the two subsets, and who is in the first
    "length_difference": ("shorter_half", "longer_half", lambda of: of["words"] <= of["words"].median()),
    "age_difference": ("age_explicit", "age_omitted", lambda of: of["without_age"] == 0),
    "question_difference": ("question_verbatim", "question_reworded", lambda of: of["question_verbatim"]),
    "person_difference": ("first_person", "third_person", lambda of: of["person"] == "first"),
    "split_difference": ("test_split", "train_split", lambda of: of["split"].map({"test": True, "train": False})),
}


def voices_section6(
    cases: Sequence[Case],
    records: pd.DataFrame,
    additions: pd.DataFrame | None = None,
    split: Mapping[str, str] | pd.Series | None = None,
    reference: str = "clinical",
    **resampling: int,
) -> pd.Series:
    """Every number of `voices` §6 that the cases and the records of one condition allow.

    Parameters
    ----------
    cases, additions, split
        As for `nsh.covariates.covariates`.
    records, reference
        As for `question_means`.
    **resampling
        `resamples` and `seed` of `subset_means`.

    Returns
    -------
    Series
        Id to number. ``gap_X``, ``gap_X_lo``, ``gap_X_hi`` (proportions) and ``n_X`` (questions) for the subsets X:
        ``overall``; ``shorter_half``, ``longer_half`` (mean words of the marked retellings at most, or above, their
        median); ``age_explicit`` (in digits in every marked retelling), ``age_omitted``; ``question_verbatim``,
        ``question_reworded``; ``first_person``, ``third_person`` (reference retelling); ``test_split``,
        ``train_split``; each question type; with an audit, per judge ``few_additions_<judge>`` (at most one relevant
        item in every marked retelling) and ``strict_<judge>`` (with the age explicit, too). The same for the
        differences of `CONTRASTS`. ``gap_superset``, on the retellings of the first marked voice that hold the
        original, is reference less that voice.
        Regressions of the gap, in points: ``X_slope_points`` (``_lo``, ``_hi``) and ``X_slope_p``, each covariate
        alone: ``age`` (per marked retelling without one in digits), ``length`` (per 100 words) and
        ``additions_<judge>`` (per item); ``X_points_joint``, ``X_points_lo_joint``, ``X_points_hi_joint`` and
        ``X_p_joint`` in one model, with the additions of the first judge, by name, if any.
        What is undefined is left out; the ``n_X`` of an empty subset is 0.

    Raises
    ------
    ParameterError, DataError
        As `nsh.covariates.covariates` and `question_means`.

    References
    ----------
    ``voices`` §6, Figure 3, §7.5 (question sentence), Limitations (narrative person).

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> from nsh.records import records_frame
    >>> cases = load_cases("samples")
    >>> key = {"model": "made up", "condition": "direct"}
    >>> answers = [{**key, "case": case.id, "voice": voice, "correct": voice == "clinical"}
    ...            for case in cases for voice in case.narratives]
    >>> float(voices_section6(cases, records_frame(answers))["gap_overall"])
    1.0
    """
    means = question_means(records, reference)
    described = covariates(cases, reference, additions, split)
    judges = [] if additions is None else sorted(additions["judge"].unique())
    marked = order_voices({voice for case in cases for voice in case.narratives}, reference)[1:]
    differences = {name: (first, second) for name, (first, second, _) in CONTRASTS.items()}
    tables = [subset_means(means["gap"], _subsets(described, judges, marked), differences, **resampling)]
    for voice in marked[:1]:
        superset = {"superset": described[f"superset_{voice}"]}
        tables.append(subset_means(means[reference] - means.get(voice, nan), superset, **resampling))
    keys = {"n": "n_{}", "mean": "gap_{}", "lo": "gap_{}_lo", "hi": "gap_{}_hi"}
    rows = pd.concat(tables).to_dict("records")
    numbers = {key.format(row["subset"]): row[column] for row in rows for column, key in keys.items()}
    return pd.Series(numbers | _slopes(described.join(means["gap"], how="inner"), judges), dtype=float).dropna()


def _subsets(described: pd.DataFrame, judges: Sequence[str], marked: Sequence[str]) -> dict[str, pd.Series]:
    """The controlled subsets, each as booleans by case."""
    subsets = {"overall": described["words"] > 0}
    for first, second, rule in CONTRASTS.values():
        subsets[first] = rule(described).astype("boolean")
        subsets[second] = ~subsets[first]
    subsets |= {kind: described["question_type"] == kind for kind in (*phrases(), "other")}
    for judge in judges:
        few = (described[[f"additions_{judge}_{voice}" for voice in marked]] <= 1).all(axis=1)
        subsets |= {f"few_additions_{judge}": few, f"strict_{judge}": few & subsets["age_explicit"]}
    return subsets


def _slopes(data: pd.DataFrame, judges: Sequence[str]) -> dict[str, float]:
    """Slopes of the gap in points: each covariate alone, then length, age and the first judge's additions together."""
    data = data.assign(length=data["words"] / 100, age=data["without_age"], points=100 * data["gap"])
    additions = [f"additions_{judge}" for judge in judges]
    alone = [("{}_slope{}", regress(data, "points", [term])) for term in ("length", "age", *additions)]
    joint = [("{}{}_joint", regress(data, "points", ["length", "age", *additions[:1]]))]
    ends = {"coef": "_points", "lo": "_points_lo", "hi": "_points_hi", "p": "_p"}
    return {
        key.format(row["term"], end): row[column]
        for key, table in alone + joint
        for row in table.to_dict("records")
        for column, end in ends.items()
    }
