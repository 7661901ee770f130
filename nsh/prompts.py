"""The prompts of the conditions: texts live in data/prompts, one file a call, each with its source and its budget."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from nsh.cases import Case
from nsh.declared import Yaml12, nearest, read_data
from nsh.engines import Call
from nsh.errors import DataError

Messages = tuple[tuple[str, str], ...]
TURNS = ("system", "user")
NEEDED = {"user", "max_new_tokens", "status", "source", "budget"}
ALLOWED = {"system", "system_of", "user_of", "note", "example", "support", "parts"}
FIELD = re.compile(r"\{([a-z_]+)\}")
STATUSES = ("verbatim", "partly reconstructed", "reconstructed")  # from the papers' own words to ours


@cache
def template(name: str | Path) -> Mapping[str, Any]:
    """Read one prompt file.

    Parameters
    ----------
    name : str or pathlib.Path
        A file of data/prompts without its ending, or the path of a .yaml file anywhere.

    Returns
    -------
    mapping
        `source`; `status`, one of `STATUSES`, and `note`, what is ours; `max_new_tokens` and `budget` (whether the
        paper prints that number or it is reconstructed); the turns, `system` and `user`. A file that writes
        ``user_of: direct`` takes the turn of that file. `example`, `support` and `parts` are what its calls put in.

    Raises
    ------
    DataError
        If there is no such file, or it lacks one of these.

    Examples
    --------
    >>> template("direct")["source"], template("cot_debias")["system"] == template("debias")["system"]
    ('voices, Appendix I, "B1 user turn (no system prompt)"', True)
    """
    folder = files("nsh").joinpath("data/prompts")
    outside = str(name).endswith(".yaml")
    file = Path(name) if outside else folder.joinpath(f"{name}.yaml")
    if not file.is_file():
        packaged = [entry.name.removesuffix(".yaml") for entry in folder.iterdir()]
        raise DataError(f"no prompt file {name}" + ("" if outside else f"; did you mean {nearest(name, packaged)!r}?"))
    try:
        prompt = yaml.load(file.read_text(encoding="utf-8"), Yaml12)
        prompt |= {turn: template(prompt[f"{turn}_of"])[turn] for turn in TURNS if f"{turn}_of" in prompt}
    except (yaml.YAMLError, UnicodeDecodeError, TypeError) as error:
        raise DataError(f"prompt file {name}: not a YAML mapping in UTF-8: {' '.join(str(error).split())}") from None
    budget, status = prompt.get("max_new_tokens"), prompt.get("status")
    lacking, unknown = NEEDED - set(prompt), set(prompt) - NEEDED - ALLOWED
    if lacking or unknown or type(budget) is not int or budget < 1 or status not in STATUSES:
        wanted = f"user, max_new_tokens (a whole number above 0), status (one of {', '.join(STATUSES)}), source, budget"
        found = f"max_new_tokens {budget!r}, status {status!r}, lacking: {', '.join(sorted(lacking)) or 'none'}"
        others = ", ".join(sorted(map(str, unknown))) or "none"
        raise DataError(f"prompt file {name}: expected {wanted}; found {found}, unknown: {others}")
    return prompt


def ask(name: str | Path, case: Case | None = None, schema: str = "", **fields: str) -> Call:
    """The call of a prompt file.

    Parameters
    ----------
    name : str or pathlib.Path
        As `template` takes it.
    case : Case, optional
        Where the call asks for the answer: its options, their letters and the question sentence become fields.
    schema : str
        JSON Schema of the reply, kept where the run constrains decoding.
    **fields : str
        What stands in the place of ``{field}`` in the turns.

    Raises
    ------
    DataError
        As `template` does, or if a turn has a field that the call does not give.

    Examples
    --------
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> call = ask("answer_from", case, heading="CLINICAL VIGNETTE", intermediate="A man.")
    >>> call.messages[0][1], call.max_new_tokens, call.letters
    ('Select the best answer letter (A or B). Output exactly one letter.', 16, 'AB')
    """
    prompt = template(name)
    if case:
        fields |= {"question": case.question, "options": option_lines(case.options)}
        fields["letters"] = _letter_list(case.options)
    if "example" in prompt:
        solved = [row | {"options": option_lines(row["options"])} for row in read_data("examples.yaml")["examples"]]
        fields["examples"] = "\n\n".join(_put(name, prompt["example"], row) for row in solved)
    messages = tuple((turn, _put(name, prompt[turn], fields)) for turn in TURNS if turn in prompt)
    letters = "".join(case.options) if case else ""
    return Call(messages, prompt["max_new_tokens"], letters, stage=str(name), schema=schema)


def _put(name: str | Path, text: str, fields: Mapping[str, str]) -> str:
    """Put the fields into a turn in one pass, so that braces inside a narrative stay as they are."""
    try:
        return FIELD.sub(lambda match: fields[match[1]], text.rstrip("\n"))
    except KeyError as error:
        known = ", ".join(f"{{{name}}}" for name in fields)
        what = f"the field {{{error.args[0]}}} is unknown; its call gives {known or 'none'}"
        raise DataError(f"prompt file {name}: {what}") from None


def support(results: Sequence[str]) -> str:
    """The passage of the reasoning agent's prompt that holds the tools' results; empty without any.

    Examples
    --------
    >>> print(support(["sodium 128 mEq/L: low"]))
    DECISION SUPPORT (fixed rules, not a model; it may be incomplete):
    - sodium 128 mEq/L: low
    <BLANKLINE>
    <BLANKLINE>
    """
    lines = "\n".join("- " + result.replace("\n", "\n  ") for result in results)
    return f"{_put('reason', template('reason')['support'], {'results': lines})}\n\n" if results else ""


def worst_status(stages: Iterable[str]) -> str:
    """How much of the prompts of some stages is ours: the last of `STATUSES` that one of them has.

    Examples
    --------
    >>> worst_status(["direct", "reason"])
    'reconstructed'
    """
    statuses = [template(stage)["status"] if stage else STATUSES[-1] for stage in stages]
    return max(statuses, key=STATUSES.index, default=STATUSES[-1])


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
