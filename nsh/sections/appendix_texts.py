"""Appendices C and I of `voices`: a case in its voices, and the printed prompts filled for it."""

import re
from html import escape

import pandas as pd

from nsh.boxes import boxed
from nsh.cases import Case
from nsh.engines import Call
from nsh.guard import unsupported
from nsh.prompts import ask, template
from nsh.recall import fact_recall
from nsh.study import Study
from nsh.tables import Block, block_of, callout, table
from nsh.transcripts import hidden

PRINTED = ("direct", "cot", "debias", "cot_debias", "rewrite", "answer_from", "extract")  # in the order of Appendix I
FIELDS = {"narrative": "{narrative}", "heading": "CLINICAL VIGNETTE", "intermediate": "{rewrite}"}
STAND_IN = Case("none", "{question sentence}", {letter: f"{{option {letter}}}" for letter in "ABCD"}, "A", {})


def marked_values(text: str) -> str:
    """A text as HTML with its ages, numbers and measured values in <mark>, as `nsh.guard` finds them.

    Examples
    --------
    >>> marked_values("At fifty-three I weigh <90 kg.")
    'At <mark>fifty-three</mark> I weigh &lt;<mark>90 kg</mark>.'
    """
    found = sorted(map(re.escape, unsupported("", text)), key=len, reverse=True)
    pattern = rf"(?<!\w)({'|'.join(found)})(?!\w)" if found else "(?!)"
    parts = re.split(pattern, text)
    return "".join(f"<mark>{escape(part)}</mark>" if place % 2 else escape(part) for place, part in enumerate(parts))


def voices_shown(study: Study) -> Block:
    """The first case in its voices side by side, the unmarked one first, with ages and values marked."""
    if instead := hidden(study):
        return instead
    told = study.cases[0].narratives
    voices = [study.reference, *(voice for voice in told if voice != study.reference)]
    caption = f"Case {study.cases[0].id}; marked: ages, numbers and measured values"
    cells = [Block(f"<td>{marked_values(told[voice])}</td>", told[voice]) for voice in voices]
    html = block_of(caption, voices, [False] * len(voices), [cells]).html
    return Block(html, "\n\n".join(f"{voice}: {told[voice]}" for voice in voices))


def facts_table(case: Case, caption: str) -> Block:
    """The facts of a sample and in which voices a program finds them; a remark for a case that lists none."""
    if not (facts := case.meta.get("facts")):
        return callout(f"Case {case.id} comes without a list of its facts, so nothing is looked for in its voices.")
    missing = {voice: fact_recall(facts, text).missing for voice, text in case.narratives.items()}
    rows = pd.DataFrame([[fact["fact"], fact["value"]] for fact in facts], columns=["fact", "value"])
    for voice, names in missing.items():
        rows[voice] = ["not found" if name in names else "found" for name in rows["fact"]]
    return table(rows, caption)


def filled(study: Study, voice: str) -> dict[str, Call]:
    """The printed prompts by name, filled for the first case in a voice; with their fields in braces if no text may be
    shown. What a model would write in between stays "{rewrite}"."""
    if hidden(study):
        return {name: ask(name, STAND_IN, **FIELDS) for name in PRINTED}
    case = study.cases[0]
    return {name: ask(name, case, **FIELDS | {"narrative": case.narratives[voice]}) for name in PRINTED}


def filled_shown(calls: dict[str, Call]) -> Block:
    """Each prompt with its source, what of it is ours, its budget and its turns, folded."""
    parts = []
    for name, call in calls.items():
        prompt = template(name)
        told = f"{prompt['status']}; source: {prompt['source']}. {prompt.get('note', '').strip()}"
        told = f"{told.rstrip('.')}. At most {call.max_new_tokens} new tokens ({prompt['budget']})."
        parts.append((name, told, call.messages))
    return boxed(parts, opened=False)


def words(call: Call) -> int:
    """Words of a call's turns, divided at white space."""
    return sum(len(text.split()) for _, text in call.messages)


def prompt_words(case: Case) -> pd.DataFrame:
    """Words of each printed prompt filled for a case: a row per prompt, a column per voice, and "instruction", what of
    them is the prompt's own.

    Examples
    --------
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", {"clinical": "Pain in the knee. Why?"})
    >>> prompt_words(case).loc["direct"].to_dict()
    {'clinical': 24, 'instruction': 17}
    """
    empty = Case(case.id, "", dict.fromkeys(case.options, ""), case.gold, {})
    own = {name: words(ask(name, empty, narrative="", heading="", intermediate="")) for name in PRINTED}
    rows = {
        voice: [words(ask(name, case, **FIELDS | {"narrative": text})) for name in PRINTED]
        for voice, text in case.narratives.items()
    }
    return pd.DataFrame(rows, index=list(PRINTED)).assign(instruction=pd.Series(own))
