"""Parts that several pages share: what a run is, what must not be read into it, the papers' data beside it."""

import pandas as pd

from nsh.accuracies import accuracy
from nsh.agreement import mcnemar
from nsh.comparison import compare
from nsh.drawing import Drawing
from nsh.gaps import anchoring
from nsh.paper_tables import facts_table3, voices_table1
from nsh.printed import published
from nsh.study import Study
from nsh.tables import Block, beside, callout, table
from nsh.voice_figures import voice_accuracy

NOT_RUN = callout("No model was run: models = [].")
INTERVALS = {
    "gap_lo": "gap, low",
    "gap_hi": "gap, high",
    "nag": "NAG",
    "nag_lo": "NAG, low",
    "nag_hi": "NAG, high",
    "omr": "OMR",
    "worst_voice": "worst voice",
    "null_mean": "null, mean",
    "null_p95": "null, 95th percentile",
}
SAMPLES = (
    "The packaged samples were written for this project: for teaching only, no benchmark, not reviewed by a clinician."
)


def about(study: Study) -> Block:
    """Say in a box what was run on what, and where the papers' answers come from."""
    source = study.values["source"]
    lines = [f"This run: {len(study.cases)} cases from “{source}”." + (f" {SAMPLES}" if source == "samples" else "")]
    if "models" in study.values:
        names = ", ".join(model.name for model in study.models) or "none"
        lines.append(f"Models run: {names} (condition {study.values['condition']}, {study.values['dtype']}).")
        lines.append(f"The papers' models: {study.real_source}.")
    elif not study.real_cases:
        lines.append("The papers' own cases are not on this machine: `nsh data pull` fetches them.")
    return callout(" ".join(lines))


def chance_note(study: Study) -> str:
    """Name the models of the run that cannot be told from blind picking, and those whose answers are canned.

    A model is at chance level when the 95% Wilson interval of its accuracy over all answers holds the expected
    accuracy of blind picking.
    """
    overall = accuracy(study.records).query("voice == 'overall'")
    notes = [
        f"{row.model} is at chance level: accuracy {row.accuracy:.2f} [{row.lo:.2f}, {row.hi:.2f}], "
        f"blind picking {study.chance:.2f}."
        for row in overall.itertuples()
        if row.lo <= study.chance <= row.hi
    ]
    canned = study.records.loc[study.records["source"] == "scripted", "model"].unique()
    notes += [f"FABRICATED: the answers of {model} are canned." for model in canned]
    return " ".join(notes)


def caution(study: Study) -> Block:
    """A box before the run's own numbers: what they can and cannot show."""
    if not study.models:
        return NOT_RUN
    note = chance_note(study)
    advice = "Its numbers show how the machinery works; they are no finding." if note else "A run, not a replication."
    return callout(f"{note} {advice}".strip(), "warning" if note else "note")


def own_accuracy(study: Study) -> Drawing | Block:
    """Accuracy per voice of the run's own models, with the chance level and what must not be read into it."""
    if study.records.empty:
        return NOT_RUN
    drawn = voice_accuracy(accuracy(study.records), chance=study.chance, note=chance_note(study))
    return Drawing(drawn)


def own_gaps(study: Study) -> Block:
    """Gap and NAG of the run's own models with their intervals."""
    if study.records.empty:
        return NOT_RUN
    caption = "Gap and NAG of the models of this run, as proportions, with 95% intervals and the null"
    return table(anchoring(study.records, **study.draws), caption, labels=INTERVALS)


def own_table3(study: Study) -> Block:
    """`facts` Table 3 for the run's own models."""
    if study.records.empty:
        return NOT_RUN
    return table(facts_table3(study.records, **study.draws), "Table 3 for the models of this run", labels=INTERVALS)


def mcnemar_table(records: pd.DataFrame, reference: str = "clinical") -> Block:
    """McNemar's test of the reference voice against each marked voice, after both corrections of `voices` §5."""
    tests = mcnemar(records, reference).query("voice_a == @reference")
    labels = {
        "model": "model",
        "voice_b": "against",
        "b": f"right in {reference} only",
        "c": "right in the other only",
        "p_chi2": "p",
        "significant_model": "significant, 3 pairs a model",
        "significant_reference": f"significant, all {len(tests)}",
        "note": "note",
    }
    return table(
        tests[list(labels)],
        f"McNemar tests of the {reference} voice against each marked voice",
        formats={"p_chi2": ".2g"},
        labels=labels,
        row_headers=2,
    )


def released_table1(study: Study) -> Block:
    """`voices` Table 1, the countable rows, from the released cases; or one line that says how to get them."""
    if not study.real_cases:
        return callout("The released cases are not on this machine; `nsh data pull` fetches them (about 5 MB).")
    ours = voices_table1(study.real_cases)
    columns = {voice: voice for voice in study.real_cases[0].narratives}
    compared = compare(ours, "voice_table1_retellings", columns, on="property")
    return beside(compared, "Table 1 from the 1,000 released cases, beside the printed values")


def section5_table(seven: pd.Series, own: pd.Series | None) -> Block:
    """The numbers of `voices` §5: as printed for twelve models, from the seven released ones, and from this run."""
    printed = published("voices_section5").set_index("id")
    rows = printed.loc[[name for name in seven.index if name in printed.index], ["where", "printed"]]
    rows["seven released models"] = seven.reindex(rows.index).map(_short)
    if own is not None:
        rows["this run"] = own.reindex(rows.index).map(_short)
    rows.index = rows.index.str.replace("_", " ").str.replace(" pct", " (%)").str.replace(" points", " (points)")
    rows = rows.rename(columns={"printed": "printed, twelve models"}).rename_axis("quantity")
    return table(rows, "The numbers of section 5; not expected to be equal, since models and runs differ")


def _short(value: float) -> str:
    """A number with the decimals that its size asks for, or "not computed"."""
    if pd.isna(value):
        return "not computed"
    return f"{value:.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:.3f}"
