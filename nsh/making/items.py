"""Questions before they are retold: one `Item` is one question of MedQA, with its options and its exam step.

MedQA is read as its distributions give it: one object a line, `question` (the whole vignette; where the options follow
it they begin on a new line with "A) " and are cut off), `options`, the correct letter in `answer_idx` or, without that,
in `answer`, and `meta_info`, the exam step. Files of cases are read too: their vignette is `original`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from nsh import case_fields
from nsh.case_fields import wrong
from nsh.case_rows import GOLD_FIELDS, ID_FIELDS, VOICE_PREFIXES, Case, agree, question_sentence, take
from nsh.cases import source_rows
from nsh.errors import DataError, ParameterError

CONTENT = attrgetter("vignette", "question", "options", "gold", "step")


@dataclass(frozen=True, slots=True)
class Item:
    """One question before retelling.

    Attributes
    ----------
    id : str
        Name of the question; where the source gives none, "medqa-" and twelve digits of the SHA-256 of its content.
    vignette : str
        The whole text, question sentence included, options not.
    question : str
        The question sentence alone.
    options : dict of str to str
        Letter to text; letters run from A without a gap.
    gold : str
        Letter of the correct option.
    step : str or None
        Exam step as the source writes it: "step1" or "step2&3".
    metadata : dict
        Everything else that the row held, without retellings.
    """

    id: str
    vignette: str
    question: str
    options: dict[str, str]
    gold: str
    step: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def load_items(source: str | Path) -> list[Item]:
    """Load and validate the questions of MedQA, or those of a set of cases.

    Parameters
    ----------
    source : str or pathlib.Path
        A .jsonl, .csv or .parquet file in MedQA's layout or in that of cases, a data set on the hub
        ("hf:GBaker/MedQA-USMLE-4-options", all its splits), "samples", "released", or the folder of the released files.

    Returns
    -------
    list of Item
        In the order of the source. A question that stands there twice, with the same options and answer, is kept once.

    Raises
    ------
    DataError
        If a row is wrong, an id stands for two questions, or there are none; file, row and field are named.
    MissingDataError
        If the source is not on this machine and cannot be fetched.
    ParameterError
        If the source is of no known kind.

    Examples
    --------
    >>> items = load_items("samples")
    >>> len(items), items[0].question in items[0].vignette
    (24, True)
    """
    items: dict[str, Item] = {}
    for where, row in source_rows(source):
        item = item_from_row(row, where)
        if CONTENT(items.setdefault(item.id, item)) != CONTENT(item):
            raise wrong(where, "id", "an id that no other question has", item.id)
    if not items:
        raise DataError(f"{source} holds no questions")
    return list(items.values())


def item_from_row(row: Mapping[str, Any], where: str) -> Item:
    """Check one row and make it an item.

    Parameters
    ----------
    row : mapping
        Column to value, in MedQA's layout or in that of cases.
    where : str
        File and row, for messages.

    Raises
    ------
    DataError
        If a field is missing or wrong; the message names the place, the field, what was expected and the value.

    Examples
    --------
    >>> row = {"question": "A 9-year-old boy limps. Why?\\nA) Gout\\nB) Lyme", "options": {"A": "Gout", "B": "Lyme"},
    ...        "answer": "B", "answer_text": "Lyme", "meta_info": "step1"}
    >>> item = item_from_row(row, "here, row 1")
    >>> item.vignette, item.question, item.gold, item.step
    ('A 9-year-old boy limps. Why?', 'Why?', 'B', 'step1')
    """
    rest = {name: value for name, value in row.items() if not name.startswith((*VOICE_PREFIXES, "narratives"))}
    options = case_fields.options("options", rest.pop("options", None), where)
    lettered = "answer" in rest and not any(rest.get(name) for name in GOLD_FIELDS)
    gold = case_fields.gold(*take(rest, ("answer",) if lettered else GOLD_FIELDS, where), options, where)
    agree(rest, options, gold, where)
    question = case_fields.text("question", rest.pop("question", None), where).partition("\nA) ")[0].strip()
    vignette = case_fields.text("original", rest.pop("original", None) or question, where)
    sentence = question if question != vignette else question_sentence(vignette)
    step = rest.pop("meta_info", None) or None
    if step is not None:
        case_fields.text("meta_info", step, where)
    named = any(rest.get(name) is not None for name in ID_FIELDS)
    content = json.dumps([vignette, options, gold, step])
    made = f"medqa-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    name = case_fields.identifier(*take(rest, ID_FIELDS, where), where) if named else made
    return Item(name, vignette, sentence, options, gold, step, rest)


def items_of(cases: Iterable[Case]) -> list[Item]:
    """Make items of cases that have an original vignette; of the others there is nothing to filter or retell."""
    return [
        Item(case.id, case.original, case.question, dict(case.options), case.gold, case.meta.get("meta_info"))
        for case in cases
        if case.original is not None
    ]


def item_row(item: Item) -> dict[str, Any]:
    """Lay an item out as a case that lacks only its `narratives`, so that `load_items` reads it back.

    Examples
    --------
    >>> list(item_row(Item("1", "A boy limps. Why?", "Why?", {"A": "Gout", "B": "Lyme"}, "B", "step1")))
    ['id', 'question', 'options', 'gold', 'original', 'meta_info']
    """
    laid = {"id": item.id, "question": item.question, "options": item.options, "gold": item.gold}
    return {**laid, "original": item.vignette, "meta_info": item.step, **item.metadata}


def writable(path: str | Path) -> Path:
    """The absolute path of a .jsonl file that is to be written, and is not there yet.

    Raises
    ------
    ParameterError
        If the file has another ending, its folder does not exist, or something of that name is there.
    """
    path = Path(path).absolute()
    if path.suffix.lower() != ".jsonl" or not path.parent.is_dir():
        raise ParameterError(f"{path}: expected a file that ends in .jsonl, in a folder that exists")
    if path.exists():
        raise ParameterError(f"{path} is there already, and nothing is overwritten: name another file")
    return path


def write_rows(rows: Iterable[Mapping[str, Any]], path: str | Path) -> Path:
    """Write rows to a .jsonl file, one a line, which is there once all are written.

    Raises
    ------
    ParameterError
        As `writable`.
    """
    path = writable(path)
    half = path.with_name(f"{path.name}.part")
    lines = [json.dumps(row, ensure_ascii=False, default=str) for row in rows]
    half.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="backslashreplace")
    return half.replace(path)


def write_items(items: Iterable[Item], path: str | Path) -> Path:
    """Write items to a .jsonl file, an `item_row` a line (`write_rows`)."""
    return write_rows(map(item_row, items), path)
