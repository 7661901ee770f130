"""Arithmetic on printed numbers, written in a data file, that knows how far rounding can have moved its inputs.

A formula names printed numbers, and its value is compared with another printed number. Both are rounded, so every
number that the formula reads is moved up and down by half a unit of its last digit, one at a time, and the largest
changes of the value are added up: by so much may value and printed number differ and still be consistent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isnan, sqrt
from statistics import fmean

import numpy as np
from simpleeval import EvalWithCompoundTypes, InvalidExpression

from nsh.discordance import mcnemar_corrected, mcnemar_exact
from nsh.errors import DataError, ParameterError
from nsh.models import ModelSpec, known
from nsh.printed import half_unit, key_columns, number, published


class Unavailable(Exception):
    """A formula asks for a number of ours that cannot be had on this machine."""


def grim(proportion: float, n: int) -> float:
    """The multiple of 1/n, from -1 to 1, nearest to a proportion (GRIM: can n answers have what is printed?)."""
    return max(-n, min(n, round(proportion * n))) / n


def mcnemar_from_kappa(accuracy_a: float, accuracy_b: float, kappa: float, n: int) -> float:
    """Corrected McNemar p of two accuracies on n questions, the discordant counts being those that kappa implies.

    Kappa and both accuracies give the share of equal answers, hence b + c; the accuracies give b − c.
    """
    chance = accuracy_a * accuracy_b + (1 - accuracy_a) * (1 - accuracy_b)
    difference = round(n * (accuracy_a - accuracy_b))
    discordant = round(n * (1 - kappa) * (1 - chance))
    return float(mcnemar_corrected((discordant + difference) / 2, (discordant - difference) / 2))


def discordant_from_p(p: float, difference: float, n: int) -> float:
    """The exact McNemar p nearest to a printed one among all counts of n answers with b − c = difference."""
    gap = abs(round(difference))
    fewer = np.arange((n - gap) // 2 + 1)
    reachable = mcnemar_exact(fewer, fewer + gap)
    return float(reachable[np.abs(reachable - p).argmin()])


def models(paper: str) -> list[ModelSpec]:
    """The models of a paper."""
    return [model for model in known().values() if paper in model.papers]


def sizes(paper: str) -> list[float]:
    """Billions of parameters of a paper's models, where their names state them."""
    return [model.parameters for model in models(paper) if model.parameters is not None]


def families(paper: str) -> set[str]:
    """The families of a paper's models."""
    return {model.family for model in models(paper)}


FUNCTIONS: dict[str, Callable] = {
    function.__name__: function
    for function in (
        *(min, max, sum, abs, round, len, zip, sorted, range, any, all, sqrt),
        *(models, sizes, families, grim, mcnemar_exact, mcnemar_corrected, mcnemar_from_kappa, discordant_from_p),
    )
} | {
    "mean": fmean,
    "count": lambda truths: sum(map(bool, truths)),
    "distinct": lambda texts: list(dict.fromkeys(texts)),
}


@dataclass(frozen=True, slots=True)
class Value:
    """What a formula comes to.

    Attributes
    ----------
    value : float
    slack : float
        By how much rounding of the numbers that it reads can have moved it.
    read : mapping of str to str
        Name and printed text of each of these, and of the numbers of ours.
    """

    value: float
    slack: float
    read: Mapping[str, str]


@cache
def _rows(table: str) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """The rows of a published table: the texts that name each, and column to text."""
    frame = published(table)
    names = frame[key_columns(table)].itertuples(index=False, name=None)
    return list(zip(names, frame.to_dict("records"), strict=True))


@cache
def _texts(file: str) -> dict[str, str]:
    """What is printed, by id, of a file of numbers in running text or of claims."""
    return published(file).set_index("id")["printed"].to_dict()


@dataclass
class _Reader:
    """The numbers that a formula reads; `moved` says which printed one is taken for how much more or less."""

    row: Mapping[str, str]
    ours: Callable[..., float]
    moved: Mapping[str, float] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float | str:
        if name == "printed":
            return _stated(self.row[name])
        return self._take(name, self.row[name])

    def _take(self, name: str, text: str) -> float | str:
        """A printed number; what is no number is given as text."""
        value = _stated(text)
        if isnan(value):
            return text
        self.read[name] = text
        return value + self.moved.get(name, 0)

    def column(self, table: str, column: str, **only: str) -> list[float | str]:
        """A column of a table, or those of its rows in which other columns hold the given texts."""
        rows = [(keys, row) for keys, row in _rows(table) if all(row[key] == wanted for key, wanted in only.items())]
        return [self._take("/".join((table, column, *keys)), row[column]) for keys, row in rows]

    def cell(self, table: str, column: str, *keys: str) -> float | str:
        """One number of a table; `keys` are the texts that name its row."""
        found = [row[column] for names, row in _rows(table) if names == keys]
        if len(found) != 1:
            raise DataError(f"{table} has {len(found)} rows for {', '.join(keys)}; one is expected")
        return self._take("/".join((table, column, *keys)), found[0])

    def text(self, file: str, row: str) -> float | str:
        """A number printed in running text."""
        return self._take(f"{file}/{row}", _texts(file)[row])

    def released(self, *name: str) -> float:
        """A number of ours, which is not rounded."""
        value = self.ours(*name)
        self.read[f"our {'/'.join(name)}"] = f"{value:.6g}"
        return value


def _stated(printed: str) -> float:
    """The number in a printed text, be it a bound."""
    return number(printed.strip().removeprefix("<"))


def evaluate(formula: str, row: Mapping[str, str], ours: Callable[..., float]) -> Value:
    """Evaluate a formula of ``data/ledger/checks.csv``.

    Parameters
    ----------
    formula : str
        Arithmetic over the names in `row`, ``column(...)``, ``cell(...)``, ``text(...)``, ``released(...)`` and
        `FUNCTIONS`.
    row : mapping
        Column to printed text of the row that is checked; "printed" is the number itself, taken as it stands.
    ours : callable
        What ``released(table, column, *keys)`` calls.

    Raises
    ------
    ParameterError
        If the formula is malformed or names what does not exist.
    Unavailable
        If it needs a number of ours that is not there, or divides by zero.

    Examples
    --------
    >>> found = evaluate("a - b", {"a": "0.729", "b": "0.578", "printed": "0.151"}, ours=None)
    >>> round(found.value, 3), round(found.slack, 4), found.read
    (0.151, 0.001, {'a': '0.729', 'b': '0.578'})
    """
    base = _Reader(row, ours)
    value = _run(formula, base)
    slack = 0.0
    for name, text in base.read.items():
        half = 0 if name.startswith("our ") else half_unit(text)
        if half:
            slack += max(abs(_run(formula, _Reader(row, ours, {name: side * half})) - value) for side in (1, -1))
    return Value(value, slack, base.read)


def _run(formula: str, reader: _Reader) -> float:
    """One evaluation."""
    readers = {name: getattr(reader, name) for name in ("column", "cell", "text", "released")}
    try:
        return float(EvalWithCompoundTypes(functions=FUNCTIONS | readers, names=reader).eval(formula))
    except ZeroDivisionError as error:
        raise Unavailable(f"{formula}: {error}") from error
    except (InvalidExpression, SyntaxError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(f"formula {formula!r}: {error}") from error
