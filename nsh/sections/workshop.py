"""The lessons: files of the checkout found from any folder, shown as they are, and what a condition sends, walked."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nsh.accuracies import accuracy
from nsh.boxes import boxed
from nsh.cases import Case
from nsh.drawing import Drawing
from nsh.jobs import find_condition
from nsh.overview import calls
from nsh.parts import chance_note
from nsh.place import root
from nsh.quantities import unstated
from nsh.recall import fact_recall
from nsh.study import Study
from nsh.tables import Block
from nsh.voice_figures import voice_accuracy


def located(name: str) -> str:
    """Make the path of a file of the checkout absolute, FILE or FILE.py:FUNCTION; any other name stays as it is.

    A notebook runs in the checkout or in its own folder; the current folder goes before the checkout.

    Examples
    --------
    >>> located("rewrite")
    'rewrite'
    """
    path, colon, function = name.rpartition(":") if ".py:" in name else (name, "", "")
    found = [folder / path for folder in (Path.cwd(), root()) if (folder / path).is_file()]
    return f"{found[0]}{colon}{function}" if found else name


def file_shown(name: str) -> Block:
    """Show a text file of the checkout, literally, in a box that opens and closes.

    Raises
    ------
    OSError
        If there is no such file.
    """
    text = Path(located(name)).read_text(encoding="utf-8")
    return boxed([(name, "", [("", text)])])


def calls_shown(condition: str) -> Block:
    """Show every call that a condition can make, on a made-up case whose parts are words in capitals.

    Parameters
    ----------
    condition : str
        A name, or FILE.py:FUNCTION.

    Raises
    ------
    ParameterError
        As `nsh.jobs.find_condition`.

    Examples
    --------
    >>> print(str(calls_shown("direct"))[:44])
    Call 1: direct
    at most 128 new tokens
    [user]
    """
    made = calls(find_condition(condition))
    heads = [f"Call {number}: {Path(call.stage).stem}" for number, call in enumerate(made, start=1)]
    told = [f"at most {call.max_new_tokens} new tokens" for call in made]
    return boxed(list(zip(heads, told, [call.messages for call in made], strict=True)))


def accuracy_by_condition(study: Study) -> Drawing | None:
    """Accuracy per voice of every model and condition of a run, a row each; None where no model was run."""
    if study.records.empty:
        return None
    scores = accuracy(study.records)
    scores["model"] = scores["condition"] + ", " + scores["model"]
    return Drawing(voice_accuracy(scores.drop(columns="condition"), chance=study.chance, note=chance_note(study)))


def facts_kept(cases: Sequence[Case]) -> pd.DataFrame:
    """Facts of each case that its retellings keep, by `nsh.recall.fact_recall`, and measured values that they invent.

    Parameters
    ----------
    cases : sequence of Case
        With `facts` in their `meta` and an original vignette, as the packaged samples have them.

    Returns
    -------
    DataFrame
        One row per case and voice: `case`, `voice`, `words`, `facts` (in all), `found`, `missing` and `invented`
        (names and values; "–" if none).

    Raises
    ------
    DataError
        As `fact_recall`.

    Examples
    --------
    >>> facts = [{"fact": "fever", "value": "3 days"}]
    >>> narratives = {"plain": "Fever for 3 days.", "curt": "Hot. Pulse 99/min."}
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives, "Fever for 3 days.", {"facts": facts})
    >>> facts_kept([case])[["found", "invented"]].values.tolist()
    [[1, '–'], [0, '99 /min']]
    """
    rows = []
    for case in cases:
        for voice, text in case.narratives.items():
            recall = fact_recall(case.meta.get("facts", []), text)
            invented = "; ".join(f"{value.value} {value.unit}" for value in unstated(text, case.original or ""))
            missing = ", ".join(recall.missing)
            rows.append([case.id, voice, len(text.split()), recall.n, recall.n_found, missing or "–", invented or "–"])
    return pd.DataFrame(rows, columns=["case", "voice", "words", "facts", "found", "missing", "invented"])
