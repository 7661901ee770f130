"""The three papers' measures side by side on the same records, and whether they rank methods or models the same."""

from itertools import combinations
from math import isnan, nan

import pandas as pd
from scipy import stats

from nsh.agreement import kappa
from nsh.dss import dss_summary
from nsh.errors import ParameterError
from nsh.gaps import anchoring
from nsh.matrix import RUN, tidy
from nsh.outcomes import case_outcomes

MEASURES = ["accuracy", "gap", "nag", "nse", "cc", "dss", "kappa_letter", "kappa_correct"]
WORSE = {"gap": 1, "nag": 1, "nse": 1, "dss": -1}  # 1 where more is worse, -1 where more is better
RANKS = {"within": None, "measure_a": None, "measure_b": None, "n": "int64", "rho": "float64", "note": None}


def measures(records: pd.DataFrame, scores: pd.DataFrame | None = None, reference: str = "clinical") -> pd.DataFrame:
    """Every measure of the three papers, per model and condition.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    scores : DataFrame, optional
        DSS of the same records, as `nsh.dss.dss` gives it.
    reference : str
        The unmarked voice; all others are marked.

    Returns
    -------
    DataFrame
        One row per model and condition: ``n`` cases answered in every voice, over which are taken ``accuracy`` (of all
        answers), ``gap``, ``nag``, ``nse``, ``cc`` and ``dss`` (mean); ``kappa_letter`` and ``kappa_correct``, the
        means of Cohen's kappa between the reference and each marked voice over the cases answered in both (undefined
        if one of these is). All are proportions or coefficients. ``note`` counts cases left out and answers without a
        letter, and names the measures that are undefined. There is no ``dss`` without ``scores``.

    Raises
    ------
    ParameterError
        No record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (gap, NAG, kappa of letters); ``facts`` §3.4 (DSS) and Table 4 (kappa of correctness); ``sdoh``
    eqs. 1, 2 and 4 (accuracy, CC, NSE).

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = measures(from_patterns(["B1"])).iloc[0]
    >>> print(f"gap {first.gap:.3f}, NAG {first.nag:.3f}, NSE {first.nse:.3f}, kappa {first.kappa_correct:.3f}")
    gap 0.131, NAG 0.151, NSE 0.380, kappa 0.412
    """
    table = case_outcomes(records, resamples=0)[[*RUN, "n", "accuracy", "nse", "cc", "note"]]
    table = table.merge(anchoring(records, reference, resamples=0)[[*RUN, "gap", "nag"]], on=RUN)
    for on in ("letter", "correct"):
        pairs = kappa(records, on, reference).query("voice_a == @reference").groupby(RUN)["kappa"]
        table = table.merge(pairs.agg(lambda values: values.mean(skipna=False)).rename(f"kappa_{on}"), "left", on=RUN)
    if scores is not None:
        table = table.merge(dss_summary(scores)[[*RUN, "dss"]], "left", on=RUN)
    present = [name for name in MEASURES if name in table]
    missing = [", ".join(name for name in present if isnan(row[name])) for row in table.to_dict("records")]
    notes = zip(table["note"], [f"undefined: {names}" * bool(names) for names in missing], strict=True)
    return table.assign(note=["; ".join(filter(None, both)) for both in notes])[[*RUN, "n", *present, "note"]]


def rank_agreement(table: pd.DataFrame, across: str = "condition") -> pd.DataFrame:
    """Spearman's rank correlation between gap, NAG, NSE and DSS: do they put methods, or models, in the same order?

    Parameters
    ----------
    table : DataFrame
        As `measures` gives it.
    across : {"condition", "model"}
        What is ranked: the conditions within each model, or the models within each condition.

    Returns
    -------
    DataFrame
        One row per model (or condition), named ``within``, and pair of measures: ``n`` conditions (or models) where
        both are defined, ``rho`` (1 where both order them alike from best to worst: DSS, of which more is better, is
        turned round) and ``note``. Undefined for fewer than three, or where one measure is the same for all.

    Raises
    ------
    ParameterError
        ``across`` is another.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = rank_agreement(measures(from_patterns(["B1"])), across="model").iloc[0]
    >>> print(f"{first.measure_a}, {first.measure_b} of {first.n} models: {first.rho:.2f}")
    gap, nag of 7 models: 0.96
    """
    if across not in RUN:
        raise ParameterError(f"across = {across!r}: 'condition' or 'model' is expected")
    rows = []
    for within, group in table.groupby(RUN[RUN[0] == across], sort=False):
        for a, b in combinations([name for name in WORSE if name in table], 2):
            pairs = group[[a, b]].dropna().round(12)  # equal numbers are ties, however they were summed
            note = f"n = {len(pairs)}: undefined for fewer than three" * (len(pairs) < 3)
            note = note or "undefined: one measure is the same for all" * bool((pairs.nunique() == 1).any())
            rho = nan if note else WORSE[a] * WORSE[b] * stats.spearmanr(pairs[a], pairs[b]).statistic
            rows.append((within, a, b, len(pairs), rho, note))
    return tidy(rows, RANKS)
