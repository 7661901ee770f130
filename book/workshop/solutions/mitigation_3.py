"""Lesson 2, exercise 3: the gap reduction of a condition by hand, on canned answers."""

import nsh

study = nsh.open_page("workshop-2-mitigation", models=["scripted"], conditions=["direct", "rewrite"], n_cases=6)
right = study.records.pivot_table(index="condition", columns="voice", values="correct", aggfunc="mean").astype(float)
gap = right[study.reference] - right.drop(columns=study.reference).mean(axis=1)
reduction = gap["direct"] - gap["rewrite"]
nsh.callout(f"gap {gap['direct']:.3f} asked directly, {gap['rewrite']:.3f} after a rewrite; reduction {reduction:.3f}")
