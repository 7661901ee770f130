"""The cases of a study: questions with their retellings, validated on the way in.

Sources are the packaged samples, the released data set, a file, or a data set on the hub. The layouts of a row are
described in `nsh.case_rows`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean

from nsh.case_fields import wrong
from nsh.case_files import SAMPLES, Row, read_file, read_hub, read_released
from nsh.case_rows import Case, case_from_row, question_sentence
from nsh.declared import nearest
from nsh.errors import DataError, ParameterError
from nsh.pull import released_dir

__all__ = ["Case", "case_hash", "check", "load_cases", "question_sentence", "source_rows"]
DOUBTS: dict[str, Callable[[Case], bool]] = {
    "two voices with the same text": lambda case: len({*case.narratives.values()}) < len(case.narratives),
    "two options with the same text": lambda case: len({*case.options.values()}) < len(case.options),
    "no question mark at the end of the question sentence": lambda case: not case.question.endswith("?"),
    "no original vignette": lambda case: case.original is None,
}


def load_cases(source: str | Path = "samples", n_cases: int | None = None, case: str | None = None) -> list[Case]:
    """Load and validate cases.

    Parameters
    ----------
    source : str or pathlib.Path
        "samples" (packaged, written for this project), "released" (the papers' 1,000 cases) or the folder that holds
        them, the path of a .jsonl, .csv or .parquet file, or "hf:ORGANIZATION/DATASET",
        "hf:ORGANIZATION/DATASET@REVISION" or "hf:FOLDER".
    n_cases : int, optional
        Keep the first n cases; all by default.
    case : str, optional
        Keep the one case of this id instead.

    Returns
    -------
    list of Case
        In the order of the source. All have the same voices, in the order of the first case.

    Raises
    ------
    DataError
        If a row is wrong, an id stands twice, or a case has other voices than the first; the row is named.
    MissingDataError
        If the source is not on this machine and cannot be fetched.
    ParameterError
        If the source is none of these, `n_cases` is not between 1 and the number of cases, or no case has the id.

    Examples
    --------
    >>> cases = load_cases("samples", n_cases=2)
    >>> sorted(cases[0].narratives)
    ['clinical', 'cultural', 'socioeconomic']
    """
    cases = _validated(source_rows(source), source)
    if case is not None:
        if found := [one for one in cases if one.id == case]:
            return found
        near = nearest(case, [one.id for one in cases])
        raise ParameterError(f"case = {case!r}: {source} has none of that id; did you mean {near!r}?")
    if n_cases is None:
        return cases
    if not isinstance(n_cases, int) or isinstance(n_cases, bool) or not 1 <= n_cases <= len(cases):
        raise ParameterError(
            f"n_cases={n_cases!r}: expected a whole number from 1 to {len(cases)}, the cases in {source}"
        )
    return cases[:n_cases]


def case_hash(cases: Sequence[Case]) -> str:
    """Return the SHA-256 of the cases' content, 64 hexadecimal digits; their order counts, that of fields does not.

    Examples
    --------
    >>> case_hash([])[:8]
    '4f53cda1'
    """
    content = [asdict(case) for case in cases]
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def check(source: str | Path) -> str:
    """Load a source as `load_cases` does and say what it holds.

    Returns
    -------
    str
        Lines: the number of cases, their option letters, the mean number of words of each voice's retellings, and a
        warning for what is allowed but looks like a mistake, with the number of cases and the first of them.

    Raises
    ------
    DataError, MissingDataError, ParameterError
        As `load_cases`.

    Examples
    --------
    >>> print(check("samples").splitlines()[1])
    options: ABCD in 24
    """
    cases = load_cases(source)
    letters = Counter("".join(case.options) for case in cases)
    words = {voice: mean(len(case.narratives[voice].split()) for case in cases) for voice in cases[0].narratives}
    lines = [
        f"cases: {len(cases)}",
        "options: " + ", ".join(f"{found} in {count}" for found, count in letters.items()),
        "mean words: " + ", ".join(f"{voice} {length:.0f}" for voice, length in words.items()),
    ]
    for doubt, doubtful in DOUBTS.items():
        if ids := [case.id for case in cases if doubtful(case)]:
            lines.append(f"warning: {doubt}: {len(ids)} of {len(cases)} cases, first {ids[0]}")
    return "\n".join(lines)


def source_rows(source: str | Path) -> list[Row]:
    """The rows of a source that `load_cases` takes, unchecked.

    Raises
    ------
    DataError, MissingDataError, ParameterError
        If the source is not there, is of no known kind, or a line of it cannot be read.

    Examples
    --------
    >>> source_rows("samples")[0][1]["gold"] in "ABCD"
    True
    """
    source = str(source)
    if source == "samples":
        return read_file(SAMPLES)
    if source == "released":
        return read_released(released_dir("require"))
    if source.startswith("hf:"):
        return read_hub(source)
    return read_released(Path(source)) if Path(source).is_dir() else read_file(source)


def _validated(rows: Sequence[Row], source: str | Path) -> list[Case]:
    """One case a row, ids unique, voices the same and in the same order."""
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for where, row in rows:
        case = case_from_row(row, where)
        if case.id in seen:
            raise wrong(where, "id", f"an id that is not in {seen[case.id]}", case.id)
        voices = cases[0].narratives if cases else case.narratives
        if set(case.narratives) != set(voices):
            raise wrong(
                where, "narratives", f"the voices of the first case, {', '.join(voices)}", list(case.narratives)
            )
        seen[case.id] = where
        cases.append(replace(case, narratives={voice: case.narratives[voice] for voice in voices}))
    if not cases:
        raise DataError(f"{source} holds no cases")
    return cases
