"""Rater agreement and tests against published examples, brute force, statsmodels, and `facts` Appendix I."""

import numpy as np
import pandas as pd
import pytest

from nsh.comparison import compare_printed
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.rater_agreement import rating_tests, realism_agreement
from nsh.ratings import RATINGS, REALISM, facts_ratings, load_ratings

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": 4 observers, 12 units; ordinal 0.815 (unchecked)
KRIPPENDORFF = ["1233214 12...", "1233224 125.3", ".333234 2251.", "1233244 1251."]
# Shrout & Fleiss (1979): 6 targets, 4 judges; ICC(2,1) = 0.29 (unchecked)
SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
HEAD = "question_id,persona,x__r1,x__r2"


def rated(table, voices=("clinical",)) -> pd.DataFrame:
    """Ratings of an array, encounters × raters, dealt out to the voices in turn; nan is a missing rating."""
    table = np.asarray(table, dtype=float)
    rows = [
        (f"q{row // len(voices)}", voices[row % len(voices)], REALISM, f"r{rater + 1}", table[row, rater])
        for row in range(len(table))
        for rater in range(table.shape[1])
    ]
    return pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"]).dropna()


@pytest.fixture
def write(tmp_path):
    def written(*lines):
        path = tmp_path / "ratings.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return written


@pytest.fixture
def numbers(released) -> pd.Series:
    return facts_ratings(load_ratings(released / RATINGS))


def test_agreement_equals_table_11(numbers):
    """`facts` Table 11."""
    printed = {"alpha_all": "-0.014", "alpha_informative": "0.226", "exact_pct": "42.0", "adjacent_pct": "85.3"}
    rows = {"clinical": ("74.0", "95.0", "-0.32"), "socioeconomic": ("34.0", "91.0", "-0.49")}
    rows["cultural"] = ("18.0", "70.0", "-1.04")
    for voice, cells in rows.items():
        names = ("exact_pct", "adjacent_pct", "signed_difference")
        printed |= {f"{name}_{voice}": cell for name, cell in zip(names, cells, strict=True)}
    printed |= {"facts_preserved_pct": "100", "register_match_pct": "100", "facts_preserved_raters": "3"}
    assert [name for name, cell in printed.items() if not compare_printed(numbers[name], cell)] == []


def test_h_and_means_come_out_over_all_three_raters_only(numbers):
    """Printed, `facts` Appendix I: H = 138.69 and means 4.89, 4.64, 4.19, of "the two annotators" that vary."""
    printed = {"kruskal_h_all_raters": "138.69", "n_higher_annotator3": "157", "n_higher_annotator1": "17"}
    printed |= {"mean_clinical": "4.89", "mean_socioeconomic": "4.64", "mean_cultural": "4.19"}
    assert all(compare_printed(numbers[name], cell) for name, cell in printed.items())
    assert round(numbers["kruskal_h_informative"], 2) == 176.06
    two = [numbers[f"mean_informative_{voice}"] for voice in ("clinical", "socioeconomic", "cultural")]
    assert np.round(two, 3).tolist() == [4.84, 4.465, 3.78]
    assert numbers[["kruskal_p_all_raters", "wilcoxon_p", "mannwhitney_p_all_raters"]].max() < 0.0001
    assert numbers[["n_informative", "ordering_every_annotator", "ceiling_items", "ceiling_sd"]].tolist() == [
        2,
        2,
        300,
        0,
    ]


def test_alpha_equals_krippendorffs_example_and_the_definition():
    table = np.array([[np.nan if c == "." else float(c) for c in line.replace(" ", "")] for line in KRIPPENDORFF]).T
    found = realism_agreement(rated(table)).iloc[0]
    assert round(found["alpha"], 3) == 0.815
    units = [unit[~np.isnan(unit)] for unit in table if (~np.isnan(unit)).sum() > 1]
    values = np.concatenate(units)
    count = {value: (values == value).sum() for value in np.unique(values)}

    def apart(a, b):
        """Squared ordinal difference: ranks between two values, the ends half."""
        between = sum(n for value, n in count.items() if min(a, b) <= value <= max(a, b))
        return 0 if a == b else (between - (count[a] + count[b]) / 2) ** 2

    observed = sum(apart(a, b) / (len(unit) - 1) for unit in units for a in unit for b in unit)
    expected = sum(apart(a, b) for a in values for b in values) / (len(values) - 1)
    assert found["alpha"] == pytest.approx(1 - observed / expected)
    assert found["n"] == 8  # units 2 to 9: those that all four observers code


