"""Power and sample sizes against enumeration of all outcomes, the normal formula and studies drawn by question."""

from itertools import product
from math import comb, prod, sqrt

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from scipy import stats

from nsh.errors import ParameterError
from nsh.gaps import anchoring
from nsh.outcomes import case_outcomes
from nsh.patterns import from_patterns
from nsh.planner import discordance, minimum_detectable_gap, power, sample_size

pytestmark = pytest.mark.filterwarnings("error")

TWO = ("clinical", "cultural")
MONTE_CARLO = 4 * 0.5 / sqrt(20_000)  # four standard errors of a share of 20,000 draws


def two_voices(b, c, both, neither):
    """Records of two voices with b cases right in the reference only and c in the marked voice only."""
    rows = [[1, 0]] * b + [[0, 1]] * c + [[1, 1]] * both + [[0, 0]] * neither
    return fabricated(rows, voices=TWO)


def trinomial_power(n, discordance, gap, alpha=0.05):
    """Power of McNemar's uncorrected test, summed over all counts b and c of n pairs."""
    critical, found = stats.chi2.isf(alpha, 1), 0.0
    first, second = (discordance + gap) / 2, (discordance - gap) / 2
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if (b - c) ** 2 > critical * (b + c):
                ways = comb(n, b) * comb(n - b, c)
                found += ways * first**b * second**c * (1 - discordance) ** (n - b - c)
    return found


def normal_sample_size(mean_square, gap, power=0.8, alpha=0.05):
    """Connor (1987), as coded in the R function pwr.mcnemar of bgreenwell: discordance is the mean squared score."""
    z_alpha, z_beta = stats.norm.isf(alpha / 2), stats.norm.ppf(power)
    return ((z_alpha * sqrt(mean_square) + z_beta * sqrt(mean_square - gap**2)) / gap) ** 2


@pytest.mark.parametrize(("n", "gap"), [(5, 0.3), (20, 0.0), (20, 0.1), (40, 0.2), (60, 0.05), (60, 0.3)])
@pytest.mark.parametrize(("b", "c"), [(12, 8), (20, 0), (4, 16)])
def test_two_voices_have_the_power_of_all_outcomes_enumerated(n, gap, b, c):
    """b + c = 20 of 50 pairs whichever side is ahead, so the records differ only in their own gap."""
    found = power(discordance(two_voices(b, c, 15, 15)), n, gap)
    assert found.power == pytest.approx(trinomial_power(n, 0.4, gap), abs=MONTE_CARLO)
    assert (found.n, found.gap, found.note) == (n, gap, "")


def test_alpha_is_the_level():
    records = two_voices(12, 8, 15, 15)
    for alpha in (0.01, 0.1):
        expected = trinomial_power(50, 0.4, 0.2, alpha)
        assert power(discordance(records), 50, 0.2, alpha).power == pytest.approx(expected, abs=MONTE_CARLO)


@pytest.mark.parametrize("gap", [0.05, 0.1])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_two_voices_need_the_sample_of_the_normal_formula(gap, power):
    found = sample_size(discordance(two_voices(150, 150, 400, 300)), gap, power)
    assert found.n == pytest.approx(normal_sample_size(0.3, gap, power), rel=0.05)
    assert power <= found.power < power + 0.03


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_large_gaps_need_the_sample_that_has_the_power_by_enumeration(power):
    """Here the normal formula asks for up to a tenth more: 91 questions for a power of 0.95, of which 83 do."""
    found = sample_size(discordance(two_voices(150, 150, 400, 300)), 0.2, power)
    assert trinomial_power(found.n, 0.3, 0.2) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize("k", [3, 5])
def test_more_voices_need_the_sample_of_the_normal_formula(k):
    """The mean squared score takes the place of the discordance: the formula is that of any paired mean."""
    answers = random_answers(2000, k, seed=k).astype(int)
    scores = answers[:, 0] - answers[:, 1:].mean(axis=1)
    known = discordance(fabricated(answers.tolist(), voices=["clinical", *map(str, range(1, k))]))
    assert known["share"] @ known.index == pytest.approx(scores.mean()) and known["n"].sum() == len(answers)
    largest = np.abs(scores).mean()
    assert power(known, 9, largest - 1e-9).note == "" and "holds gaps up to" in power(known, 9, largest + 1e-9).note
    for gap in (0.05, 0.1):
        assert sample_size(known, gap).n == pytest.approx(normal_sample_size((scores**2).mean(), gap), rel=0.05)


