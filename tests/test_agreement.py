"""McNemar and kappa against the papers' tables, statsmodels and plain counting."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters, random_answers
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests

from nsh.agreement import kappa, mcnemar
from nsh.errors import ParameterError
from nsh.patterns import from_patterns
from nsh.printed import by_voice

pytestmark = pytest.mark.filterwarnings("error")

PAIR = ["model", "voice_a", "voice_b"]


def discordant(b, c, both=2, neither=1):
    """Records of two voices with b cases right in the first only and c in the second only."""
    rows = [[1, 0]] * b + [[0, 1]] * c + [[1, 1]] * both + [[0, 0]] * neither
    return fabricated(rows, voices=("clinical", "cultural"))


def plain_kappa(first, second):
    """Cohen's kappa by its definition."""
    n = len(first)
    a, b = Counter(first), Counter(second)
    by_chance = sum(a[label] * b[label] for label in a) / n**2
    return (sum(x == y for x, y in zip(first, second, strict=True)) / n - by_chance) / (1 - by_chance)


def test_every_p_of_facts_table_4_comes_out_to_the_printed_digit():
    found = mcnemar(from_patterns(["B1"])).set_index(PAIR)["p_chi2"]
    printed = by_voice("facts_table4_b1_agreement", "mcnemar_p").set_index(PAIR)["printed"]
    assert {key: f"{found[key]:.4f}" for key in printed.index} == printed.to_dict()
    assert len(printed) == 21


def test_every_kappa_of_facts_table_4_comes_out_to_the_printed_digit():
    found = kappa(from_patterns(["B1"]), on="correct").set_index(PAIR)["kappa"]
    printed = by_voice("facts_table4_b1_agreement", "kappa").set_index(PAIR)["printed"]
    assert {key: f"{found[key]:.4f}" for key in printed.index} == printed.to_dict()
    assert len(printed) == 21


def test_bonferroni_over_21_tests_flips_the_two_pairs_that_facts_names():
    """`facts` Table 4 caption: Llama-3.1's (β,γ) and BioMistral's (α,β) no longer reach significance."""
    found = mcnemar(from_patterns(["B1"])).set_index(PAIR)
    flipped = found.index[found["significant"] & ~found["significant_all"]].tolist()
    assert flipped == [
        ("Llama-3.1-8B-Instruct", "socioeconomic", "cultural"),
        ("BioMistral-7B", "clinical", "socioeconomic"),
    ]


def test_corrections_equal_statsmodels_over_the_tests_of_model_condition_and_reference():
    found = mcnemar(from_patterns(["B1", "B3"]))
    tests = {"model": (["model", "condition"], 3), "all": ("condition", 21), "reference": ("condition", 14)}
    for name, (family, number) in tests.items():
        corrected = found.dropna(subset=f"p_bonferroni_{name}")
        for _, rows in corrected.groupby(family):
            expected = multipletests(rows["p_chi2"], method="bonferroni")
            assert len(rows) == number and rows[f"significant_{name}"].tolist() == expected[0].tolist()
            assert rows[f"p_bonferroni_{name}"].tolist() == pytest.approx(expected[1].tolist())
    marked_pairs = found["voice_a"] != "clinical"
    assert found.loc[marked_pairs, "p_bonferroni_reference"].isna().all()
    assert found.loc[marked_pairs, "significant_reference"].isna().all()
    assert found.loc[~marked_pairs, "p_bonferroni_reference"].notna().all()


@pytest.mark.parametrize(("b", "c"), [(1, 0), (7, 2), (30, 11), (182, 71), (4, 5)])
def test_p_values_equal_statsmodels(b, c):
    row = mcnemar(discordant(b, c)).iloc[0]
    table = [[2, b], [c, 1]]
    assert row["p_exact"] == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-9)
    assert row["p_chi2"] == pytest.approx(statsmodels_mcnemar(table, exact=False, correction=True).pvalue, rel=1e-9)
    assert (row["n"], row["b"], row["c"], row["n_discordant"]) == (b + c + 3, b, c, b + c)


