"""The marked-voice effect pooled over models, and the correlation of a measure with model size."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.matrix import NO_RECORD, VoiceMatrix, voice_matrices

SUMS = {"model": "object", "case": "object", "xy": "float64", "xx": "float64", "n_records": "int64"}


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

    correct = effect · marked + fixed effect of (question, model) + error, standard error clustered by question. The
    fixed effects are taken out by demeaning within question and model: with x the demeaned indicator, effect =
    Σxy / Σx², and its variance is G / (G − 1) times the sum over the G questions of (Σx·residual)², over (Σx²)². The
    effects are nested in the clusters and so do not count as parameters. The interval uses t with G − 1 degrees of
    freedom.

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
    matrices = voice_matrices(records, reference=reference, needs=("source",))
    matrices.sort(key=lambda matrix: (matrix.condition, matrix.model))
    conditions = sorted({matrix.condition for matrix in matrices})
    if len(conditions) > 1:
        raise ParameterError(f"records of {len(conditions)} conditions ({', '.join(conditions)}): give those of one")
    sums = pd.concat([pd.DataFrame(columns=SUMS).astype(SUMS), *map(_sums, matrices)])
    used = sums[sums["xx"] > 0]
    n_models, n_records = used["model"].nunique(), int(used["n_records"].sum())
    notes = [f"{len(records) - n_records} answers without a counterpart left out"] * (n_records < len(records))
    if used.empty:
        return PooledEffect(nan, nan, nan, nan, 0, 0, 0, "; ".join(["n = 0", *notes]))
    questions = used.groupby("case")[["xy", "xx"]].sum()
    effect = questions["xy"].sum() / questions["xx"].sum()
    scores = questions["xy"] - effect * questions["xx"]
    n_questions = len(questions)
    error = nan
    if n_models > 1 and (records["source"] == "patterns").any():
        n_questions = None
        notes.append("interval undefined: pattern counts do not link questions across models")
    elif n_questions == 1:
        notes.append("n = 1: interval undefined")
    else:
        error = sqrt(n_questions / (n_questions - 1) * (scores**2).sum()) / questions["xx"].sum()
    half = stats.t.ppf(0.975, (n_questions or nan) - 1) * error
    points = (float(100 * value) for value in (effect, effect - half, effect + half, error))
    return PooledEffect(*points, n_questions, n_models, n_records, "; ".join(notes))


def _sums(matrix: VoiceMatrix) -> pd.DataFrame:
    """Per question of one model: Σxy and Σx², x being the marked indicator less its mean over the voices present."""
    present = matrix.codes != NO_RECORD
    marked = np.arange(len(matrix.voices)) > 0
    share = (present & marked).sum(axis=1) / present.sum(axis=1)
    x = (marked - share[:, None]) * present
    sums = {"xy": (x * matrix.codes).sum(axis=1), "xx": (x**2).sum(axis=1), "n_records": present.sum(axis=1)}
    return pd.DataFrame({"model": matrix.model, "case": matrix.cases, **sums})


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
    ``voices`` §5: r = 0.51 for accuracy, r = -0.06 (p = 0.85) for NAG, over 12 models.

    Examples
    --------
    >>> nag = pd.Series({"Llama-3.2-3B-Instruct": 0.136, "Llama-3.1-8B-Instruct": 0.151, "gemma-3-12b-it": 0.095})
    >>> sizes = {"Llama-3.2-3B-Instruct": 3.2, "Llama-3.1-8B-Instruct": 8.0, "gemma-3-12b-it": 12.2}
    >>> found = size_correlation(nag, sizes)
    >>> round(found.r, 2), found.n
    (-0.68, 3)
    """
    if not values.index.is_unique:
        raise DataError(
            f"model {values.index[values.index.duplicated()][0]!r} occurs twice; one value each is expected"
        )
    pairs = pd.DataFrame({"value": values, "size": pd.Series(dict(parameters), dtype=float).reindex(values.index)})
    known = pairs.dropna().astype(float)
    left_out = [str(model) for model in pairs.index.difference(known.index)]
    notes = [f"left out, no value or no size: {', '.join(left_out)}"] * bool(left_out)
    undefined = [f"n = {len(known)}: undefined for fewer than three models"] * (len(known) < 3)
    undefined += ["undefined: all values or all sizes are equal"] * (
        len(known) >= 3 and bool((known.nunique() == 1).any())
    )
    if undefined:
        return Correlation(nan, nan, nan, nan, len(known), "; ".join(undefined + notes))
    found = stats.pearsonr(known["value"], known["size"])
    numbers = (found.statistic, *found.confidence_interval(0.95), found.pvalue)
    return Correlation(*map(float, numbers), len(known), "; ".join(notes))