def mirrored(rows, gap):
    """Rows with weights 1 / len(rows), the share of the heavy side moved to the row with all answers exchanged."""
    scores = [row[0] - np.mean(row[1:]) for row in rows]
    excess = gap - np.mean(scores)
    heavy = [score * excess < 0 for score in scores]
    share = abs(excess) / (2 * sum(abs(score) for score, side in zip(scores, heavy, strict=True) if side) / len(rows))
    weighted = []
    for row, side in zip(rows, heavy, strict=True):
        weighted.append((row, (1 - share * side) / len(rows)))
        weighted.append(([1 - answer for answer in row], share * side / len(rows)))
    return weighted


@pytest.mark.parametrize("gap", [0.1, 0.4])
def test_three_voices_have_the_power_of_every_sequence_of_six_mirrored_questions(gap):
    rows = [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]]
    weights = {}
    for row, weight in mirrored(rows, gap):
        score = row[0] - np.mean(row[1:])
        weights[score] = weights.get(score, 0) + weight
    assert sum(score * weight for score, weight in weights.items()) == pytest.approx(gap)
    assert weights[0] == pytest.approx(2 / 8)
    critical, exact = stats.chi2.isf(0.05, 1), 0.0
    for drawn in product(weights, repeat=6):
        if sum(drawn) ** 2 > critical * sum(score**2 for score in drawn):
            exact += prod(weights[score] for score in drawn)
    assert power(discordance(fabricated(rows)), 6, gap).power == pytest.approx(exact, abs=MONTE_CARLO)


def test_at_the_observed_gap_studies_are_drawn_from_the_questions_as_they_are():
    answers = random_answers(300, 3, seed=4).astype(int)
    scores = answers[:, 0] - answers[:, 1:].mean(axis=1)
    drawn = np.random.default_rng(1).choice(scores, size=(5000, 80))
    loop = np.mean(drawn.sum(axis=1) ** 2 > stats.chi2.isf(0.05, 1) * (drawn**2).sum(axis=1))
    known = discordance(fabricated(answers.tolist()))
    assert power(known, 80, known["share"] @ known.index).power == pytest.approx(
        loop, abs=4 * 0.5 * sqrt(1 / 5000 + 1 / 20_000)
    )


def test_the_level_is_kept_where_there_is_no_gap():
    """Exact level of the uncorrected test at n = 400, D = 0.4, by the binomial of c given b + c."""
    level = power(discordance(two_voices(12, 8, 15, 15)), 400, 0).power
    totals = np.arange(401)
    tail = stats.binom.cdf(np.ceil((totals - np.sqrt(stats.chi2.isf(0.05, 1) * totals)) / 2) - 1, totals, 0.5)
    assert level == pytest.approx(2 * (stats.binom.pmf(totals, 400, 0.4) * tail).sum(), abs=MONTE_CARLO)


def test_power_grows_with_questions_and_with_the_gap():
    known = discordance(from_patterns(["B1"]))
    for powers in (
        [power(known, n, 0.05).power for n in (50, 100, 200, 400, 800, 1600)],
        [power(known, 500, gap).power for gap in (0.0, 0.02, 0.04, 0.06, 0.08, 0.1)],
    ):
        assert powers == sorted(powers) and powers[0] < powers[-1]


def test_smaller_gaps_need_more_questions_and_more_questions_find_smaller_gaps():
    known = discordance(from_patterns(["B1"]))
    sizes = [sample_size(known, gap).n for gap in (0.02, 0.03, 0.05, 0.1)]
    gaps = [minimum_detectable_gap(known, n).gap for n in (100, 300, 1000, 3000)]
    assert sizes == sorted(sizes, reverse=True) and gaps == sorted(gaps, reverse=True)
    assert sample_size(known, 0.05, 0.9).n > sample_size(known, 0.05, 0.8).n


def test_size_and_gap_answer_each_other():
    known = discordance(from_patterns(["B1"]))
    size = sample_size(known, 0.05).n
    assert minimum_detectable_gap(known, size).gap == pytest.approx(0.05, abs=0.001)


def test_released_models():
    """Normal formula with the mean squared score of patterns.csv; a gap of 0.05 needs about 620 questions."""
    records = from_patterns(["B1"])
    known = discordance(records)
    mean_square = float(known["share"] @ known.index**2)
    assert known["n"].sum() == 7000 and known.index.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert known["share"] @ known.index == pytest.approx(anchoring(records, resamples=0)["gap"].mean())
    assert 1 - known.at[0, "share"] == pytest.approx(case_outcomes(records, resamples=0)["nse"].mean())
    assert sample_size(known, 0.05).n == pytest.approx(normal_sample_size(mean_square, 0.05), rel=0.03)
    assert normal_sample_size(mean_square, minimum_detectable_gap(known, 1000).gap) == pytest.approx(1000, rel=0.03)


