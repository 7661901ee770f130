"""The transcript browser: every answer of a run in one page, with filters and all voices of a case side by side.

The page is data/browser.html with the answers in it. It asks nothing of the network.
"""

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.cases import Case
from nsh.data_cli import FOR
from nsh.matrix import order_voices
from nsh.quantities import SPOKEN, VAGUE_AGES, Age, Measurement, ages, measurements, unstated
from nsh.voices import styles_of

TEMPLATE = Path(__file__).parent / "data" / "browser.html"
CODED = ("model", "condition", "case", "voice", "status", "letter", "source", "settings")
SIGNS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖", "<": "◀", ">": "▶"}
STAMP = "Do not publish: this page holds case texts and replies."
CANNED = {"scripted", "fabricated"}
VALUE = re.compile(rf"\d+(?:[.,/]\d+)*|{SPOKEN.pattern}|\b(?:{'|'.join(VAGUE_AGES)})\b", re.IGNORECASE)
BEFORE, AFTER = 70, 40  # characters around a number that say what it measures


def write_browser(records: pd.DataFrame, path: Path, cases: Sequence[Case] | None = None) -> Path:
    """Write the answers of a run as one page to look through.

    Parameters
    ----------
    records : pandas.DataFrame
        As `nsh.records.records_frame` makes them.
    path : pathlib.Path
        The file.
    cases : sequence of Case, optional
        Where given, the page holds their texts and the replies, and says that it must not be published; else ids and
        letters only.

    Returns
    -------
    pathlib.Path
        The file.
    """
    data = json.dumps(browser_data(records, cases), separators=(",", ":")).replace("<", "\\u003c")
    stamp = "" if cases is None else f'<p class="stamp" role="note">{STAMP}</p>'
    parts = {"about": escape(_about(records)), "disclaimer": FOR, "stamp": stamp, "data": data}
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], TEMPLATE.read_text(encoding="utf-8"))
    path.write_text(page, encoding="utf-8")
    return path


def browser_data(records: pd.DataFrame, cases: Sequence[Case] | None = None) -> dict[str, Any]:
    """Put records into the columns that the page reads.

    Parameters
    ----------
    records, cases
        As in `write_browser`.

    Returns
    -------
    dict
        `columns`: name to `values` and `codes`, the place of each answer's value among them (-1: none); `flip` is 1
        where the same model, condition and case was answered right in one voice and wrong in another. `gold` and
        `stories` go by the values of `case`, `voices` by name. `stories` (question, options, and of each voice the
        pieces of `marked`) and `texts` (the replies, coded) are None without cases.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> same = {"model": "m", "condition": "direct", "case": "7"}
    >>> rows = [{**same, "voice": "clinical", "correct": True}, {**same, "voice": "cultural", "correct": False}]
    >>> browser_data(records_frame(rows))["columns"]["flip"]["codes"]
    [1, 1]
    """
    columns = {name: _coded(records[name]) for name in CODED}
    same = [columns[name]["codes"] for name in ("model", "condition", "case")]
    flips = records["correct"].groupby(same).transform("nunique") > 1
    for name, truth, words in (
        ("correct", records["correct"], ["wrong", "right"]),
        ("flip", flips, ["alike in every voice", "right in one voice, wrong in another"]),
    ):
        columns[name] = {"values": words, "codes": truth.astype(int).tolist()}
    ids, golds = columns["case"]["values"], dict(zip(records["case"], records["gold"], strict=True))
    voices = styles_of(order_voices(columns["voice"]["values"]))
    data = {
        "columns": columns,
        "gold": [golds[name] for name in ids],
        "voices": {voice: [SIGNS[style.marker], style.color] for voice, style in voices.items()},
    }
    if cases is None:
        return data | {"texts": None, "stories": None}
    told = {case.id: [case.question, dict(case.options), marked(case.narratives)] for case in cases if case.id in golds}
    return data | {"texts": _coded(records["text"]), "stories": [told.get(name) for name in ids]}


def marked(narratives: Mapping[str, str]) -> dict[str, list[str]]:
    """Cut retellings of one case where they state an age or a measured value that another of them does not.

    Parameters
    ----------
    narratives : mapping of str to str
        Voice to text.

    Returns
    -------
    dict of str to list of str
        Voice to the pieces of its text in order; those at odd places are such numbers and words. What counts as an age
        or a measured value, and as stating it, is said in `nsh.quantities`.

    Examples
    --------
    >>> marked({"clinical": "A 53-year-old, pulse 88/min.", "rural": "In my fifties, heart at 88 a minute."})
    {'clinical': ['A ', '53', '-year-old, pulse 88/min.'], 'rural': ['', 'In my fifties', ', heart at 88 a minute.']}
    """
    pieces, stated = {}, {voice: {*ages(text)} for voice, text in narratives.items()}
    for voice, text in narratives.items():
        differing = set()
        for other in narratives.keys() - {voice}:
            differing |= stated[voice] - stated[other] | {*unstated(text, narratives[other])}
        pieces[voice], end = [], 0
        for match in VALUE.finditer(text) if differing else ():
            if differing & _said(text, match):
                pieces[voice] += [text[end : match.start()], match[0]]
                end = match.end()
        pieces[voice].append(text[end:])
    return pieces


def _said(text: str, match: re.Match) -> set[Age | Measurement]:
    """What is no longer stated around a number once it is taken away."""
    before, after = text[max(0, match.start() - BEFORE) : match.start()], text[match.end() :][:AFTER]
    whole, without = (before + said + after for said in (match[0], "#"))
    return {*ages(whole), *measurements(whole)} - {*ages(without), *measurements(without)}


def _coded(column: pd.Series) -> dict[str, list]:
    """The distinct values of a column, and the place of each row's among them."""
    codes, values = pd.factorize(column.astype(object).where(column.notna(), None))
    return {"values": values.tolist(), "codes": codes.tolist()}


def _about(records: pd.DataFrame) -> str:
    """How many answers of what the page holds, and whether they are made up."""
    counts = [f"{len(records):,d} answers"]
    for name in ("model", "condition", "case", "voice"):
        n = records[name].nunique()
        counts.append(f"{n:,d} {name}{'s' * (n != 1)}")
    sources = list(dict.fromkeys(records["source"].dropna()))
    warning = " FABRICATED: some of these answers are canned." if CANNED.intersection(sources) else ""
    return f"{', '.join(counts)}. Source: {', '.join(sources) or 'not recorded'}.{warning}"
