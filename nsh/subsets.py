"""The gap question by question, and its mean over subsets of the questions (`voices` §6, Figure 3)."""

from collections.abc import Mapping
from math import nan

import pandas as pd

from nsh.errors import ParameterError
from nsh.matrix import one_condition, tidy
from nsh.resampling import percentiles, resamples_of

SUBSET = {"subset": None, "n": "int64", "mean": "float64", "lo": "float64", "hi": "float64", "note": None}


def question_means(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """Accuracy on every question in every voice and its gap, averaged over the models.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice, of one condition. The same case id in two models is the same
        question.
    reference : str
        The unmarked voice; all other voices of the records are marked.

    Returns
    -------
    DataFrame
        Indexed by case, sorted: a column per voice (proportion of models that are right), ``marked`` (mean of the
        marked voices), ``gap`` (reference less marked) and ``n_models``, the models that answered the question in
        every voice; the others are left out. Where two conditions' frames are subtracted, ``gap`` is the gap
        reduction of each question.

    Raises
    ------
    ParameterError
        The records hold several conditions, or no record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (gap), §6.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> print(f"{question_means(from_patterns(['B1']))['gap'].mean():.4f}")
    0.0873
    """
    voices = one_condition(records, reference)
    answers = records.astype({"correct": float}).pivot(index=["case", "model"], columns="voice", values="correct")
    complete = answers.reindex(columns=pd.Index(voices)).dropna().groupby("case", observed=True)
    means = complete.mean()
    marked = means.drop(columns=reference).mean(axis=1)
    return means.assign(marked=marked, gap=means[reference] - marked, n_models=complete.size())


def subset_means(
    values: pd.Series,
    subsets: Mapping[str, pd.Series],
    differences: Mapping[str, tuple[str, str]] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Mean of a number per question over subsets of the questions.

    All questions are resampled together, so that subsets and their differences are paired even where they overlap.

    Parameters
    ----------
    values : Series
        A number per question, indexed by case, such as the ``gap`` of `question_means`. A missing one is left out.
    subsets : mapping of str to Series
        Name to who is in it: booleans indexed by case. A case that is missing in it is not in the subset.
    differences : mapping of str to (str, str), optional
        Name to the two subsets of which the second is taken from the first.
    resamples, seed : int
        Bootstrap resamples of questions, and the seed of the draws; with 0 the intervals are missing.

    Returns
    -------
    DataFrame
        One row per subset, then per difference: ``subset``, ``n`` (questions; of a difference, of both subsets added),
        ``mean`` with its 95% percentile interval ``lo``, ``hi`` in the unit of the values, and ``note`` ("n = 0").

    Raises
    ------
    ParameterError
        A difference names no subset, or ``resamples`` is negative or not whole.

    References
    ----------
    ``voices`` §6, Figure 3; bootstrap as in §4 (Metrics).

    Examples
    --------
    >>> gaps = pd.Series({"1": 0.5, "2": 0.0, "3": 1.0})
    >>> subset_means(gaps, {"long": pd.Series({"1": True, "3": True}), "none": gaps > 2})[["n", "mean", "note"]].values
    array([[2, 0.75, ''],
           [0, nan, 'n = 0']], dtype=object)
    """
    if unknown := [name for pair in (differences or {}).values() for name in pair if name not in subsets]:
        raise ParameterError(f"difference of {unknown[0]!r}: a subset is expected, one of {', '.join(subsets)}")
    values = values.dropna().astype(float).sort_index()
    weights = resamples_of(len(values), resamples, seed)
    members = pd.DataFrame(dict(subsets)).reindex(values.index).astype("boolean").fillna(False).astype(float)
    weighted, sizes = members.mul(values, axis=0), members.sum().astype(int)
    means = weighted.sum() / sizes
    draws = pd.DataFrame(weights @ weighted.to_numpy(), columns=members.columns) / (weights @ members.to_numpy())
    rows = [_row(name, sizes[[name]], means[name], draws[name]) for name in subsets]
    for name, (first, second) in (differences or {}).items():
        difference = means[first] - means[second], draws[first] - draws[second]
        rows.append(_row(name, sizes[[first, second]], *difference))
    return tidy(rows, SUBSET)


def _row(name: str, sizes: pd.Series, mean: float, draws: pd.Series) -> dict:
    """One row of the subsets; an interval needs more than one question on each side."""
    lo, hi = percentiles(draws.to_numpy()) if sizes.min() > 1 else (nan, nan)
    note = {0: "n = 0", 1: "n = 1: interval undefined"}.get(sizes.min(), "")
    return {"subset": name, "n": sizes.sum(), "mean": mean, "lo": lo, "hi": hi, "note": note}
