"""The released answers of the papers' models as records, and which of the released files are here.

One result file holds the answers of one model under one condition: a line per question with, for each voice, the raw
response, the letter read from it by the authors, and whether that is the correct one.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nsh import case_fields
from nsh.answers import parse_letter
from nsh.case_fields import wrong
from nsh.case_files import QUESTIONS, read_file
from nsh.errors import ParameterError
from nsh.pull import ReleasedFile, listed_files, released_dir
from nsh.records import records_frame
from nsh.voices import released_names

__all__ = ["CONDITIONS", "MODELS", "load_released", "released_dir", "released_status", "result_file"]

CONDITIONS = ("B1", "B2", "B3")
MODELS = {
    "llama31": "Llama-3.1-8B-Instruct",
    "llama32": "Llama-3.2-3B-Instruct",
    "mistral7b": "Mistral-7B-Instruct-v0.3",
    "qwen25": "Qwen2.5-7B-Instruct",
    "gemma3_12b": "gemma-3-12b-it",
    "gemma4_e4b": "gemma-4-E4B-it",
    "biomistral": "BioMistral-7B",
}  # key in the file names -> name; in the order of `facts` Table 3


def result_file(condition: str, key: str) -> str:
    """Return the path of a result file in the released folder.

    Examples
    --------
    >>> result_file("B1", "llama31")
    'results/b1_results/b1_results/results_B1_llama31.jsonl'
    """
    folder = f"{condition.lower()}_results"
    return f"results/{folder}/{folder}/results_{condition}_{key}.jsonl"


def load_released(directory: str | Path, conditions: Sequence[str] = CONDITIONS) -> pd.DataFrame:
    """Load the released answers that are in a folder; result files that are not there are left out.

    Parameters
    ----------
    directory : str or pathlib.Path
        Folder in the layout of the public repository, as `released_dir` gives it.
    conditions : sequence of str
        Of "B1" (direct), "B2" (chain of thought), "B3" (debiasing instruction of `facts`).

    Returns
    -------
    pandas.DataFrame
        Records, `source` "released": one row per model, condition, case and voice. `letter` is the authors' reading of
        the response, `status` "ok" where there is one and otherwise says why not. `text` is the response itself, for
        use on this machine only. Empty if the folder holds none of the files.

    Raises
    ------
    ParameterError
        If a condition is another one.
    DataError
        If a line is corrupt, its correct letter is not that of the case, or its answers are not marked as their letters
        say; the file, line and field are named.

    Examples
    --------
    >>> load_released("no such folder").empty
    True
    """
    unknown = [condition for condition in conditions if condition not in CONDITIONS]
    if unknown:
        raise ParameterError(f"released condition {unknown[0]!r}: expected a list of {', '.join(CONDITIONS)}")
    directory = Path(directory)
    golds = _golds(directory)
    return records_frame(
        {"model": name, "condition": condition, "source": "released", **record}
        for condition in conditions
        for key, name in MODELS.items()
        if (directory / result_file(condition, key)).is_file()
        for where, row in read_file(directory / result_file(condition, key))
        for record in _answers(row, where, golds)
    )


def released_status(directory: str | Path) -> pd.DataFrame:
    """Say for every released file whether it is here.

    Parameters
    ----------
    directory : str or pathlib.Path
        Folder in the layout of the public repository.

    Returns
    -------
    pandas.DataFrame
        `file`, `bytes` (expected size; missing where it is not known) and `state`: "present" (checksum right),
        "wrong checksum" and "missing" (`nsh data pull` fetches both again), "not listed" (here, used if it is a result
        file, but not checked) and "not offered" (a result file that is neither here nor among those that are fetched).

    Examples
    --------
    >>> status = released_status("no such folder")
    >>> sorted(status["state"].unique())
    ['missing', 'not offered']
    """
    directory = Path(directory)
    listed = {file.path: file for file in listed_files()}
    rows = [{"file": path, "bytes": file.bytes, "state": _state(directory, file)} for path, file in listed.items()]
    here = [path.relative_to(directory).as_posix() for path in released_files(directory)]
    extra = [name for name in here if name not in listed]
    rows += [{"file": name, "bytes": None, "state": "not listed"} for name in extra]
    wanted = [result_file(condition, key) for condition in CONDITIONS for key in MODELS]
    absent = [name for name in wanted if name not in listed and name not in extra]
    rows += [{"file": name, "bytes": None, "state": "not offered"} for name in absent]
    return pd.DataFrame(rows).astype({"bytes": "Int64"})


def released_files(directory: Path | None) -> list[Path]:
    """All files of a folder in the layout of the public repository, those that are not fetched included.

    Examples
    --------
    >>> released_files(None)
    []
    """
    top_folders = sorted({file.path.partition("/")[0] for file in listed_files()}) if directory else []
    return [path for top in top_folders for path in sorted((directory / top).rglob("*")) if path.is_file()]


def _state(directory: Path, file: ReleasedFile) -> str:
    """Whether a listed file is here and right."""
    path = directory / file.path
    if not path.is_file():
        return "missing"
    right = hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
    return "present" if right else "wrong checksum"


def _golds(directory: Path) -> dict[str, str]:
    """Correct letter of the released cases by id; none if the file of questions is not here."""
    path = directory / QUESTIONS
    golds = {}
    for where, row in read_file(path) if path.is_file() else ():
        options = case_fields.options("options", row.get("options"), where)
        case = case_fields.identifier("question_id", row.get("question_id"), where)
        golds[case] = case_fields.gold("answer_idx", row.get("answer_idx"), options, where)
    return golds


def _answers(row: Mapping[str, Any], where: str, golds: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The records of one line, one per voice."""
    case = case_fields.identifier("question_id", row.get("question_id"), where)
    gold = row.get("correct_answer_idx")
    if not _is_letter(gold):
        raise wrong(where, "correct_answer_idx", "a letter", gold)
    if gold != golds.get(case, gold):
        raise wrong(where, "correct_answer_idx", f"{golds[case]!r}, the correct letter of {case}", gold)
    voices = case_fields.mapping("personas_eval", row.get("personas_eval"), where)
    names = released_names()
    if set(voices) != set(names):
        raise wrong(where, "personas_eval", f"answers for {', '.join(names)}", list(voices))
    for voice, name in names.items():
        answer = case_fields.mapping(f"personas_eval, {voice}", voices[voice], where)
        letter, text = _checked(answer, gold, f"{where}, voice {voice}")
        found = {"letter": letter, "status": _status(letter, text), "correct": letter == gold, "text": text}
        yield {"case": case, "voice": name, "gold": gold, **found}


def _checked(answer: Mapping[str, Any], gold: str, where: str) -> tuple[str | None, str]:
    """Letter and response of one answer, once its mark agrees with its letter."""
    letter, correct, text = (answer.get(name) for name in ("extracted_answer", "is_correct", "raw_response"))
    if letter is not None and not _is_letter(letter):
        raise wrong(where, "extracted_answer", "a letter or null", letter)
    if correct is not (letter == gold):
        raise wrong(where, "is_correct", f"{letter == gold}, as the answer is {letter} and {gold} is correct", correct)
    if not isinstance(text, str):
        raise wrong(where, "raw_response", "text", text)
    return letter, text


def _is_letter(value: Any) -> bool:
    """Whether a value is an option letter."""
    return isinstance(value, str) and len(value) == 1 and value in case_fields.LETTERS


def _status(letter: str | None, text: str) -> str:
    """Why the authors read no letter, "ok" if they did; "unparsed" too where only our own reading finds one."""
    if letter:
        return "ok"
    status = parse_letter(text).status if text.strip() else "empty"
    return "unparsed" if status == "ok" else status
