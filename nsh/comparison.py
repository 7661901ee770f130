"""Our numbers beside the printed ones: equal to the printed digits, or not."""

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real

import pandas as pd

from nsh.errors import DataError, ParameterError
from nsh.printed import decimals, number, published

FLOAT_NOISE = 1e-9  # far below any printed digit, far above the rounding error of a float


def compare_printed(ours: float, printed: str, slack: float = 0.0) -> bool:
    """Tell whether our number, rounded to the printed decimals, is the printed number.

    A number exactly half way between two printable ones equals both, since papers round either way. A printed
    bound such as ``<0.000001`` holds for every number below it. An undefined number (nan) equals nothing.

    Raises
    ------
    DataError
        If `printed` is neither a number nor a bound.

    Examples
    --------
    >>> compare_printed(0.15100000000000002, "0.151"), compare_printed(0.1515001, "0.151")
    (True, False)
    >>> compare_printed(0.0000004, "<0.000001")
    True
    """
    bound = printed.strip().startswith("<")
    target = number(printed.strip().removeprefix("<"))
    if math.isnan(target):
        raise DataError(f"{printed!r} is not a printed number; a number such as 0.151 or a bound such as <0.001 is")
    ours = float(ours)
    if bound:
        return ours < target
    return abs(ours - target) <= 0.5 * 10 ** -decimals(printed) + slack + FLOAT_NOISE


def compare(
    ours: pd.DataFrame, table: str, columns: Mapping[str, Hashable], on: str | Sequence[str] = "model"
) -> pd.DataFrame:
    """Set our numbers beside the printed ones.

    Parameters
    ----------
    ours : pandas.DataFrame
        One row per printed row, indexed by `on`, in the units of the table.
    table : str
        Slug of the published table.
    columns : mapping
        Column of the published table -> column of `ours`.
    on : str or sequence of str
        Columns of the published table that name its rows.

    Returns
    -------
    pandas.DataFrame
        One row per printed number: the columns of `on`, `column`, `printed` (text), `ours` (number, nan where we
        have none) and `equal` (missing where we have none). Rows where nothing is printed are left out.

    Raises
    ------
    ParameterError
        If the table lacks one of the columns.
    DataError
        If `ours` has two rows for one printed row, or lacks one of the columns.

    Examples
    --------
    >>> ours = pd.DataFrame({"nag": [0.0640001]}, index=["BioMistral-7B"])
    >>> print(compare(ours, "facts_table3_b1", {"nag": "nag"}).tail(1).to_string(index=False, header=False))
    BioMistral-7B nag 0.0640 0.064 True
    """
    on = [on] if isinstance(on, str) else list(on)
    printed = published(table)
    _check(ours, printed, table, columns, on)
    rows = []
    for record in printed.to_dict("records"):
        key = tuple(record[name] for name in on)
        index = key if len(on) > 1 else key[0]
        for column, own in columns.items():
            if record[column]:
                value = ours.at[index, own] if index in ours.index else math.nan
                rows.append([*key, column, record[column], *_judge(value, record[column])])
    frame = pd.DataFrame(rows, columns=[*on, "column", "printed", "ours", "equal"])
    return frame.astype({"ours": float, "equal": "boolean"})


def _judge(value: Real | None, printed: str) -> tuple[float, bool | None]:
    """Our number and whether it equals the printed one; None where we have none."""
    return (math.nan, None) if pd.isna(value) else (float(value), compare_printed(value, printed))


def _check(ours: pd.DataFrame, printed: pd.DataFrame, table: str, columns: Mapping, on: list[str]) -> None:
    """Refuse unknown columns and rows of ours that cannot be told apart."""
    unknown = [name for name in [*on, *columns] if name not in printed]
    if unknown:
        raise ParameterError(f"published table {table!r} has no column {unknown[0]!r}; it has: {', '.join(printed)}")
    lacking = [own for own in columns.values() if own not in ours]
    if lacking:
        raise DataError(f"our frame has no column {lacking[0]!r} to set beside {table!r}; it has: {list(ours)}")
    if not ours.index.is_unique:
        twice = ours.index[ours.index.duplicated()][0]
        raise DataError(f"our frame has more than one row for {twice!r}: pick one condition, one row per {on}")


def printed_of(paper: str) -> pd.DataFrame:
    """The numbers in running text and the claims of a paper, by id: `label`, `where`, `printed`."""
    return pd.concat([published(f"{paper}_{kind}") for kind in ("text", "claims")]).set_index("id")
