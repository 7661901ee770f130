"""What the voices change in the texts themselves: the properties of `voices` Table 1 that a program can count.

Two texts are compared by their letters and digits alone, case folded, so that quotation marks, line breaks and spacing
do not count (`fold`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from nsh.cases import Case
from nsh.matrix import order_voices, tidy
from nsh.quantities import NUMERIC_AGE

FIRST_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
RETELLING = {"case": None, "voice": None, "words": "int64", "original_words": "Int64", "numeric_age": "bool"}
RETELLING |= {"superset": "boolean", "question_verbatim": "bool", "person": None}
DESCRIPTION = {"property": None, "voice": None, "n": "int64", "count": "Int64", "value": "float64"}
DESCRIPTION |= {"unit": None, "note": None}


def fold(text: str) -> str:
    """Keep a text's letters and digits only, case folded.

    Examples
    --------
    >>> fold("Which drug's dose (5 mg)?")
    'whichdrugsdose5mg'
    """
    return re.sub(r"[\W_]+", "", text.casefold())


def has_numeric_age(narrative: str) -> bool:
    """Whether a narrative gives an age in digits.

    An age is a number of years, months, weeks or days followed by "old" or "of age", or a number after "age", "aged",
    "turned", "a woman of" and the like, or after "I'm", "I am", "he is", "she's" unless a unit of time, length,
    weight or temperature follows it. `voices` prints no rule (Table 1).

    Examples
    --------
    >>> has_numeric_age("I'm 45, and tired."), has_numeric_age("I'm 28 weeks along."), has_numeric_age("At fifty-three")
    (True, False, False)
    """
    return NUMERIC_AGE.search(narrative) is not None


def narrative_person(narrative: str) -> str:
    """Grammatical person in which a retelling is told: "first" or "third".

    It is told in the first person if I, me, my, mine or myself stand in it at least twice; once may be a quotation or
    a numeral (type I). `voices` names no rule: its Limitations call the clinical voice third-person prose.

    Examples
    --------
    >>> narrative_person("I'm tired, and my knee hurts."), narrative_person("A man with type I diabetes is tired.")
    ('first', 'third')
    """
    return "first" if len(FIRST_PERSON.findall(narrative)) > 1 else "third"


def per_case(cases: Sequence[Case]) -> pd.DataFrame:
    """Count the properties of every retelling.

    Parameters
    ----------
    cases : sequence of Case

    Returns
    -------
    pandas.DataFrame
        One row per case and voice: `case`, `voice`, `words` (divided at white space), `original_words` (missing
        without an original vignette), `numeric_age` (`has_numeric_age`), `superset` (the retelling contains the whole
        original vignette, folded; missing without one), `question_verbatim` (it contains the question sentence, folded)
        and `person` (`narrative_person`).

    Examples
    --------
    >>> narratives = {"clinical": "Pain. Why?", "cultural": "It burns."}
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives, original="Pain. Why?")
    >>> per_case([case])[["voice", "words", "superset", "question_verbatim"]].values.tolist()
    [['clinical', 2, True, True], ['cultural', 2, False, False]]
    """
    return tidy([row for case in cases for row in _rows(case)], RETELLING)


def describe_retellings(cases: Sequence[Case], reference: str = "clinical") -> pd.DataFrame:
    """Describe the retellings of each voice, as the countable rows of `voices` Table 1.

    Parameters
    ----------
    cases : sequence of Case
    reference : str
        The voice that is not marked.

    Returns
    -------
    pandas.DataFrame
        `property` ("length", "numeric_age", "superset", "question_verbatim"; see `per_case`), `voice` (the reference
        first, then as the papers list them), `n` (cases that the value is over; a case without the voice, or without an
        original vignette where one is needed, is left out), `count` (cases that have the property; missing for the
        length), `value` (mean, or per cent of n; missing for n = 0), `unit` ("words" or "%") and `note` ("n = 0"). The
        voice is also "original" for the length, and for the other properties "any" (in at least one voice) and "every
        marked" (in all voices but the reference), over the cases that have every voice.

    Examples
    --------
    >>> narratives = {"clinical": "Pain. Why?", "cultural": "It burns."}
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives, original="Pain. Why?")
    >>> table = describe_retellings([case])
    >>> table.loc[table["property"] == "length", ["voice", "value"]].values.tolist()
    [['original', 2.0], ['clinical', 2.0], ['cultural', 2.0]]
    """
    frame = per_case(cases)
    voices = order_voices(frame["voice"], reference)
    rows = [_row("length", "original", frame.drop_duplicates("case")["original_words"])]
    rows += [_row("length", voice, frame.loc[frame["voice"] == voice, "words"]) for voice in voices]
    for name in ("numeric_age", "superset", "question_verbatim"):
        has = frame.pivot(index="case", columns="voice", values=name).astype("boolean")
        whole = has.dropna()
        rows += [_row(name, voice, has[voice]) for voice in voices]
        rows.append(_row(name, "any", whole.any(axis=1)))
        rows.append(_row(name, "every marked", whole.drop(columns=reference, errors="ignore").all(axis=1)))
    return tidy(rows, DESCRIPTION)


def _rows(case: Case) -> Iterator[dict[str, Any]]:
    """One row per voice of a case."""
    original = case.original
    for voice, narrative in case.narratives.items():
        folded = fold(narrative)
        yield {
            "case": case.id,
            "voice": voice,
            "words": len(narrative.split()),
            "original_words": len(original.split()) if original is not None else None,
            "numeric_age": has_numeric_age(narrative),
            "superset": fold(original) in folded if original is not None else None,
            "question_verbatim": fold(case.question) in folded,
            "person": narrative_person(narrative),
        }


def _row(name: str, voice: str, values: pd.Series) -> dict[str, Any]:
    """One row of the description: mean length in words, or count and per cent of a property."""
    known, length = values.dropna().astype(float), name == "length"
    key = {"property": name, "voice": voice, "n": len(known), "note": "" if len(known) else "n = 0"}
    if length:
        return key | {"value": known.mean(), "unit": "words"}
    return key | {"count": int(known.sum()), "value": (100 * known).mean(), "unit": "%"}
