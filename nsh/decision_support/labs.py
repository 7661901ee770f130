"""The laboratory interpreter of `facts` §3.3: one value against its reference range, in one line.

Research and teaching only; not for clinical use; not reviewed by a clinician. Names, units and ranges are in
data/decision_support/labs.yaml. Units are converted by that explicit table and not by a units library, since much of
what vignettes write ("mm3", "K/uL", "mg%", "mEq/L") is no unit there, and moles need a mass per analyte anyway.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, reduce
from numbers import Real
from sys import float_info
from typing import Any

from nsh.declared import read_data
from nsh.errors import ParameterError

TABLE = read_data("decision_support/labs.yaml")
CHILD, ADULT = 1, 13  # years: below the first no range holds, below the second a child's
SEXES = {"male": "male adult", "female": "female adult"}


@dataclass(frozen=True, slots=True)
class LabResult:
    """A laboratory value, read.

    Attributes
    ----------
    name : str
        The analyte's first name; as given if it is unknown.
    value : float or None
        In `unit`; None if there is no value.
    unit : str or None
        The analyte's unit, into which the value was converted; as given if it could not be. "none" has no dimension.
    status : str
        "low", "normal", "high", "depends on sex", "no range", "implausible", "unknown lab", "unknown unit" or
        "no value".
    low, high : float or None
        The range, in `unit`; None for an open end, and where there is no range or not one alone.
    text : str
        One line for a prompt.
    """

    name: str
    value: float | None
    unit: str | None
    status: str
    low: float | None
    high: float | None
    text: str


def interpret(
    name: str,
    value: float | None,
    unit: str | None,
    sex: str | None = None,
    age: float | None = None,
    pregnant: bool = False,
) -> LabResult:
    """Compare a laboratory value with its reference range; both ends belong to the range.

    Parameters
    ----------
    name : str
        The analyte, by any of its names.
    value : float or None
        What was measured; "no value" if it is no finite number of zero or more.
    unit : str or None
        Its unit, in any spelling; without one the value is read if it is plausible in one of the analyte's alone.
    sex : str, optional
        "male" or "female"; anything else is unknown.
    age : float, optional
        Years. Under 1 there is no range; under 13 the child's is used, where there is one.
    pregnant : bool
        Use the range in pregnancy, where there is one, and else that of a woman; passed over in a male.

    Returns
    -------
    LabResult

    Raises
    ------
    ParameterError
        If the name or unit is no text, or the value or age no number.

    References
    ----------
    ``facts`` §3.3 ("a lab interpreter using static reference ranges"). The ranges are ours; the file names a source
    for each that has one, the others are unchecked.

    Examples
    --------
    >>> interpret("Platelets", 45000, "/mm^3").text
    'platelet count 45000 /mm^3 = 45 x10^3/mcL: low (adult 150-400)'
    >>> interpret("Hb", 13, "g/dL").status, interpret("Hb", 13, "g/dL", sex="female").status
    ('depends on sex', 'normal')
    """
    words = isinstance(name, str) and isinstance(unit, str | None)
    if not words or not isinstance(value, Real | None) or isinstance(value, bool) or not isinstance(age, Real | None):
        found = f"name {name!r}, value {value!r}, unit {unit!r}, age {age!r}"
        raise ParameterError(f"laboratory value: expected a name, a number, a unit and an age or None; found {found}")
    value = value if value is not None and 0 <= value <= float_info.max else None
    analyte = _analyte(name)
    first = analyte["names"][0] if analyte else name
    given = " ".join(filter(None, [first, _number(value), (unit or "").strip()]))
    converted = None if analyte is None or value is None else _converted(value, unit, analyte)
    if converted is None:
        status = "unknown lab" if analyte is None else "no value" if value is None else "unknown unit"
        return LabResult(first, value, unit, status, None, None, f"{given}: not interpreted, {status}")
    own, plausible = analyte["units"][0], _plausible(converted, analyte)
    child = age is not None and 0 <= age < ADULT
    ranges = {} if child and age < CHILD else _ranges(analyte, sex, child, pregnant)
    if not plausible or not ranges:
        status = "no range" if plausible else "implausible"
        return LabResult(first, converted, own, status, None, None, f"{given}: not interpreted, {status}")
    reading = f"{_number(converted)} {own}".removesuffix(" none")
    said = f"{first} {reading}" if converted == value else f"{given} = {reading}"
    statuses = {_status(converted, *bounds) for bounds in ranges.values()}
    status = statuses.pop() if len(statuses) == 1 else "depends on sex"
    low, high = next(iter(ranges.values())) if len(ranges) == 1 else (None, None)
    adult = "adult range" if child else "adult"
    shown = ", ".join(
        f"{SEXES.get(who, who).replace('adult', adult)} {_written(*ends)}" for who, ends in ranges.items()
    )
    return LabResult(first, converted, own, status, low, high, f"{said}: {status} ({shown})")


def _ranges(analyte: Mapping[str, Any], sex: str | None, child: bool, pregnant: bool) -> dict[str, list]:
    """The ranges that may hold for a patient, by name: one, or that of each sex where it is not known."""
    ranges, expecting = analyte["ranges"], pregnant and sex != "male"
    for who, holds in {"pregnancy": expecting, "child": child, "adult": True}.items():
        if holds and who in ranges:
            return {who: ranges[who]}
    sexes = ["female"] if expecting else [sex] if sex in SEXES else SEXES
    return {who: ranges[who] for who in sexes if who in ranges}


def _status(value: float, low: float | None, high: float | None) -> str:
    """Low, normal or high."""
    return "low" if value < (low or 0) else "high" if high is not None and value > high else "normal"


def _written(low: float | None, high: float | None) -> str:
    """A range as text."""
    return f"up to {high:g}" if low is None else f"from {low:g}" if high is None else f"{low:g}-{high:g}"


def _number(value: float | None) -> str:
    """A number in digits, to six figures; nothing for None."""
    return "" if value is None else f"{Decimal(f'{value:.6g}'):f}"


def _converted(value: float, unit: str | None, analyte: Mapping[str, Any]) -> float | None:
    """The value in the analyte's unit; None if its own is unknown, or missing and not clear."""
    folded = _folded_unit(unit or "")
    if folded not in TABLE["unstated"]:
        return _read(value, _units()[folded], analyte) if folded in _units() else None
    readings = {read for own in analyte["units"] if _plausible(read := _read(value, own, analyte), analyte)}
    return readings.pop() if len(readings) == 1 else None


