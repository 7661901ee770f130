"""Lesson 2, exercise 4: items recovered and broken by a condition, counted by hand, on canned answers."""

import nsh

study = nsh.open_page("workshop-2-mitigation", models=["scripted"], conditions=["direct", "rewrite"], n_cases=6)
right = study.records.pivot_table(index=["condition", "case"], columns="voice", values="correct").astype(bool)
before, after = right.loc["direct"], right.loc["rewrite"]
marked = [voice for voice in right.columns if voice != study.reference]
victims = before[marked].apply(lambda column: before[study.reference] & ~column)
recovered = (victims & after[marked]).to_numpy().sum()
broken = (before[marked] & ~after[marked]).to_numpy().sum()
nsh.callout(f"{recovered} of {victims.to_numpy().sum()} victims recovered; {broken} right marked answers broken")
