"""What raters are given: for each a table of retellings, and a key that the experimenter keeps (`facts` Appendix I.1).

What is hidden. A row shows the original vignette beside one retelling under an id that says nothing: no voice, no id of
the case, no verdict of the auditor. Rows stand in the order of their ids, which are hashes of seed, rater, case and
voice, so that each rater has another order, and equal ids of two raters do not exist.

What is not. Whether a register fits can only be judged by who knows which one was asked for, and so could the paper's
raters, who rated "persona register match". The kit therefore says in each row what was asked for, in words that
describe a way of speaking and name no voice. To ask "which register is this?" instead would measure recognition, which
is another thing, and would tell every rater how many voices there are. The description belongs to one voice, and it
stands beside the rating of realism, which is therefore not blind to what was asked for. That a rater can group the rows
by their description, or by the texts themselves, no kit prevents; and who has cases and seed can compute the ids.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nsh.cases import Case
from nsh.declared import nearest, read_data
from nsh.errors import DataError, ParameterError
from nsh.making.items import items_of
from nsh.making.sampling import sample
from nsh.making.spreadsheet import sheet_path, write_sheet
from nsh.question_types import question_type
from nsh.rater_agreement import REALISM
from nsh.ratings import FACTS, REGISTER

TEXTS = ("original vignette", "retelling")
RATED = {"facts preserved (0 or 1)": (FACTS, "0,1"), "register fits (0 or 1)": (REGISTER, "0,1")}
RATED |= {"realism (1 to 5)": (REALISM, "1,2,3,4,5")}  # column -> item of the file of ratings, and its scale
ID, ASKED, COMMENT = "id", "register asked for", "comment"
HEADER = (ID, *TEXTS, ASKED, *RATED, COMMENT)


def digest(*parts: object) -> str:
    """SHA-256 of some values, 64 hexadecimal digits: the only source of order and ids, on every machine the same."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text as it survives a spreadsheet: white space and a leading apostrophe aside.

    Examples
    --------
    >>> text_hash("'=Pain  now") == text_hash("=Pain now"), text_hash("Pain") == text_hash("pain")
    (True, False)
    """
    return digest(" ".join(text.split()).lstrip("' "))


def sample_cases(cases: Sequence[Case], n: int = 100, seed: int = 42) -> list[Case]:
    """Draw cases that have an original, as `nsh.making.sampling.sample` draws questions.

    The strata are those of exam step and answer letter; where the step is not known, the type of the question
    (`nsh.question_types`) stands in its place.

    Parameters
    ----------
    cases : sequence of Case
        In any order; those without an original are not drawn from.
    n : int
        How many to draw.
    seed : int
        Of the draw; another one draws others.

    Returns
    -------
    list of Case
        n of the cases.

    Raises
    ------
    ParameterError
        If n is not between 1 and the number of cases that have an original.

    References
    ----------
    ``facts`` Appendix I.1: "a stratified sample of 100 questions"; its strata are not printed, these are ours.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> cases = load_cases("samples")
    >>> sample_cases(cases, 3) == sample_cases(cases[::-1], 3)
    True
    """
    items = [replace(item, step=item.step or question_type(item.question)) for item in items_of(cases)]
    by_id = {case.id: case for case in cases}
    return [by_id[item.id] for item in sample(items, n, seed)]


def described(voices: Iterable[str], own: Mapping[str, str]) -> dict[str, str]:
    """What raters are told of each voice's register: one's own words, else the packaged ones.

    Parameters
    ----------
    voices : iterable of str
        The voices to be rated.
    own : mapping of str to str
        Voice to words of one's own.

    Returns
    -------
    dict of str to str
        Voice to words, in the order of the voices.

    Raises
    ------
    ParameterError
        If a voice has none, or one of the voices is named in them, or words are given for another voice.

    Examples
    --------
    >>> described(["clinical"], {})
    {'clinical': 'concise medical prose in standard terms, as in a case report'}
    """
    voices = list(voices)
    if strange := sorted(set(own) - set(voices)):
        near = nearest(strange[0], voices)
        raise ParameterError(f"--register {strange[0]!r}: the cases have no such voice; did you mean {near!r}?")
    words = read_data("making/annotation.yaml")["registers"] | dict(own)
    names = "|".join(re.escape(voice).replace("_", "[_ ]") for voice in voices)
    for voice in voices:
        told = words.get(voice) or voice
        if re.search(rf"(?<!\w)({names})(?!\w)", told, re.IGNORECASE):
            expected = f"words that describe how it speaks, without the name of a voice (`--register '{voice}=...'`)"
            raise ParameterError(f"voice {voice!r}: expected {expected}; found {told!r}")
    return {voice: words[voice] for voice in voices}


def export(
    cases: Sequence[Case], out: str | Path, raters: Sequence[str], registers: Mapping[str, str], seed: int = 42
) -> list[Path]:
    """Write a table for each rater, what raters are told (.guide.txt), and the key (.key.json).

    Parameters
    ----------
    cases : sequence of Case
        As `sample_cases` draws them; every voice of each is rated.
    out : str or pathlib.Path
        A .csv or .xlsx file; of several raters, its name with "-RATER" behind it.
    raters : sequence of str
        Names such as "rater_1".
    registers : mapping
        Voice to what raters are told of it, as `described` gives it.
    seed : int
        Shapes ids, and so the order of the rows.

    Returns
    -------
    list of pathlib.Path
        The files written, the key last.

    Raises
    ------
    ParameterError
        If a rater's name is of another form or stands twice, or a file is there already, perhaps filled in.
    DataError
        If a case has no original vignette, or a text does not fit into a cell.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from nsh.cases import load_cases
    >>> cases = load_cases("samples", 1)
    >>> [path.name for path in export(cases, f"{mkdtemp()}/x.csv", ["r1"], described(cases[0].narratives, {}))]
    ['x.csv', 'x.guide.txt', 'x.key.json']
    """
    out = sheet_path(out)
    if not len({name for name in raters if name.isidentifier() and "__" not in name}) == len(raters) > 0:
        raise ParameterError(f"raters {', '.join(raters)}: expected names such as rater_1, each once")
    if bare := [case.id for case in cases if case.original is None]:
        raise DataError(f"case {bare[0]} has no original vignette to hold its retellings against")
    tables = [out.with_stem(f"{out.stem}-{name}") if len(raters) > 1 else out for name in raters]
    paths = [*tables, out.with_suffix(".guide.txt"), out.with_suffix(".key.json")]
    if there := [path for path in paths if path.exists()]:
        raise ParameterError(f"{there[0]} is there already and may hold ratings; expected a new name")
    key: dict[str, dict[str, str]] = {}  # ids begin with a letter, so that no spreadsheet takes one for a number
    told = [(case.id, voice, case.original, text) for case in cases for voice, text in case.narratives.items()]
    for rater, path in zip(raters, tables, strict=True):
        rows = []
        for case_id, voice, *texts in told:
            name = f"r{digest(seed, rater, case_id, voice)[:11]}"
            hashes = dict(zip(TEXTS, map(text_hash, texts), strict=True))
            key[name] = {"rater": rater, "case": case_id, "voice": voice, **hashes}
            rows.append([name, *texts, registers[voice], *[""] * (len(RATED) + 1)])
        write_sheet(path, [HEADER, *sorted(rows)])
    paths[-2].write_text(read_data("making/annotation.yaml")["guide"], encoding="utf-8")
    paths[-1].write_text(json.dumps({"seed": seed, "rows": key}, indent=1, ensure_ascii=False), encoding="utf-8")
    return paths
