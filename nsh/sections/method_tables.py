"""Tables of what methods change: `voices` Table 2 above the printed rows, and the numbers of its running text."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nsh.declared import find_page
from nsh.operations import operations
from nsh.parts import beside_printed, interval
from nsh.printed import minus, published
from nsh.real import real_run
from nsh.sections.method_numbers import tool_effect
from nsh.sections.methods import FORMATS, PRINTED
from nsh.study import Study
from nsh.tables import Block, callout, format_cell, table
from nsh.tool_logs import logged_tools

HEADS = {
    "{reference}": "{acc_clinical}",
    "marked": "{acc_marked}",
    "overall": "{acc_overall}",
    "gap": "{gap}",
    "pooled effect [95% interval], points": "{pooled_effect_points} [{pooled_lo}, {pooled_hi}]",
    "gap smaller, models": "{gap_significantly_smaller_models}",
    "Δ accuracy, points (models better / worse)": "{delta_acc_points} ({models_better} / {models_worse})",
    "Δ marked, points": "{delta_marked_points}",
    "κ": "{kappa}",
    "recovered / broken, %": "{recovered_pct} / {broken_pct}",
    "no letter, %": "{no_letter_pct}",
    "models × cases": "{n_models} × {n}",
}


def table2(
    means: pd.DataFrame,
    conditions: Sequence[str],
    reference: str,
    what: str,
    rows: str = "this run",
    printed: bool = True,
) -> Block:
    """Show Table 2: each condition from a run, above what is printed for it; "–" for what is not there.

    Parameters
    ----------
    means : DataFrame
        As `condition_means` returns it.
    conditions : sequence of str
        Those to show, in order.
    reference : str
        The unmarked voice, which heads the first column.
    what, rows : str
        The caption, and what a row of ours is called.
    printed : bool
        Whether the printed rows stand below ours.
    """
    above = published("voice_table2_conditions").set_index("condition")
    lines = []
    for condition in conditions:
        name = PRINTED.get(condition, condition)
        if condition in means.index:
            lines.append([name, rows, *_line({key: _text(means.at[condition, key], key) for key in means})])
        if printed and name in above.index:
            texts = above.loc[name].map(minus).replace("", "–").to_dict()
            lines.append([name, "as printed", *_line(texts | dict.fromkeys(("no_letter_pct", "n_models"), "–"))])
    heads = [head.format(reference=reference) for head in HEADS]
    return table(pd.DataFrame(lines, columns=["condition", "from", *heads]), what, numeric=heads, row_headers=2)


def _text(value: Any, column: str) -> str:
    """A number as the paper prints such numbers, "–" where there is none."""
    return "–" if pd.isna(value) else format_cell(value, FORMATS.get(column))


def _line(texts: Mapping[str, str]) -> list[str]:
    """The cells of one row."""
    cells = [cell.format(**{"n": "", **texts}).replace("[–, –]", "(no interval)") for cell in HEADS.values()]
    return ["–" if cell.startswith("–") else cell for cell in cells]


def numbers_table(ours: Mapping[str, float | str | None], where: str, what: str) -> Block:
    """Show the numbers of the running text of `voices` beside ours.

    Parameters
    ----------
    ours : mapping
        Id in ``published("voices_text")`` to our number, or to a text such as "3 of 11".
    where : str
        Pattern of the places to show, such as ``r"7\\.[12]"``; a number there that we lack is "not computed".
    what : str
        The caption.

    Examples
    --------
    >>> print(numbers_table({"tools_fire_pct": 40.0}, r"7\\.4", "Section 7.4").text.splitlines()[-2].split()[-2:])
    ['47%', '40']
    """
    texts = published("voices_text")
    ids = texts.loc[texts["where"].str.contains(where), "id"]
    return beside_printed(ids, {"this run": ours}, what, "printed, the paper's models")


def change_table(rows: pd.DataFrame, reference: str, what: str) -> Block:
    """Show the change of every model and condition that has a baseline: points, the gaps, recovered and broken."""
    shown = rows[rows["delta_gap"].notna() & rows["note"].notna()]
    frame = pd.DataFrame(index=shown.index)
    for name in ("reference", "marked", "overall"):
        points = 100 * shown[f"delta_{name}"]
        frame[f"Δ {reference if name == 'reference' else name}"] = [
            _text(value, "delta_acc_points") for value in points
        ]
    frame = frame.assign(**{"gap before": shown["gap"] - shown["delta_gap"], "gap after": shown["gap"]})
    ends = zip(-shown["delta_gap"], shown["gap_reduction_lo"], shown["gap_reduction_hi"], strict=True)
    frame["gap reduction [95% interval]"] = [interval(*values) for values in ends]
    shares = (100 * shown[["recovered", "broken"]]).map(lambda share: _text(share, "broken_pct"))
    frame["recovered / broken, %"] = shares["recovered"] + " / " + shares["broken"]
    notes = shown["note"].mask(shown["note"].str.contains("pattern counts"), "")
    return table(frame.assign(note=notes), what, numeric=list(frame), row_headers=2)


def tools_table(records: pd.DataFrame, condition: str = "extract_tools") -> Block | None:
    """How the tools of +Tools ran, per model and voice; None where the condition was not run."""
    rows = operations(records[records["condition"] == condition])
    if rows.empty:
        return None
    names = {"encounters_with_tools": "answers with a tool, %", "questions_with_tools": "questions with a tool, %"}
    names |= {"parse_rate": "extraction parses, %", "fallback_rate": "fallback, %"}
    cells = {head: [_text(100 * value, "broken_pct") for value in rows[name]] for name, head in names.items()}
    calls = [_text(value, "kappa") for value in rows["tools_per_question"]]
    frame = (
        rows[["model", "voice", "n"]].rename(columns={"n": "answers"}).assign(**{"tools per answer": calls}, **cells)
    )
    return table(frame, "+Tools in this run, by voice", numeric=list(frame)[2:], row_headers=2)


def effect_table(records: pd.DataFrame) -> Block | None:
    """Accuracy where a tool was called, with the tools and without; None where +Tools was not run."""
    if "extract_tools" not in set(records["condition"]):
        return None
    rows = tool_effect(records).assign(note="")
    rows.loc[rows["n_fired"] == 0, "note"] = "n = 0"
    labels = {"n": "answers", "n_fired": "with a tool", "without": "accuracy of +Reason", "with": "accuracy of +Tools"}
    what = "Answers of +Tools on which a tool was called, and the accuracy there with and without the tools"
    return table(rows, what, labels=labels | {"points": "difference, points"}, formats={"points": "z.1f"})


def logs_table(study: Study) -> Block:
    """What the released logs of the first version's pipeline say of its tools; or a line that they are not here."""
    rows = logged_tools(study.released)
    if rows.empty:
        missing = "The released tool logs are not on this machine; `nsh data pull` fetches those that are offered."
        return callout(missing, code=True)
    labels = {"n": "answers", "tools_per_question": "tools per answer", "encounters_pct": "answers with a tool, %"}
    labels |= {"questions_pct": "questions with a tool, %"}
    formats = {"tools_per_question": ".2f", "encounters_pct": ".1f", "questions_pct": ".1f"}
    what = "Tools called by NarrativeShield in the first version of the paper, from its released logs"
    return table(rows[[*labels]], what, labels=labels, formats=formats)


