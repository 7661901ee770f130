"""The guard of `guarded_rewrite`: which values of a rewrite the narrative does not state, and the rewrite without them.

A value is a number, in digits or words, with the unit behind it. The narrative states it if it holds the same number,
in digits or words, whatever it is a number of; a temperature also in the other scale. An approximate age states no
number. A number that belongs to a name ("B12", "COVID-19", "type 2 diabetes") is none.
"""

import re
from collections.abc import Iterator

from nsh.quantities import NUMBER, SPOKEN, TERMS, digits

VALUE = re.compile(f"(?P<spoken>{SPOKEN.pattern})|{NUMBER.pattern}", re.IGNORECASE)
NAME = re.compile(rf"(?:\w-|\b(?:{TERMS['names_before']}) )\Z", re.IGNORECASE)
FIGURES = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
COUNTS = re.compile(rf"\b(?:{'|'.join(TERMS['counts'])})\b", re.IGNORECASE)
STRUCK = "[not stated]"


def unsupported(narrative: str, rewrite: str) -> tuple[str, ...]:
    """Values of a rewrite that its narrative does not state, each once, as they stand in the rewrite.

    Examples
    --------
    >>> unsupported("At fifty-three I ache, 98.6 F.", "A 53-year-old man, 37.0 °C, pulse 88/min on 40 mg of B12.")
    ('88/min', '40 mg')
    """
    return tuple(dict.fromkeys(rewrite[place] for place in _found(narrative, rewrite)))


def strike(narrative: str, rewrite: str) -> str:
    """The rewrite with "[not stated]" in the place of each such value, and not another character changed.

    Examples
    --------
    >>> strike("My chest hurts.", "A 53-year-old man has chest pain.")
    'A [not stated]-year-old man has chest pain.'
    """
    parts, end = [], 0
    for place in _found(narrative, rewrite):
        parts += [rewrite[end : place.start], STRUCK]
        end = place.stop
    return "".join([*parts, rewrite[end:]])


def _found(narrative: str, rewrite: str) -> Iterator[slice]:
    """Where the rewrite holds a value that the narrative does not state."""
    stated = _numbers(narrative)
    for match in VALUE.finditer(rewrite):
        written = _numbers(digits(match[0]) if match["spoken"] else match["value"] or f"{match['high']} {match['low']}")
        unit = (match["unit"] or "")[:1]
        if unit in "°∘º℃℉FfCc" and unit:
            written = set() if any(scale & stated for scale in map(_other_scale, written)) else written
        if written - stated and not NAME.search(rewrite, max(0, match.start() - 20), match.start()):
            yield slice(match.start(), match.start() + len(match[0].rstrip(" -")))


def _numbers(text: str) -> set[float]:
    """Numbers of a text, in digits, in words, or as a count ("twice")."""
    counts = {TERMS["counts"][word.lower()] for word in COUNTS.findall(text)}
    return {float(figure.replace(",", "")) for figure in FIGURES.findall(digits(text))} | counts


def _other_scale(degrees: float) -> set[float]:
    """A temperature in the other scale, to one decimal."""
    return {round((degrees - 32) / 1.8, 1), round(degrees * 1.8 + 32, 1)}
