"""Lesson 1, exercise 3: McNemar's exact test of one model and pair of voices, and Bonferroni's correction."""

from scipy import stats

import nsh

tests = nsh.mcnemar(nsh.from_patterns(["B1"])).query("voice_a == 'clinical'")
one = tests[(tests["model"] == "BioMistral-7B") & (tests["voice_b"] == "socioeconomic")].iloc[0]
p = stats.binomtest(int(one["b"]), int(one["b"] + one["c"])).pvalue
corrected = min(1, p * len(tests))
nsh.callout(f"{one['b']} against {one['c']}: p {p:.4f}, after correction for {len(tests)} tests {corrected:.2f}")
