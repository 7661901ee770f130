"""Rows of data out of a file, the released folder or the hub, each with its place; nothing is rewritten on the way.

No reader guesses types: "007", "None" and "NA" stay text in every format.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nsh.case_fields import once, wrong
from nsh.errors import DataError, MissingDataError, ParameterError

Row = tuple[str, dict[str, Any]]  # (file and row for messages, column -> value)
SAMPLES = Path(__file__).parent / "data" / "samples.jsonl"
QUESTIONS = "dataset/medqa_1000_filtered.jsonl"
RETELLINGS = "dataset/.persona_cache_v2.jsonl"


def read_file(path: str | Path) -> list[Row]:
    """Read the rows of a .jsonl, .csv or .parquet file.

    Raises
    ------
    MissingDataError
        If there is no such file.
    ParameterError
        If the file's ending is another one.
    DataError
        If the file, or a row of it, cannot be read.
    """
    readers = {".jsonl": read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet}
    path = Path(path).expanduser()
    if path.suffix.lower() not in readers:
        expected = "samples, released, hf:ORGANIZATION/DATASET, or a file that ends in .jsonl, .csv or .parquet"
        raise ParameterError(f"source {str(path)!r}: expected {expected}")
    if not path.is_file():
        raise MissingDataError(f"there is no file {path.absolute()}")
    return list(readers[path.suffix.lower()](path))


def read_jsonl(path: Path) -> Iterator[Row]:
    """Read one object a line, by the strict rules of JSON; blank lines are passed over.

    Raises
    ------
    DataError
        If a line is no JSON object, holds NaN, or names a key twice.
    """
    for number, line in enumerate(_decoded(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=once, parse_constant=_refuse)
        except KeyError as error:
            raise DataError(f"{where}, field {error.args[0]!r}: expected each key once; found it twice") from None
        except (ValueError, RecursionError) as error:
            expected = f"one JSON object, whole, on this line ({getattr(error, 'msg', error)})"
            raise DataError(f"{where}: expected {expected}; found {line[:80]!r}") from None
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected one JSON object; found {line[:80]!r}")
        yield where, row


def _read_csv(path: Path) -> Iterator[Row]:
    """Rows of a comma-separated table with a header; every cell is text, and blank lines are passed over."""
    csv.field_size_limit(1 << 27)
    rows = filter(None, csv.reader(io.StringIO(_decoded(path), newline=""), strict=True))
    number = 0
    try:
        header = next(rows, [])
        if not all(header):
            raise DataError(f"{path}, header: expected a name for each column; found an empty one")
        if len(header) == 1 and (found := re.search("[;\t|]", header[0])):
            raise DataError(f"{path}, header: expected columns separated by commas; found {found[0]!r}")
        if twice := [name for name in header if header.count(name) > 1]:
            raise DataError(f"{path}, header: expected each column once; found {twice[0]!r} twice")
        for number, cells in enumerate(rows, start=1):
            where = f"{path}, row {number}"
            if len(cells) != len(header):
                expected = f"{len(header)} cells, as in the header (a text with a comma stands in quotation marks)"
                raise DataError(f"{where}: expected {expected}; found {len(cells)}")
            yield where, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise DataError(f"{path}, row {number + 1}: not a comma-separated row ({error})") from None


def _read_parquet(path: Path) -> Iterator[Row]:
    """Rows of a Parquet table."""
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except (pyarrow.ArrowException, OSError, OverflowError) as error:
        raise DataError(f"{path}: not a Parquet table ({error})") from None
    for number, row in enumerate(rows, start=1):
        yield f"{path}, row {number}", without_gaps(row)


def without_gaps(row: dict[str, Any]) -> dict[str, Any]:
    """Leave out the empty fields of objects in a row: a table of columns gives every object the fields of all.

    Examples
    --------
    >>> without_gaps({"options": {"A": "Gout", "B": "Lyme", "C": None}})
    {'options': {'A': 'Gout', 'B': 'Lyme'}}
    """
    return {
        name: {key: inner for key, inner in value.items() if inner is not None} if isinstance(value, dict) else value
        for name, value in row.items()
    }


def read_released(folder: Path) -> list[Row]:
    """Join the released questions with their retellings by `question_id`.

    Raises
    ------
    MissingDataError
        If one of the two files is not in the folder.
    DataError
        If a line cannot be read or a question has no retelling.
    """
    retellings = {row.get("question_id"): row for _, row in read_file(folder / RETELLINGS)}
    rows = []
    for where, row in read_file(folder / QUESTIONS):
        if row.get("question_id") not in retellings:
            raise wrong(where, "question_id", f"a question with a line in {RETELLINGS}", row.get("question_id"))
        rows.append((where, {**row, **retellings[row["question_id"]]}))
    return rows


def read_hub(source: str) -> list[Row]:
    """Read all rows of a data set on the Hugging Face hub, or of a folder in its format, split after split.

    Parameters
    ----------
    source : str
        "hf:ORGANIZATION/DATASET", "hf:ORGANIZATION/DATASET@REVISION" or "hf:FOLDER".

    Raises
    ------
    MissingDataError
        If `datasets` is not installed, or the data set is gated, unknown, or out of reach; the message says what to do.
    """
    try:
        from datasets import load_dataset
        from datasets.exceptions import DatasetsError
    except ImportError:
        install = "pip install 'narrativeshield-papers[hub]'"
        raise MissingDataError(f"{source} needs the package datasets: {install}") from None
    name, revision = source.removeprefix("hf:"), ""
    if not Path(name).is_dir():  # a folder may have "@" in its name
        name, _, revision = name.partition("@")
    try:
        splits = load_dataset(name, revision=revision or None)
    except (DatasetsError, OSError, ValueError) as error:
        raise MissingDataError(f"{source}: {_advice(name, error)}") from None  # the cause may hold the user's token
    return [
        (f"{source}, split {split}, row {number}", without_gaps(row))
        for split, table in splits.items()
        for number, row in enumerate(table, start=1)
    ]


def _advice(name: str, error: Exception) -> str:
    """What a user can do about a data set that did not load."""
    reason = str(error).strip().split("\n")[0]
    if "gated" in reason.lower():
        page = f"https://huggingface.co/datasets/{name}"
        return f"the data set is gated. Accept its terms at {page}, then set HF_TOKEN to a token of that account"
    if isinstance(error, ConnectionError):
        file = "save the data set as a .parquet or .jsonl file and give its path"
        return f"the hub cannot be reached and the data set is not in the local cache. Go online once, or {file}"
    return f"{reason} (expected hf:ORGANIZATION/DATASET, hf:ORGANIZATION/DATASET@REVISION or hf:FOLDER)"


def _decoded(path: Path) -> str:
    """The file's text; a byte order mark is dropped."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"byte 0x{data[error.start]:02x}"
        raise DataError(f"{path}, line {line}: expected UTF-8 text; found {found}. Save the file as UTF-8") from None


def _refuse(constant: str) -> None:
    """Refuse NaN and Infinity, which Python's reader would let through."""
    raise ValueError(f"{constant} is not JSON")
