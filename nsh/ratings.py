"""The physicians' ratings of the retellings: how far raters agree, and whether voices differ (`facts` Appendix I).

Where voices are compared, the ratings of several raters are stacked, as in the paper, whose tests take two ratings of
one encounter (a question in one voice) for independent.
"""

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nsh.accuracies import OVERALL
from nsh.case_fields import identifier, text, wrong
from nsh.case_files import read_file
from nsh.errors import DataError
from nsh.matrix import order_voices, tidy
from nsh.voices import released_names

RATINGS = "Annotations/stats_output_final/merged_aligned_annotations.csv"
REALISM, FACTS, REGISTER = "narrative_realism_likert", "facts_preserved_binary", "register_matches_persona"
NUMBERS = dict.fromkeys(("exact_pct", "adjacent_pct", "signed_difference", "alpha", "icc"), "float64")
AGREEMENT = {"voice": None, "n_raters": "int64", "n": "int64", **NUMBERS, "note": None}
TESTS = {"test": None, "a": None, "b": None, "n": "int64", "higher_a": "Int64", "higher_b": "Int64"}
TESTS |= {"statistic": "float64", "p": "float64", "p_bonferroni": "float64", "note": None}


def load_ratings(path: str | Path) -> pd.DataFrame:
    """Load a .csv file with a row per encounter: `question_id`, `persona`, and a column `<item>__<rater>` each.

    The first word of `persona` names the voice; a blank cell is a missing rating. The frame that is returned has one
    row per rating: `case`, `voice`, `item`, `rater`, `rating`.

    Raises
    ------
    MissingDataError
        If there is no such file.
    DataError
        If a row lacks its question or voice, a rating is no number, or an encounter comes twice.
    """
    names, rows = released_names(), []
    for where, row in read_file(path):
        case = identifier("question_id", row.get("question_id"), where)
        voice = text("persona", row.get("persona"), where).split()[0]
        for column in (name for name in row if "__" in name and row[name].strip()):
            if not re.fullmatch(r"-?\d+(\.\d+)?", row[column].strip()):
                raise wrong(where, column, "a number or nothing", row[column])
            rows.append([case, names.get(voice, voice), *column.split("__", 1), float(row[column])])
    ratings = pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"])
    if (twice := ratings.duplicated(["case", "voice", "item", "rater"])).any():
        first = ratings[twice].iloc[0]
        raise DataError(f"{path}: expected one row per question and voice; {first.case}, {first.voice} comes twice")
    return ratings


def realism_agreement(ratings: pd.DataFrame, raters: Sequence[str] = (), item: str = REALISM) -> pd.DataFrame:
    """How far raters agree, over all encounters and voice by voice.

    Any raters, voices and scale will do; `raters` are all of the item's unless given.

    Returns
    -------
    DataFrame
        One row for all voices ("overall") and per voice: `n_raters`, `n` (encounters rated by all of them, to which
        the per cents, the difference and ICC refer), `exact_pct` and `adjacent_pct` (ratings equal, or at most 1
        apart), `signed_difference` (mean of first less second rater; two raters only), `alpha` (Krippendorff's,
        ordinal, over all encounters rated twice), `icc` (ICC(2,1): two-way random effects, single rating, absolute
        agreement) and `note`.

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

    The parameters are those of `realism_agreement`.

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


def facts_ratings(ratings: pd.DataFrame) -> pd.Series:
    """The numbers of ``facts`` §2.3 and Appendix I, as the packaged file of its numbers names them.

    Agreement and counts are those of the informative raters, whose ratings of realism vary; `mean_<voice>` is over all.
    """
    rated = {item: rows for item, rows in ratings.groupby("item")}
    realism = rated[REALISM]
    means = realism.groupby(["rater", "voice"])["rating"].mean().unstack()
    ordered = (means[list(order_voices(means.columns))].diff(axis=1).iloc[:, 1:] < 0).all(axis=1)
    varies = realism.groupby("rater")["rating"].nunique() > 1
    flat = realism.loc[~realism["rater"].map(varies), "rating"]
    numbers = {"n_annotators": len(varies), "n_informative": varies.sum(), "n_zero_variance_raters": (~varies).sum()}
    numbers |= {"ceiling_items": len(flat), "ceiling_rating": flat.mean(), "ceiling_sd": flat.std()}
    numbers |= {"n_rated_questions": realism["case"].nunique(), "n_ratings": len(realism)}
    numbers |= {"n_rated_encounters": len(realism) / len(varies), "ordering_every_annotator": ordered.sum()}
    for name, item in (("facts_preserved", FACTS), ("register_match", REGISTER)):
        shares = rated[item].groupby("rater")["rating"].mean()
        numbers |= {f"{name}_pct": 100 * shares.mean(), f"{name}_raters": (shares == 1).sum()}
    for suffix, raters in (("all_raters", varies.index), ("informative", varies.index[varies])):
        agreement, tests = realism_agreement(ratings, raters).set_index("voice"), rating_tests(ratings, raters)
        pooled = realism[realism["rater"].isin(raters)].groupby("voice")["rating"].mean()
        numbers |= pooled.add_prefix("mean_" if suffix == "all_raters" else "mean_informative_")
        numbers |= {f"kruskal_h_{suffix}": tests["statistic"][0], f"kruskal_p_{suffix}": tests["p"][0]}
        numbers[f"mannwhitney_p_{suffix}"] = tests.loc[tests["test"] == "Mann-Whitney", "p_bonferroni"].max()
        numbers |= agreement.loc[OVERALL, ["alpha", "icc"]].add_suffix("_" + suffix.removesuffix("_raters"))
    for measure in ("exact_pct", "adjacent_pct", "signed_difference"):
        numbers |= agreement[measure].rename(lambda voice, m=measure: m if voice == OVERALL else f"{m}_{voice}")
    for row in tests[tests["test"] == "Wilcoxon"].itertuples():
        higher = {row.a: row.higher_a, row.b: row.higher_b}
        numbers |= {f"n_higher_{rater.lower().replace('_', '')}": count for rater, count in higher.items()}
        numbers["wilcoxon_p"] = row.p
    return pd.Series(numbers, dtype=float)


def _wide(ratings: pd.DataFrame, raters: Sequence[str], item: str) -> pd.DataFrame:
    """Ratings of one item: a row per voice and case, a column per rater."""
    rated = ratings[ratings["item"] == item]
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