@pytest.mark.parametrize("half", [1, 3, 50])
def test_exact_p_is_at_most_1_where_b_equals_c(half):
    row = mcnemar(discordant(half, half)).iloc[0]
    assert row["p_exact"] == 1
    assert row["p_chi2"] == pytest.approx(statsmodels_mcnemar([[2, half], [half, 1]], exact=False).pvalue)
    assert row["note"].startswith("b = c")


def test_corrected_chi_square_at_b_equals_c_is_the_one_facts_prints():
    """`facts` Table 8, BioMistral-7B (α,γ): both accuracies 0.2540, kappa 0.9842, p = 0.6831."""
    records = discordant(3, 3, both=251, neither=743)
    assert f"{mcnemar(records)['p_chi2'][0]:.4f}" == "0.6831"
    assert f"{kappa(records, on='correct')['kappa'][0]:.4f}" == "0.9842"


def test_no_discordant_pairs_is_p_1_and_no_change():
    row = mcnemar(discordant(0, 0)).iloc[0]
    assert (row["n_discordant"], row["p_exact"], row["p_chi2"], row["p_bonferroni_all"]) == (0, 1, 1, 1)
    assert row["note"] == "no discordant pairs: no change" and not row["significant"]


def test_n_0_is_no_test_and_counts_in_no_correction():
    records = pd.concat([fabricated([[1, 0, None]] * 9), fabricated([[1, 1, 1]], model="other")])
    found = mcnemar(records).set_index(PAIR)
    row = found.loc[("model", "clinical", "cultural")]
    assert row["n"] == 0 and row["note"] == "n = 0; 9 cases without both voices left out"
    assert row[["p_exact", "p_chi2", "p_bonferroni_model", "significant"]].isna().all()
    tested = found.loc[("model", "clinical", "socioeconomic")]
    assert tested["p_bonferroni_model"] == tested["p_chi2"]
    assert tested["p_bonferroni_all"] == 4 * tested["p_chi2"]


def test_n_1():
    row = mcnemar(fabricated([[1, 0]], voices=("clinical", "cultural"))).iloc[0]
    assert (row["n"], row["b"], row["c"], row["p_exact"], row["p_chi2"]) == (1, 1, 0, 1, 1)
    single = kappa(from_letters([["A", "B"]], voices=("clinical", "cultural"))).iloc[0]
    assert (single["n"], single["kappa"], single["agreement"]) == (1, 0, 0)


def test_missing_voice_is_dropped_for_its_pairs_only():
    records = fabricated([[1, 0, 1], [1, None, 0], [0, 1, 1]])
    expected = {("clinical", "socioeconomic"): 2, ("clinical", "cultural"): 3, ("socioeconomic", "cultural"): 2}
    for found in (mcnemar(records), kappa(records, on="correct")):
        assert found.set_index(["voice_a", "voice_b"])["n"].to_dict() == expected


def test_unequal_case_sets_are_joined_by_id():
    first = fabricated([[1], [0], [1]], voices=("clinical",), cases=["x", "y", "z"])
    second = fabricated([[0], [1]], voices=("cultural",), cases=["z", "w"])
    row = mcnemar(pd.concat([first, second])).iloc[0]
    assert (row["n"], row["b"], row["c"]) == (1, 1, 0)


def test_kappa_on_letters_a_to_j_equals_statsmodels_and_the_definition():
    generator = np.random.default_rng(8)
    first = generator.choice(list("ABCDEFGHIJ"), 300)
    second = np.where(generator.random(300) < 0.5, first, generator.choice(list("ABCDEFGHIJ"), 300))
    row = kappa(from_letters(np.stack([first, second], axis=1).tolist(), voices=("clinical", "rural"))).iloc[0]
    table = pd.crosstab(first, second).to_numpy()
    assert row["kappa"] == pytest.approx(cohens_kappa(table, return_results=False))
    assert row["kappa"] == pytest.approx(plain_kappa(first.tolist(), second.tolist()))
    assert row["agreement"] == np.mean(first == second) and row["note"] == ""


