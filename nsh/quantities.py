"""Ages and measured values that a text states, found by rules.

Numbers in words are first put into digits. Then

- an *age* is numeric ("53-year-old", "sixty-two years of age", "I'm 45", "age: 7 months") or approximate ("in her late
  forties", "toddler"), and whose age it is, the patient's or a child's, is not told apart;
- a *measured value* is a blood pressure (134/76, "134 over 76"), a number with a unit of a laboratory value or dose
  ("900 mg", "8.9 g/dL"), or one near the name of a vital sign ("pulse 88"). Durations, lengths and weights are none;
- a *bare* number has neither unit nor noun after it ("her potassium came back 2.9").

Words, units and ranges are in data/audit_terms.yaml.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from nsh.declared import read_data

TERMS = read_data("audit_terms.yaml")
BARE = "number"
YEARS = {"month": 12, "week": 52, "day": 365, "hour": 8760}


def _pattern(text: str) -> re.Pattern:
    """Compile a pattern of the terms, case ignored."""
    return re.compile(text, re.IGNORECASE)


UNITS, PER = TERMS["units"] | TERMS["counted_units"], TERMS["per_units"]
NUMBERS = TERMS["number_words"]
WORD = "|".join(sorted(NUMBERS, key=len, reverse=True))
SPOKEN = _pattern(
    rf"\b(?:a[\s-](?=hundred|thousand))?(?!one\b(?![\s-](?:{WORD}|point|{TERMS['one_before']})))(?:{WORD})\b"
    rf"(?:(?:(?<=hundred)\ and|(?<=thousand)\ and)?[\s-](?:{WORD})\b)*(?:\ point(?:\ (?:oh|{WORD})\b)+)?"
)
NUMBER = _pattern(
    rf"(?<![\w.,^/])(?:(?P<high>\d{{2,3}})\s*(?:/|over)\s*(?P<low>\d{{2,3}})(?!\d|\.\d|/)|"
    r"(?P<value>\d+(?:,\d{3})*(?:\.\d+)?))(?![\d])"
    rf"(?:[ -]*(?:(?P<unit>{'|'.join(UNITS.values())})(?![a-z]))?"
    rf"(?:\ *(?:/|per\b|(?:in\ |in\ the\ span\ of\ )?(?:an?|each|every)\b)"
    rf"\s*(?P<per>{'|'.join(PER.values())})(?![a-z]))?)"
)
NUMERIC_AGE = re.compile(TERMS["explicit_age"], re.VERBOSE | re.IGNORECASE)
AGES = [NUMERIC_AGE, *map(_pattern, TERMS["numeric_age"])]
VAGUE_AGES = TERMS["approximate_age"] | {
    rf"in\ (?:my|his|her|their|the)\ {part}(?:{decade}|{tens}0['’]?s)": (10 * tens + low, 10 * tens + high)
    for tens, decade in enumerate(TERMS["decades"], start=2)
    for part, (low, high) in TERMS["parts_of_a_decade"].items()
}
BARE_BEFORE = _pattern(rf"\ *(?:{TERMS['bare_before']})")
SIGNS = str.maketrans({"∘": "°", "º": "°", "℃": "°C", "℉": "°F"})


@dataclass(frozen=True, slots=True)
class Age:
    """An age in years: `low` equals `high` unless it is approximate."""

    low: float
    high: float

    @property
    def approximate(self) -> bool:
        """Whether the age is a range."""
        return self.low < self.high


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured value.

    Attributes
    ----------
    kind : str
        "blood pressure", a vital sign of data/audit_terms.yaml, "rate", "pressure", "dose" or "lab".
    value : str
        The number without idle zeros, or "134/76"; a temperature in degrees Celsius to one decimal, so that 98.6 °F
        and 37.0 °C are the same measurement.
    unit : str
        In one spelling ("mcg", "g/dL", "/min", "°C"). Quantities are not converted: 500 mcg is not 0.5 mg.
    """

    kind: str
    value: str
    unit: str


def digits(text: str) -> str:
    """Put numbers in words into digits; a lone "one" stays unless a unit follows.

    Examples
    --------
    >>> digits("Eighty-eight beats, a hundred and two over seventy, ninety-eight point six; one of them")
    '88 beats, 102 over 70, 98.6; one of them'
    """
    return SPOKEN.sub(_in_digits, text)


def _in_digits(match: re.Match) -> str:
    """Digits of one number in words; "one thirty-four" is 134."""
    whole, _, decimals = " ".join(re.findall(r"[a-z]+", match[0].lower())).partition(" point ")
    total = part = 0
    for word in whole.split():
        value = NUMBERS.get(word, 0)
        if word == "thousand":
            total, part = (part or 1) * value, 0
        elif word == "hundred":
            part = (part or 1) * value
        else:
            part = part * 100 + value if 0 < part < 10 <= value else part + value
    return f"{total + part}" + "." * bool(decimals) + "".join(str(NUMBERS.get(word, 0)) for word in decimals.split())


