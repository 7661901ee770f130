"""The papers' tables, every digit as printed."""

import math
import re
from functools import cache
from importlib.resources import files
from itertools import takewhile

import pandas as pd

from nsh.declared import nearest
from nsh.errors import ParameterError
from nsh.voices import released_names

NUMBER_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ORDINALS = ["second", "third", "fourth", "fifth"]
WORDS = {
    "no": 0,
    "none": 0,
    "yes": 1,
    **{word: n for words in (NUMBER_WORDS, ORDINALS) for n, word in enumerate(words, start=2)},
}


def published_tables() -> list[str]:
    """Return the slugs of all packaged tables.

    Examples
    --------
    >>> "facts_table3_b1" in published_tables()
    True
    """
    folder = files("nsh").joinpath("data/published")
    return sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))


def published(table: str) -> pd.DataFrame:
    """Return one published table, every cell as the text that is printed.

    Parameters
    ----------
    table : str
        Slug, for example ``"facts_table3_b1"`` (`facts`, Appendix E, Table 3); see `published_tables`.

    Returns
    -------
    pandas.DataFrame
        One row per printed row, all columns text, blank where nothing is printed. The papers' alpha, beta and
        gamma in column names are given as voices: ``omr_alpha`` becomes ``omr_clinical``.

    Raises
    ------
    ParameterError
        If there is no such table; the message names the nearest one.

    Examples
    --------
    >>> published("facts_table3_b1").loc[0, ["omr", "omr_clinical"]].to_list()
    ['0.6417', '0.7290']
    """
    known = published_tables()
    if table not in known:
        near = nearest(table, known)
        raise ParameterError(f"no published table {table!r}; nearest is {near!r}, all are: {', '.join(known)}")
    return _read(table).copy()


@cache
def read_texts(name: str) -> pd.DataFrame:
    """Read a packaged CSV file, every cell as text; the frame is shared.

    Examples
    --------
    >>> list(read_texts("ledger/tables.csv"))
    ['table', 'paper', 'where']
    """
    with files("nsh").joinpath("data", name).open(encoding="utf-8") as stream:
        return pd.read_csv(stream, dtype=str, keep_default_na=False)


@cache
def _read(table: str) -> pd.DataFrame:
    """Read one published table and translate its column names."""
    frame = read_texts(f"published/{table}.csv")
    names = released_names()
    return frame.rename(columns=lambda column: "_".join(names.get(part, part) for part in column.split("_")))


def key_columns(table: str) -> list[str]:
    """Return the columns that name the rows of a published table: the leading ones in which nothing is a number.

    Examples
    --------
    >>> key_columns("sdoh_table3_main")
    ['model', 'prompt']
    """
    frame = _read(table)
    return list(takewhile(lambda column: frame[column].map(number).isna().all(), frame.columns))


def number(printed: str) -> float:
    """Return the number that is printed, or nan where the text states none.

    Counts such as "7 of 7" and "7/11" state their first number, and number words theirs; "yes" states 1, "no" 0.

    Examples
    --------
    >>> number(".645"), number("+3.7"), number("2,000"), number("40.80%"), number("7/11"), number("yes")
    (0.645, 3.7, 2000.0, 40.8, 7.0, 1.0)
    >>> number("seven"), number("fourth"), number("<0.000001")
    (7.0, 4.0, nan)
    """
    text = re.sub(r"( of |/)\d+$", "", _plain(printed))
    return float(WORDS.get(text, text if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text) else math.nan))


def _plain(printed: str) -> str:
    """The printed text without thousands separators, percent signs, footnote stars and typographic minus."""
    return printed.strip().replace("−", "-").replace(",", "").rstrip("%*")


def numbers(table: str, column: str, on: str = "model") -> pd.Series:
    """Return one column of a published table as numbers, indexed by `on`.

    Examples
    --------
    >>> float(numbers("facts_table1_nag", "B1")["BioMistral-7B"])
    0.064
    """
    frame = published(table).set_index(on)
    if column not in frame:
        raise ParameterError(f"published table {table!r} has no column {column!r}; it has: {', '.join(frame.columns)}")
    return frame[column].map(number)


def by_voice(table: str, measure: str = "") -> pd.DataFrame:
    """Return the columns of one measure, printed per voice or per pair of voices, in long form.

    Parameters
    ----------
    table : str
        Slug of the table.
    measure : str
        What stands before the voices in the column names: ``"omr"``, ``"kappa"``, or nothing.

    Returns
    -------
    pandas.DataFrame
        The table's first column, `voice` (or `voice_a` and `voice_b`), `printed` (text) and `value` (number).

    Raises
    ------
    ParameterError
        If no column of the table gives this measure per voice.

    Examples
    --------
    >>> by_voice("facts_table4_b1_agreement", "kappa").iloc[0].to_list()[1:4]
    ['clinical', 'socioeconomic', '0.4327']
    """
    frame = published(table)
    voices = set(released_names().values())
    parts = {column: column.removeprefix(f"{measure}_" if measure else "").split("_") for column in frame}
    chosen = {column: names for column, names in parts.items() if set(names) <= voices}
    if not chosen:
        raise ParameterError(f"published table {table!r} has no columns {measure!r} per voice: {', '.join(frame)}")
    key = frame.columns[0]
    rows = [
        [row[key], *names, row[column], number(row[column])]
        for row in frame.to_dict("records")
        for column, names in chosen.items()
    ]
    heads = ["voice"] if len(next(iter(chosen.values()))) == 1 else ["voice_a", "voice_b"]
    return pd.DataFrame(rows, columns=[key, *heads, "printed", "value"])


def decimals(printed: str) -> int:
    """Return how many decimals are printed.

    Examples
    --------
    >>> decimals("0.1510"), decimals(".57"), decimals("12")
    (4, 2, 0)
    """
    return len(_plain(printed).partition(".")[2])


def half_unit(printed: str) -> float:
    """Return half a unit of the last printed digit; 0 for a whole number without %, since counts are not rounded.

    Examples
    --------
    >>> half_unit("0.15"), half_unit("14%"), half_unit("300"), half_unit("7 of 7")
    (0.005, 0.5, 0.0, 0.0)
    """
    rounded = "." in printed or printed.strip().endswith("%")
    return 0.5 * 10 ** -decimals(printed) if rounded else 0.0


def minus(text: str) -> str:
    """A text with the typographic minus before its numbers and in their exponents.

    Examples
    --------
    >>> minus("-0.03 [-0.05, -.01], p = 1e-05: Qwen2.5-7B")
    '−0.03 [−0.05, −.01], p = 1e−05: Qwen2.5-7B'
    """
    return re.sub(r"((?<![\w-])|(?<=\de))-(?=\.?\d)", "−", text)
