"""The ledger in words: the arithmetic of a check, a number beside the printed one, and the rows as lines of text."""

import ast

import pandas as pd

from nsh.comparison import compare_printed
from nsh.formulas import Value
from nsh.printed import decimals


def arithmetic(formula: str, found: Value, printed: str) -> str:
    """A formula with the numbers that it reads in their places and its value; then the numbers of whole columns.

    Examples
    --------
    >>> arithmetic("a - b", Value(0.151, 0.001, {"a": "0.729", "b": "0.578"}), "0.151")
    '0.729 - 0.578 = 0.151'
    """
    shown = _Numbers(dict(found.read))
    text = ast.unparse(shown.visit(ast.parse(formula, mode="eval")))
    columns: dict[str, list[str]] = {}
    for name, number in shown.left.items():
        *column, keys = name.split("/", 2) if name.count("/") > 1 else (name, "")
        columns.setdefault("/".join(column), []).append(f"{keys} {number}".strip())
    read = "; ".join(f"{column}: {', '.join(texts)}" for column, texts in columns.items())
    value = ("no", "yes")[bool(found.value)] if printed in ("yes", "no") else f"{found.value:.6g}"
    return f"{text} = {value}" + f"\n{read}" * bool(read)


class _Numbers(ast.NodeTransformer):
    """Put the numbers that were read into a formula; `left` keeps those that have no single place in it."""

    def __init__(self, read: dict[str, str]):
        self.read, self.left = read, dict(read)

    def _put(self, name: str, node: ast.expr) -> ast.expr:
        """The number of that name, or the node where none was read under it."""
        self.left.pop(name, None)
        return ast.Name(self.read[name]) if name in self.read else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._put(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        reader = getattr(node.func, "id", "")
        if reader in ("cell", "text", "released") and all(isinstance(arg, ast.Constant) for arg in node.args):
            name = "/".join(arg.value for arg in node.args)
            return self._put("our " * (reader == "released") + name, node)
        node.args = [self.visit(arg) for arg in node.args]
        return node


def shown_number(ours: float, printed: str) -> str:
    """Our number with the decimals of the printed one where it rounds to it, else with up to two more.

    Examples
    --------
    >>> shown_number(0.15123, "0.151"), shown_number(0.1528, "0.151"), shown_number(41.6, "50.7")
    ('0.151', '0.1528', '41.6')
    >>> shown_number(0.0, "yes"), shown_number(2.1e-07, "<0.000001")
    ('no', '2.1e-07')
    """
    if pd.isna(ours):
        return "–"
    if printed in ("yes", "no"):
        return "yes" if ours else "no"
    if printed.startswith("<"):
        return f"{ours:.1e}"
    places = decimals(printed)
    if compare_printed(ours, printed):
        return f"{ours:z.{places}f}"
    whole, _, rest = f"{ours:z.{places + 2}f}".partition(".")
    rest = rest[:places] + rest[places:].rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def ledger_lines(rows: pd.DataFrame) -> str:
    """Rows of the ledger as text: two lines each, status, printed number and ours, then id, label and place.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `nsh.ledger.ledger` returns it.
    """
    lines = []
    for row in rows.itertuples():
        lines.append(f"{row.status}: printed {row.printed}, ours {shown_number(row.ours, row.printed)}")
        lines.append(f"    {row.id}: {row.label} ({row.paper}, {row.where})")
    return "\n".join(lines)
