"""The authors' own aggregates (`*_evaluation_*.csv`) as numbers, in the form of the tables that `facts` prints.

They cover every model and condition, also those whose answers are not among the released files.
"""

from collections.abc import Sequence
from math import nan
from pathlib import Path

import pandas as pd

from nsh.case_fields import number, text, wrong
from nsh.case_files import read_file
from nsh.declared import read_data
from nsh.printed import published
from nsh.released import MODELS


def authors_aggregates(directory: str | Path) -> dict[str, pd.DataFrame]:
    """Read every table of `facts` that the authors' aggregates hold.

    Parameters
    ----------
    directory : str or pathlib.Path
        Folder in the layout of the public repository.

    Returns
    -------
    dict of DataFrame
        By slug of the printed table, with its columns as `nsh.printed.published` names them, in its units (proportion
        or per cent); nan where the authors' file says NaN. What needs a file that is not here is left out: a table,
        or a condition's column of Tables 1 and 10. `missing_aggregates` names the files.

    Raises
    ------
    DataError
        If a file lacks a column or a model, a cell is no number, or a model or one of its bias cases comes twice; file,
        row and column are named.

    References
    ----------
    ``facts`` Tables 1 to 10; the cells of Table 10 are the authors' "bias cases", one line each for every question
    with DSS below 0.80, over the questions of the primary file.

    Examples
    --------
    >>> authors_aggregates("no such folder")
    {}
    """
    files = _files(directory)
    tables = {
        slug: _numbers([files[condition][kind] for kind in kinds], published(slug).columns[1:]).reset_index()
        for slug, (condition, *kinds) in read_data("aggregates.yaml")["tables"].items()
        if all(files[condition][kind].is_file() for kind in kinds)
    }
    nag, below = {}, {}
    for condition, kinds in files.items():
        if kinds["primary"].is_file():
            primary = _numbers([kinds["primary"]], ["n", "nag"])
            nag[condition] = primary["nag"]
            if kinds["bias_cases"].is_file():
                models = pd.Series(
                    [model for model, _ in _rows(kinds["bias_cases"], "model", "question_id")], dtype=object
                )
                below[condition] = 100 * models.value_counts().reindex(primary.index, fill_value=0) / primary["n"]
    for slug, columns in (("facts_table1_nag", nag), ("facts_table10_dss", below)):
        tables |= {slug: pd.DataFrame(columns).rename_axis("model").reset_index()} if columns else {}
    return tables


def missing_aggregates(directory: str | Path) -> list[str]:
    """Name the authors' aggregate files that are not in a folder.

    Examples
    --------
    >>> "results/b1_results/b1_results/b1_evaluation_primary.csv" in missing_aggregates("no such folder")
    True
    """
    paths = [file for kinds in _files(directory).values() for file in kinds.values()]
    return [path.relative_to(directory).as_posix() for path in paths if not path.is_file()]


def _files(directory: str | Path) -> dict[str, dict[str, Path]]:
    """Path of every aggregate file, by condition and kind."""
    return {
        condition: {kind: Path(directory, name.format(condition.lower())) for kind, name in kinds.items()}
        for condition, kinds in read_data("aggregates.yaml")["files"].items()
    }


def _rows(file: Path, *key: str) -> dict[tuple[str, ...], tuple[str, dict[str, str]]]:
    """Rows of a file, each with its place, by key: the papers' name of the model comes first."""
    found = {}
    for where, row in read_file(file):
        model, *others = (text(name, row.get(name), where) for name in key)
        if (names := (MODELS.get(model, model), *others)) in found:
            raise wrong(where, key[-1], f"each {' and '.join(key)} once", row[key[-1]])
        found[names] = where, row
    return found


def _numbers(files: Sequence[Path], columns: Sequence[str]) -> pd.DataFrame:
    """Columns of the printed tables from files that share them out, indexed by model in the papers' order."""
    heads = read_data("aggregates.yaml")["columns"]
    rows: dict[str, dict[str, float]] = {}
    for file in files:
        for (model,), (where, row) in _rows(file, "Model").items():
            found = rows.setdefault(model, {})
            found |= {name: _number(heads[name], row[heads[name]], where) for name in columns if heads[name] in row}
            lacking = [heads[name] for name in columns if found.get(name) is None]
            if lacking and file == files[-1]:
                raise wrong(where, lacking[0], "a number", None)
    order = sorted(rows, key=lambda model: [*MODELS.values(), model].index(model))
    return pd.DataFrame([rows[model] for model in order], pd.Index(order, name="model"), columns)


def _number(head: str, cell: str, where: str) -> float | None:
    """The number that a cell begins with: an interval or a mark may follow it."""
    first = cell.strip().partition(" ")[0].rstrip("%")
    return nan if first == "NaN" else number(head, first, where)
