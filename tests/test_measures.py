"""The measures side by side against plain counting and statsmodels, and rank agreement by its formula."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters, random_answers
from statsmodels.stats.inter_rater import cohens_kappa

from nsh.dss import dss
from nsh.errors import DataError, ParameterError
from nsh.measures import measures, rank_agreement
from nsh.patterns import from_patterns
from nsh.printed import by_voice, published

pytestmark = pytest.mark.filterwarnings("error")


def rho(first, second):
    """Spearman's coefficient of numbers without ties: 1 − 6 Σd² / (n (n² − 1))."""
    ranks = [[sorted(numbers).index(number) for number in numbers] for numbers in (first, second)]
    n = len(first)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(*ranks, strict=True)) / (n * (n**2 - 1))


def table_of(**columns):
    """A table of measures of one model in several conditions."""
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"model": "model", "condition": [f"c{number}" for number in range(n)], **columns})


def test_b1_of_facts():
    """Accuracy and NAG of Table 3; kappa as the mean of the printed pairs with the clinical voice of Table 4."""
    found = measures(from_patterns(["B1"])).set_index("model")
    printed = published("facts_table3_b1").set_index("model")
    pairs = by_voice("facts_table4_b1_agreement", "kappa").query("voice_a == 'clinical'")
    kappas = pairs["printed"].astype(float).groupby(pairs["model"]).mean()
    assert len(found) == 7
    for model in found.index:
        assert f"{found.loc[model, 'accuracy']:.4f}" == printed.loc[model, "omr"]
        assert f"{found.loc[model, 'nag']:.4f}" == printed.loc[model, "nag"]
        assert found.loc[model, "kappa_correct"] == pytest.approx(kappas[model], abs=0.00005)
    assert found["note"].str.startswith("letters undefined: pattern counts hold none").all()
    assert found["note"].str.endswith("; undefined: cc, kappa_letter").all()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_column_by_plain_counting(k):
    voices = ["clinical", "socioeconomic", "cultural", "rural", "elderly"][:k]
    letters = np.random.default_rng(k).choice(list("AABCJ"), size=(40, k)).tolist()
    records = pd.concat(
        [from_letters(letters, voices=voices), from_letters(letters[:25], voices=voices, condition="other")]
    )
    records["text"] = records["letter"]
    scores = dss(records, encode=lambda texts: np.eye(len(texts)))
    found = measures(records, scores)
    assert found["n"].tolist() == [40, 25] and (found["note"] == "").all()
    for place, rows in enumerate((letters, letters[:25])):
        right = np.array(rows) == "A"
        first, *marked = right.mean(axis=0)
        expected = {"accuracy": right.mean(), "gap": first - np.mean(marked), "nag": first - min(marked)}
        expected |= {
            "nse": np.mean([0 < row.count("A") < k for row in rows]),
            "cc": np.mean([len({*row}) == 1 for row in rows]),
        }
        assert found.loc[place, list(expected)].to_dict() == pytest.approx(expected)
        pairs = [np.mean([row[a] == row[b] for row in rows]) for a, b in combinations(range(k), 2)]
        assert found["dss"][place] == pytest.approx(np.mean(pairs))  # unit vectors: cosine 1 for equal letters, else 0
        for on, labels in (("letter", np.array(rows)), ("correct", right)):
            tables = [pd.crosstab(labels[:, 0], column).to_numpy() for column in labels.T[1:]]
            kappas = [cohens_kappa(table, return_results=False) for table in tables]
            assert found[f"kappa_{on}"][place] == pytest.approx(np.mean(kappas))


def test_measures_by_hand():
    """Kappa of letters: (2/3 − 4/9) / (1 − 4/9) = 0.4 and (1/3 − 1/3) / … = 0; of correctness: 0.4 in both pairs."""
    row = measures(from_letters(["AAA", "ABB", "BBC"])).iloc[0]
    assert row["accuracy"] == pytest.approx(4 / 9) and row["gap"] == pytest.approx(1 / 3)
    assert row[["nag", "nse", "cc"]].tolist() == pytest.approx([1 / 3] * 3)
    assert row[["kappa_letter", "kappa_correct"]].tolist() == pytest.approx([0.2, 0.4])
    assert "dss" not in row.index


def test_cases_left_out_and_answers_without_a_letter_are_noted():
    row = measures(fabricated([[1, 0, None], [1, 1, 0]], [["A", "B", "A"], ["A", "A", None]])).iloc[0]
    assert row["n"] == 1 and row["gap"] == 0.5
    assert "1 cases without every voice left out" in row["note"] and "1 answers without a letter" in row["note"]


def test_n_0_is_said():
    row = measures(fabricated([[1, None], [None, 0]], voices=("clinical", "cultural"))).iloc[0]
    assert row["n"] == 0 and row["note"].startswith("n = 0")
    assert row["note"].endswith("undefined: accuracy, gap, nag, nse, cc, kappa_letter, kappa_correct")
    empty = measures(fabricated([[1, 1, 1]]).iloc[:0])
    assert empty.empty and rank_agreement(empty).empty


def test_constant_labels_leave_kappa_undefined_and_nothing_else():
    row = measures(from_letters(["AAA", "AAA"])).iloc[0]
    assert row["note"] == "undefined: kappa_letter, kappa_correct" and row["cc"] == 1 and row["gap"] == 0


