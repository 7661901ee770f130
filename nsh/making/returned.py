"""What raters gave back, checked cell by cell against the key and joined into a file of ratings; nothing is guessed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from nsh.case_fields import wrong
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.making.annotate import COMMENT, HEADER, ID, RATED, TEXTS, text_hash
from nsh.making.spreadsheet import guarded, read_sheet


@dataclass(frozen=True, slots=True)
class Returned:
    """What came back.

    Attributes
    ----------
    rows : dict
        (case, voice), in the order of the export, to column (`<item>__<rater>`, `comment_<rater>`) to text; of valid
        ratings only.
    problems : list of str
        What is wrong with all others, with file, row and column.
    """

    rows: dict[tuple[str, str], dict[str, str]]
    problems: list[str]


def collect(key: str | Path, files: Sequence[str | Path]) -> Returned:
    """Check the tables of raters against the key, and join them.

    Parameters
    ----------
    key : str or pathlib.Path
        The key that `nsh.making.annotate.export` wrote.
    files : sequence of str or pathlib.Path
        The raters' tables, in any order; a rater's rows may come in several.

    Returns
    -------
    Returned
        A row whose id is unknown or stands twice, or whose texts are not those exported, has no valid rating; any
        other row keeps its valid ones. `1` may be written `1.0`; nothing else counts as a digit.

    Raises
    ------
    DataError
        If the key or a file cannot be read, or a file lacks a column.
    MissingDataError
        If one of them is not there.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from nsh.cases import load_cases
    >>> from nsh.making.annotate import described, export
    >>> cases = load_cases("samples", 1)
    >>> table, _, key = export(cases, f"{mkdtemp()}/x.csv", ["r1"], described(cases[0].narratives, {}))
    >>> print(collect(key, [table]).problems[0].partition("x.csv, ")[2])
    row 2, field 'facts preserved (0 or 1)': expected one of 0,1; found ''
    """
    known = _key(Path(key))
    found = [row for path in files for row in read_sheet(Path(path).expanduser(), HEADER)]
    places: dict[str, list[str]] = {name: [] for name in known}
    for where, row in found:
        places.setdefault(row[ID], []).append(where)
    rows: dict[tuple[str, str], dict[str, str]] = {(one["case"], one["voice"]): {} for one in known.values()}
    problems: list[str] = []
    for where, row in found:
        one = known.get(row[ID], {})
        strange = _strange(where, row, one, places[row[ID]])
        given, wrong_cells = ({}, strange) if strange else _ratings(where, row, one["rater"])
        rows.get((one.get("case"), one.get("voice")), {}).update(given)
        problems += map(str, wrong_cells)
    for rater in dict.fromkeys(one["rater"] for one in known.values()):
        if gone := [name for name, one in known.items() if one["rater"] == rater and not places[name]]:
            problems.append(f"rater {rater}: {len(gone)} rows did not come back: {', '.join(gone)}")
    return Returned({encounter: cells for encounter, cells in rows.items() if cells}, problems)


def _key(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a key, by id."""
    if not path.is_file():
        raise MissingDataError(f"there is no key {path}")
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        known = {
            name: {field: row[field] for field in ("rater", "case", "voice", *TEXTS)} for name, row in rows.items()
        }
        if not known or not all(isinstance(value, str) for row in known.values() for value in row.values()):
            raise ValueError("no rows of text")
        return known
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a key that `nsh annotate export` wrote ({error!r})") from None


def _strange(where: str, row: dict[str, str], one: dict[str, str], places: Sequence[str]) -> list[DataError]:
    """Why nothing of a row can be taken."""
    if not one:
        return [wrong(where, ID, "an id of the key", row[ID])]
    twice = [wrong(where, ID, f"each row once, not in {'; '.join(places)}", row[ID])] if len(places) > 1 else []
    changed = [column for column in TEXTS if text_hash(row[column]) != one[column]]
    return twice + [wrong(where, column, "the text exported with this id", row[column]) for column in changed]


def _ratings(where: str, row: dict[str, str], rater: str) -> tuple[dict[str, str], list[DataError]]:
    """The valid ratings of a row with its comment, to which added columns go, by column of the joined file; and what is
    wrong with the others."""
    added = [f"{name}: {cell}" for name, cell in row.items() if cell and name and name not in HEADER]
    said = "; ".join([row[COMMENT], *added] if row[COMMENT] else added)
    given = {f"comment_{rater}": said} if said else {}
    problems = [wrong(where, "", "no cell without a heading", row[""])] if row[""] else []
    for column, (item, scale) in RATED.items():
        if (rating := row[column].removesuffix(".0")) in scale.split(","):
            given[f"{item}__{rater}"] = rating
        else:
            problems.append(wrong(where, column, f"one of {scale}", row[column]))
    return given, problems


def write_ratings(returned: Returned, out: str | Path, partial: bool = False) -> Path:
    """Write a file of ratings for `nsh.ratings.load_ratings`, with the comments beside them.

    Parameters
    ----------
    returned : Returned
    out : str or pathlib.Path
        A .csv file.
    partial : bool
        Whether to write what is valid although something is not.

    Raises
    ------
    ParameterError
        If the file does not end in .csv, or is there already: it may be one that a rater filled in.
    DataError
        If there are problems and `partial` is false; all are listed.
    MissingDataError
        If nothing is valid.
    """
    out, listed = Path(out).expanduser(), "\n".join(returned.problems)
    if out.suffix.lower() != ".csv" or out.exists():
        raise ParameterError(f"{out}: expected a new file that ends in .csv")
    if returned.problems and not partial:
        problems = "1 problem" if len(returned.problems) == 1 else f"{len(returned.problems)} problems"
        raise DataError(f"{listed}\n{problems}, nothing written; --partial writes the rest")
    if not returned.rows:
        raise MissingDataError(f"{listed}\nno valid rating, nothing written")
    encounters = pd.MultiIndex.from_tuples(returned.rows, names=["question_id", "persona"])
    frame = pd.DataFrame(list(returned.rows.values()), encounters).map(guarded, na_action="ignore")
    frame.sort_index(axis="columns").to_csv(out)
    return out
