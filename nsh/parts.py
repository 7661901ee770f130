"""Parts that several pages share: what a run is, what must not be read into it, the papers' data beside it."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import mcnemar
from nsh.cases import Case
from nsh.comparison import compare_printed, printed_of
from nsh.drawing import Drawing
from nsh.gaps import anchoring
from nsh.jobs import TASKS
from nsh.matrix import order_voices
from nsh.place import short
from nsh.printed import decimals, minus, published
from nsh.study import Study
from nsh.tables import MARKS, Block, callout, format_cell, table
from nsh.transcripts import NO_MODEL
from nsh.voice_figures import voice_accuracy
from nsh.voices_tables import TABLE1, TABLE1_LABELS, voices_table1

SAMPLES = (
    "The packaged samples were written for this project: for teaching only, no benchmark, not reviewed by a clinician."
)


def about(study: Study) -> Block:
    """Say in a box what was run on what, and where the papers' answers come from."""
    source = short(study.values["source"])
    voices = ", ".join(order_voices((name for case in study.cases for name in case.narratives), study.reference))
    cases = f"{len(study.cases)} case{'s' * (len(study.cases) != 1)}"
    lines = [f"This run: {cases} from “{source}” in the voices {voices}; unmarked: {study.reference}."]
    lines += [SAMPLES] * (source == "samples")
    if "models" in study.values:
        names = ", ".join(model.name for model in study.models) or "none"
        lines.append(f"Models run: {names} (condition {short(', '.join(study.conditions))}, {study.values['dtype']}).")
        if "released" in study.values and study.conditions[0] not in TASKS:
            lines.append(f"The papers' models: {study.real_source}.")
        ways = dict.fromkeys(way for how in study.records["settings"].unique() for way in how.split("; ") if way)
        lines += [f"Run in another way than the papers: {'; '.join(ways)}."] * bool(ways)
    elif "released" in study.values and not study.real_cases:
        lines.append("The papers' own cases are not on this machine: `nsh data pull` fetches them.")
    return callout(" ".join(lines), code=True)


def chance_note(study: Study) -> str:
    """Name the models of the run that cannot be told from blind picking, and those whose answers are canned.

    A model is at chance level when the 95% Wilson interval of its accuracy over all answers holds the expected
    accuracy of blind picking.
    """
    scores = accuracy(study.records)
    near = scores[(scores["voice"] == OVERALL) & scores["lo"].le(study.chance) & scores["hi"].ge(study.chance)]
    notes = []
    for model, rows in near.groupby("model", sort=False):
        told = f"accuracy {rows['accuracy'].iloc[0]:.2f} [{rows['lo'].iloc[0]:.2f}, {rows['hi'].iloc[0]:.2f}], "
        under = f" under {', '.join(rows['condition'])}" if len(study.conditions) > 1 else ""
        notes.append(f"{model} is at chance level{under}: {told * (not under)}blind picking {study.chance:.2f}.")
    canned = study.records.loc[study.records["source"] == "scripted", "model"].unique()
    notes += [f"FABRICATED: the answers of {model} are canned." for model in canned]
    return " ".join(notes)


def caution(study: Study) -> Block:
    """A box before the run's own numbers: what they can and cannot show."""
    if not study.models:
        return callout(NO_MODEL)
    note = chance_note(study)
    advice = "Its numbers show how the machinery works; they are no finding." if note else "A run, not a replication."
    return callout(f"{note} {advice}".strip(), "warning" if note else "note")


def own_accuracy(study: Study) -> Drawing | None:
    """Accuracy per voice of the run's own models, with the chance level and what must not be read into it."""
    if study.records.empty:
        return None
    return Drawing(voice_accuracy(accuracy(study.records), chance=study.chance, note=chance_note(study)))


def own_gaps(study: Study) -> Block | None:
    """Gap and NAG of the run's own models with their 95% intervals, as proportions."""
    if study.records.empty:
        return None
    rows = anchoring(study.records, **study.statistics)
    rows["gap"] = [interval(*values) for values in rows[["gap", "gap_lo", "gap_hi"]].to_numpy()]
    rows["NAG"] = [interval(*values) for values in rows[["nag", "nag_lo", "nag_hi"]].to_numpy()]
    rows["null"] = rows["null_p95"]
    caption = "Gap and NAG of the models of this run, as proportions, with 95% intervals; null: its 95th percentile"
    return table(rows[["model", "n", "gap", "NAG", "null", "note"]], caption)


def interval(value: float, lo: float, hi: float, spec: str = ".3f") -> str:
    """A number with its interval, or as much of it as is defined.

    Examples
    --------
    >>> interval(0.151, 0.12, 0.182), interval(0.151, float("nan"), float("nan"))
    ('0.151 [0.120, 0.182]', '0.151 (no interval)')
    """
    bounds = f"[{lo:z{spec}}, {hi:z{spec}}]" if lo == lo and hi == hi else "(no interval)"
    return minus(f"{value:z{spec}} {bounds}") if value == value else "undefined"