def ages(text: str) -> list[Age]:
    """Ages stated in a text, numeric ones first and in the order of the text.

    Examples
    --------
    >>> [(age.low, age.approximate) for age in ages("A sixty-two-year-old, seen by a colleague in her late forties")]
    [(62.0, False), (47, True)]
    """
    text, found, vague = digits(text), {}, []
    for match in (match for pattern in AGES for match in pattern.finditer(text)):
        end = match.start() + re.search(r"\d+", match[0]).end()
        unit = re.search("month|week|day|hour", match[0], re.IGNORECASE)
        years = float(re.search(r"\d*\.?\d+$", text[:end])[0]) / (YEARS[unit[0].lower()] if unit else 1)
        found.setdefault(end, Age(years, years))
    for words, years in VAGUE_AGES.items():
        vague += [Age(*years)] * len(_pattern(rf"\b(?:{words})\b").findall(text))
    return [found[end] for end in sorted(found)] + vague


def measurements(text: str) -> list[Measurement]:
    """Measured values stated in a text, in its order.

    Examples
    --------
    >>> for found in measurements("BP 134 over 76, heart beating eighty-eight times a minute, 98.6 F, 8.9 g per dL"):
    ...     print(found.kind, found.value, found.unit)
    blood pressure 134/76 mm Hg
    heart rate 88 /min
    temperature 37 °C
    lab 8.9 g/dL
    """
    return [found for found in _readings(text) if found.kind != BARE]


def unstated(text: str, source: str) -> list[Measurement]:
    """Measured values of a text that a source does not state, each once.

    A source states a value if it holds the number with the same unit, whatever it is a measure of, or as a bare number.

    Examples
    --------
    >>> [found.value for found in unstated("Pulse 88/min, potassium 2.9 mEq/L", "88 days; potassium is 2.9")]
    ['88']
    """
    stated = {(found.value, found.unit) for found in _readings(source)}
    wanted = dict.fromkeys(measurements(text))
    return [found for found in wanted if stated.isdisjoint({(found.value, found.unit), (found.value, "")})]


def _readings(text: str) -> Iterator[Measurement]:
    """Measured values and bare numbers; a vital sign is named since the number before, at most 60 characters back."""
    text, end = digits(text).translate(SIGNS), 0
    for match in NUMBER.finditer(text):
        start, end = max(end, match.start() - 60), match.end()
        if not match["value"]:
            if int(match["high"]) > int(match["low"]) >= 20 and 60 <= int(match["high"]) <= 300:
                yield Measurement("blood pressure", f"{match['high']}/{match['low']}", "mm Hg")
        else:
            yield from _reading(match, start, BARE_BEFORE.match(text, end) is not None)


def _reading(match: re.Match, start: int, bare: bool) -> Iterator[Measurement]:
    """The measured value or bare number of a match; nothing where what follows makes it something else."""
    value = float(match["value"].replace(",", ""))
    unit = _unit(match["unit"], match["per"])
    named = {
        kind: place.start()
        for kind, vital in TERMS["vitals"].items()
        if unit in vital["units"] and vital["lo"] <= value <= vital["hi"]
        for place in _pattern(vital["words"]).finditer(match.string, start, match.end())
    }
    if named and (unit or bare):
        kind = max(named, key=named.get)
        if kind == "temperature":
            value = round((value - 32) / 1.8 if value > 45 else value, 1)
        yield Measurement(kind, f"{value:.9g}", TERMS["vitals"][kind]["units"][0])
    elif bare and match["unit"] is match["per"] is None:
        yield Measurement(BARE, f"{value:.9g}", "")
    elif unit and not unit.startswith("°") and unit not in TERMS["counted_units"]:
        first, _, second = unit.partition("/")
        dose = first in TERMS["dose_units"] and second in TERMS["dose_per"]
        yield Measurement(TERMS["kind_of_unit"].get(unit, "dose" if dose else "lab"), f"{value:.9g}", unit)


@cache
def _unit(first: str | None, second: str | None) -> str:
    """A unit in one spelling; empty where there is none, or only a word that counts."""
    return _name(first, UNITS) + (f"/{_name(second, PER)}" if second else "")


def _name(given: str | None, spellings: dict[str, str]) -> str:
    """The unit of which something is a spelling."""
    return next((unit for unit, pattern in spellings.items() if _pattern(pattern).fullmatch(given or "")), "")
