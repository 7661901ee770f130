"""How far raters of retellings agree, and whether their ratings differ between voices (`facts` Appendix I).

Where voices are compared, the ratings of several raters are stacked, as in the paper, whose tests take two ratings of
one encounter (a question in one voice) for independent.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nsh.accuracies import OVERALL
from nsh.declared import nearest
from nsh.errors import DataError, ParameterError
from nsh.matrix import check_columns, order_voices, tidy

REALISM = "narrative_realism_likert"
NUMBERS = dict.fromkeys(("exact_pct", "adjacent_pct", "signed_difference", "alpha", "icc"), "float64")
AGREEMENT = {"voice": None, "n_raters": "int64", "n": "int64", **NUMBERS, "note": None}
TESTS = {"test": None, "a": None, "b": None, "n": "int64", "higher_a": "Int64", "higher_b": "Int64"}
TESTS |= {"statistic": "float64", "p": "float64", "p_bonferroni": "float64", "note": None}


def realism_agreement(ratings: pd.DataFrame, raters: Sequence[str] = (), item: str = REALISM) -> pd.DataFrame:
    """How far raters agree, over all encounters and voice by voice.

    Parameters
    ----------
    ratings : DataFrame
        One row per `case`, `voice`, `item` and `rater`, with the `rating`; any raters, voices and scale will do.
    raters : sequence of str, optional
        Whom to compare; all of the item's unless given.
    item : str
        What they rated.

    Returns
    -------
    DataFrame
        One row for all voices ("overall") and per voice: `n_raters`, `n` (encounters rated by all of them, to which
        the per cents, the difference and ICC refer), `exact_pct` and `adjacent_pct` (ratings equal, or at most 1
        apart), `signed_difference` (mean of first less second rater; two raters only), `alpha` (Krippendorff's,
        ordinal, over all encounters rated twice), `icc` (ICC(2,1): two-way random effects, single rating, absolute
        agreement) and `note`.

    Raises
    ------
    DataError
        A column is missing, a rating comes twice, or a voice is named "overall".
    ParameterError
        The item, or one of the raters, is in no rating.

    References
    ----------
    ``facts`` Table 11; Shrout & Fleiss (1979) for ICC(2,1).

    Examples
    --------
    >>> rows = [("1", "clinical", "x", "r1", 5), ("1", "clinical", "x", "r2", 4)]
    >>> ratings = pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"])
    >>> realism_agreement(ratings, item="x")[["voice", "n", "exact_pct", "adjacent_pct"]].values.tolist()
    [['overall', 1, 0.0, 100.0], ['clinical', 1, 0.0, 100.0]]
    """
    wide = _wide(ratings, raters, item)
    groups = {OVERALL: wide, **{voice: wide.loc[[voice]] for voice in order_voices(wide.index.unique("voice"))}}
    return tidy([{"voice": voice, **_agreement(group)} for voice, group in groups.items()], AGREEMENT)


def rating_tests(ratings: pd.DataFrame, raters: Sequence[str] = (), item: str = REALISM) -> pd.DataFrame:
    """Tests whether ratings differ between voices (raters stacked), and between raters (encounter by encounter).

    Parameters and errors are those of `realism_agreement`. The tests of voices take all ratings for independent,
    though each rater rates all voices of a question, and several raters one encounter: so does the paper, whose p is
    therefore approximate.

    Returns
    -------
    DataFrame
        One row per test: `test` ("Kruskal-Wallis" over all voices, "Mann-Whitney" per pair of voices, "Wilcoxon"
        signed-rank per pair of raters), `a` and `b` (voices or raters), `n` (ratings, or encounters rated by both),
        `higher_a` and `higher_b` (encounters that the one rater rates higher), `statistic`, `p`, `p_bonferroni` (p
        times the number of pairs, at most 1) and `note`.

    References
    ----------
    ``facts`` Appendix I.

    Examples
    --------
    >>> rows = [(case, voice, "x", "r1", case + add) for case in range(9) for voice, add in [("clinical", 4), ("b", 0)]]
    >>> ratings = pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"])
    >>> rating_tests(ratings, item="x")[["test", "n", "statistic"]].round(2).values.tolist()
    [['Kruskal-Wallis', 18, 6.14], ['Mann-Whitney', 18, 68.5]]
    """
    wide = _wide(ratings, raters, item)
    voices = {
        voice: wide.loc[[voice]].stack().dropna().to_numpy() for voice in order_voices(wide.index.unique("voice"))
    }
    rows = [{"test": "Kruskal-Wallis", **_test(stats.kruskal, [*voices.values()], len(voices) > 1)}]
    pairs = list(combinations(voices, 2))
    for a, b in pairs:
        test = _test(stats.mannwhitneyu, [voices[a], voices[b]], pairs=len(pairs))
        rows.append({"test": "Mann-Whitney", "a": a, "b": b, **test})
    pairs = list(combinations(wide.columns, 2))
    for a, b in pairs:
        x, y = wide[[a, b]].dropna().to_numpy().T
        counts = {"n": len(x), "higher_a": (x > y).sum(), "higher_b": (y > x).sum()}
        test = _test(stats.wilcoxon, [x, y], (x != y).any(), len(pairs))
        rows.append({"test": "Wilcoxon", "a": a, "b": b, **test, **counts})
    return tidy(rows, TESTS)


def _wide(ratings: pd.DataFrame, raters: Sequence[str], item: str) -> pd.DataFrame:
    """Ratings of one item: a row per voice and case, a column per rater."""
    check_columns(ratings, ["rating"], "ratings", once=("case", "voice", "item", "rater"))
    if (ratings["voice"] == OVERALL).any():
        raise DataError(f"a voice of the ratings is named {OVERALL!r}, the name of the row over all voices; rename it")
    rated = ratings[ratings["item"] == item]
    for kind, asked, held in (("item", [item], ratings["item"]), ("rater", raters, rated["rater"])):
        known = sorted(map(str, held.unique()))
        if known and (strange := [name for name in asked if str(name) not in known]):
            near = f"did you mean {nearest(strange[0], known)!r}? Known: {', '.join(known)}"
            raise ParameterError(f"{kind} {strange[0]!r} is in no rating; {near}")
    wide = rated.pivot(index=["voice", "case"], columns="rater", values="rating")
    return wide.reindex(columns=list(raters) or wide.columns)


def _agreement(wide: pd.DataFrame) -> dict[str, Any]:
    """Agreement of the raters in the columns."""
    import krippendorff

    rated = wide.dropna().to_numpy()
    n, k = rated.shape
    row = {"n_raters": k, "n": n}
    if n == 0 or k < 2:
        return row | {"note": "n = 0" if n == 0 else "undefined: one rater"}
    apart = np.ptp(rated, axis=1)
    row |= {"exact_pct": 100 * (apart == 0).mean(), "adjacent_pct": 100 * (apart <= 1).mean()}
    row |= {"signed_difference": (rated[:, 0] - rated[:, 1]).mean()} if k == 2 else {}
    twice = wide[wide.count(axis=1) > 1]
    if twice.stack().nunique() < 2:
        return row | {"note": "alpha and ICC undefined: all ratings equal"}
    row["alpha"] = krippendorff.alpha(reliability_data=twice.T.to_numpy(), level_of_measurement="ordinal")
    return row | {"icc": _icc(rated), "note": "" if n > 1 else "n = 1: ICC undefined"}


def _icc(rated: np.ndarray) -> float:
    """ICC(2,1) of an array (n, k), from the mean squares of encounters, raters and error."""
    (n, k), mean = rated.shape, rated.mean()
    by_row, by_rater = rated.mean(axis=1, keepdims=True) - mean, rated.mean(axis=0) - mean
    squares = k * (by_row**2).sum(), n * (by_rater**2).sum(), ((rated - mean - by_row - by_rater) ** 2).sum()
    rows, raters, error = np.array(squares) / np.maximum((n - 1, k - 1, (n - 1) * (k - 1)), 1)
    total = rows + (k - 1) * error + k * (raters - error) / n
    return (rows - error) / total if n > 1 and total else nan


def _test(test: Callable, groups: list[np.ndarray], varies: bool = True, pairs: int = 1) -> dict[str, Any]:
    """One test and its note."""
    n = sum(map(len, groups))
    if not all(map(len, groups)) or not varies or np.ptp(np.concatenate(groups)) == 0:
        return {"n": n, "note": "undefined: nothing differs" if n else "n = 0"}
    statistic, p = test(*groups)
    return {"n": n, "statistic": statistic, "p": p, "p_bonferroni": min(1, pairs * p), "note": ""}
