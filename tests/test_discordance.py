"""McNemar's test of two sets of records against `sdoh` Table V, SciPy and statsmodels."""

import json
from dataclasses import asdict
from math import isnan

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from nsh.discordance import mcnemar_between, mcnemar_corrected, mcnemar_exact
from nsh.errors import DataError, ParameterError
from nsh.printed import published

pytestmark = pytest.mark.filterwarnings("error")

TABLE5 = published("sdoh_table5_scale_mcnemar").to_dict("records")


@pytest.mark.parametrize("row", TABLE5, ids=lambda row: f"{row['comparison']} {row['prompt']}")
def test_every_p_of_sdoh_table_5_comes_out_to_the_printed_digit(row):
    """The 900 answers of two models, with the printed discordant counts."""
    b, c = int(row["a_correct_b_wrong"]), int(row["a_wrong_b_correct"])
    first, second = np.ones(900, dtype=int), np.ones(900, dtype=int)
    second[:b] = first[b : b + c] = 0
    sets = [fabricated(answers.reshape(300, 3).tolist(), model=name) for name, answers in (("a", first), ("b", second))]
    found = mcnemar_between(*sets)
    assert (found.n, found.b, found.c, found.note) == (900, b, c, "")
    printed = f"{found.p_exact:.6f}" if found.p_exact >= 0.000001 else "<0.000001"
    assert printed == row["p_value"]


@pytest.mark.parametrize(("b", "c"), [(1, 0), (0, 5), (7, 12), (100, 131), (3, 4)])
def test_equals_scipy_and_statsmodels(b, c):
    assert float(mcnemar_exact(b, c)) == pytest.approx(stats.binomtest(b, b + c).pvalue)
    table = [[0, b], [c, 0]]
    assert float(mcnemar_exact(b, c)) == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)
    expected = statsmodels_mcnemar(table, exact=False, correction=True).pvalue
    assert float(mcnemar_corrected(b, c)) == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 3])
def test_p_is_at_most_1_where_b_equals_c(count):
    """Twice the binomial tail is 1.3125 for b = c = 3."""
    assert float(mcnemar_exact(count, count)) == 1


def test_no_discordant_pair_is_p_1_and_said():
    """statsmodels' corrected chi-square gives p = 0 there."""
    records = fabricated([[1, 0, 1], [0, 0, 1]])
    found = mcnemar_between(records, records)
    assert (found.b, found.c, found.p_exact, found.p_chi2) == (0, 0, 1, 1)
    assert found.note == "no discordant pairs: no change"


def test_answers_are_joined_by_case_and_voice_not_by_row_order():
    first, second = (fabricated(random_answers(40, 3, seed=seed).tolist(), model=f"m{seed}") for seed in (1, 2))
    expected = mcnemar_between(first, second)
    assert mcnemar_between(first.sample(frac=1, random_state=0), second.sample(frac=1, random_state=3)) == expected
    swapped = mcnemar_between(second, first)
    assert (swapped.b, swapped.c, swapped.p_exact) == (expected.c, expected.b, expected.p_exact)
    both = [frame.set_index(["case", "voice"])["correct"] for frame in (first, second)]
    assert expected.b == sum(both[0][key] and not both[1][key] for key in both[0].index)


def test_unequal_sets_are_reported():
    first = fabricated([[1, 0, 1], [1, 1, 1]], cases=["a", "b"])
    second = fabricated([[0, None, 1], [1, 1, 1], [1, 1, 1]], cases=["a", "c", "d"])
    found = mcnemar_between(first, second)
    assert (found.n, found.b, found.c) == (2, 1, 0)
    assert found.note == "10 answers of one set left out"


def test_n_0_is_said():
    found = mcnemar_between(fabricated([[1, 0, 1]], cases=["a"]), fabricated([[1, 0, 1]], cases=["b"]))
    assert found.n == 0 and isnan(found.p_exact) and isnan(found.p_chi2)
    assert found.note == "n = 0; 6 answers of one set left out"
    assert mcnemar_between(fabricated([]), fabricated([])).note == "n = 0"


def test_n_1_and_constant_answers():
    found = mcnemar_between(fabricated([[1]], voices=["v"]), fabricated([[0]], voices=["v"]))
    assert (found.n, found.b, found.c, found.p_exact) == (1, 1, 0, 1)


def test_numbers_are_plain():
    first, second = (fabricated(random_answers(9, 3, seed=seed).tolist()) for seed in (1, 2))
    found = asdict(mcnemar_between(first, second))
    assert json.loads(json.dumps(found)) == found and "np." not in str(found)


def test_sets_of_several_models_or_with_repeated_answers_are_refused():
    records = fabricated([[1, 0, 1]])
    with pytest.raises(ParameterError, match="records of 2 models and conditions; each set must be of one"):
        mcnemar_between(pd.concat([records, fabricated([[1, 0, 1]], model="other")]), records)
    with pytest.raises(DataError, match="occur twice"):
        mcnemar_between(records, pd.concat([records, records]))


def test_negative_counts_are_refused():
    with pytest.raises(ParameterError, match="discordant counts -1 and 3"):
        mcnemar_exact(-1, 3)