@pytest.mark.parametrize("k", [2, 3, 5])
def test_kappa_on_correctness_follows_the_definition_for_every_pair(k):
    answers = random_answers(80, k, seed=k)
    voices = ["clinical", "socioeconomic", "cultural", "rural", "urban"][:k]
    found = kappa(fabricated(answers.tolist(), voices=voices), on="correct")
    assert len(found) == k * (k - 1) // 2
    for row in found.itertuples():
        first, second = (answers[:, voices.index(voice)].tolist() for voice in (row.voice_a, row.voice_b))
        assert row.kappa == pytest.approx(plain_kappa(first, second))


def test_two_wrong_letters_agree_in_correctness_only():
    records = from_letters([["B", "C"], ["A", "A"], ["B", "B"]], voices=("clinical", "cultural"))
    assert kappa(records)["agreement"][0] == pytest.approx(2 / 3)
    assert kappa(records, on="correct")["agreement"][0] == 1


def test_constant_labels_are_undefined_with_raw_agreement():
    row = kappa(from_letters([["A", "A"]] * 4, voices=("clinical", "cultural"))).iloc[0]
    assert np.isnan(row["kappa"]) and (row["n"], row["agreement"]) == (4, 1)
    assert row["note"] == "undefined: constant labels"


def test_one_constant_voice_has_kappa_0_and_a_note():
    row = kappa(from_letters([["A", "A"], ["A", "B"]], voices=("clinical", "cultural"))).iloc[0]
    assert (row["kappa"], row["agreement"]) == (0, 0.5) and "constant" in row["note"]


def test_no_letter_is_a_label_of_its_own():
    letters = [["A", "A"], [None, "B"], [None, None], ["B", None], ["C", "C"]]
    row = kappa(from_letters(letters, voices=("clinical", "cultural"))).iloc[0]
    spelt = [[letter or "none" for letter in column] for column in zip(*letters, strict=True)]
    assert row["kappa"] == pytest.approx(plain_kappa(*spelt))
    assert row["n"] == 5 and row["note"] == "4 answers without a letter kept as a label of their own"


def test_letters_never_read_at_all_are_undefined():
    row = kappa(from_letters([[None, None]] * 3, voices=("clinical", "cultural"))).iloc[0]
    assert np.isnan(row["kappa"]) and row["agreement"] == 1 and row["note"].startswith("undefined: constant labels")


def test_pattern_counts_have_no_kappa_on_letters():
    found = kappa(from_patterns(["B1"]))
    assert (found["n"] == 0).all() and found["kappa"].isna().all()
    assert (found["note"] == "undefined: pattern counts hold no letters").all()


def test_string_columns_give_the_same_numbers():
    records = from_letters([["A", "B", None], ["B", "B", "A"], ["A", "A", "C"]])
    typed = records.astype({name: "string" for name in ("model", "condition", "case", "voice", "letter", "status")})
    pd.testing.assert_frame_equal(kappa(typed), kappa(records), check_dtype=False)
    pd.testing.assert_frame_equal(mcnemar(typed), mcnemar(records), check_dtype=False)


def test_row_order_does_not_matter():
    records = from_letters([["A", "B", None], ["B", "B", "A"], ["A", "A", "C"]])
    for measure in (kappa, mcnemar):
        pd.testing.assert_frame_equal(measure(records.sample(frac=1, random_state=2)), measure(records))


def test_empty_frame_gives_an_empty_frame_with_its_columns():
    assert len(mcnemar(fabricated([]))) == len(kappa(fabricated([]))) == 0
    assert {"p_exact", "significant_all", "note"} <= set(mcnemar(fabricated([])).columns)


def test_unknown_kind_of_kappa_is_refused():
    with pytest.raises(ParameterError, match="on = 'letters': 'letter' or 'correct'"):
        kappa(fabricated([[1, 0, 1]]), on="letters")


def test_cases_without_both_voices_are_counted():
    records = fabricated([[1, 0, 1], [1, None, 1], [0, 1, 1]])
    for found in (mcnemar(records), kappa(records, on="correct")):
        notes = found.set_index(["voice_a", "voice_b"])["note"]
        assert notes["clinical", "socioeconomic"].endswith("1 cases without both voices left out")
        assert "left out" not in notes["clinical", "cultural"]
