"""Audits by a judge: a model lists what one text adds to another and, of an intermediate, which facts it lacks.

A judge's task is a generator of calls like a condition, and stands in a job in the place of the condition's name. It
compares the `original` of a case with the text in one voice: the vignette with its retelling, or, in a case made by
`against_narrative`, the narrative with the intermediate made from it. Replies are read strictly: one that is not the
JSON asked for is counted under its status, and nothing is guessed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nsh.case_fields import once
from nsh.cases import Case
from nsh.conditions import Answer, Steps
from nsh.engines import Completion
from nsh.errors import DataError
from nsh.prompts import ask


def judge_added(case: Case, voice: str) -> Steps:
    """List what a retelling adds to the original vignette.

    Parameters
    ----------
    case : Case
        With its original vignette.
    voice : str
        The voice of the retelling.

    Returns
    -------
    generator
        Yields one `Call` and returns an `Answer` without a letter, whose status is "ok" where `read_reply` reads it.

    Raises
    ------
    DataError
        If the case has no original vignette.

    References
    ----------
    ``voices`` Appendix D. The prompt is reconstructed.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."}, "Knee pain.")
    >>> next(judge_added(case, "cultural")).max_new_tokens
    2048
    """
    return (yield from _judge("judge_added", case, voice))


def judge_intermediate(case: Case, voice: str) -> Steps:
    """List the narrative's facts, which of them an intermediate keeps, and what it adds.

    Parameters
    ----------
    case : Case
        As `against_narrative` makes it.
    voice : str
        The voice of the narrative.

    Returns
    -------
    generator
        As of `judge_added`.

    Raises
    ------
    DataError
        If the case has no original, which here is the narrative.

    References
    ----------
    ``voices`` Appendix H. The prompt is reconstructed.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."})
    >>> next(judge_intermediate(against_narrative(case, "cultural", "Knee pain."), "cultural")).letters
    ''
    """
    return (yield from _judge("judge_intermediate", case, voice))


def _judge(name: str, case: Case, voice: str) -> Steps:
    """Ask for one comparison; the answer has no letter."""
    if case.original is None:
        raise DataError(f"case {case.id} has no original vignette to judge its {voice} retelling against")
    reply = yield ask(name, source=case.original, text=case.narratives[voice])
    read = read_reply(reply.text, name == "judge_intermediate")
    return Answer(None, "ok" if read else unread(reply), reply.text)


def unread(reply: Completion) -> str:
    """The status of a reply that could not be read."""
    return "truncated" if reply.finish == "length" else "unparsed" if reply.text.strip() else "empty"


def against_narrative(case: Case, voice: str, intermediate: str) -> Case:
    """The case of an intermediate: the narrative takes the place of the original vignette.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."})
    >>> made = against_narrative(case, "cultural", "Knee pain.")
    >>> made.original, made.narratives
    ('My knee burns.', {'cultural': 'Knee pain.'})
    """
    return replace(case, narratives={voice: intermediate}, original=case.narratives[voice])


def read_reply(text: str, facts: bool) -> dict[str, list[bool]] | None:
    """Read a judge's reply: the flags of what is added (relevant) and of the facts (kept); None if it is another form.

    Text around a code fence is cut off; what is left must be one JSON object.

    Examples
    --------
    >>> read_reply('{"added": [{"content": "a fever", "relevant": true}]}', facts=False)
    {'added': [True]}
    >>> read_reply("Nothing was added.", facts=False) is None
    True
    """
    wanted = {"added": "relevant"} | ({"facts": "kept"} if facts else {})
    reply = read_lists(text, wanted)
    return reply and {field: [item[flag] for item in reply[field]] for field, flag in wanted.items()}


def read_lists(text: str, wanted: Mapping[str, str]) -> dict[str, Any] | None:
    """Read a reply that is one JSON object with lists of objects: each list by its field, the flag of its objects.

    Returns
    -------
    dict or None
        The object whole; None if it is another form, or a flag is neither true nor false.

    Examples
    --------
    >>> read_lists('```json\\n{"facts": [{"fact": "a cough", "kept": true}]}\\n```', {"facts": "kept"})
    {'facts': [{'fact': 'a cough', 'kept': True}]}
    """
    fence = None if text.lstrip().startswith("{") else re.search(r"```(?:json)?\s(.*)```", text, re.DOTALL)
    try:
        reply = json.loads(fence[1] if fence else text, object_pairs_hook=once)
        flags = [item[flag] for field, flag in wanted.items() for item in reply[field]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    strict = all(isinstance(reply[field], list) for field in wanted) and all(type(flag) is bool for flag in flags)
    return reply if strict else None
