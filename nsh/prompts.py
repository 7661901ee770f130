"""The prompts of the conditions: texts live in data/prompts, one file a call, each with its source."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml

from nsh.cases import Case

Messages = tuple[tuple[str, str], ...]


@cache
def template(name: str) -> Mapping[str, str]:
    """Read one prompt file: its source, its status (verbatim or reconstructed) and the text of each turn.

    Examples
    --------
    >>> template("direct")["source"]
    'voices, Appendix I, "B1 user turn (no system prompt)"'
    """
    return yaml.safe_load(files("nsh").joinpath(f"data/prompts/{name}.yaml").read_text(encoding="utf-8"))


def fill(name: str, **fields: str) -> Messages:
    """Put the fields into the turns of a prompt in one pass, so that braces inside a narrative stay as they are."""

    def value(match: re.Match) -> str:
        return fields[match.group(1)]

    turns = template(name)
    pattern = "{(" + "|".join(fields) + ")}"
    return tuple(
        (role, re.sub(pattern, value, turns[role].rstrip("\n"))) for role in ("system", "user") if role in turns
    )


def option_lines(options: Mapping[str, str]) -> str:
    """Write the options one a line.

    Examples
    --------
    >>> print(option_lines({"A": "Gout", "B": "Lyme disease"}))
    A: Gout
    B: Lyme disease
    """
    return "\n".join(f"{letter}: {text}" for letter, text in options.items())


def _letter_list(options: Mapping[str, str]) -> str:
    """Name the letters as the paper does: A, B, C, or D."""
    *first, last = options
    return ", ".join(first) + (", or " if len(first) > 1 else " or ") + last


def direct(case: Case, voice: str) -> Messages:
    """B1: the narrative and the options, no system turn (`voices` Appendix I)."""
    return fill("direct", narrative=case.narratives[voice], options=option_lines(case.options))


def rewrite(narrative: str) -> Messages:
    """The rewriting call of Rewrite-then-Reason (`voices` Appendix I)."""
    return fill("rewrite", narrative=narrative)


def answer_from(heading: str, intermediate: str, case: Case) -> Messages:
    """The answering call of the two-call pipelines: intermediate, question sentence, options (`voices` Appendix I)."""
    return fill(
        "answer_from",
        heading=heading,
        intermediate=intermediate,
        question=case.question,
        options=option_lines(case.options),
        letters=_letter_list(case.options),
    )
