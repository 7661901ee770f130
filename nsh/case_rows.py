"""One row of data made into a `Case`.

A row may have either of two layouts.

- *Nested*, as the packaged samples: `id`, `question` (the question sentence), `options`, `gold`, `narratives`
  (voice to text), and optionally `original` (the original vignette with its question).
- *Flat*, as the released files, CSV tables and the hub: `question_id`, `question`, `options`, `answer_idx`, and one
  column per voice: `persona_alpha`, `persona_beta`, `persona_gamma`, or `persona_<voice>` or `narrative_<voice>`.
  Here `question` is the whole original vignette, and the question sentence is taken from it; but where a column
  `original` holds the vignette, or `question` is a single sentence, it is the question sentence.

The names of id and correct letter are interchangeable (`ID_FIELDS`, `GOLD_FIELDS`). What is not named here is kept in
`Case.meta`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsh import case_fields
from nsh.case_fields import wrong
from nsh.errors import DataError
from nsh.voices import OVERALL, released_names

ID_FIELDS = ("id", "question_id")
GOLD_FIELDS = ("gold", "answer_idx", "correct_answer_idx")
VOICE_PREFIXES = ("persona_", "narrative_")
SENTENCE_END = re.compile(
    r"""(?<!\b(?:Dr|Mr|Ms|St|vs))(?<!\bMrs)[.?!]["'”’)]*\s+(?=["'“‘(]*[A-Z0-9]) | [.?!](?=[A-Z][a-z]) | \n""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its retellings.

    Attributes
    ----------
    id : str
        Name of the case, unique in its data set.
    question : str
        The question sentence alone.
    options : mapping of str to str
        Letter to text; letters run from A without a gap.
    gold : str
        Letter of the correct option.
    narratives : mapping of str to str
        Voice to the whole retelling, question sentence included.
    original : str or None
        The original vignette, question sentence included.
    meta : mapping
        Everything else that the row held.
    """

    id: str
    question: str
    options: Mapping[str, str]
    gold: str
    narratives: Mapping[str, str]
    original: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


def question_sentence(vignette: str) -> str:
    """Return the sentence of a vignette that asks the question: the last one that ends in a question mark.

    What follows the mark (a stray quotation mark, a table of laboratory values) is left out. A sentence begins on a
    new line, after a full stop, question or exclamation mark with white space and a capital letter or digit behind
    it, or where such a mark and a capitalized word touch. Without any question mark it is the last sentence.

    Examples
    --------
    >>> question_sentence('He feels well. Na+ is 135.0 mEq/L. What is the next step?"')
    'What is the next step?'
    """
    end = vignette.rfind("?") + 1 or len(vignette.rstrip())
    starts = [match.end() for match in SENTENCE_END.finditer(vignette, 0, end) if match.end() < end]
    return vignette[max(starts, default=0) : end].strip()


def case_from_row(row: Mapping[str, Any], where: str) -> Case:
    """Check one row and make it a case.

    Parameters
    ----------
    row : mapping
        Column to value, in either layout.
    where : str
        File and row, for messages.

    Raises
    ------
    DataError
        If a field is missing or wrong; the message names the place, the field, what was expected and the value.

    Examples
    --------
    >>> row = {"id": "1", "question": "Which?", "options": '{"A": "Gout", "B": "Lyme"}', "gold": "B",
    ...        "narratives": {"clinical": "Knee pain. Which?", "cultural": "My knee burns. Which?"}, "step": 1}
    >>> case = case_from_row(row, "here, row 1")
    >>> case.options["B"], case.meta
    ('Lyme', {'step': 1})
    """
    rest = dict(row)
    case_id = case_fields.identifier(*take(rest, ID_FIELDS, where), where)
    options = case_fields.options(*take(rest, ("options",), where), where)
    gold = case_fields.gold(*take(rest, GOLD_FIELDS, where), options, where)
    agree(rest, options, gold, where)
    nested = "narratives" in rest
    narratives = _retellings(rest, where)
    question = case_fields.text(*take(rest, ("question",), where), where)
    original = rest.pop("original", None) or None
    if original is not None:
        case_fields.text("original", original, where)
    elif not nested and question_sentence(question) != question.strip():
        question, original = question_sentence(question), question
    return Case(case_id, question, options, gold, narratives, original, rest)


def agree(rest: Mapping[str, Any], options: Mapping[str, str], gold: str, where: str) -> None:
    """Refuse a row whose `answer` or `answer_text` is neither the letter nor the text of its correct option.

    Raises
    ------
    DataError
        If one is, as far as it is there.

    Examples
    --------
    >>> agree({"answer": "gout", "answer_text": None}, {"A": "Gout", "B": "Lyme"}, "A", "row 1")
    """
    right = {gold.casefold(), options[gold].strip().casefold()}
    for name in ("answer", "answer_text"):
        if rest.get(name) and str(rest[name]).strip().casefold() not in right:
            raise wrong(where, name, f"the correct option {gold}, or its text {options[gold]!r}", rest[name])


def take(rest: dict[str, Any], names: Sequence[str], where: str) -> tuple[str, Any]:
    """Remove the named columns from the rest of a row; return the first that holds something, name and value.

    Raises
    ------
    DataError
        If none holds anything, or two hold different values.

    Examples
    --------
    >>> take({"question_id": 7, "gold": "A"}, ID_FIELDS, "here, row 1")
    ('question_id', 7)
    """
    if not rest.keys() & set(names):
        found = f"none of that name (unread: {', '.join(map(str, rest))})"
        raise DataError(f"{where}, field {names[0]!r}: expected a column {' or '.join(names)}; found {found}")
    found = {name: value for name in names if (value := rest.pop(name, None)) is not None}
    if not found:
        raise wrong(where, names[0], f"a value (column {' or '.join(names)})", None)
    name, value = next(iter(found.items()))
    for other, second in found.items():
        if second != value:
            raise wrong(where, other, f"the same as in {name!r}, {value!r}", second)
    return name, value


def _retellings(rest: dict[str, Any], where: str) -> dict[str, str]:
    """Remove the retellings from the rest, by voice, once there are two or more and none is blank."""
    nested = "narratives" in rest
    given = case_fields.mapping("narratives", rest.pop("narratives"), where) if nested else _columns(rest, where)
    if len(given) < 2:
        expected = "two voices or more (`narratives`, or columns persona_<voice> or narrative_<voice>)"
        raise wrong(where, "narratives", expected, list(given))
    for voice, narrative in given.items():
        if case_fields.text("voice", voice, where) == OVERALL:
            raise wrong(where, "voice", "another name (that of the row over all voices)", voice)
        case_fields.text(f"narratives, {voice}", narrative, where)
    return given


def _columns(rest: dict[str, Any], where: str) -> dict[str, Any]:
    """What stands in the columns of voices."""
    given: dict[str, Any] = {}
    for column in [name for name in rest if name.startswith(VOICE_PREFIXES)]:
        suffix = column.partition("_")[2]
        voice = released_names().get(suffix, suffix)
        if voice in given:
            raise wrong(where, column, f"one column for the voice {voice!r}", rest[column])
        given[voice] = rest.pop(column)
    return given