def needs_gpu(study: Study) -> Block:
    """Say how the paper's models would fill the page, or that they did."""
    if real_run(find_page(study.slug), study.values):
        return callout("Models of the paper were run here on its cases: this page holds their answers.")
    command = f"`nsh run {study.slug} -f params/paper.yaml`"
    said = f"The paper's models were not run here. On a GPU host {command} fills this page with their answers."
    return callout(said, code=True)


def told(means: pd.DataFrame, methods: Sequence[str], baseline: str = "direct") -> str:
    """The mean gaps of a run in a sentence, for the end of a page.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> from nsh.sections.methods import condition_means
    >>> told(condition_means(from_patterns(["B1", "B3"]), "B1", resamples=0), ["B3"], "B1")
    'Over 1,000 cases (models run: 7) the mean gap is 0.087 under B1 and 0.070 under B3.'
    >>> told(condition_means(from_patterns([])), ["rewrite"])
    'No model was run.'
    """
    held = [name for name in (baseline, *methods) if name in means.index and pd.notna(means.at[name, "gap"])]
    if not held:
        return "No model was run." if means.empty else "No case was answered under all conditions."
    gaps = [f"{_text(means.at[name, 'gap'], 'gap')} under {PRINTED.get(name, name)}" for name in held]
    listed = " and ".join([", ".join(gaps[:-1]), gaps[-1]] if gaps[1:] else gaps)
    first = means.loc[held[0]]
    return f"Over {int(first['n']):,d} cases (models run: {int(first['n_models'])}) the mean gap is {listed}."
