"""Retelling cases in voices: written, checked, audited, and written again in another opening until one passes.

Each case and register is a generator of calls like a condition, so that many run at once through the same runner,
engines and store, and a run that was stopped goes on where it was. The auditor's call is one of its own: it sees the
original and the retelling, and nothing of what the writer was told.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

from nsh.cases import Case
from nsh.conditions import Answer, Condition, Steps
from nsh.engines import Call, Completion, Engine
from nsh.judging import read_lists, unread
from nsh.making.checks import failed_checks, length_asked
from nsh.making.voices import Register
from nsh.prompts import ask, template

ATTEMPTS = 10  # `facts` §2.2
AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One retelling: its opening style ("" where the register has none), its text, the checks that it failed, the
    auditor's verdict ("" where it was not asked) and the facts that the auditor found missing."""

    opening: str
    text: str
    failed: Mapping[str, str]
    verdict: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retelling(Answer):
    """What comes of a case in one voice: `status` "ok" or "gave up", the last text, and every attempt in order."""

    attempts: tuple[Attempt, ...] = ()


class Audited:
    """An engine that writes with one model and audits with another, both held in memory.

    Parameters
    ----------
    writer, auditor : Engine
        Each call is kept under the identity of the one that completes it.
    """

    def __init__(self, writer: Engine, auditor: Engine):
        self.engines = (writer, auditor)
        self.identity = writer.identity

    def identity_of(self, call: Call) -> dict[str, Any]:
        """The identity of the engine that completes a call."""
        return self.engines[call.stage == AUDIT].identity

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Complete the writer's calls, then the auditor's."""
        for audits, engine in enumerate(self.engines):
            places = [place for place, call in enumerate(calls) if (call.stage == AUDIT) == audits]
            for index, completion in engine.generate([calls[place] for place in places]):
                yield places[index], completion


def openings(case: str, register: Register) -> list[str]:
    """The opening styles in the order in which a case is tried with them, seeded by the case and the register.

    The papers draw one afresh for each attempt; here none comes again before all were used.

    Examples
    --------
    >>> from nsh.making.voices import register
    >>> openings("NS_001", register("cultural"))[:2]
    ['duty-frame-first', 'remedy-failure-first']
    """
    seeds = {name: hashlib.sha256(f"{case}\n{register.name}\n{name}".encode()).digest() for name in register.openings}
    return sorted(seeds, key=seeds.get) or [""]


def writing(case: Case, register: Register, opening: str = "", seed: int = 0) -> Call:
    """The writer's call: a case in a register, with an opening style, drawn with a seed.

    Examples
    --------
    >>> from nsh.making.voices import register
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {}, "A man has a cough. Why?")
    >>> call = writing(case, register("cultural"), "duty-frame-first", seed=3)
    >>> call.temperature, call.seed, "obligations fulfilled or unfulfilled" in call.messages[1][1]
    (0.9, 3, True)
    """
    parts, (low, high) = template("retell")["parts"], length_asked(register, case.original)
    told = [register.instruction.strip(), parts.get(register.person, "")]
    told += [f"{parts['opening']} {register.openings[opening]}."] if opening else []
    asked = {"register": "\n".join(filter(None, told)), "low": str(low), "high": str(high)}
    call = ask("retell", source=case.original, question=case.question, **asked)
    return replace(call, temperature=register.temperature, seed=seed)


def read_audit(reply: Completion) -> tuple[str, tuple[str, ...]]:
    """The auditor's verdict and the facts that it found missing, read strictly.

    Returns
    -------
    str, tuple of str
        "pass" or "fail"; "contradictory" where the verdict does not follow from the facts listed, or none is; else
        "truncated", "unparsed" or "empty".

    Examples
    --------
    >>> read_audit(Completion('{"facts": [{"fact": "a cough", "present": false}], "verdict": "fail"}'))
    ('fail', ('a cough',))
    >>> read_audit(Completion('{"facts": [{"fact": "a cough", "present": false}], "verdict": "pass"}'))[0]
    'contradictory'
    """
    read = read_lists(reply.text, {"facts": "present"})
    if read is None or read.get("verdict") not in ("pass", "fail"):
        return unread(reply), ()
    missing = tuple(str(fact.get("fact", "not named")) for fact in read["facts"] if not fact["present"])
    follows = read["facts"] and (read["verdict"] == "pass") == (not missing)
    return read["verdict"] if follows else "contradictory", missing


def retelling(register: Register, attempts: int = ATTEMPTS, seed: int = 0) -> Condition:
    """Retell-then-audit in one register, in the form of a condition.

    Parameters
    ----------
    register : Register
    attempts : int
        Most attempts; each has another opening style and seed.
    seed : int
        Of the draw; another one gives other retellings of the same cases.

    Returns
    -------
    callable
        Takes a case with its original and the name of the voice, yields calls and returns a `Retelling`.

    References
    ----------
    ``facts`` §2.2 and Appendix C; ``voices`` §3 and Appendix B. The checks before the auditor are ours.

    Examples
    --------
    >>> from nsh.making.voices import register
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {}, "A man has a cough. Why?")
    >>> steps = retelling(register("clinical"), attempts=1)(case, "clinical")
    >>> _ = next(steps)
    >>> steps.send(Completion("This man has been coughing. Why?")).stage
    'audit'
    """

    def retell(case: Case, voice: str) -> Steps:
        tried: list[Attempt] = []
        for opening in islice(cycle(openings(case.id, register)), attempts):
            reply = yield writing(case, register, opening, (seed << 16) + len(tried) + 1)
            text, verdict = reply.text.strip(), ("", ())
            failed = {"end": "cut off at its budget"} if reply.finish == "length" else {}
            failed |= failed_checks(case, register, text)
            if not failed:
                verdict = read_audit((yield ask(AUDIT, source=case.original, text=text)))
            tried.append(Attempt(opening, text, failed, *verdict))
            if verdict[0] == "pass":
                return Retelling(None, "ok", text, attempts=tuple(tried))
        return Retelling(None, "gave up", tried[-1].text, attempts=tuple(tried))

    return retell
