"""Tables and notes as HTML in which every text is escaped, so that a model's words are shown literally."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real
from typing import Any

import pandas as pd

from nsh.case_fields import escaped
from nsh.errors import ParameterError
from nsh.printed import decimals, minus

NO_MATH = "tex2jax_ignore mathjax_ignore"  # keeps a dollar sign a dollar sign
CALLOUTS = ("note", "warning")
MARKS = {True: ("✓", "equal to the printed digits"), False: ("≠", "differs from the printed")}


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page: HTML for the book and the notebook, plain text for everything else; half of a surrogate pair,
    which no file can hold, stands in both as its escape."""

    html: str
    text: str

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, escaped(getattr(self, name)))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __str__(self) -> str:
        return self.text


def missing_text(note: str | None) -> str:
    """Return what is shown for a number that is not there, in a word or two.

    Examples
    --------
    >>> missing_text("undefined: constant labels"), missing_text("n = 0"), missing_text("")
    ('undefined', 'n = 0', 'not computed')
    """
    note = "" if note is None or pd.isna(note) else str(note)
    return next((word for word in ("n = 0", "undefined") if word in note), "not computed")


def format_cell(value: Any, spec: str | None = None, note: str | None = "") -> str:
    """Return one value as text: three decimals for a number, never nan or None, never a negative zero.

    Examples
    --------
    >>> format_cell(0.15100000000000002), format_cell(3000), format_cell(float("nan"), note="n = 0")
    ('0.151', '3,000', 'n = 0')
    """
    if pd.api.types.is_scalar(value) and (pd.isna(value) or value in (math.inf, -math.inf)):
        return missing_text(note)
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Real):
        return minus(format(value, spec or (",d" if isinstance(value, Integral) else "z.3f")))
    return str(value)


def table(
    frame: pd.DataFrame,
    caption: str,
    *,
    formats: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    numeric: Collection[str] = (),
    row_headers: int = 1,
) -> Block:
    """Show a frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Shown in its own order; a named index becomes the first columns. A column `note` explains missing numbers
        and is shown last where it says anything.
    caption : str
        Plain text.
    formats, labels : mapping, optional
        Column -> format specification such as ``".4f"`` (three decimals otherwise) and column -> heading.
    numeric : collection of str
        Columns of text that are aligned as numbers are.
    row_headers : int
        How many first columns name the row.

    Examples
    --------
    >>> print(table(pd.DataFrame({"model": ["<b>"], "nag": [0.0636]}), "NAG", formats={"nag": ".2f"}))
    model  nag
      <b> 0.06
    """
    if frame.index.names != [None]:
        frame = frame.reset_index()
    notes = ["" if pd.isna(note) else str(note) for note in frame.get("note", [""] * len(frame))]
    frame = frame.drop(columns="note", errors="ignore")
    if any(notes):
        frame = frame.assign(note=[note or "–" for note in notes])
    labels, formats = labels or {}, formats or {}
    heads = [labels.get(column, str(column).replace("_", " ")) for column in frame.columns]
    specs = [formats.get(column) for column in frame.columns]
    right = [name in numeric or dtype.kind in "iuf" for name, dtype in frame.dtypes.items()]
    rows = []
    for values, note in zip(frame.itertuples(index=False, name=None), notes, strict=True):
        texts = [format_cell(value, spec, note) for value, spec in zip(values, specs, strict=True)]
        rows.append([_cell(text, number) for text, number in zip(texts, right, strict=True)])
    return block_of(caption, heads, right, rows, row_headers)


def beside(compared: pd.DataFrame, caption: str, *, labels: Mapping[str, str] | None = None) -> Block:
    """Show our numbers against the printed ones: ✓ after a number that has the printed digits, else ≠ and the printed.

    Parameters
    ----------
    compared : pandas.DataFrame
        As `nsh.comparison.compare` returns it.
    caption, labels
        As in `table`.

    Examples
    --------
    >>> rows = [["BioMistral-7B", "nag", "0.0640", 0.064, True]]
    >>> print(beside(pd.DataFrame(rows, columns=["model", "column", "printed", "ours", "equal"]), "NAG"))
            model      nag
    BioMistral-7B 0.0640 ✓
    """
    labels, keys = labels or {}, list(compared.columns[: list(compared.columns).index("column")])
    columns = list(dict.fromkeys(compared["column"]))
    heads = [labels.get(name, name.replace("_", " ")) for name in [*keys, *columns]]
    rows = []
    for key, part in compared.groupby(keys, sort=False):
        found = {record["column"]: record for record in part.to_dict("records")}
        names = [_cell(labels.get(name, name)) for name in key]
        rows.append([*names, *(_against(found.get(column)) for column in columns)])
    return block_of(caption, heads, [column >= len(keys) for column in range(len(heads))], rows, len(keys))


def _against(record: Mapping[str, Any] | None) -> Block:
    """One number of ours with its mark, and the printed number where it is another."""
    if record is None:
        return _cell("not printed")
    printed = minus(record["printed"])
    if pd.isna(record["equal"]):
        return _cell(f"{missing_text('')} (printed {printed})")
    mark, meaning = MARKS[bool(record["equal"])]
    seen = f' <span class="nsh-mark" role="img" aria-label="{meaning}" title="{meaning}">{mark}</span>'
    ours = printed if record["equal"] else format_cell(record["ours"], f"z.{decimals(printed)}f")
    if record["equal"]:
        return Block(_cell(ours, after=seen).html, f"{ours} {mark}")
    return Block(_cell(ours, after=f"{seen} <bdi>{escape(printed)}</bdi>").html, f"{ours} {mark} {printed}")


def callout(text: str, kind: str = "note", code: bool = False) -> Block:
    """Show a remark in a box. With `code`, for the book's own words, what stands between backticks is set as code.

    Raises
    ------
    ParameterError
        If `kind` is neither note nor warning.

    Examples
    --------
    >>> "<div" in callout("Hb <5 g/dL").html, "Hb &lt;5 g/dL" in callout("Hb <5 g/dL").html
    (True, True)
    """
    if kind not in CALLOUTS:
        raise ParameterError(f"callout kind {kind!r} is not one of {', '.join(CALLOUTS)}")
    said = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)) if code else escape(text)
    return Block(f'<div class="nsh-callout nsh-{kind} {NO_MATH}" role="note">{said}</div>', text)


def _num(right: bool) -> str:
    """The class of a right-aligned cell."""
    return ' class="num"' if right else ""


def _cell(text: str, right: bool = True, after: str = "") -> Block:
    """One cell; the text is escaped and its writing direction kept to itself, `after` is HTML."""
    return Block(f"<td{_num(right)}><bdi>{escape(text)}</bdi>{after}</td>", text)


def block_of(
    caption: str, heads: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[Block]], row_headers: int = 0
) -> Block:
    """A table of cells that are HTML, which scrolls sideways where the page is narrow, and its plain text."""
    head = "".join(f'<th scope="col"{_num(n)}>{escape(name)}</th>' for name, n in zip(heads, right, strict=True))
    body = ""
    for row in rows:
        names = "".join(f'<th scope="row"><bdi>{escape(cell.text)}</bdi></th>' for cell in row[:row_headers])
        body += f"<tr>{names}{''.join(cell.html for cell in row[row_headers:])}</tr>"
    body = body or f'<tr><td colspan="{len(heads)}">no rows</td></tr>'
    html = (
        f'<div class="nsh-scroll {NO_MATH}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="nsh-table"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    frame = pd.DataFrame([[cell.text for cell in row] for row in rows], columns=heads)
    return Block(html, frame.to_string(index=False) if rows else f"{caption}: no rows")
