"""The control voices: from the clinical to a marked voice in steps, the first in length and prose, then one by one."""

import pandas as pd

from nsh.agreement import mcnemar
from nsh.parts import interval
from nsh.pooled import pooled_effect
from nsh.study import Study
from nsh.tables import Block, callout, table

STEPS = {
    ("clinical", "neutral"): "generation: longer, and no longer clinical prose",
    ("neutral", "third_person"): "the register",
    ("third_person", "socioeconomic"): "the narrative person",
    ("clinical", "socioeconomic"): "all three",
}  # from one voice to the next -> what changes
MAKE = (
    "No two of these voices are in the run: "
    "`nsh data retell FILE --voice neutral --model MODEL --out NEW.jsonl` makes the neutral one."
)


def step_rows(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """Compare the voices of each step that the records have, question by question.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    reference : str
        The unmarked voice of the records.

    Returns
    -------
    DataFrame
        One row per model, condition and step of `STEPS`: `step` (from, to), `changes`, `n` questions answered in both
        voices, `lost` (right in the first alone), `gained` (right in the second alone), `effect` (percentage points),
        `p_exact` (McNemar, uncorrected) and `note`. Where each voice has every question, the three effects add up to
        the fourth.

    References
    ----------
    ``voices`` Limitations: generation settings and narrative person vary with the voice.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> row = {"model": "m", "condition": "direct", "case": "1"}
    >>> answers = [row | {"voice": "clinical", "correct": True}, row | {"voice": "neutral", "correct": False}]
    >>> step_rows(records_frame(answers))[["step", "lost", "effect"]].values.tolist()
    [['clinical → neutral', 1, -100.0]]
    """
    tests = mcnemar(records, reference)
    swapped = tests.rename(columns={"voice_a": "voice_b", "voice_b": "voice_a", "b": "c", "c": "b"})
    both = pd.concat([tests, swapped]).set_index(["voice_a", "voice_b"])
    found = pd.concat([both[:0], *(both.loc[[pair]] for pair in STEPS if pair in both.index)]).reset_index()
    pairs = list(zip(found["voice_a"], found["voice_b"], strict=True))
    found["step"], found["changes"] = [" → ".join(pair) for pair in pairs], [STEPS[pair] for pair in pairs]
    found["note"] = found["note"].str.replace(r"b = c: [^;]*(; )?", "", regex=True)  # of the other p
    found["effect"] = 100 * (found["c"] - found["b"]) / found["n"]
    columns = ["model", "condition", "step", "changes", "n", "lost", "gained", "effect", "p_exact", "note"]
    return found.rename(columns={"b": "lost", "c": "gained"})[columns]


def steps(study: Study) -> Block | None:
    """The steps as a table; None where no model was run."""
    if study.records.empty:
        return None
    rows = step_rows(study.records, study.reference).drop(columns="condition")
    caption = "From the clinical to the socioeconomic voice: accuracy in points, and McNemar's exact p, uncorrected"
    formats = {"effect": "+.1f", "p_exact": ".2f"}
    return callout(MAKE, code=True) if rows.empty else table(rows, caption, formats=formats, labels={"p_exact": "p"})


def pooled(study: Study) -> Block | None:
    """The effect of each marked voice, and of all, pooled over the models of the run; None where none was run."""
    records = study.records
    if records.empty:
        return None
    marked = [voice for voice in records["voice"].unique() if voice != study.reference]
    rows = []
    for name, voices in {**{voice: [voice] for voice in marked}, "all marked": marked}.items():
        found = pooled_effect(records[records["voice"].isin([study.reference, *voices])], study.reference)
        rows.append(
            [name, found.n_models, found.n_records, interval(found.effect, found.lo, found.hi, ".1f"), found.note]
        )
    frame = pd.DataFrame(rows, columns=["voice", "models", "answers", "effect", "note"])
    caption = f"Effect against the {study.reference} voice over the models of this run, points, with 95% interval"
    return table(frame, caption, numeric=["effect"])
