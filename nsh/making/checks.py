"""What a program checks in a retelling before an auditor is asked; each check that fails is named, with what failed it.

Two of them are stricter than the papers, whose released marked retellings are half again to twice as long as was
asked and often leave the age implicit: a register of one's own may ask for other lengths.
"""

from collections.abc import Callable
from math import ceil, floor

from nsh.cases import Case
from nsh.guard import unsupported
from nsh.making.voices import Register, phrases_in
from nsh.markers import labels
from nsh.retellings import fold, narrative_person


def length_asked(register: Register, original: str) -> tuple[int, int]:
    """Least and greatest number of words that a register asks for, its factors of the original's rounded outward.

    Examples
    --------
    >>> from nsh.making.voices import register
    >>> length_asked(register("cultural"), "word " * 137)
    (150, 172)
    """
    words, (low, high) = len(original.split()), register.words
    return floor(round(low * words, 6)), ceil(round(high * words, 6))


def failed_checks(case: Case, register: Register, text: str) -> dict[str, str]:
    """The checks that a retelling fails.

    Parameters
    ----------
    case : Case
        With its original vignette.
    register : Register
        What was asked for.
    text : str
        The retelling.

    Returns
    -------
    dict of str to str
        Check to what failed it; empty where all pass. In this order: "length" (words, divided at white space, outside
        `length_asked`), "forbidden phrase" (one of the register's is found, whatever its case, blanks and
        apostrophes), "label" (a demographic marker of `nsh.markers` that the original does not state), "value" (a
        number of the original, ages included, in digits or words, that the retelling does not state: `nsh.guard`),
        "question" (the question sentence does not stand in it letter by letter, punctuation and case apart) and
        "person" (`nsh.retellings.narrative_person` finds another than the register sets).

    Examples
    --------
    >>> from nsh.making.voices import register
    >>> original = "A 53-year-old man has had a cough for 3 weeks. Why?"
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {}, original)
    >>> failed_checks(case, register("clinical"), "This man, aged fifty-three, has been coughing for three weeks. Why?")
    {}
    >>> failed_checks(case, register("clinical"), "A Hispanic man in his fifties has had a cough for three weeks.")
    {'label': 'hispanic', 'value': '53-year-old', 'question': 'Why?'}
    """
    found = {name: check(case, register, text) for name, check in CHECKS.items()}
    return {name: what for name, what in found.items() if what}


def _length(case: Case, register: Register, text: str) -> str:
    """How many words there are, where that is not what was asked."""
    (low, high), words = length_asked(register, case.original), len(text.split())
    return "" if low <= words <= high else f"{words} words, not {low} to {high}"


def _phrases(case: Case, register: Register, text: str) -> str:
    """The forbidden phrases in the text, as they stand there."""
    return "; ".join(phrases_in(text, register.forbidden))


def _labels(case: Case, register: Register, text: str) -> str:
    """The labels that the original does not state."""
    stated = labels(case.original)
    return "; ".join(label for label in labels(text) if label not in stated)


def _values(case: Case, register: Register, text: str) -> str:
    """The original's values that the text does not state."""
    return "; ".join(unsupported(text, case.original))


def _question(case: Case, register: Register, text: str) -> str:
    """The question sentence, where it is not kept; the prompt asks for it at the end, the check takes it anywhere."""
    return "" if fold(case.question) in fold(text) else case.question


def _person(case: Case, register: Register, text: str) -> str:
    """The narrative person, where it is another than was asked."""
    told = narrative_person(text)
    return "" if register.person in (told, None) else f"told in the {told} person"


CHECKS: dict[str, Callable[[Case, Register, str], str]] = {
    "length": _length,
    "forbidden phrase": _phrases,
    "label": _labels,
    "value": _values,
    "question": _question,
    "person": _person,
}
