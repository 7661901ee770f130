"""The laboratory interpreter of `facts` §3.3: one value against its reference range, in one line.

Research and teaching only; not for clinical use; not reviewed by a clinician. Names, units and ranges are in
data/decision_support/labs.yaml. Units are converted by that explicit table and not by a units library, since half of
what vignettes write ("mm3", "K/uL", "mg%", "mEq/L") is no unit there.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import Any

from nsh.declared import read_data
from nsh.errors import ParameterError

DATA = "decision_support/labs.yaml"
ADULT = 18  # years
SEXES = ("male", "female")


@dataclass(frozen=True, slots=True)
class LabResult:
    """A laboratory value, read.

    Attributes
    ----------
    name : str
        The analyte's first name; as given if it is unknown.
    value : float or None
        In `unit`.
    unit : str or None
        The analyte's unit, into which the value was converted; as given if it could not be.
    status : str
        "low", "normal", "high", "depends on sex", "implausible", "unknown lab", "unknown unit" or "no value".
    low, high : float or None
        The range, in `unit`; None for an open end and where there is no range to use.
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
        Its unit, in any spelling; without one the value is read if it is plausible in one usual unit alone.
    sex : str, optional
        "male" or "female"; anything else is unknown.
    age : float, optional
        Years. Under 18 the child's range is used, where there is one.
    pregnant : bool
        Use the range in pregnancy, where there is one.

    Raises
    ------
    ParameterError
        If the name is no text, or the value no number.

    References
    ----------
    ``facts`` §3.3 ("a lab interpreter using static reference ranges"). The ranges are ours, their source unchecked.

    Examples
    --------
    >>> interpret("Platelets", 45000, "/mm^3").text
    'platelet count 45 10^3/mcL: low (adult 150-400)'
    >>> interpret("Hb", 13, "g/dL").status, interpret("Hb", 13, "g/dL", sex="female").status
    ('depends on sex', 'normal')
    """
    if not isinstance(name, str) or isinstance(value, bool) or not isinstance(value, int | float | None):
        raise ParameterError(f"laboratory value {name!r}: {value!r}; expected a name and a number or None")
    shown = " ".join(filter(None, [name.strip(), "" if value is None else f"{value:g}", unit]))
    analyte = _analytes().get(_folded(name))
    if analyte is None:
        return LabResult(name, value, unit, "unknown lab", None, None, f"{shown}: no reference range")
    first = analyte["names"][0]
    if value is None or not isfinite(value) or value < 0:
        return LabResult(first, None, unit, "no value", None, None, f"{first}: no value")
    converted = _converted(value, unit, analyte)
    if converted is None:
        return LabResult(first, value, unit, "unknown unit", None, None, f"{shown}: not interpreted, unit unclear")
    if not analyte["plausible"][0] <= converted <= analyte["plausible"][1]:
        return LabResult(first, converted, analyte["unit"], "implausible", None, None, f"{shown}: no possible value")
    said = f"{first} {converted:.4g} {analyte['unit']}".replace(" none", "")
    found = {who: _status(converted, bounds) for who, bounds in _ranges(analyte, sex, age, pregnant).items()}
    bounds = {who: analyte["ranges"][who] for who in found}
    text = ", ".join(f"{_who(who, age)} {_written(ends)}" for who, ends in bounds.items())
    if len({*found.values()}) > 1:
        return LabResult(
            first, converted, analyte["unit"], "depends on sex", None, None, f"{said}: depends on sex ({text})"
        )
    low, high = next(iter(bounds.values())) if len(bounds) == 1 else (None, None)
    status = next(iter(found.values()))
    return LabResult(first, converted, analyte["unit"], status, low, high, f"{said}: {status} ({text})")


def _ranges(analyte: Mapping[str, Any], sex: str | None, age: float | None, pregnant: bool) -> dict[str, list]:
    """The ranges that may hold for a patient, by name: one, or that of each sex where it is not known."""
    ranges = analyte["ranges"]
    if pregnant and sex != "male" and "pregnancy" in ranges:
        return {"pregnancy": ranges["pregnancy"]}
    if _is_child(age) and "child" in ranges:
        return {"child": ranges["child"]}
    if "adult" in ranges:
        return {"adult": ranges["adult"]}
    return {sex: ranges[sex]} if sex in ranges else {who: ranges[who] for who in SEXES if who in ranges}


def _is_child(age: float | None) -> bool:
    """Whether an age, if it is one, is a child's."""
    return age is not None and 0 <= age < ADULT


