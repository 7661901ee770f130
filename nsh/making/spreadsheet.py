"""Tables that people fill in by hand, .csv or .xlsx: written so that no spreadsheet rewrites them, read forgivingly.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, and makes a date of 1-5. So the cells of a .csv
file that would be run get an apostrophe in front, and those of an .xlsx file are stored, and formatted, as text.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nsh.errors import DataError, MissingDataError, ParameterError

UNFIT = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|.{32767}", re.DOTALL
)  # no .xlsx file holds it, or it would be cut


def sheet_path(path: str | Path) -> Path:
    """Return the path of a table.

    Raises
    ------
    ParameterError
        If it does not end in .csv or .xlsx.
    """
    if Path(path).suffix.lower() not in (".csv", ".xlsx"):
        raise ParameterError(f"{path}: expected a file that ends in .csv or .xlsx")
    return Path(path).expanduser()


def guarded(text: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet would run it as a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("Pain = 3")
    ("'=1+1", 'Pain = 3')
    """
    return f"'{text}" if text.lstrip().startswith(tuple("=+-@＝＋－＠")) else text


def write_sheet(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a table of text, its header first.

    Parameters
    ----------
    path : pathlib.Path
        A .csv file (UTF-8 with a byte order mark, without which Excel misreads it) or an .xlsx file.
    rows : sequence of sequence of str

    Raises
    ------
    DataError
        If a text does not fit into a cell of a spreadsheet.
    MissingDataError
        If an .xlsx file is asked for without the package openpyxl.
    """
    if unfit := [cell for row in rows for cell in row if UNFIT.search(cell)]:
        raise DataError(f"a spreadsheet cannot hold the text {unfit[0][:60]!r}: too long, or a control character in it")
    if path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([guarded(cell) for cell in row] for row in rows)
    else:
        _write_xlsx(path, rows)


def _openpyxl() -> Any:
    """The package that reads and writes .xlsx files."""
    try:
        import openpyxl
    except ImportError:
        what = ".xlsx files need openpyxl: pip install 'narrativeshield-papers[annotate]'; or take .csv"
        raise MissingDataError(what) from None
    return openpyxl


def _write_xlsx(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Every cell is text, and will be when something is written into it; long ones are wrapped."""
    excel = _openpyxl()
    book = excel.Workbook()
    book.active.freeze_panes = "A2"
    for place, column in enumerate(zip(*rows, strict=True), start=1):
        width = min(60, max(map(len, column)) + 2)
        book.active.column_dimensions[excel.utils.get_column_letter(place)].width = width
        for number, text in enumerate(column, start=1):
            cell = book.active.cell(number, place, text)
            cell.data_type, cell.number_format = "s" if text else "n", "@"
            cell.alignment = excel.styles.Alignment(wrap_text=True, vertical="top")
    book.save(path)


def read_sheet(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Read the rows of a table that came back, blank ones passed over.

    A .csv file may be separated by commas, semicolons or tabs, and encoded as UTF-8 or Windows-1252. Of an .xlsx file
    the first sheet is read; of a formula, what it came to.

    Parameters
    ----------
    path : pathlib.Path
    columns : sequence of str
        What the header must name, in any order.

    Yields
    ------
    (str, dict of str to str)
        File and row as a spreadsheet numbers it, the header being row 1, and the cells by column, without white space
        at the ends; what stands in cells without a heading is under "".

    Raises
    ------
    MissingDataError
        If there is no such file, or openpyxl is missing.
    DataError
        If the file cannot be read, or its header does not name each column once.
    """
    if not sheet_path(path).is_file():
        raise MissingDataError(f"there is no file {path}")
    rows = _csv_cells(path) if path.suffix.lower() == ".csv" else _xlsx_cells(path)
    header, *rows = [[cell.strip() for cell in row] for row in rows] or [[]]
    if strange := [name for name in columns if header.count(name) != 1]:
        raise DataError(f"{path}, row 1: expected the column {strange[0]!r} once; found {header}")
    for number, cells in enumerate(rows, start=2):
        pairs = list(zip_longest(header, cells, fillvalue=""))
        if any(cells):
            yield f"{path}, row {number}", dict(pairs) | {"": " ".join(cell for name, cell in pairs if not name)}


def _csv_cells(path: Path) -> list[list[str]]:
    """The cells of a .csv file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="cp1252", errors="replace")
    first = text.partition("\n")[0]
    csv.field_size_limit(2**31 - 1)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True))
    except csv.Error as error:
        raise DataError(f"{path}: not a table ({error}); a quotation mark may be missing its pair") from None


def _xlsx_cells(path: Path) -> list[list[str]]:
    """The cells of an .xlsx file as text, numbers and dates too."""
    try:
        rows = list(_openpyxl().load_workbook(path, data_only=True).worksheets[0].iter_rows(values_only=True))
    except MissingDataError:
        raise
    except Exception as error:  # noqa: BLE001  damage shows as an error of zip, zlib, XML or whatever reads the parts
        raise DataError(f"{path}: not an .xlsx file that can be read ({error})") from None
    return [["" if cell is None else str(cell) for cell in row] for row in rows]
