"""Agreement between voices, pair by pair: McNemar's test of correctness and Cohen's kappa."""

from collections.abc import Iterator, Sequence
from math import nan

import numpy as np
import pandas as pd

from nsh.discordance import discordance_note, mcnemar_corrected, mcnemar_exact
from nsh.errors import ParameterError
from nsh.matrix import RUN, VoiceMatrix, tidy, voice_matrices

PAIR = dict.fromkeys([*RUN, "voice_a", "voice_b"]) | {"n": "int64"}
MCNEMAR_COLUMNS = PAIR | {"b": "int64", "c": "int64", "n_discordant": "int64", "note": None}
KAPPA_COLUMNS = PAIR | {"kappa": "float64", "agreement": "float64", "note": None}


def mcnemar(records: pd.DataFrame, reference: str = "clinical", alpha: float = 0.05) -> pd.DataFrame:
    """McNemar's test for every pair of voices, per model and condition.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    reference : str
        The unmarked voice; its pairs come first.
    alpha : float
        Level of the ``significant`` columns.

    Returns
    -------
    DataFrame
        One row per model, condition and pair: ``n`` cases answered in both voices, ``b`` (right in voice_a only),
        ``c`` (right in voice_b only), ``n_discordant`` = b + c, ``p_exact`` (two-sided binomial, at most 1), ``p_chi2``
        (chi-square with continuity correction, (abs(b − c) − 1)² / (b + c), also where b = c), and that p times the
        number of tests: of the same model and condition (``p_bonferroni_model``), of the same condition
        (``p_bonferroni_all``), of the same condition against the reference (``p_bonferroni_reference``; missing for
        other pairs). ``significant`` says whether p_chi2 is below alpha; ``significant_model``, ``_all`` and
        ``_reference`` say it of the corrected p. ``note`` explains p = 1 without discordant pairs, and n = 0, and
        counts the cases that lack one of the two voices.

    Raises
    ------
    ParameterError
        No record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``facts`` Tables 4 and 8 (uncorrected; 21 tests jointly in §4.1). ``voices`` §5: per model over three pairs, and
    over all 24 control-versus-marked tests (``p_bonferroni_reference``). Tables with b = c show that ``facts`` corrects
    there too: BioMistral's p = 0.6831 in Table 8 is b = c = 3.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> third = mcnemar(from_patterns(["B1"])).iloc[2]
    >>> print(f"{third.voice_a}, {third.voice_b}: b = {third.b}, c = {third.c}, p = {third.p_chi2:.4f}")
    socioeconomic, cultural: b = 132, c = 92, p = 0.0092
    """
    rows = []
    for pair, codes, left_out in _pairs(voice_matrices(records, reference=reference)):
        n, b, c = len(codes), int((codes[:, 0] > codes[:, 1]).sum()), int((codes[:, 0] < codes[:, 1]).sum())
        note = "; ".join(filter(None, [discordance_note(n, b, c), left_out]))
        rows.append({**pair, "n": n, "b": b, "c": c, "n_discordant": b + c, "note": note})
    frame = tidy(rows, MCNEMAR_COLUMNS)
    tested, against = frame["n"] > 0, frame["voice_a"] == reference
    for name, test in (("p_exact", mcnemar_exact), ("p_chi2", mcnemar_corrected)):
        frame[name] = np.where(tested, test(frame["b"].to_numpy(), frame["c"].to_numpy()), nan)
    for name, member, keys in (
        ("model", tested, RUN),
        ("all", tested, RUN[1:]),
        ("reference", tested & against, RUN[1:]),
    ):
        number = member.groupby([frame[key] for key in keys], observed=True).transform("sum")
        frame[f"p_bonferroni_{name}"] = (frame["p_chi2"] * number).clip(upper=1).where(member)
    for suffix in ("", "_model", "_all", "_reference"):
        p = frame[f"p_bonferroni{suffix}" if suffix else "p_chi2"]
        frame[f"significant{suffix}"] = (p < alpha).astype("boolean").mask(p.isna())
    return frame.assign(note=frame.pop("note"))


def _pairs(matrices: Sequence[VoiceMatrix]) -> Iterator[tuple[dict[str, str], np.ndarray, str]]:
    """Every pair of voices: its key, the codes of the cases with a record in both, and the note on all other cases."""
    for matrix in matrices:
        for a, b in matrix.pairs():
            key = {"model": matrix.model, "condition": matrix.condition, "voice_a": a, "voice_b": b}
            codes = matrix.pair(a, b)
            missing = len(matrix.cases) - len(codes)
            yield key, codes, f"{missing} cases without both voices left out" * bool(missing)


def kappa(records: pd.DataFrame, on: str = "letter", reference: str = "clinical") -> pd.DataFrame:
    """Cohen's kappa between the answers in two voices, for every pair, per model and condition.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    on : {"letter", "correct"}
        What the two voices agree on. ``voices`` compares letters, ``facts`` right/wrong: two different wrong letters
        agree in the second and not in the first. An answer without a letter is kept, with "no letter" as a label of
        its own (no paper says what it does with them), and ``note`` counts them.
    reference : str
        The unmarked voice; its pairs come first.

    Returns
    -------
    DataFrame
        One row per model, condition and pair: ``n`` cases answered in both voices, ``kappa``, ``agreement`` (raw
        proportion) and ``note``. Kappa is undefined where both voices have one and the same label throughout.

    Raises
    ------
    ParameterError
        ``on`` is neither "letter" nor "correct", or no record is in the reference voice.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``voices`` §4 (letters); ``facts`` Tables 4 and 8 (correctness).

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> kappa(from_patterns(["B1"]), on="correct")["kappa"].round(4).tolist()[:3]
    [0.4327, 0.3904, 0.5349]
    """
    if on not in ("letter", "correct"):
        raise ParameterError(f"on = {on!r}: 'letter' or 'correct' is expected")
    matrices = voice_matrices(records, on, reference, needs=("status",))
    counted = records.loc[records["status"] == "pattern", ["model", "condition"]]
    letterless = set(counted.itertuples(index=False, name=None)) if on == "letter" else set()
    rows = []
    for pair, labels, left_out in _pairs(matrices):
        if (pair["model"], pair["condition"]) in letterless:
            rows.append({**pair, "n": 0, "note": "undefined: pattern counts hold no letters"})
        else:
            row = _kappa(labels, int((labels == 0).sum()) if on == "letter" else 0)
            rows.append({**pair, **row, "note": "; ".join(filter(None, [row["note"], left_out]))})
    return tidy(rows, KAPPA_COLUMNS)


def _kappa(labels: np.ndarray, n_missing: int) -> dict:
    """Kappa, raw agreement and note of an array (n, 2) of labels coded 0, 1, …"""
    n = len(labels)
    if n == 0:
        return {"n": 0, "note": "n = 0"}
    notes = [f"{n_missing} answers without a letter kept as a label of their own"] if n_missing else []
    marginals = [np.bincount(column, minlength=labels.max() + 1) for column in labels.T]
    by_chance, equal = int(marginals[0] @ marginals[1]), int((labels[:, 0] == labels[:, 1]).sum())
    row = {"n": n, "agreement": equal / n}
    if by_chance == n**2:
        notes.insert(0, "undefined: constant labels")
    else:
        row["kappa"] = (equal * n - by_chance) / (n**2 - by_chance)
        if max(map(max, marginals)) == n:
            notes.insert(0, "one voice's labels are constant: kappa is 0 whatever the agreement")
    return row | {"note": "; ".join(notes)}
