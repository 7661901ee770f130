"""Lesson 1, exercise 4: the model without a gap under B3, and its accuracy."""

import nsh

records = nsh.from_patterns(["B3"])
gaps = nsh.anchoring(records, resamples=0).set_index("model")["nag"]
model = gaps.idxmin()
accuracy = records[records["model"] == model].groupby("voice")["correct"].mean()
nsh.callout(f"{model}: NAG {gaps[model]:.3f}, highest accuracy in any voice {accuracy.max():.3f}")
