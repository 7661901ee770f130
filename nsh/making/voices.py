"""Registers: how a case is to be retold in one voice, each a data file, the packaged ones or anyone's."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nsh.case_fields import wrong
from nsh.declared import Yaml12, nearest
from nsh.errors import DataError
from nsh.matrix import order_voices
from nsh.prompts import STATUSES
from nsh.voices import OVERALL

FOLDER = Path(__file__).parents[1] / "data" / "making" / "voices"
PERSONS = ("first", "third")


@dataclass(frozen=True, slots=True)
class Register:
    """How a case is retold in one voice.

    Attributes
    ----------
    name, label : str
        In records, and as shown.
    instruction : str
        What the writer is told about the voice.
    temperature : float
        Of the drawing of tokens; 0 takes the likeliest.
    openings : mapping of str to str
        Opening styles, name to instruction; one is assigned to each attempt. May be empty.
    forbidden : list of str
        Phrases that a retelling must not hold, as regular expressions, whatever the case.
    words : (float, float)
        Least and greatest length, as factors of the original's number of words.
    person : {"first", "third"} or None
        Grammatical person that it is told in; None leaves it open.
    source, status, note : str
        Where it comes from; how much of it is ours (one of `nsh.prompts.STATUSES`); what is.
    """

    name: str
    label: str
    instruction: str
    temperature: float
    openings: Mapping[str, str]
    forbidden: list[str]
    words: tuple[float, float]
    person: str | None
    source: str
    status: str
    note: str


FIELDS = tuple(field.name for field in fields(Register))


def register(name: str | Path) -> Register:
    """Read a register.

    Parameters
    ----------
    name : str or pathlib.Path
        A packaged one by its name, or the path of a .yaml file of the same form. A file that writes
        ``like: NAME`` takes all that it does not say itself from that packaged register.

    Returns
    -------
    Register

    Raises
    ------
    DataError
        If there is none of that name (the nearest is named), or a field is missing, unknown or wrong.

    References
    ----------
    ``voices`` §3 and Appendix B; ``facts`` §2.2 and Appendix C.

    Examples
    --------
    >>> register("cultural").temperature, list(register("socioeconomic").openings)[0]
    (0.9, 'impact-first')
    >>> register("third_person").openings == register("socioeconomic").openings
    True
    """
    path = Path(name) if str(name).endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = [file.stem for file in FOLDER.glob("*.yaml")]
        hint = "" if path.parent != FOLDER else f"; did you mean {nearest(str(name), known)!r}, or the path of a .yaml?"
        raise DataError(f"no register {name}{hint}")
    try:
        given = dict(yaml.load(path.read_text(encoding="utf-8"), Yaml12))
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError) as error:
        raise DataError(f"register {name}: not a YAML mapping in UTF-8: {' '.join(str(error).split())}") from None
    if "like" in given:
        like = str(given.pop("like")).removesuffix(".yaml")
        if not (FOLDER / f"{like}.yaml").is_file() or path == FOLDER / f"{like}.yaml":
            raise wrong(f"register {name}", "like", "the name of a packaged register", like)
        base = register(like)
        given = {field: getattr(base, field) for field in FIELDS} | given
    return Register(**_checked(given, f"register {name}"))


@cache
def registers() -> dict[str, Register]:
    """The packaged registers by name: the papers' voices, then the controls and the others.

    Examples
    --------
    >>> list(registers())
    ['clinical', 'socioeconomic', 'cultural', 'neutral', 'older_speaker', 'third_person']
    """
    return {name: register(name) for name in order_voices(file.stem for file in FOLDER.glob("*.yaml"))}


def _checked(given: dict[str, Any], where: str) -> dict[str, Any]:
    """The fields of a register, each as its type says."""
    lacking, unknown = [name for name in FIELDS if name not in given], sorted(set(map(str, given)) - {*FIELDS})
    if lacking or unknown:
        found = f"lacking: {', '.join(lacking) or 'none'}, unknown: {', '.join(unknown) or 'none'}"
        raise DataError(f"{where}: expected {', '.join(FIELDS)}; found {found}")
    low_high, openings, forbidden = given["words"], given["openings"], given["forbidden"]
    right = {name: isinstance(given[name], str) and given[name].strip() for name in FIELDS[:3] + FIELDS[-3:]}
    right = {name: (ok, "text that is not blank") for name, ok in right.items()}
    named = given["name"].isidentifier() and given["name"] != OVERALL if right["name"][0] else False
    right["name"] = (named, f"letters, digits and underscores, and not {OVERALL!r}")
    right["temperature"] = (_number(given["temperature"]) and 0 <= given["temperature"] <= 2, "a number from 0 to 2")
    texts = isinstance(openings, Mapping) and all(isinstance(text, str) for pair in openings.items() for text in pair)
    right["openings"] = (texts, "a mapping of names to instructions, {} for none")
    right["forbidden"] = (isinstance(forbidden, list) and all(map(_compiles, forbidden)), "regular expressions, a list")
    two = isinstance(low_high, list | tuple) and len(low_high) == 2 and all(map(_number, low_high))
    right["words"] = (two and 0 < low_high[0] <= low_high[1] <= 100, "two factors, 0 < low <= high <= 100")
    right["person"] = (given["person"] in (*PERSONS, None), f"{', '.join(PERSONS)} or null")
    if given["status"] not in STATUSES:
        right["status"] = (False, f"one of {', '.join(STATUSES)}")
    for name, (ok, expected) in right.items():
        if not ok:
            raise wrong(where, name, expected, given[name])
    return given | {"words": tuple(low_high)}


def phrase(pattern: str) -> re.Pattern:
    """A forbidden phrase, as whole words and whatever the case.

    Examples
    --------
    >>> bool(phrase("herbal teas?").search("a cup of Herbal tea")), bool(phrase("tea").search("teas"))
    (True, False)
    """
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


def phrases_in(text: str, forbidden: Iterable[str]) -> list[str]:
    """The forbidden phrases that a text holds, as they stand there; line breaks and kinds of apostrophe aside.

    Examples
    --------
    >>> phrases_in("I’m sorry\\nto bother you.", ["i'm sorry to bother you", "howdy"])
    ["I'm sorry to bother you"]
    """
    plain = " ".join(text.replace("’", "'").split())
    return [match[0] for match in (phrase(rule).search(plain) for rule in forbidden) if match]


def _number(value: Any) -> bool:
    """Whether a value is a number."""
    return type(value) in (int, float)


def _compiles(pattern: Any) -> bool:
    """Whether a value is a regular expression that can be part of another."""
    try:
        return isinstance(pattern, str) and bool(phrase(pattern))
    except (re.error, TypeError):
        return False