def beside_printed(
    ids: Iterable[str],
    computed: Mapping[str, Mapping[str, float | str | None]],
    caption: str,
    printed: str = "printed",
    paper: str = "voices",
) -> Block:
    """Numbers in the running text of a paper and its claims beside ours, with the decimals of the printed ones.

    Parameters
    ----------
    ids : iterable of str
        Ids in `nsh.comparison.printed_of`, in the order of the rows.
    computed : mapping of str to mapping
        Heading of a column to numbers by id, in the unit that is printed, or to texts such as "3 of 11".
    caption : str
        Plain text.
    printed : str
        Heading of the printed numbers.
    paper : str
        Short name of the paper.

    Examples
    --------
    >>> ours = {"this run": pd.Series({"gap_overall": -0.0314})}
    >>> print(beside_printed(["gap_overall"], ours, "Gap").text.splitlines()[1].split())
    ['gap,', 'twelve', 'models', '0.096', '−0.031']
    """
    texts = printed_of(paper).loc[list(ids)]
    rows = pd.DataFrame({"quantity": texts["label"], printed: texts["printed"].map(minus)})
    specs = [".1e" if text.startswith("<") else f"z,.{decimals(text)}f" for text in texts["printed"]]
    for head, numbers in computed.items():
        rows[head] = [format_cell(numbers.get(name), spec) for name, spec in zip(texts.index, specs, strict=True)]
    return table(rows.reset_index(drop=True), caption, numeric=rows.columns[1:])


def mcnemar_table(records: pd.DataFrame, reference: str = "clinical") -> Block:
    """McNemar's test of the reference voice against each marked voice, after both corrections of `voices` §5."""
    tests = mcnemar(records, reference).query("voice_a == @reference")
    survives = tests[["significant_model", "significant_reference"]].fillna(False).astype(int).sum(axis=1)
    tests = tests.assign(kept=survives.map(["neither", "one", "both"].__getitem__))
    labels = {
        "model": "model",
        "voice_b": "against",
        "b": f"{reference} only",
        "c": "other only",
        "p_chi2": "p",
        "kept": "significant after",
        "note": "note",
    }
    caption = (
        f"McNemar tests of the {reference} voice against each marked voice: questions right in one only, p, and "
        f"whether it is significant after Bonferroni correction per model, over all {len(tests)} tests, or both"
    )
    return table(tests[list(labels)], caption, formats={"p_chi2": ".1e"}, labels=labels, row_headers=2)


def table1(cases: Sequence[Case], whose: str, reference: str, judge: bool = False) -> Block:
    """`voices` Table 1, the rows that are counted from the texts, each above the printed one.

    Words are means; shares are "count (per cent of cases)". With `judge`, ✓ marks a number that has the printed digits
    and ≠ one that does not: for the paper's own cases only, since others are not expected to agree.
    """
    printed = published("voice_table1_retellings").set_index("property").assign(original="")
    printed.loc["length_words (original 137)", "original"] = "137"
    described, rows = voices_table1(cases, reference), []
    voices = described["voice"].unique()
    for name, counted in described.groupby("property", sort=False):
        cells = counted.set_index("voice").reindex(voices)
        above = printed.loc[name].reindex(voices).fillna("")
        ours = [_table1_cell(cell, above[voice] if judge else "") for voice, cell in cells.iterrows()]
        rows += [[TABLE1_LABELS[name], *ours], ["as printed", *(text or "–" for text in above)]]
    frame = pd.DataFrame(rows, columns=["property", *voices])
    return table(frame, f"Table 1 from {whose}, above what is printed for the paper's 1,000 cases", numeric=voices)


def _table1_cell(cell: pd.Series, printed: str) -> str:
    """One number of Table 1 as text, marked against the printed one if there is one."""
    if pd.isna(cell["value"]):
        return "–" if pd.isna(cell["note"]) else cell["note"]
    text = f"{cell['value']:.1f}" if pd.isna(cell["count"]) else f"{cell['count']:,d} ({cell['value']:.1f})"
    return f"{text} {MARKS[compare_printed(cell['value'], printed)][0]}" if printed else text


def released_table1(study: Study) -> Block:
    """The same from the released cases; or one line that says how to get them."""
    if not study.real_cases:
        return callout(
            "The released cases are not on this machine; `nsh data pull` fetches them (about 16 MB).", code=True
        )
    return table1(study.real_cases, "the released cases", "clinical", judge=True)


def uncounted_table1() -> Block:
    """The rows of `voices` Table 1 that come from judges and clinicians, as printed."""
    printed = published("voice_table1_retellings").set_index("property")
    others = printed.drop(index=list(TABLE1.values())).rename(index=TABLE1_LABELS)
    return table(others, "Table 1, the rows by judges and clinicians, as printed", numeric=others.columns)
