"""The fields of a row of data, each checked once; a wrong one is named with its place, what was expected and its value.

`options` and `narratives` may be objects, JSON text or the text of a Python dict, as on the hub.
"""

import ast
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

from nsh.errors import DataError, MissingDataError, ParameterError

LETTERS = "ABCDEFGHIJ"
ENDINGS = (".jsonl", ".csv", ".parquet")


def data_file(path: str | Path) -> Path:
    """Return the path of a file of rows, for readers that take no other source.

    Raises
    ------
    MissingDataError
        If there is no such file.
    ParameterError
        If its ending is not one of those of files of rows.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise MissingDataError(f"there is no file {path.absolute()}")
    if path.suffix.lower() not in ENDINGS:
        raise ParameterError(f"{path}: expected a file that ends in {', '.join(ENDINGS)}")
    return path


def wrong(where: str, field: str, expected: str, value: Any) -> DataError:
    """Make the error for one wrong field; a long value is shortened.

    Examples
    --------
    >>> print(wrong("cases.csv, row 3", "gold", "one of A, B", "E"))
    cases.csv, row 3, field 'gold': expected one of A, B; found 'E'
    """
    shown = repr(value)
    shown = shown if len(shown) <= 90 else shown[:87] + "..."
    return DataError(f"{where}, field {field!r}: expected {expected}; found {shown}")


def text(field: str, value: Any, where: str) -> str:
    """Return text that is not blank and can be stored as UTF-8.

    Raises
    ------
    DataError
        If the value is no text, blank, or holds half of a surrogate pair.
    """
    if not isinstance(value, str) or not value.strip():
        raise wrong(where, field, "text that is not blank", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(where, field, "text without half of a surrogate pair", value) from None
    return value


def escaped(text: str) -> str:
    r"""The text with half of a surrogate pair, which no file or column can hold, as its escape.

    Examples
    --------
    >>> escaped("fever " + chr(0xD83C))
    'fever \\ud83c'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def identifier(field: str, value: Any, where: str) -> str:
    """Return an id as text: "007" stays as it is, a whole number is accepted."""
    if type(value) not in (int, str):
        raise wrong(where, field, "text or a whole number", value)
    return text(field, str(value) if type(value) is int else value, where).strip()


def number(
    field: str, value: Any, where: str, low: float = -inf, high: float = inf, whole: bool = False
) -> float | None:
    """Return a number given as such or as text; None where nothing is given (None or blank text).

    Parameters
    ----------
    low, high : float
        The least and the greatest that is allowed.
    whole : bool
        Whether it must be a whole number.

    Raises
    ------
    DataError
        If the value is no finite number in decimal digits, or another one than is allowed.

    Examples
    --------
    >>> number("recall", "0.5", "here, row 1", 0, 1), number("n_added", 2, "here, row 1", whole=True)
    (0.5, 2.0)
    >>> number("recall", " ", "here, row 1") is None
    True
    """
    written = "" if value is None else str(value).strip()
    if not written:
        return None
    found = float(written) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", written) else nan
    if not (low <= found <= high and isfinite(found)) or (whole and found % 1):
        bounds = f" from {low:g} to {high:g}" if high < inf else f" of at least {low:g}" if low > -inf else ""
        raise wrong(where, field, f"a {'whole ' * whole}number{bounds}", value)
    return found


def options(field: str, value: Any, where: str) -> dict[str, str]:
    """Return options by letter, in the order of the letters; a number stands for its text.

    Raises
    ------
    DataError
        If the letters do not run from A without a gap, there are fewer than two or more than ten, or one is blank.

    Examples
    --------
    >>> options("options", "{'A': \\"it's <5 mg\\", 'B': 'x'}", "here, row 1")
    {'A': "it's <5 mg", 'B': 'x'}
    """
    given = mapping(field, value, where)
    letters = LETTERS[: max(len(given), 2)]
    if set(given) != set(letters):
        raise wrong(where, field, "two to ten options with consecutive letters from A", list(given))
    return {letter: text(f"{field}, {letter}", _number_as_text(given[letter]), where) for letter in letters}


def gold(field: str, value: Any, letters: Mapping[str, str], where: str) -> str:
    """Return the letter of the correct option, which must be one of the options."""
    letter = value.strip() if isinstance(value, str) else None
    if letter not in letters:
        raise wrong(where, field, f"one of the options' letters {', '.join(letters)}", value)
    return letter


def mapping(field: str, value: Any, where: str) -> dict[str, Any]:
    """Return an object given as such, as JSON text or as the text of a Python dict (read as a literal, never run)."""
    if isinstance(value, str):
        try:
            value = json.loads(value, object_pairs_hook=once)
        except KeyError as error:
            raise wrong(where, field, f"each key once, but {error.args[0]!r} stands twice", value) from None
        except (ValueError, RecursionError):
            with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                value = ast.literal_eval(value.strip())
    if not isinstance(value, Mapping):
        raise wrong(where, field, "an object, its JSON text or the text of a Python dict", value)
    return dict(value)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object of its pairs, for `json.loads`, which alone would keep the last of two equal keys.

    Raises
    ------
    KeyError
        If a key stands twice.
    """
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise KeyError(key)
        made[key] = value
    return made


def _number_as_text(value: Any) -> Any:
    """The text of a finite number; anything else as it is."""
    return str(value) if type(value) in (int, float) and isfinite(value) else value
