"""Replies held to a JSON Schema: which tokens may come next, and a way to the end that always fits into the budget.

A small model writes lists and strings until its budget is used up. So a reply always carries a closing: tokens that
would complete it from here. The likeliest allowed token is taken where a closing still fits behind it, else the first
token of the closing. Text is compact JSON, keys in the order of the schema. Needs the extra `structured`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from nsh.engines import Call
from nsh.errors import EngineError

ENDS = ('unknown"', "]", "}", ",", "null", '""', '"', "0", "false", "[", "{")  # what a closing tries, in this order
LONGEST = 4096  # tokens; a schema whose closing is longer counts as one that no reply can meet


class Schemas:
    """JSON Schemas compiled for the tokens of one model, by llguidance.

    A schema with keywords that llguidance does not support is refused. A few it reads more loosely than the standard
    does: days of a month in dates, `minProperties` where names repeat, an exclusive bound of 0.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        A fast one.
    ends : collection of int
        The model's end tokens, at least one.
    width : int
        Number of tokens that the model scores.

    Raises
    ------
    EngineError
        If llguidance is not installed, or cannot read the tokenizer.

    Examples
    --------
    >>> schemas = Schemas(tokenizer, {1}, 320)  # doctest: +SKIP
    >>> reply = schemas.begin(Call((), 3, schema='{"type": "array"}'))  # doctest: +SKIP
    >>> [tokenizer.decode(reply.next(scores)) for scores in three_rows]  # doctest: +SKIP
    ['[', ']', '</s>']
    """

    def __init__(self, tokenizer: Any, ends: Collection[int], width: int):
        try:
            from llguidance.hf import from_tokenizer
        except ImportError:
            raise EngineError('structured replies need `pip install "narrativeshield-papers[structured]"`') from None
        try:
            self.tokens = from_tokenizer(tokenizer, max(width, len(tokenizer)), sorted(ends))
        except ValueError as error:
            raise EngineError(f"llguidance cannot read the tokenizer {tokenizer.name_or_path}: {error}") from None
        self.library = f"llguidance {version('llguidance')}"
        self.by_length = sorted(range(width), key=lambda token: len(self.tokens.decode_bytes([token])))
        self._compiled: dict[str, tuple[Any, list[int]]] = {}

    def begin(self, call: Call) -> "Reply":
        """Start the reply to a call with a schema.

        Raises
        ------
        EngineError
            If the schema cannot be used, or its shortest known reply, end token included, exceeds `max_new_tokens`.
        ValueError
            If the text of the schema is no JSON object.
        """
        matcher, closing = self._compile(call.schema)
        if len(closing) > call.max_new_tokens:
            raise EngineError(
                f"max_new_tokens is {call.max_new_tokens}, but the shortest reply under the schema of "
                f'"{call.stage}" takes {len(closing)} tokens'
            )
        return Reply(self, matcher.deep_copy(), closing, call.max_new_tokens)

    def _compile(self, schema: str) -> tuple[Any, list[int]]:
        """The matcher of a schema before any token, and the closing from there."""
        if schema not in self._compiled:
            from llguidance import LLMatcher

            grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
            matcher = LLMatcher(self.tokens, grammar, log_level=0)
            closing = None if matcher.is_error() else self.closing(matcher, LONGEST)
            if closing is None:
                why = matcher.get_error() or f"no reply of at most {LONGEST} tokens is found"
                raise EngineError(f"no reply can be held to {schema[:80]!r}: {why}")
            self._compiled[schema] = matcher, closing
        return self._compiled[schema]

    def closing(self, matcher: Any, most: int) -> list[int] | None:
        """Tokens that complete a reply by a short way, end token included; None where there are more than `most`."""
        matcher, closing = matcher.deep_copy(), []
        while len(closing) < most:
            if matcher.is_accepting():
                return [*closing, self.tokens.eos_token]
            step = self._step(matcher)
            if not (step and matcher.consume_tokens(step)):
                return None
            closing += step
        return None

    def _step(self, matcher: Any) -> list[int]:
        """What is forced, or ends the string that we are in, or is first in the list; else the shortest token."""
        forced = matcher.compute_ff_bytes().decode(errors="ignore")
        in_string = matcher.validate_tokens(self.tokens.greedy_tokenize("x"))  # JSON has no x elsewhere
        for text in (forced, '"' if in_string else "", *ENDS):
            step = self.tokens.greedy_tokenize(text)
            if step and matcher.validate_tokens(step) == len(step):
                return step
        allowed = matcher.compute_logit_bias()
        return [token for token in self.by_length if allowed[token]][:1]


@dataclass(slots=True)
class Reply:
    """A reply in the making: its matcher, the closing from here, how many tokens are left.

    `forced` counts the tokens at which the budget, not the model, chose: from the first of them on, what the reply
    says may be cut short.
    """

    schemas: Schemas
    matcher: Any
    closing: list[int]
    left: int
    forced: int = 0

    def next(self, scores: Any) -> int:
        """Take the next token.

        Parameters
        ----------
        scores : tensor or array, one per token
            The model's.

        Returns
        -------
        int
            The likeliest allowed token if the reply can be completed behind it, else the first of the closing.

        Raises
        ------
        EngineError
            If the schema has grown too complex for llguidance.
        """
        allowed = np.flatnonzero(np.frombuffer(self.matcher.compute_logit_bias(), np.uint8)[: len(scores)])
        token = int(allowed[int(scores[allowed].argmax())])
        self.left -= 1
        closing = self._closing_after(token)
        if closing is None:
            self.forced += 1
            self.matcher.rollback(1)
            token, *closing = self.closing
            if not self.matcher.consume_token(token):
                raise EngineError(f"llguidance gave up: {self.matcher.get_error()}")
        self.closing = closing
        return token

    def _closing_after(self, token: int) -> list[int] | None:
        """Consume a token; the closing behind it, the old one where it still serves, None where none fits."""
        self.matcher.consume_token(token)
        if token == self.closing[0]:
            return self.closing[1:]
        if len(self.closing) <= self.left and self.matcher.validate_tokens(self.closing) == len(self.closing):
            return self.closing
        return self.schemas.closing(self.matcher, self.left)
