"""Lesson 1, exercise 2: NAG of one model when each question's answers are dealt out to the voices at random."""

import numpy as np

import nsh

records = nsh.from_patterns(["B1"])
one = records[records["model"] == "Llama-3.1-8B-Instruct"]
wide = one.pivot(index="case", columns="voice", values="correct")
answers = wide[["clinical", "socioeconomic", "cultural"]].to_numpy()
generator = np.random.default_rng(42)
means = np.array([generator.permuted(answers, axis=1).mean(axis=0) for _ in range(500)])
null_p95 = np.percentile(means[:, 0] - means[:, 1:].min(axis=1), 95)
nag = answers.mean(axis=0)[0] - answers.mean(axis=0)[1:].min()
nsh.callout(f"NAG {nag:.3f}; the null's 95th percentile {null_p95:.3f}, {nag - null_p95:.3f} below it")
