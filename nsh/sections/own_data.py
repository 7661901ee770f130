"""The page on data of one's own: the shapes of a file of cases, and every message of the check, brought out."""

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from nsh.case_fields import ENDINGS
from nsh.cases import Case, check
from nsh.declared import read_data
from nsh.errors import NshError
from nsh.tables import Block, table

PARQUET = 'pandas.read_csv("cases.csv", dtype=str).to_parquet("cases.parquet", index=False)'


def shapes(case: Case) -> dict[str, str]:
    """Write one case in the shapes that a file of cases may have, by the ending of the file.

    Parameters
    ----------
    case : Case

    Returns
    -------
    dict of str to str
        The line of a .jsonl file, the two rows of a .csv file, and the statement that makes a .parquet file of it.

    Examples
    --------
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {"plain": "Pain. Why?", "curt": "Hurts. Why?"})
    >>> print(shapes(case)[".csv"].splitlines()[0])
    id,question,options,gold,narrative_plain,narrative_curt
    """
    row = {"id": case.id, "question": case.question, "options": dict(case.options), "gold": case.gold}
    rest = {"original": case.original} if case.original else {}
    line = json.dumps(row | {"narratives": dict(case.narratives)} | rest, ensure_ascii=False)
    flat = row | {"options": json.dumps(row["options"], ensure_ascii=False)}
    flat |= {f"narrative_{voice}": text for voice, text in case.narratives.items()} | rest
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([flat.keys(), flat.values()])
    return dict(zip(ENDINGS, (f"{line}\n", table.getvalue(), PARQUET), strict=True))


def messages() -> pd.DataFrame:
    """Check small broken files (``data/making/broken.yaml``) and say what is told of each.

    Returns
    -------
    DataFrame
        One row per file: `what` is wrong or odd, and the `message`, or the warnings, of `nsh.cases.check`, as they are
        but for the folder that the files lie in.

    Examples
    --------
    >>> found = messages().set_index("what")["message"]
    >>> found["the right letter is none of the options"]
    "cases.jsonl, line 2, field 'gold': expected one of the options' letters A, B; found 'C'"
    """
    told = read_data("making/broken.yaml")
    rows = []
    with TemporaryDirectory() as folder:
        for broken in told["broken"]:
            file = Path(folder) / broken.get("name", "cases.jsonl")
            second = told["case"] | {"id": "2"} | broken.get("change", {})
            cases = [told["case"], {name: second[name] for name in second if name not in broken.get("drop", [])}]
            text = broken.get("text") or "".join(f"{json.dumps(case)}\n" for case in cases)
            if not broken.get("absent"):
                file.write_text(text, encoding=broken.get("encoding", "utf-8"))
            rows.append([broken["what"], _said(file).replace(f"{folder}/", "")])
    return pd.DataFrame(rows, columns=["what", "message"])


def messages_shown() -> Block:
    """The same as a table, each message set as code: values such as NaN are what was found, not what is missing."""
    block = table(frame := messages(), f"What the check says of {len(frame)} small files", labels={"what": "the file"})
    return Block(block.html.replace("<td><bdi>", "<td><code>").replace("</bdi></td>", "</code></td>"), block.text)


def _said(file: Path) -> str:
    """The error or the warnings of the check."""
    try:
        return "; ".join(line for line in check(file).splitlines() if line.startswith("warning: "))
    except NshError as error:
        return str(error)
