"""Decision Stability Score (DSS): how alike the full responses to the voices of one question are.

`facts` names it so in its abstract; §3.4, which defines it, says "Diagnostic Stability Score".
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import nan

import numpy as np
import pandas as pd

from nsh.case_fields import LETTERS
from nsh.embeddings import minilm
from nsh.errors import ParameterError
from nsh.matrix import tidy, voice_matrices
from nsh.retellings import fold

Encoder = Callable[[Sequence[str]], np.ndarray]
BELOW = 0.80  # a question with a lower score is "severely unstable"
KEYS = {"model": None, "condition": None}
SCORES = KEYS | {"case": None, "n": "int64", "dss": "float64", "letter_only": "bool", "empty": "bool"}
SUMMARY = KEYS | {"n": "int64", "dss": "float64", "below_pct": "float64", "note": None}


def dss(records: pd.DataFrame, encode: Encoder = minilm, answer_only: bool = False) -> pd.DataFrame:
    """Mean pairwise cosine similarity of a case's responses over its voices.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice, with the full response as `text`.
    encode : callable
        From m texts to unit vectors, shape (m, d). Every distinct text of the records is encoded once.
    answer_only : bool
        Whether the run behind the records stopped replies once their letter was settled, which the records do not
        show: pages pass ``study.values["answer_only"]``. DSS is defined on full responses, so records other than
        released ones are then refused.

    Returns
    -------
    DataFrame
        One row per model, condition and case: `n` (voices with a response; an empty one counts, a missing one does
        not), `dss` (missing where a voice of the records has no response, or where there is one voice only),
        `letter_only` (every response is one option letter, punctuation aside) and `empty` (every response is).

    Raises
    ------
    ParameterError
        If `answer_only` is set and the records hold a run.
    DataError
        The records lack a column, or a case occurs twice in one voice.

    References
    ----------
    ``facts`` §3.4.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "direct", "case": "1", "correct": True, "text": "B"}
    >>> records = records_frame([row | {"voice": "clinical"}, row | {"voice": "rural"}])
    >>> dss(records, encode=lambda texts: np.eye(len(texts)))[["n", "dss", "letter_only"]].values.tolist()
    [[2, 1.0, True]]
    """
    matrices = voice_matrices(records, value="text", reference=None, needs=("source",))
    if answer_only and (records["source"] != "released").any():
        raise ParameterError("DSS takes full responses, and these stopped at their letter: run with answer_only off")
    texts = list(pd.factorize(records["text"])[1])  # in the order of their codes
    encoded = np.asarray(encode(texts), dtype=float) if texts else np.empty((0, 1))
    vectors = np.vstack([np.full(encoded.shape[1], nan), encoded])  # in place 0, as in the codes: no response
    letters = set(LETTERS.casefold())  # an answer is a letter, punctuation aside
    letter_only = np.array([False, *(fold(text) in letters for text in texts)])
    empty = np.array([False, *(not text.strip() for text in texts)])
    frames = []
    for matrix in matrices:
        codes = matrix.codes.clip(0)
        columns = {"model": matrix.model, "condition": matrix.condition, "case": matrix.cases}
        columns |= {"n": (codes > 0).sum(axis=1), "dss": _mean_cosine(vectors[codes])}
        columns |= {"letter_only": letter_only[codes].all(axis=1), "empty": empty[codes].all(axis=1)}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True) if frames else tidy([], SCORES)


def dss_summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean score and share of severely unstable questions.

    Parameters
    ----------
    scores : DataFrame
        As `dss` gives it.

    Returns
    -------
    DataFrame
        One row per model and condition: `n` (cases with a score), `dss` (mean), `below_pct` (per cent of n below
        0.80) and `note`, which counts the cases without a score and, of those with one, how many compare single
        letters and how many empty responses.

    References
    ----------
    ``facts`` Tables 3, 5, 6 and 10; the note to Table 6 says that the 1.0000 of BioMistral's B3 compares empty
    responses.

    Examples
    --------
    >>> row = {"model": "m", "condition": "direct", "n": 3, "letter_only": False, "empty": False}
    >>> scores = pd.DataFrame([row | {"case": "1", "dss": 0.9}, row | {"case": "2", "dss": 0.5}])
    >>> dss_summary(scores)[["n", "dss", "below_pct"]].values.tolist()
    [[2.0, 0.7, 50.0]]
    """
    rows = []
    for (model, condition), group in scores.groupby(["model", "condition"], sort=False):
        scored = group[group["dss"].notna()]
        n, known, letters, empty = len(scored), scored["dss"], sum(scored["letter_only"]), sum(scored["empty"])
        notes = ["n = 0"] * (n == 0)
        notes += [f"{len(group) - n} cases without two or more responses, one per voice, left out"] * (n < len(group))
        notes += [f"in {letters} of {n} cases every response is a single letter"] * (letters > 0)
        notes += [f"in {empty} of {n} cases every response is empty, which scores 1"] * (empty > 0)
        row = {"model": model, "condition": condition, "n": n, "note": "; ".join(notes)}
        rows.append(row | ({"dss": known.mean(), "below_pct": 100 * (known < BELOW).mean()} if n else {}))
    return tidy(rows, SUMMARY)


def letter_changes(letters: str = "ABCD", voices: int = 3, encode: Encoder = minilm) -> pd.DataFrame:
    """What DSS sees where responses are single letters: the cost of one voice answering another letter.

    With k voices, k - 1 of the k (k - 1) / 2 pairs differ, so the score is 1 - (2 / k) (1 - cosine).

    Parameters
    ----------
    letters : str
        The options.
    voices : int
        k.
    encode : callable
        As for `dss`.

    Returns
    -------
    DataFrame
        One row per pair of letters: `letter_a`, `letter_b`, `cosine`, `dss` (of a question that k - 1 voices answer
        with the one letter and one voice with the other) and `n` (k).

    Raises
    ------
    ParameterError
        If there are fewer than two voices.

    Examples
    --------
    >>> letter_changes("AB", voices=3, encode=lambda texts: np.eye(len(texts)))["dss"].round(4).tolist()
    [0.3333]
    """
    if voices < 2:
        raise ParameterError(f"voices = {voices}: at least 2 are expected, since DSS compares pairs")
    vectors = dict(zip(letters, np.asarray(encode(list(letters)), dtype=float), strict=True))
    pairs = pd.DataFrame(combinations(letters, 2), columns=["letter_a", "letter_b"])
    cosines = pd.Series([vectors[a] @ vectors[b] for a, b in pairs.values], dtype=float)
    return pairs.assign(cosine=cosines, dss=1 - 2 / voices * (1 - cosines), n=voices)


def _mean_cosine(units: np.ndarray) -> np.ndarray:
    """Mean cosine over the pairs of k unit vectors, shape (m, k, d) to (m,): |Σu|² = Σ|u|² + 2 · sum of cosines."""
    k = units.shape[1]
    if k < 2:
        return np.full(len(units), nan)
    return ((units.sum(axis=1) ** 2).sum(axis=-1) - (units**2).sum(axis=(1, 2))) / (k * (k - 1))