def test_kappa_is_undefined_if_one_pair_is():
    """Clinical and socioeconomic always A; cultural varies: a mean of the one defined pair would mislead."""
    row = measures(from_letters(["AAA", "AAB"])).iloc[0]
    assert np.isnan(row["kappa_letter"]) and "kappa_letter" in row["note"]


def test_n_1_and_one_voice():
    one = measures(from_letters(["AAB"])).iloc[0]
    assert (one["n"], one["gap"], one["nag"], one["nse"], one["cc"]) == (1, 0.5, 1, 1, 0)
    alone = measures(from_letters(["A", "B"], voices=["clinical"])).iloc[0]
    assert alone["note"] == "undefined: no other voice to compare with; undefined: " + ", ".join(
        ["gap", "nag", "nse", "cc", "kappa_letter", "kappa_correct"]
    )
    assert alone["accuracy"] == 0.5


def test_scores_of_other_records_leave_dss_undefined():
    records = from_letters(["AAA", "ABB"]).assign(text="A")
    scores = dss(records.assign(model="another"), encode=lambda texts: np.eye(len(texts)))
    assert measures(records, scores)["note"].tolist() == ["undefined: dss"]


def test_mistakes_are_named():
    with pytest.raises(ParameterError, match="reference voice 'plain'"):
        measures(from_letters(["AAA"]), reference="plain")
    with pytest.raises(DataError, match="lack the column 'letter'"):
        measures(from_letters(["AAA"]).drop(columns="letter"))
    with pytest.raises(ParameterError, match="across = 'voice': 'condition' or 'model'"):
        rank_agreement(measures(from_letters(["AAA"])), across="voice")


def test_rank_agreement_is_spearman_with_dss_turned_round():
    numbers = np.random.default_rng(3).permutation(24).reshape(4, 6) / 100
    table = table_of(**dict(zip(("gap", "nag", "nse", "dss"), numbers.tolist(), strict=True)))
    found = rank_agreement(table).set_index(["measure_a", "measure_b"])
    assert len(found) == 6 and (found["n"] == 6).all() and (found["within"] == "model").all()
    for a, b in combinations(("gap", "nag", "nse", "dss"), 2):
        turned = -1 if b == "dss" else 1
        assert found.loc[(a, b), "rho"] == pytest.approx(turned * rho(table[a].tolist(), table[b].tolist()))


def test_agreement_is_1_where_a_smaller_gap_goes_with_a_larger_dss():
    found = rank_agreement(table_of(gap=[0.1, 0.2, 0.3], nag=[0.2, 0.3, 0.4], nse=[0.3, 0.2, 0.1], dss=[0.9, 0.8, 0.7]))
    assert found["rho"].round(9).tolist() == [1, -1, 1, -1, 1, -1]


def test_ties_get_their_mean_rank_however_they_were_summed():
    """Ranks 1.5, 1.5, 3 against 1, 2, 3: Pearson of the ranks is √3 / 2."""
    found = rank_agreement(table_of(gap=[0.1 + 0.2, 0.3, 0.5], nag=[0.1, 0.2, 0.3], nse=[0.1, 0.2, 0.3]))
    assert found["rho"].tolist() == pytest.approx([np.sqrt(3) / 2, np.sqrt(3) / 2, 1])


def test_too_few_and_equal_numbers_are_undefined():
    two = rank_agreement(table_of(gap=[0.1, 0.2], nag=[0.1, 0.2], nse=[0.1, 0.2]))
    assert two["rho"].isna().all() and (two["note"] == "n = 2: undefined for fewer than three").all()
    holes = rank_agreement(table_of(gap=[0.1, 0.2, 0.3], nag=[0.1, np.nan, 0.3], nse=[0.2, 0.2, 0.2]))
    assert holes["note"].tolist() == [
        "n = 2: undefined for fewer than three",
        "undefined: one measure is the same for all",
        "n = 2: undefined for fewer than three",
    ]


def test_models_of_facts_rank_alike_by_gap_and_nag_and_not_by_dss():
    """DSS as printed in Table 3: the models with the lowest DSS have the smallest NAG."""
    table = measures(from_patterns(["B1"]))
    printed = published("facts_table3_b1").set_index("model")["dss"].astype(float)
    found = rank_agreement(table.assign(dss=table["model"].map(printed)), across="model")
    found = found.set_index(["measure_a", "measure_b"])["rho"]
    nag = published("facts_table3_b1")["nag"].astype(float).tolist()
    assert found[("gap", "nag")] > 0.9
    assert found[("nag", "dss")] == pytest.approx(-rho(nag, printed.tolist())) and found[("nag", "dss")] < 0


def test_each_model_and_each_condition_is_ranked_on_its_own():
    answers = {name: random_answers(60, 3, seed).tolist() for seed, name in enumerate("abcdefghi")}
    records = pd.concat(
        fabricated(answers["abcdefghi"[3 * row + column]], model=f"m{row}", condition=f"c{column}")
        for row in range(3)
        for column in range(3)
    )
    table = measures(records)
    alone = rank_agreement(table[table["model"] == "m1"])
    both = rank_agreement(table.sample(frac=1, random_state=2))
    pd.testing.assert_frame_equal(both[both["within"] == "m1"].reset_index(drop=True), alone)
    assert rank_agreement(table, across="model")["within"].unique().tolist() == ["c0", "c1", "c2"]
