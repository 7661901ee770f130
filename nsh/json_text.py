"""The one JSON object in a model's reply: read strictly, else repaired where nothing is lost or invented, else refused.

Repairs are made by the library `json_repair`, which always returns something: it closes what was cut, drops words,
keeps the last of two equal keys and turns NaN into a word. So an object that is no strict JSON is also read token by
token, and a repair counts only where both readings agree. The lenient steps, each named in the note:

- single quotation marks, words without any, literals that JSON does not have, comments, missing or surplus commas,
  doubled or surplus braces;
- quotation marks, line breaks and escapes in a string that are not escaped as JSON wants it;
- NaN, infinities and undefined, which become null, and half of a surrogate pair, which becomes U+FFFD.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isinf
from typing import Any

from nsh.answers import THINK

DEEPEST = 64  # levels of nesting
MISQUOTED = "quotation marks or escapes in a string"
MOST_MISQUOTED = 99  # such strings; the repair's time grows with their square
START = re.compile(r"\{|\[(?=\s*+[{\"'])")
MEMBER = re.compile(r"([\"'])[^\"'\n]*+\1\s*+:\s*+\Z")  # before an object that is the value of a key
SURPLUS = re.compile(r"(?:\s*+\})*+")
ENDS = r"\s*+[,:;=}\]#/+]|\s++[\"'{\[]"  # what follows a quotation mark that ends a string
TOKEN = re.compile(
    r"(?P<skip>[\s,]++|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
    r"|(?P<string>(?P<mark>[\"'])(?:[^\"'\\\n]++|\\.|\n(?![^\S\n]*+(?:\n|```|[\"'}\]]))"
    rf"|(?!(?P=mark)(?:{ENDS}))[\"'])*+(?P=mark))|(?P<cut>[\"'])|(?P<open>[{{\[])|(?P<close>[}}\]])"
    r"|(?P<word>[\w$+-][^\s\"{}\[\],:]*+(?: (?!/[/*]|[#'])[^\s\"{}\[\],:]++)*+)|(?P<other>.)"
)
ESCAPE = re.compile(r"(\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))|\\(['_])|[\"\\]")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
LITERALS = dict.fromkeys(("null", "None", "NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "undefined"), "null")
LITERALS |= {"true": "true", "True": "true", "false": "false", "False": "false"}


@dataclass(frozen=True, slots=True)
class Json:
    """The object, or None; how it was read (the statuses of `parse_json`); and what was repaired or is wrong."""

    value: dict[str, Any] | None
    status: str
    note: str = ""


CUT = Json(None, "truncated", "begun and not ended")
HEADLESS = Json(None, "none", "a part of an object whose beginning is missing")
UNREADABLE = Json(None, "none", "an object that cannot be read without losing or inventing something")


def parse_json(text: str, finish: str = "stop") -> Json:
    """Read the one JSON object of a reply; prose and code fences around it are passed over.

    Parameters
    ----------
    text : str
        The whole reply. What stands in or before a block of reasoning (``<think>``) is not read.
    finish : str
        "length" where the reply was cut off at its token budget.

    Returns
    -------
    Json
        `value` is the object where `status` is "ok" (strict JSON) or "repaired" (the note names the lenient steps),
        else None: "truncated" (an object or the reasoning is begun and not ended, or the budget ended before any
        object), "none" (no object, or one that cannot be read without losing or inventing something), "ambiguous"
        (objects that differ, or a key that stands twice with different values). Objects in an array are not read.
        Nothing in `value` is NaN, infinite, or text that UTF-8 cannot hold.

    Examples
    --------
    >>> parse_json('Sure! {"age": 61}')
    Json(value={'age': 61}, status='ok', note='')
    >>> parse_json("{'age': None}")
    Json(value={'age': None}, status='repaired', note='single quotation marks, literals of other languages')
    >>> parse_json('{"findings": ["fever", "low bl').status
    'truncated'
    """
    *before, reply = THINK.split(text)
    readings = [CUT] if before[-1:] == [""] else list(_readings(reply))
    for verdict in (CUT, HEADLESS):
        if verdict in readings:
            return verdict
    if not readings:
        return Json(None, "truncated" if finish == "length" else "none", "no object")
    if len({json.dumps(reading.value, sort_keys=True) for reading in readings}) > 1:
        return Json(None, "ambiguous", f"{len(readings)} objects that differ")
    best = max(readings, key=lambda reading: reading.status == "repaired")
    times = f"the same object {len(readings)} times" if best.value is not None and len(readings) > 1 else ""
    return Json(best.value, best.status, ", ".join(filter(None, [best.note, times])))


def _readings(reply: str) -> Iterator[Json]:
    """Each object of a reply, read; `CUT` or `HEADLESS` for a part of one."""
    at = 0
    while start := START.search(reply, at):
        lead = reply[at : start.start()]
        end, reading = _read(reply, start.start())
        at = SURPLUS.match(reply, end).end()
        if "}" in lead or MEMBER.search(lead[-99:]) or (at > end and lead.rpartition("\n")[2].strip()):
            yield HEADLESS
        if reading and at > end and reading.status == "ok":
            reading = replace(reading, status="repaired", note="surplus braces")
        yield from filter(None, [reading])
    if "}" in reply[at:]:
        yield HEADLESS


def _read(text: str, start: int) -> tuple[int, Json | None]:
    """Where the object or array at `start` ends, and the object; None for an array or braces without any pair."""
    strict, loose, notes, stack = [], [], [], []
    for token in TOKEN.finditer(text, start):
        kind, word = token.lastgroup, token[0]
        if kind == "cut" or len(stack) > DEEPEST:
            return len(text), CUT if kind == "cut" else UNREADABLE
        piece, note = _piece(word) if kind in ("string", "word") else (word, "comments" if word[0] in "/#" else "")
        loose.append(piece if kind == "word" or word[0] == "'" else word.replace(r"\_", "_"))
        if kind == "open" and strict[-1:] == [word] == ["{"]:
            strict[-1], loose[-1], note = "", "", "doubled braces"
        elif kind in ("open", "string", "word") and strict and strict[-1] not in "{[:":
            strict.append(",")
        if kind == "open":
            stack.append(len(strict))
        elif kind == "close":
            opened = strict[stack.pop()]
            piece = loose[-1] = word if opened else ""
        if (kind == "close" and (opened == "[") != (word == "]")) or (word == ":" and '\\"' in strict[-1]):
            return len(text), UNREADABLE  # brackets that do not match; a key that has swallowed what stands before it
        strict += [piece] if piece and kind != "skip" else []
        notes += [note] if note else []
        if not stack:
            return token.end(), _agreed(text[start : token.end()], strict, loose, notes)
    return len(text), CUT


def _piece(word: str) -> tuple[str, str]:
    """A string, number, literal or bare word as strict JSON, and the name of the lenient step if there is one."""
    if word[0] in "\"'":
        piece = '"' + ESCAPE.sub(lambda found: found[1] or found[2] or "\\" + found[0], word[1:-1]) + '"'
        note = "single quotation marks" if word[0] == "'" else MISQUOTED
        if re.search(rf",\s*{word[0]}", word[1:-1]) and (word[0] == "'" or word.count('"') % 2):
            piece = word  # two strings, of which one lacks a quotation mark: no JSON
    elif word in LITERALS or (NUMBER.fullmatch(word) and isinf(float(word))):
        piece, note = LITERALS.get(word, "null"), "literals of other languages"
    else:
        keep = NUMBER.fullmatch(word) or word.endswith("'")  # the end of a string that began nowhere: no JSON
        piece, note = word if keep else json.dumps(word), "words without quotation marks"
    return piece, "" if piece == word else note


def _agreed(source: str, strict: list[str], loose: list[str], notes: list[str]) -> Json | None:
    """An object as strict JSON, else as what its tokens and the repair agree on; None for what holds no pair."""
    from json_repair import repair_json

    if strict[0] == "[" or (":" not in strict and strict != ["{", "}"]):
        return None
    try:
        try:
            value, notes = _utf8(source), []
        except ValueError:
            value = _utf8("".join(strict), strict=False)
            if notes.count(MISQUOTED) > MOST_MISQUOTED or value != _utf8(repair_json("".join(loose))):
                return UNREADABLE
            notes += ["commas"] * (source.count(",") != "".join(strict).count(","))
            notes = notes or ["line breaks in a string"]
    except KeyError as error:
        return Json(None, "ambiguous", f"the key {error.args[0]!r} stands twice, with different values")
    except ValueError:
        return UNREADABLE
    notes += ["half of a surrogate pair"] * ("\ufffd" in value and "\ufffd" not in source)
    return Json(json.loads(value), "repaired" if notes else "ok", ", ".join(dict.fromkeys(notes)))


def _utf8(written: str, strict: bool = True) -> str:
    """JSON that UTF-8 can hold, without lone halves of surrogate pairs; a ValueError for what is no JSON."""
    value = json.loads(written, strict=strict, object_pairs_hook=_object)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of its pairs; a KeyError where a key stands twice with different values."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if json.dumps(made.setdefault(key, value)) != json.dumps(value):
            raise KeyError(key)
    return made
