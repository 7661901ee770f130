"""The physicians' ratings of the retellings: their file, and what `facts` §2.3 and Appendix I say of them."""

from pathlib import Path

import pandas as pd

from nsh.accuracies import OVERALL
from nsh.case_fields import data_file, identifier, number, text
from nsh.case_files import read_file
from nsh.errors import MissingDataError
from nsh.matrix import check_columns, order_voices
from nsh.rater_agreement import REALISM, rating_tests, realism_agreement
from nsh.voices import released_names

RATINGS = "Annotations/stats_output_final/merged_aligned_annotations.csv"
RATING = ("case", "voice", "item", "rater")
FACTS, REGISTER = "facts_preserved_binary", "register_matches_persona"


def load_ratings(path: str | Path) -> pd.DataFrame:
    """Load the raters' file.

    Parameters
    ----------
    path : str or pathlib.Path
        A .csv file with a row per encounter: `question_id`, `persona` (the voice, or text whose first word is its name
        in the release) and a column `<item>__<rater>` each, in which a blank cell is a missing rating.

    Returns
    -------
    DataFrame
        One row per rating: `case`, `voice`, `item`, `rater`, `rating`.

    Raises
    ------
    MissingDataError
        If there is no such file, or no rating in it.
    DataError
        If a row lacks its question or voice or a rating is no number (file, row and column are named), or an encounter
        comes twice.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "ratings.csv")
    >>> _ = file.write_text("question_id,persona,x__r1,x__r2\\n1,alpha,5,")
    >>> load_ratings(file).values.tolist()
    [['1', 'clinical', 'x', 'r1', 5.0]]
    """
    names, rows = released_names(), []
    for where, row in read_file(data_file(path)):
        case = identifier("question_id", row.get("question_id"), where)
        persona = text("persona", row.get("persona"), where).strip()
        voice = names.get(persona.split()[0], persona)
        for column in (name for name in row if "__" in name):
            rows.append([case, voice, *column.split("__", 1), number(column, row[column], where)])
    ratings = pd.DataFrame(rows, columns=[*RATING, "rating"])
    check_columns(ratings, [], f"ratings of {path}", once=RATING)
    if (ratings := ratings.dropna(ignore_index=True)).empty:
        raise MissingDataError(f"{path}: expected rows with ratings in columns named <item>__<rater>; found no rating")
    return ratings


def facts_ratings(ratings: pd.DataFrame) -> pd.Series:
    """The numbers of ``facts`` §2.3 and Appendix I, as the packaged files of its numbers name them.

    Parameters
    ----------
    ratings : DataFrame
        As `load_ratings` gives them, of the three items of the paper; any raters and voices will do.

    Returns
    -------
    Series
        By id. Agreement and counts are of the informative raters, whose ratings of realism vary; what is marked
        "all_raters" or "all", `mean_<voice>` and the per cents of facts and register are over all. Without variation
        among ratings, or with other than two informative raters, what is undefined is missing.

    Raises
    ------
    MissingDataError
        If there are no ratings of one of the three items.
    DataError
        If a column is missing, a rating comes twice, or a voice is named "overall".

    References
    ----------
    ``facts`` §2.3, Table 11, Appendix I.

    Examples
    --------
    >>> rows = [("1", "clinical", item, r, n) for item in (REALISM, FACTS, REGISTER) for r, n in [("r1", 1), ("r2", 1)]]
    >>> numbers = facts_ratings(pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"]))
    >>> numbers[["n_annotators", "n_informative", "ceiling_rating"]].tolist()
    [2.0, 0.0, 1.0]
    """
    check_columns(ratings, ["rating"], "ratings", once=RATING)
    if absent := sorted({REALISM, FACTS, REGISTER} - set(ratings["item"])):
        held = ", ".join(sorted(set(ratings["item"]))) or "none"
        raise MissingDataError(f"there are no ratings of {absent[0]}; the items rated: {held}")
    wide = ratings[ratings["item"] == REALISM].pivot(index=["voice", "case"], columns="rater", values="rating")
    varies = wide.nunique() > 1
    means, flat = wide.groupby("voice").mean(), wide.loc[:, ~varies].stack()
    shares = ratings.groupby(["item", "rater"])["rating"].mean().unstack()
    numbers = {"n_annotators": len(varies), "n_informative": varies.sum(), "n_zero_variance_raters": (~varies).sum()}
    numbers |= {"ceiling_items": len(flat), "ceiling_rating": flat.mean(), "ceiling_sd": flat.std()}
    numbers |= {"n_rated_questions": wide.index.unique("case").size, "n_rated_encounters": len(wide)}
    numbers["n_ratings"] = wide.count().sum()
    numbers["ordering_every_annotator"] = (means.loc[list(order_voices(means.index))].diff()[1:] < 0).all().sum()
    for name, item in (("facts_preserved", FACTS), ("register_match", REGISTER)):
        numbers |= {f"{name}_pct": 100 * shares.loc[item].mean(), f"{name}_raters": (shares.loc[item] == 1).sum()}
    for suffix, raters in (("all_raters", varies.index), ("informative", varies.index[varies])):
        agreement, tests = realism_agreement(ratings, raters).set_index("voice"), rating_tests(ratings, raters)
        numbers |= {f"kruskal_h_{suffix}": tests["statistic"][0], f"kruskal_p_{suffix}": tests["p"][0]}
        numbers[f"mannwhitney_p_{suffix}"] = tests.loc[tests["test"] == "Mann-Whitney", "p_bonferroni"].max()
        numbers[f"alpha_{suffix.removesuffix('_raters')}"] = agreement.at[OVERALL, "alpha"]
        pooled = wide[raters].stack().groupby("voice").mean()
        numbers |= pooled.add_prefix("mean_informative_" if suffix == "informative" else "mean_")
    for measure in ("exact_pct", "adjacent_pct", "signed_difference"):
        numbers |= agreement[measure].rename(lambda voice, m=measure: m if voice == OVERALL else f"{m}_{voice}")
    for row in tests[tests["test"] == "Wilcoxon"].itertuples():
        for rater, higher in ((row.a, row.higher_a), (row.b, row.higher_b)):
            numbers[f"n_higher_{rater.lower().replace('_', '')}"] = higher
        numbers["wilcoxon_p"] = row.p
    return pd.Series(numbers, dtype=float)
