"""Resamples of questions against their known moments, a plain loop and SciPy's bootstrap."""

from math import isnan

import numpy as np
import pytest
from scipy import stats

from nsh.errors import ParameterError
from nsh.resampling import percentiles, resampled_sums, resamples_of, with_interval

pytestmark = pytest.mark.filterwarnings("error")


def test_each_resample_draws_n_questions_with_the_moments_of_a_multinomial():
    """Each count has mean 1 and variance 1 − 1/n; two counts have covariance −1/n."""
    counts = resamples_of(20, 20000, 0)
    assert counts.shape == (20000, 20) and (counts.sum(axis=1) == 20).all() and (counts % 1 == 0).all()
    covariance = np.cov(counts.T)
    assert counts.mean(axis=0) == pytest.approx(np.ones(20), abs=0.04)
    assert np.diag(covariance) == pytest.approx(np.full(20, 0.95), abs=0.06)
    assert covariance[~np.eye(20, dtype=bool)] == pytest.approx(np.full(380, -0.05), abs=0.04)


def test_a_resample_of_two_questions_is_a_fair_draw():
    """Two draws of two: the first question twice, once or never with probability 1/4, 1/2, 1/4."""
    observed = np.bincount(resamples_of(2, 8000, 5)[:, 0].astype(int), minlength=3)
    assert stats.chisquare(observed, [2000, 4000, 2000]).pvalue > 0.001


def test_resamples_depend_on_the_arguments_alone_and_cannot_be_changed():
    first = resamples_of(30, 10, 1).copy()
    resamples_of.cache_clear()
    resamples_of(29, 10, 1)
    assert np.array_equal(resamples_of(30, 10, 1), first)
    assert not np.array_equal(resamples_of(30, 10, 2), first)
    with pytest.raises(ValueError, match="read-only"):
        resamples_of(30, 10, 1)[0, 0] = 5


@pytest.mark.parametrize(("n", "expected"), [(0, (5, 0)), (1, (5, 1))])
def test_no_question_and_one_question(n, expected):
    counts = resamples_of(n, 5, 0)
    assert counts.shape == expected and (counts == 1).all()


def test_no_resample_gives_no_interval_and_a_negative_number_is_refused():
    (sums,) = resampled_sums([np.ones((3, 2))], 0, 0)
    assert sums.shape == (0, 2) and all(map(isnan, percentiles(sums[:, 0])))
    with pytest.raises(ParameterError, match="resamples = -1: a whole number of at least 0"):
        resamples_of(3, -1, 0)


def test_percentiles_equal_a_plain_loop_over_the_same_resamples():
    values = np.random.default_rng(1).normal(size=40)
    weights = resamples_of(40, 500, 2)
    means = [
        np.mean([value for value, count in zip(values, row, strict=True) for _ in range(int(count))]) for row in weights
    ]
    assert percentiles(weights @ values / 40) == pytest.approx(np.percentile(means, [2.5, 97.5]).tolist(), abs=1e-12)


def test_percentiles_are_scipys_within_monte_carlo_error():
    values = np.random.default_rng(3).normal(size=200)
    how = {"method": "percentile", "n_resamples": 20000, "rng": np.random.default_rng(4)}
    expected = stats.bootstrap((values,), np.mean, **how).confidence_interval
    found = percentiles(resamples_of(200, 20000, 0) @ values / 200)
    assert found == pytest.approx(tuple(expected), abs=0.05 * np.std(values) / np.sqrt(200) * 4)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_questions_have_no_interval(n):
    assert all(isnan(with_interval("x", 1.0, np.ones(9), n)[f"x_{end}"]) for end in ("lo", "hi"))


def test_percentiles_leave_out_undefined_draws_and_are_plain_numbers():
    draws = np.array([np.nan, *np.linspace(0, 1, 201), np.nan])
    assert percentiles(draws) == (0.025, 0.975)
    assert {type(bound) for bound in percentiles(draws)} == {float}
    assert all(map(isnan, percentiles(np.full(3, np.nan))))


def test_sums_of_many_arrays_are_those_of_each_alone():
    generator = np.random.default_rng(6)
    arrays = [generator.integers(-3, 4, shape) for shape in ((50, 3), (7, 1), (50, 6), (0, 2), (7, 2))]
    together = resampled_sums(arrays, 100, 8)
    for values, sums in zip(arrays, together, strict=True):
        assert np.array_equal(sums, resampled_sums([values], 100, 8)[0])
        drawn = resamples_of(len(values), 100, 8).astype(int)
        loop = [np.repeat(values, counts, axis=0).sum(axis=0) for counts in drawn]
        assert np.array_equal(sums, loop)
    assert resampled_sums([], 100, 8) == []


def test_resamples_are_whole():
    with pytest.raises(ParameterError, match=r"resamples = 10\.5: a whole number of at least 0"):
        resamples_of(3, 10.5, 0)