def test_several_models_count_equally_however_many_questions_they_have():
    small = fabricated([[1, 0]] * 2 + [[1, 1]] * 2, voices=TWO, model="small")
    large = fabricated([[0, 1]] * 10 + [[0, 0]] * 30, voices=TWO, model="large")
    known = discordance(pd.concat([small, large]))
    assert known["share"].tolist() == [0.125, 0.625, 0.25] and known["n"].tolist() == [10, 32, 2]


def test_row_order_does_not_matter_and_the_seed_does():
    records = from_patterns(["B1"])
    first, shuffled = discordance(records), discordance(records.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(shuffled, first, check_exact=True)
    assert power(first, 300, 0.05) == power(shuffled, 300, 0.05) != power(first, 300, 0.05, seed=1)
    assert sample_size(first, 0.05) == sample_size(shuffled, 0.05) != sample_size(first, 0.05, seed=1)


def test_n_0_is_said():
    lacking = fabricated([[1, None], [None, 0]], voices=TWO)
    for records in (lacking, lacking.iloc[:0]):
        known = discordance(records)
        for plan in (power(known, 10, 0.1), sample_size(known, 0.1), minimum_detectable_gap(known, 10)):
            assert plan.note == "n = 0" and np.isnan(plan.power)
        assert known.empty and list(known) == ["share", "n"]


def test_n_1_finds_nothing():
    known = discordance(fabricated([[1, 0]], voices=TWO))
    assert power(known, 1, 1.0).power == 0 and power(known, 3, 1.0).power == 0
    assert power(known, 4, 1.0).power == 1  # 4² / 4 = 4 exceeds 3.84
    assert sample_size(known, 1.0).n == 4


def test_no_discordant_question_is_undefined():
    known = discordance(fabricated([[1, 1, 1], [0, 0, 0]]))
    assert known["share"].to_dict() == {0: 1.0}
    for plan in (power(known, 100, 0), sample_size(known, 0.1), minimum_detectable_gap(known, 100)):
        assert plan.note == "undefined: no discordant question" and np.isnan(plan.power)
    assert sample_size(known, 0.1).n is None and np.isnan(minimum_detectable_gap(known, 100).gap)


def test_one_voice_is_undefined():
    assert (
        power(discordance(fabricated([[1], [0]], voices=["clinical"])), 10, 0.1).note
        == "undefined: no discordant question"
    )


def test_what_the_discordance_cannot_hold_is_undefined():
    known = discordance(two_voices(2, 1, 4, 3))
    assert power(known, 20, 0.3).note == ""
    assert power(known, 20, 0.31).note == "undefined: the discordance holds gaps up to 0.3000"
    assert sample_size(known, 0.31).n is None
    few = minimum_detectable_gap(known, 5)
    assert np.isnan(few.gap) and few.note.startswith("undefined: 5 questions and a gap of 0.3000 have a power of 0.")


def test_no_gap_needs_more_questions_than_there_are():
    found = sample_size(discordance(two_voices(2, 1, 4, 3)), 0.0)
    assert found.n is None and found.note.startswith(
        "undefined: 10,000,000 questions and a gap of 0.0000 have a power of 0.0"
    )


def test_unequal_case_sets_and_a_missing_voice_count_complete_questions():
    known = discordance(fabricated([[1, 0, 0], [1, None, 1], [0, 1, 1], [1, 1, None]]))
    assert known["n"].to_dict() == {-1: 1, 1: 1} and known["share"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda records: power(discordance(records), 9, 0.1, alpha=5), "alpha = 5"),
        (lambda records: sample_size(discordance(records), 0.1, draws=0), "draws = 0"),
        (lambda records: discordance(records, reference="plain"), "reference voice 'plain'"),
        (lambda records: power(discordance(records), 0, 0.1), "n = 0: a whole number of at least 1"),
        (lambda records: power(discordance(records), 10, 5), "gap = 5"),
        (lambda records: sample_size(discordance(records), -0.1), "gap = -0.1"),
        (lambda records: sample_size(discordance(records), 0.1, wanted=80), "wanted = 80"),
        (lambda records: minimum_detectable_gap(discordance(records), 10, wanted=1), "wanted = 1"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call(two_voices(2, 1, 4, 3))


def test_empty_records_are_undefined():
    assert (
        power(discordance(fabricated([])), 10, 0.1).note
        == sample_size(discordance(fabricated([])), 0.1).note
        == "n = 0"
    )


def test_a_mistake_names_what_was_given_only():
    with pytest.raises(ParameterError, match=r"^gap = 5: a gap from 0 to 1 and alpha"):
        sample_size(discordance(two_voices(2, 1, 4, 3)), 5)
    with pytest.raises(ParameterError, match=r"^n = 10\.5: a whole number of at least 1 is expected$"):
        power(discordance(two_voices(2, 1, 4, 3)), 10.5, 0.1)
