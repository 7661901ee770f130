"""From the turns of a call to token ids: rendered once by the model's chat template, tokenized once."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsh.errors import EngineError

Messages = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids of a call, and how its turns were rendered.

    `system_folded`: the template takes no system turn, so its text opens the first user turn.
    `chat_template`: False where the model has none, so the turns are joined by blank lines.
    """

    ids: Sequence[int]
    system_folded: bool
    chat_template: bool


def encode(tokenizer: Any, messages: Messages, template: Mapping[str, Any]) -> Prompt:
    """Render turns with the model's chat template and tokenize the text, with exactly one start token.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    messages : sequence of (role, text)
    template : mapping
        Arguments of the template. `date` is what a template that prints today's date is told, so that a prompt does
        not change from day to day.

    Raises
    ------
    EngineError
        If the template refuses the turns, the start token is doubled, or a text holds half of a surrogate pair.

    Examples
    --------
    >>> encode(tokenizer, [("user", "Which?")], {"date": "2024-07-26"}).ids  # doctest: +SKIP
    (1, 9690, 198, ...)
    """
    text, folded = "\n\n".join(text for _, text in messages), False
    if tokenizer.chat_template:
        text, folded = _render(tokenizer, messages, template)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EngineError(f"the prompt holds U+{ord(text[error.start]):04X}, half of a surrogate pair") from None
    ids = _one_start(tokenizer, tokenizer(text, add_special_tokens=False)["input_ids"])
    return Prompt(tuple(ids), folded, bool(tokenizer.chat_template))


def _render(tokenizer: Any, messages: Messages, template: Mapping[str, Any]) -> tuple[str, bool]:
    """The rendered text, and whether the system turn was folded: refused, or dropped without a word."""
    from jinja2 import TemplateError

    system = next((text for role, text in messages if role == "system"), "")
    for turns in [messages, _folded(messages)] if system else [messages]:
        try:
            text = _apply(tokenizer, turns, template)
        except TemplateError as error:
            refusal = error
            continue
        if system.strip() in text:
            return text, turns is not messages
        refusal = "it drops the system turn"
    raise EngineError(f"the chat template of {tokenizer.name_or_path} refuses the turns: {refusal}")


def _apply(tokenizer: Any, messages: Messages, template: Mapping[str, Any]) -> str:
    """Render to text, which is the same type in every version of transformers."""
    options = {name: value for name, value in template.items() if name != "date"}
    source = _still(tokenizer.get_chat_template(), datetime.date.fromisoformat(template["date"]))
    chat = [{"role": role, "content": text} for role, text in messages]
    return tokenizer.apply_chat_template(
        chat, chat_template=source, tokenize=False, add_generation_prompt=True, **options
    )


def _still(source: str, date: datetime.date) -> str:
    """Make a template that prints today's date print the given one, by a macro of the same name."""
    if "strftime_now" not in source:
        return source
    codes = "".join(f"|replace('{code}', '{date.strftime(code)}')" for code in ("%Y", "%m", "%d", "%B", "%b", "%A"))
    return f"{{% macro strftime_now(format) %}}{{{{ format{codes} }}}}{{% endmacro %}}{source}"


def _folded(messages: Messages) -> Messages:
    """Put the system text before the first user turn."""
    (_, system), (role, text), *rest = messages
    return [(role, f"{system}\n\n{text}"), *rest]


def _one_start(tokenizer: Any, ids: Sequence[int]) -> Sequence[int]:
    """Begin with the start token where the tokenizer would add it and the template did not."""
    start = tokenizer.bos_token_id
    if start is None:
        return ids
    if tokenizer("a")["input_ids"][0] == start != ids[0]:
        ids = [start, *ids]
    if ids[:2] == [start, start]:
        raise EngineError(f"the chat template of {tokenizer.name_or_path} doubles the start token")
    return ids
