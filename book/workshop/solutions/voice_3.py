"""Lesson 3, exercise 3: the smallest exact p that n flips can give, and the flips needed after correction."""

from scipy import stats

import nsh

six = stats.binomtest(6, 6).pvalue
needed = next(n for n in range(1, 100) if 14 * stats.binomtest(n, n).pvalue < 0.05)
nsh.callout(f"six flips: p = {six:.4f}; after correction for 14 tests at least {needed} flips, all one way")
