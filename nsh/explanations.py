"""Alternative explanations of the gap: regressions on what the retellings are like, and `voices` §6 as a whole."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from nsh.cases import Case
from nsh.covariates import covariates
from nsh.matrix import order_voices
from nsh.question_types import phrases
from nsh.subsets import question_means, subset_means

NUMBERS = ["coef", "se", "lo", "hi", "p"]
CONTRASTS = {
    "length_difference": ("shorter_half", "longer_half"),
    "age_difference": ("age_explicit", "age_omitted"),
    "question_difference": ("question_verbatim", "question_reworded"),
    "person_difference": ("first_person", "third_person"),
    "split_difference": ("test_split", "train_split"),
}


def regress(frame: pd.DataFrame, outcome: str, terms: Sequence[str], within: str | None = None) -> pd.DataFrame:
    """Regress a number per question, or per question and voice, on covariates.

    Ordinary least squares with an intercept; standard errors are clustered by question, with statsmodels' small-sample
    factor G / (G − 1) · (n − 1) / (n − k), and t has G − 1 degrees of freedom. With one row per question, as in the
    paper, these are the heteroskedasticity-robust errors HC1. With `within`, a fixed effect of question and that column
    takes the place of the intercept: all is demeaned, and the factor is G / (G − 1) alone, since the effects are nested
    in the clusters.

    Parameters
    ----------
    frame : DataFrame
        Indexed by case, one row per question or several. Rows with a missing value are left out.
    outcome : str
        Column to explain, such as the ``gap`` of `question_means`.
    terms : sequence of str
        Columns that explain it: numbers or booleans, of `nsh.covariates.covariates`.
    within : str, optional
        Column, such as the model, within which (and within the question) answers are compared.

    Returns
    -------
    DataFrame
        A row for "intercept" (without `within`) and for each term: ``term``, ``coef`` (unit of the outcome per unit of
        the term), ``se``, 95% interval ``lo``, ``hi``, two-sided ``p``, ``n`` rows, and ``note``. A constant term is
        undefined and left out of the model; all are undefined where the outcome is constant, the terms are collinear,
        all rows are of one question, or the rows are no more than the coefficients.

    References
    ----------
    ``voices`` §6: regressions of the per-question gap on a count; errors and unit of the length are not printed.

    Examples
    --------
    >>> frame = pd.DataFrame({"gap": [0.0, 0.2, 0.3, 0.1], "without_age": [0, 1, 2, 1]}, index=list("1234"))
    >>> regress(frame, "gap", ["without_age"])[["term", "coef", "n"]].round(3).values.tolist()
    [['intercept', 0.0, 4], ['without_age', 0.15, 4]]
    """
    known = frame.dropna(subset=[outcome, *terms])
    data = known[[outcome, *terms]].astype(float)
    groups = data.groupby([known.index, known[within]] if within else np.zeros(len(data)))
    varying = [term for term in terms if (groups[term].nunique() > 1).any()]
    data = data - groups.transform("mean") if within else data.assign(intercept=1.0)
    names = [*terms] if within else ["intercept", *terms]
    design = data[[name for name in names if name == "intercept" or name in varying]]
    problem = _problem(data[outcome], design)
    fitted = pd.DataFrame() if problem else _fit(data[outcome], design, within is not None)
    table = fitted.reindex(index=names, columns=NUMBERS).astype(float).rename_axis("term").reset_index()
    notes = [problem or ("" if term in design else "undefined: the covariate is constant") for term in table["term"]]
    if left_out := len(frame) - len(data):
        notes = ["; ".join(filter(None, [note, f"{left_out} rows with a missing value left out"])) for note in notes]
    return table.assign(n=len(data), note=notes)


def _problem(outcome: pd.Series, design: pd.DataFrame) -> str:
    """Why a regression is undefined, or nothing."""
    n, k = design.shape
    if n <= k or not k:
        return f"n = {n}: undefined for {k} coefficients" if n else "n = 0"
    if design.index.nunique() < 2:
        return "undefined: all rows are of one question"
    if outcome.nunique() < 2:
        return "undefined: the outcome is constant"
    if np.linalg.matrix_rank(design / design.abs().max()) < k:
        return "undefined: the covariates are collinear"
    return ""


def _fit(outcome: pd.Series, design: pd.DataFrame, nested: bool) -> pd.DataFrame:
    """Coefficients with errors clustered by the index, one row per column of the design."""
    from statsmodels.regression.linear_model import OLS

    cluster = {"groups": pd.factorize(design.index)[0]}
    fit = OLS(outcome, design).fit(cov_type="cluster", cov_kwds=cluster, use_t=True)
    n, k = design.shape
    coef, se = fit.params, fit.bse * np.sqrt((n - k) / (n - 1) if nested else 1)
    t = stats.t(design.index.nunique() - 1)
    half, p = t.ppf(0.975) * se, 2 * t.sf(np.abs(coef / se))
    return pd.DataFrame({"coef": coef, "se": se, "lo": coef - half, "hi": coef + half, "p": p})


def voices_section6(
    cases: Sequence[Case],
    records: pd.DataFrame,
    additions: pd.DataFrame | None = None,
    split: Mapping[str, str] | pd.Series | None = None,
    reference: str = "clinical",
    resamples: int = 2000,
    seed: int = 0,
) -> pd.Series:
    """Every number of `voices` §6 that the cases and the records of one condition allow.

    Parameters
    ----------
    cases, additions, split
        As for `nsh.covariates.covariates`.
    records, reference
        As for `question_means`.
    resamples, seed : int
        As for `subset_means`.

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
    facts = covariates(cases, reference, additions, split)
    judges = [] if additions is None else sorted(additions["judge"].unique())
    marked = order_voices(cases[0].narratives, reference)[1:]
    options = {"resamples": resamples, "seed": seed}
    tables = [subset_means(means["gap"], _subsets(facts, judges, marked), CONTRASTS, **options)]
    superset = {"superset": facts[f"superset_{marked[0]}"]}
    tables.append(subset_means(means[reference] - means[marked[0]], superset, **options))
    keys = {"n": "n_{}", "mean": "gap_{}", "lo": "gap_{}_lo", "hi": "gap_{}_hi"}
    rows = pd.concat(tables).to_dict("records")
    numbers = {key.format(row["subset"]): row[column] for row in rows for column, key in keys.items()}
    return pd.Series(numbers | _slopes(facts.join(means["gap"], how="inner"), judges), dtype=float).dropna()


def _subsets(facts: pd.DataFrame, judges: Sequence[str], marked: Sequence[str]) -> dict[str, pd.Series]:
    """The controlled subsets, each as booleans by case."""
    explicit = facts["without_age"] == 0
    halves = {
        "length_difference": facts["words"] <= facts["words"].median(),
        "age_difference": explicit,
        "question_difference": facts["question_verbatim"],
        "person_difference": facts["person"] == "first",
        "split_difference": (facts["split"] == "test").astype("boolean").mask(facts["split"].isna()),
    }
    subsets = {"overall": facts["words"] > 0}
    for name, (first, second) in CONTRASTS.items():
        subsets |= {first: halves[name], second: ~halves[name]}
    subsets |= {kind: facts["question_type"] == kind for kind in (*phrases(), "other")}
    for judge in judges:
        few = (facts[[f"additions_{judge}_{voice}" for voice in marked]] <= 1).all(axis=1)
        subsets |= {f"few_additions_{judge}": few, f"strict_{judge}": few & explicit}
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
        for row in table[1:].to_dict("records")
        for column, end in ends.items()
    }
