"""Rows of data out of a data set on the Hugging Face hub, or a local folder in its format, through `datasets`."""

from pathlib import Path
from typing import Any

from nsh.case_files import Row, without_gaps
from nsh.errors import MissingDataError


def read_hub(source: str) -> list[Row]:
    """Read all rows of a data set, split after split.

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
        raise MissingDataError(
            f"{source} needs the package datasets: pip install 'narrativeshield-papers[hub]'"
        ) from None
    name, revision = _name_and_revision(source)
    try:
        splits = load_dataset(name, revision=revision)
    except (DatasetsError, OSError, ValueError) as error:
        raise MissingDataError(f"{source}: {_advice(name, error)}") from error
    return [
        (f"{source}, split {split}, row {number}", without_gaps(row))
        for split, table in splits.items()
        for number, row in enumerate(table, start=1)
    ]


def _name_and_revision(source: str) -> tuple[str, str | None]:
    """The data set's name and its revision; a folder may have "@" in its name."""
    name = source.removeprefix("hf:")
    if Path(name).is_dir():
        return name, None
    name, _, revision = name.partition("@")
    return name, revision or None


def _advice(name: str, error: Any) -> str:
    """What a user can do about a data set that did not load."""
    reason = str(error).strip().split("\n")[0]
    if "gated" in reason.lower():
        page = f"https://huggingface.co/datasets/{name}"
        return f"the data set is gated. Accept its terms at {page}, then set HF_TOKEN to a token of that account"
    if isinstance(error, ConnectionError):
        return (
            "the hub cannot be reached and the data set is not in the local cache. Go online once, or save the data "
            "set as a .parquet or .jsonl file and give its path"
        )
    return f"{reason} (expected hf:ORGANIZATION/DATASET, hf:ORGANIZATION/DATASET@REVISION or hf:FOLDER)"