def _plausible(value: float, analyte: Mapping[str, Any]) -> bool:
    """Whether a value in the analyte's unit can be measured at all."""
    low, high = analyte["plausible"]
    return low <= value <= high


def _read(value: float, unit: str, analyte: Mapping[str, Any]) -> float | None:
    """A value of a unit in the analyte's, free of binary dust; None where the two measure different things."""
    source, target = (TABLE["units"][one] for one in (analyte.get("also", {}).get(unit, unit), analyte["units"][0]))
    mole = {"mol/L": 1, "g/L": analyte.get("molar"), "Eq/L": analyte.get("charge")}
    same = source["base"] == target["base"]
    into, out = (1 if same else mole.get(one["base"]) for one in (source, target))
    return float(f"{value * source['times'] / into * out / target['times']:.12g}") if into and out else None


def _analyte(name: str) -> Mapping[str, Any] | None:
    """The analyte of a name, or of a name and the same in brackets; None if there is none, or they differ."""
    named = [_analytes().get(_folded(part)) for part in re.split(r"[()]", name) if part.strip()]
    return _analytes().get(_folded(name)) or (named[0] if named and all(one is named[0] for one in named) else None)


@cache
def _analytes() -> dict[str, Mapping[str, Any]]:
    """Every analyte by each of its names, folded."""
    return {_folded(name): row for row in TABLE["analytes"] for name in row["names"]}


@cache
def _units() -> dict[str, str]:
    """Every unit by each of its spellings, folded."""
    return {_folded_unit(name): unit for unit, row in TABLE["units"].items() for name in [unit, *row["names"]]}


def _folded(name: str) -> str:
    """A name without case, punctuation and words that say nothing."""
    words = re.findall(r"[a-z0-9]+", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(word for word in words if word not in TABLE["filler"])


def _folded_unit(unit: str) -> str:
    """A unit in one spelling: each pattern in turn becomes what follows it."""
    text = unicodedata.normalize("NFKC", unit).casefold()
    return reduce(lambda text, spelling: re.sub(*spelling, text), TABLE["spellings"], text)
