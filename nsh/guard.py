"""The guard of `guarded_rewrite`: which values of a rewrite the narrative does not state, and the rewrite without them.

A *value* is a number in digits or words with the unit, word of time or hyphenated word behind it ("88/min", "three
weeks", "53-year-old"), "twice", or a decade of age ("40s", "forties"). Any other noun is left standing ("5 stools").
Names are none ("B12", "HbA1c", "5-HT", "COVID-19", "type 2 diabetes"), nor are ordinals ("2nd") and a lone "one".

The narrative *states* a value if it holds the number, in digits or words. A number with a unit or word of time must
have the same one there, or none: 40 years are not 40 mg. Units are those of `nsh.quantities`: 98.6 °F is 37.0 °C, but
500 mcg is not 0.5 mg. An approximate age states no number; a decade is stated by an age within it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from nsh.quantities import BARE_BEFORE, NUMBER, SPOKEN, TERMS, ages, digits, measurements

COUNTS, DECADES = TERMS["counts"], TERMS["decades"]
PLACE = re.compile(
    rf"(?P<decade>(?<!\w)[2-9]0['’]?s\b|\b(?:{'|'.join(DECADES)})\b)|(?P<words>{SPOKEN.pattern}|\b(?:{'|'.join(COUNTS)})\b)"
    r"|(?:(?<!\w)|(?<=BP|HR|RR)|(?<![\d.])(?=\d+\.\d))(?:\.\d+|\d+(?:,\d{3}(?!\d))*(?:\.\d+)?)",
    re.IGNORECASE,
)
NAME_BEFORE = re.compile(rf"(?:{TERMS['names_before']})\Z", re.IGNORECASE)
NAME_AFTER = re.compile(TERMS["names_after"], re.IGNORECASE)
BEHIND = re.compile(rf"[ -](?P<time>{TERMS['time_words']})\b(?:[ -]old\b)?|(?:-[^\W\d_]+)+", re.IGNORECASE)
STRUCK = "[not stated]"


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its place, its numbers (two of a blood pressure; "40s"), and what it measures, as number and unit."""

    place: slice
    numbers: frozenset[float | str]
    measures: frozenset[tuple[str, str]]


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
    >>> strike("My chest hurts.", "A 53-year-old man has had chest pain for 3 weeks.")
    'A [not stated] man has had chest pain for [not stated].'
    """
    while places := list(_found(narrative, rewrite)):  # what named a value that is gone may name the next one
        for place in reversed(places):
            rewrite = rewrite[: place.start] + STRUCK + rewrite[place.stop :]
    return rewrite


def _found(narrative: str, rewrite: str) -> Iterator[slice]:
    """Where the rewrite holds a value that the narrative does not state."""
    measures, numbers, free = _told(narrative)
    for value in _values(rewrite):
        if value.measures.isdisjoint(measures) and not value.numbers <= (free if value.measures else numbers):
            yield value.place


@lru_cache(maxsize=4096)  # a narrative is held beside the rewrites of every model
def _told(narrative: str) -> tuple[frozenset[tuple[str, str]], frozenset[float | str], frozenset[float | str]]:
    """What a narrative states: what is measured, all numbers, and those that any unit may follow."""
    told = list(_values(narrative))
    measures = frozenset().union(*(value.measures for value in told))
    implied = TERMS["implied_counts"].items()
    counts = frozenset(n for words, n in implied if re.search(rf"\b(?:{words})\b", narrative, re.I))
    counts |= {f"{age.low // 10:.0f}0s" for age in ages(narrative) if age.low // 10 == age.high // 10}
    numbers = counts.union(*(value.numbers for value in told))
    free = counts.union(*(value.numbers for value in told if not value.measures or len(value.numbers) > 1))
    return measures, numbers, free


def _values(text: str) -> Iterator[Value]:
    """The values of a text; a vital sign may be named since the value before."""
    end = 0
    for match in PLACE.finditer(text):
        if match.start() < end:
            continue
        before, end = text[end : match.start()], match.end()
        if word := match["decade"]:
            tens = int(word[0]) if word[0].isdigit() else 2 + DECADES.index(word.lower())
            yield Value(slice(*match.span()), frozenset({f"{tens}0s"}), frozenset())
        elif "." in match[0] or not (NAME_BEFORE.search(before) or NAME_AFTER.match(text, end)):
            yield (value := _value(match, before))
            end = value.place.stop


def _value(match: re.Match, before: str) -> Value:
    """The value that begins with a number; a vital sign may be named before it."""
    text, end, number = match.string, match.end(), "0" * match[0].startswith(".") + match[0]
    if match["words"]:
        number = str(COUNTS.get(match[0].lower()) or digits(f"{match[0]} days").removesuffix(" days"))
    reading, behind = NUMBER.match(number + text[end : end + 60]), BEHIND.match(text, end)
    stop = behind.end() if behind else end + len(reading[0].rstrip(" -")) - len(number)
    stop = end if not behind and BEHIND.match(text, stop) else stop  # "2 C-sections" are no temperature
    named = before if stop > end or BARE_BEFORE.match(text, stop) else ""
    measures = {(found.value, found.unit) for found in measurements(named + number + text[end:stop])}
    if behind and behind["time"]:
        word = behind["time"].lower()  # months and minutes need two letters, years and yrs share one
        measures.add((number, word[:2] if word[0] == "m" else word[0]))
    numbers = (reading["high"], reading["low"]) if reading["low"] and not behind else (number.replace(",", ""),)
    return Value(slice(match.start(), stop), frozenset(map(float, numbers)), frozenset(measures))