def _who(who: str, age: float | None) -> str:
    """Whose range it is, in words."""
    words = {"adult": "adult range" if _is_child(age) else "adult", "male": "male adult", "female": "female adult"}
    return words.get(who, who)


def _status(value: float, bounds: list) -> str:
    """Low, normal or high."""
    low, high = bounds
    below, above = value < (-inf if low is None else low), value > (inf if high is None else high)
    return "low" if below else "high" if above else "normal"


def _written(bounds: list) -> str:
    """A range as text."""
    low, high = bounds
    return f"up to {high:g}" if low is None else f"from {low:g}" if high is None else f"{low:g}-{high:g}"


def _converted(value: float, unit: str | None, analyte: Mapping[str, Any]) -> float | None:
    """The value in the analyte's unit, free of binary dust; None if its unit is unknown, or missing and not clear."""
    if unit and unit.strip():
        times = _factor(_units().get(_folded_unit(unit)), analyte)
        return None if times is None else float(f"{value * times:.12g}")
    low, high = analyte["plausible"]
    usual = [name for name, row in read_data(DATA)["units"].items() if name == analyte["unit"] or "rare" not in row]
    factors = {float(f"{times:.9g}") for name in usual if (times := _factor(name, analyte))}
    fitting = [value * times for times in factors if low <= value * times <= high]
    return float(f"{fitting[0]:.12g}") if len(fitting) == 1 else None


def _factor(given: str | None, analyte: Mapping[str, Any]) -> float | None:
    """What turns a number of one unit into the analyte's; None where the two measure different things."""
    units = read_data(DATA)["units"]
    if given is None:
        return None
    source, target = units[given], units[analyte["unit"]]
    per_mole = {"mol/L": 1.0, "Eq/L": 1 / analyte["charge"] if "charge" in analyte else None, "g/L": None}
    if "molar" in analyte:
        per_mole["g/L"] = 1 / analyte["molar"]
    if source["base"] == target["base"]:
        return source["times"] / target["times"]
    into, out = per_mole.get(source["base"]), per_mole.get(target["base"])
    return source["times"] * into / out / target["times"] if into and out else None


@cache
def _analytes() -> dict[str, Mapping[str, Any]]:
    """Every analyte by each of its names, folded."""
    return {_folded(name): row for row in read_data(DATA)["analytes"] for name in row["names"]}


@cache
def _units() -> dict[str, str]:
    """Every unit by each of its spellings, folded."""
    return {
        _folded_unit(name): unit for unit, row in read_data(DATA)["units"].items() for name in [unit, *row["names"]]
    }


def _folded(name: str) -> str:
    """A name without case, punctuation and words that say nothing."""
    words = re.findall(r"[a-z0-9]+", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(word for word in words if word not in read_data(DATA)["filler"])


def _folded_unit(unit: str) -> str:
    """A unit without case, blanks and superscripts."""
    unit = re.sub("(?<=10)(?=[³⁶⁹¹])", "^", unit)
    text = unicodedata.normalize("NFKC", unit).casefold().replace("μ", "u").replace("×", "x")
    text = re.sub(r"\bper\b", "/", re.sub(r"\bcubic (?:millimeters?|mm)\b", "mm3", text))
    return re.sub(r"\s|(?<=mm)\^", "", text)
