"""Least squares with errors clustered by question, with or without fixed effects of question and model."""

from collections.abc import Sequence
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.matrix import check_columns


def regress(frame: pd.DataFrame, outcome: str, terms: Sequence[str], within: str | None = None) -> pd.DataFrame:
    """Regress a number per question, or per question and answer, on covariates.

    Ordinary least squares of what is left after demeaning over all rows, which stands for an intercept, or, with
    `within`, inside each question and value of that column, which stands for fixed effects of both. With X the demeaned
    terms and u the residuals, the variance is B (Σ over questions of X′u u′X) B with B = (X′X)⁻¹, times G / (G − 1) for
    G questions and, without `within`, times (n − 1) / (n − 1 − k); fixed effects are nested in the questions and so do
    not count. t has G − 1 degrees of freedom. With one row per question these are the robust errors HC1.

    Parameters
    ----------
    frame : DataFrame
        Indexed by case, one row per question or several. Rows with a missing value are left out.
    outcome : str
        Column to explain, such as the ``gap`` of `nsh.subsets.question_means`.
    terms : sequence of str
        Columns that explain it: numbers or booleans, such as those of `nsh.covariates.covariates`.
    within : str, optional
        Column, such as the model, within which (and within the question) answers are compared.

    Returns
    -------
    DataFrame
        A row per term: ``term``, ``coef`` (unit of the outcome per unit of the term), ``se``, 95% interval ``lo``,
        ``hi``, two-sided ``p``, ``n`` rows, and ``note``. A constant term is undefined and left out of the model; all
        are undefined where the terms are collinear; errors are where all rows are of one question or, without `within`,
        are one more than the terms. Where the outcome is constant, coefficients are 0 and p is undefined.

    Raises
    ------
    ParameterError
        A column is named twice.
    DataError
        A column is missing, or a term or the outcome holds text.

    References
    ----------
    ``voices`` §4 (Metrics), §6 (errors and unit of the length are not printed) and §8.

    Examples
    --------
    >>> frame = pd.DataFrame({"gap": [0.0, 0.2, 0.3, 0.1], "without_age": [0, 1, 2, 1]}, index=list("1234"))
    >>> regress(frame, "gap", ["without_age"])[["term", "coef", "n"]].round(3).values.tolist()
    [['without_age', 0.15, 4]]
    """
    check_columns(frame, columns := [outcome, *terms, *[within] * bool(within)], "rows")
    if len(set(columns)) < len(columns):
        raise ParameterError(f"columns {', '.join(columns)}: each is expected once")
    known = frame.dropna(subset=columns)
    data = known[[outcome, *terms]].astype(object).apply(pd.to_numeric, errors="coerce").astype(float)
    if text := [name for name in data if data[name].isna().any()]:
        raise DataError(f"column {text[0]!r} holds {known.loc[data[text[0]].isna(), text[0]].iloc[0]!r}: no number")
    by = [known.index, known[within]] if within else np.zeros(len(data))
    groups = data.groupby(by, observed=True)
    varying = (groups.max() != groups.min()).any()
    data = (data - groups.transform("mean")) * varying  # exactly 0 where constant
    design = data[[term for term in terms if varying[term]]]
    problem = _problem(design, varying[outcome], within is not None)
    defined = design[[]] if problem.startswith("undefined") else design
    table = _fit(data[outcome], defined, within is not None).reindex(terms).rename_axis("term").reset_index()
    notes = [problem if term in design or not len(data) else "undefined: the covariate is constant" for term in terms]
    if left_out := len(frame) - len(data):
        notes = ["; ".join(filter(None, [note, f"{left_out} rows with a missing value left out"])) for note in notes]
    return table.assign(n=len(data), note=notes)


def _problem(design: pd.DataFrame, varies: bool, nested: bool) -> str:
    """What is undefined, or nothing."""
    (n, k), n_questions = design.shape, design.index.nunique()
    if n == 0:
        return "n = 0"
    if k and np.linalg.matrix_rank(design / design.abs().max()) < k:
        return f"undefined: the covariates are collinear in {n} rows"
    if n_questions == 1 or (n == k + 1 and not nested):
        return f"n = {n_questions}: errors undefined"
    return "" if varies else "p undefined: the outcome is constant"


def _fit(outcome: pd.Series, design: pd.DataFrame, nested: bool) -> pd.DataFrame:
    """Coefficients with errors clustered by the index, one row per column of the demeaned design."""
    x, (n, k) = design.to_numpy(), design.shape
    bread = np.linalg.inv(x.T @ x)
    coef = pd.Series(bread @ x.T @ outcome.to_numpy(), design.columns, dtype=float)
    scores = design.mul(outcome.to_numpy() - x @ coef.to_numpy(), axis=0).groupby(level=0, observed=True).sum()
    free = len(scores) - 1
    factor = len(scores) / (free or nan) * (1 if nested else (n - 1) / (n - 1 - k or nan))
    se = np.sqrt(factor * ((scores.to_numpy() @ bread) ** 2).sum(axis=0))
    half, p = stats.t.ppf(0.975, free) * se, 2 * stats.t.sf((coef / se).abs(), free)
    return pd.DataFrame({"coef": coef, "se": se, "lo": coef - half, "hi": coef + half, "p": p})
