"""The marked-voice effect pooled over models, and the correlation of a measure with model size."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from nsh.matrix import check_columns, one_condition
from nsh.regression import regress


@dataclass(frozen=True, slots=True)
class PooledEffect:
    """Accuracy change in marked voices over all models.

    Attributes
    ----------
    effect, lo, hi : float
        Coefficient and 95% interval, percentage points; negative is a penalty.
    se : float
        Standard error clustered by question, percentage points.
    n_questions : int or None
        Questions (clusters); None where the records do not link questions across models.
    n_models, n_records : int
        Models and answers that carry information on the effect.
    note : str
        What is undefined or was left out, and why.
    """

    effect: float
    lo: float
    hi: float
    se: float
    n_questions: int | None
    n_models: int
    n_records: int
    note: str


def pooled_effect(records: pd.DataFrame, reference: str = "clinical") -> PooledEffect:
    """Coefficient of "marked voice" in a linear probability model with question-by-model fixed effects.

    correct = effect · marked + fixed effect of (question, model) + error, standard error clustered by question: the
    one-term case of `nsh.regression.regress` within the model.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice, of one condition. The same case id in two models is the same
        question. A model that lacks a case in some voice counts with the voices it has; an answer whose question
        lacks the reference or any marked voice in that model carries no information and is left out.
    reference : str
        The unmarked voice; all other voices of the records are marked.

    Returns
    -------
    PooledEffect
        In percentage points.

    Raises
    ------
    ParameterError
        The records hold several conditions, or no record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (Metrics), §5 and Table 2.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> round(pooled_effect(from_patterns(["B1"])).effect, 2)
    -8.73
    """
    one_condition(records, reference, needs=("source",))
    order = ["model", "case", "voice"]
    answers = records[["correct", "source"]].assign(marked=records["voice"] != reference)
    answers[order] = np.column_stack([pd.factorize(records[name], sort=True)[0] for name in order])
    answers = answers.sort_values(order)
    linked = answers.groupby(["model", "case"])["marked"].transform("nunique") > 1
    used = answers[linked].set_index("case")
    n_questions, n_models = used.index.nunique(), used["model"].nunique()
    found = regress(used, "correct", ["marked"], within="model").iloc[0]
    points = [float(100 * found[name]) for name in ("coef", "lo", "hi", "se")]
    notes = [found["note"]] * bool(found["note"])
    if n_models > 1 and (used["source"] == "patterns").any():
        points[1:], n_questions = [nan] * 3, None
        notes = ["interval undefined: pattern counts do not link questions across models"]
    if left_out := len(records) - len(used):
        notes.append(f"{left_out} answers without a counterpart left out")
    return PooledEffect(*points, n_questions, n_models, len(used), "; ".join(notes))


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson correlation over models.

    Attributes
    ----------
    r, lo, hi : float
        Coefficient and 95% interval (Fisher's z).
    p : float
        Two-sided p of r = 0.
    n : int
        Models.
    note : str
        What is undefined or was left out, and why.
    """

    r: float
    lo: float
    hi: float
    p: float
    n: int
    note: str


def size_correlation(values: pd.Series, parameters: Mapping[str, float]) -> Correlation:
    """Correlation of a measure with model size.

    Parameters
    ----------
    values : Series
        A measure (accuracy, NAG), indexed by model.
    parameters : mapping
        Model → billions of parameters. A model without a size, or with a missing value, is left out and named.

    Returns
    -------
    Correlation
        Undefined (nan) for fewer than three models, or where all values or all sizes are equal.

    Raises
    ------
    DataError
        A model occurs twice in the index.

    References
    ----------
    ``voices`` §5 (accuracy and NAG).

    Examples
    --------
    >>> nag = pd.Series({"Llama-3.2-3B-Instruct": 0.136, "Llama-3.1-8B-Instruct": 0.151, "gemma-3-12b-it": 0.095})
    >>> sizes = {"Llama-3.2-3B-Instruct": 3.2, "Llama-3.1-8B-Instruct": 8.0, "gemma-3-12b-it": 12.2}
    >>> found = size_correlation(nag, sizes)
    >>> round(found.r, 2), found.n
    (-0.68, 3)
    """
    check_columns(pd.DataFrame({"model": values.index}), [], "values", once=["model"])
    pairs = pd.DataFrame({"value": values, "size": pd.Series(dict(parameters), dtype=float).reindex(values.index)})
    # equal numbers are equal, however they were summed, and those of one set of models are summed in one order
    known = pairs.dropna().astype(float).round(12).sort_index()
    left_out = [str(model) for model in pairs.index.difference(known.index)]
    notes = [f"left out, no value or no size: {', '.join(left_out)}"] * bool(left_out)
    if len(known) < 3 or (known.nunique() == 1).any():
        few = f"n = {len(known)}: undefined for fewer than three models" * (len(known) < 3)
        notes.insert(0, few or "undefined: all values or all sizes are equal")
        return Correlation(nan, nan, nan, nan, len(known), "; ".join(notes))
    found = stats.pearsonr(known["value"], known["size"])
    numbers = (found.statistic, *found.confidence_interval(0.95), found.pvalue)
    return Correlation(*map(float, numbers), len(known), "; ".join(notes))
