"""Lesson 1, exercise 1: accuracies, gap and NAG of one model from its eight counts."""

import nsh

patterns = nsh.published("patterns").set_index(["condition", "model"])
counts = patterns.loc[("B1", "Llama-3.1-8B-Instruct")].astype(int)
accuracy = [sum(counts[name] for name in counts.index if name[1 + voice] == "1") / counts.sum() for voice in range(3)]
gap = accuracy[0] - (accuracy[1] + accuracy[2]) / 2
nag = accuracy[0] - min(accuracy[1], accuracy[2])
shown = ", ".join(f"{value:.3f}" for value in accuracy)
nsh.callout(f"accuracies {shown}; gap {gap:.3f}, NAG {nag:.3f}")
