"""How points of a clinical score are counted from its rule in data/decision_support/scores.yaml.

Research and teaching only; not for clinical use; not reviewed by a clinician.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from operator import ge, gt, le, lt
from typing import Any

from nsh.declared import parameters, read_data
from nsh.errors import ParameterError

RULES = read_data("decision_support/scores.yaml")
LIMITS = {"above": gt, "at_least": ge, "below": lt, "at_most": le}


@dataclass(frozen=True, slots=True)
class Score:
    """A clinical score of one patient.

    Attributes
    ----------
    name : str
        "wells_dvt", "wells_pe", "curb65", "glasgow_coma" or "apgar".
    points : float or None
        None where the score is undefined: scored as safe with an item unknown.
    maximum : float
        The most points that the rule can give.
    category : str or None
        The category of the points; for the Wells rules that of three tiers and that of two, "low probability, DVT
        unlikely".
    missing : tuple of str
        Inputs that are not known and could change the points.
    text : str
        One line for a prompt, which also says what was not stated and what was made of it.
    """

    name: str
    points: float | None
    maximum: float
    category: str | None
    missing: tuple[str, ...]
    text: str


def count(name: str, given: Mapping[str, Any]) -> Score:
    """Count the points of a rule.

    Parameters
    ----------
    name : str
        A rule of data/decision_support/scores.yaml.
    given : mapping of str
        Every input of the rule, None where it is not known, and `scoring`. As "published" an unknown item counts as
        absent (Glasgow: as normal), as in the tool of ``facts``; as "safe" it leaves the score undefined.

    Returns
    -------
    Score
        With `missing` as found, however it was scored.

    Raises
    ------
    ParameterError
        If `scoring` is neither, or an input is of the wrong type or out of range.

    Examples
    --------
    >>> count("glasgow_coma", {"eye": 3, "verbal": None, "motor": 6, "scoring": "safe"}).missing
    ('verbal',)
    """
    rule = RULES[name]
    ways = parameters()["scoring"].choices
    if given["scoring"] not in ways:
        raise ParameterError(f"{name}, scoring: expected {' or '.join(ways)}; found {given['scoring']!r}")
    least = most = points = maximum = unstated = 0
    missing: list[str] = []
    for item in rule["items"]:
        known = [_ends(f"{name}, {key}", declared, given[key]) for key, declared in item.items()]
        low, high = map(max, zip(*known, strict=True))
        least, most = least + low, most + high
        maximum += max(_ends(key, declared, None)[1] for key, declared in item.items())
        points += high if rule["unstated"] == "normal" else sorted((low, 0, high))[1]  # of what is possible, next to 0
        if low < high:
            unstated += 1
            missing += [key for key in item if given[key] is None]
    if missing and given["scoring"] == "safe":
        text = f"not scored, {least:g} to {most:g} of {maximum:g} points are possible; not stated: {', '.join(missing)}"
        return Score(name, None, maximum, None, tuple(missing), f"{rule['label']}: {text.replace('_', ' ')}")
    category = ", ".join(next(word for word in scale if _within(scale[word], points)) for scale in rule["scales"])
    text = f"{rule['label']}: {points:g} of {maximum:g} points, {category}"
    if missing:
        text += f"; {unstated} of {len(rule['items'])} items not stated and counted as {rule['unstated']}"
    return Score(name, points, maximum, category, tuple(missing), text)


def _ends(where: str, declared: Mapping[str, Any], value: Any) -> tuple[float, float]:
    """The least and the most points that one input can bring: the same where its value is known."""
    points, low, high = (declared.get(key) for key in ("points", "from", "to"))
    if value is None:
        return (low, high) if points is None else (min(0, points), max(0, points))
    if low is None:
        right, expected = isinstance(value, bool), "true, false"
    else:
        right = isinstance(value, Real) and not isinstance(value, bool) and low <= value <= high
        right = right and (points is not None or value % 1 == 0)
        expected = f"a {'whole ' * (points is None)}number from {low} to {high} {declared.get('unit', '')}".rstrip()
    if not right:
        raise ParameterError(f"{where}: expected {expected} or None (not known); found {value!r}")
    if points is None:
        return (value, value)
    return (points * (value if low is None else _within(declared, value)),) * 2


def _within(limit: Mapping[str, Any], value: float) -> bool:
    """Whether a value is on the named side of a limit."""
    return all(holds(value, limit[side]) for side, holds in LIMITS.items() if side in limit)