def test_icc_equals_shrout_and_fleiss_and_an_analysis_of_variance():
    """Formula with mean squares: R package psych, help page of ICC. Mean squares: statsmodels."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    ratings = rated(SHROUT)
    found = realism_agreement(ratings).iloc[0]["icc"]
    assert round(found, 2) == 0.29
    table = anova_lm(ols("rating ~ C(case) + C(rater)", ratings).fit())
    rows, raters, error = table["sum_sq"] / table["df"]
    assert found == pytest.approx((rows - error) / (rows + 3 * error + 4 * (raters - error) / 6))


def test_agreement_by_hand():
    """Differences 0, 1, 2, missing: a third exact, two thirds adjacent, mean difference -1."""
    found = realism_agreement(rated([[5, 5], [3, 4], [1, 3], [2, np.nan]])).iloc[0]
    assert (found["n"], found["n_raters"]) == (3, 2)
    assert found["exact_pct"] == pytest.approx(100 / 3)
    assert found["adjacent_pct"] == pytest.approx(200 / 3)
    assert found["signed_difference"] == -1


def test_constant_ratings_one_rater_and_no_ratings_are_undefined():
    constant = realism_agreement(rated([[1, 1], [1, 1]])).iloc[0]
    assert (constant["exact_pct"], constant["note"]) == (100, "alpha and ICC undefined: all ratings equal")
    assert np.isnan([constant["alpha"], constant["icc"]]).all()
    assert realism_agreement(rated([[1], [2]])).iloc[0]["note"] == "undefined: one rater"
    assert realism_agreement(rated([[1, np.nan], [np.nan, 2]])).iloc[0]["note"] == "n = 0"
    assert realism_agreement(rated([[1, 2]]).iloc[:0])["note"].tolist() == ["n = 0"]
    single = realism_agreement(rated([[1, 2]])).iloc[0]
    assert (single["n"], single["note"]) == (1, "n = 1: ICC undefined")


def test_tests_where_nothing_differs_are_undefined_without_warnings():
    notes = rating_tests(rated([[5, 5]] * 6, ("clinical", "cultural")))["note"]
    assert notes.tolist() == ["undefined: nothing differs"] * 3
    one_voice = rating_tests(rated([[1, 2], [3, 5]]))
    assert one_voice["note"].tolist() == ["undefined: nothing differs", ""]
    assert rating_tests(rated([[1, 2]]).iloc[:0])["note"].tolist() == ["n = 0"]


def test_ratings_that_lack_a_column_or_come_twice_are_refused():
    with pytest.raises(DataError, match="ratings lack the column 'rater'"):
        realism_agreement(rated([[1, 2]]).drop(columns="rater"))
    with pytest.raises(DataError, match="2 ratings occur twice"):
        rating_tests(pd.concat([rated([[1, 2]])] * 2))
    with pytest.raises(DataError, match="2 ratings occur twice"):
        facts_ratings(pd.concat([rated([[1, 2]])] * 2))


def test_a_voice_named_as_the_row_over_all_is_refused():
    for statistic in (realism_agreement, rating_tests):
        with pytest.raises(DataError, match="a voice of the ratings is named 'overall'"):
            statistic(rated([[1, 2], [2, 1]], ("clinical", "overall")))


def test_an_unknown_item_or_rater_is_refused_and_the_nearest_named():
    with pytest.raises(ParameterError, match="item 'realism' is in no rating; did you mean 'narrative_realism_likert'"):
        realism_agreement(rated([[1, 2]]), item="realism")
    with pytest.raises(ParameterError, match=r"rater 'R2' is in no rating; did you mean 'r2'\? Known: r1, r2"):
        rating_tests(rated([[1, 2]]), ["r1", "R2"])


@pytest.mark.parametrize("lines", [[], [HEAD], ["question_id,persona", "1,alpha"], [HEAD, "1,alpha,,"]])
def test_a_file_without_ratings_is_named(write, lines):
    with pytest.raises(MissingDataError, match=r"ratings\.csv: expected rows with ratings in columns named"):
        load_ratings(write(*lines))


def test_a_missing_item_is_named():
    with pytest.raises(MissingDataError, match=f"no ratings of facts_preserved_binary; the items rated: {REALISM}"):
        facts_ratings(rated([[1, 2]]))


@pytest.mark.parametrize("voices", [("clinical", "rural"), ("clinical", "a", "b", "c", "d")], ids=["two", "five"])
def test_any_number_of_voices_raters_and_points(voices):
    """Kruskal-Wallis without ties by its definition; Bonferroni over all pairs; Mann-Whitney's U by counting."""
    k, n = len(voices), 12
    table = np.random.default_rng(1).permutation(k * n * 4).reshape(k * n, 4)
    tests = rating_tests(rated(table, voices))
    pairs = k * (k - 1) // 2
    assert tests["test"].value_counts().to_dict() == {"Wilcoxon": 6, "Mann-Whitney": pairs, "Kruskal-Wallis": 1}
    size = table.size
    means = [(table[i::k].ravel() + 1).mean() for i in range(k)]
    h = 12 / (size * (size + 1)) * sum(n * 4 * (mean - (size + 1) / 2) ** 2 for mean in means)
    assert tests["statistic"][0] == pytest.approx(h)
    first = tests.iloc[1]
    assert first["statistic"] == (table[0::k].reshape(-1, 1) > table[1::k].reshape(1, -1)).sum()
    assert first["p_bonferroni"] == pytest.approx(min(1, pairs * first["p"]))
    wilcoxon = tests.iloc[-1]
    assert (wilcoxon["n"], wilcoxon["higher_a"]) == (k * n, (table[:, 2] > table[:, 3]).sum())
    assert realism_agreement(rated(table, voices))["voice"].tolist() == ["overall", *voices]


def test_a_file_is_read_with_blank_cells_as_missing(write):
    ratings = load_ratings(write(HEAD, "1,alpha (pα),5,4", "1,rural,,2.5"))
    assert ratings.values.tolist() == [
        ["1", "clinical", "x", "r1", 5],
        ["1", "clinical", "x", "r2", 4],
        ["1", "rural", "x", "r2", 2.5],
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((HEAD, "1,alpha,5,good"), r"ratings\.csv, row 1, field 'x__r2': expected a number; found 'good'"),
        ((HEAD, "1,alpha,5,4", ",beta,5,4"), r"row 2, field 'question_id'"),
        (("question_id,x__r1", "1,5"), r"row 1, field 'persona'.*found None"),
        ((HEAD, "1,alpha,5,4", "1,alpha,5,4"), "occur twice, the first is case '1', voice 'clinical'"),
        ((HEAD, "1,alpha,5"), "row 1: expected 4 cells"),
    ],
)
def test_bad_rows_are_named(write, lines, message):
    with pytest.raises(DataError, match=message):
        load_ratings(write(*lines))


def test_no_file_is_named(tmp_path):
    with pytest.raises(MissingDataError, match=r"none\.csv"):
        load_ratings(tmp_path / "none.csv")
