"""What turns calls into text: the call, its stop rule and its completion, and the engines that need no model.

An engine has an `identity` (all that shapes its text: model, revision, dtype, quantization, template arguments) and
one method, `generate`: calls in, (index, completion) out, each as soon as it is finished.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nsh.answers import parse_letter
from nsh.errors import MissingDataError


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model.

    Parameters
    ----------
    messages : tuple of (role, text)
        The turns, as the paper prints them.
    max_new_tokens : int
        Budget of new tokens.
    letters : str
        The letters to choose from where the reply is an answer, else empty.
    answer_only : bool
        Stop as soon as the letter is settled. Not a paper's stop rule: part of the key, and recorded.
    stage : str
        Which prompt this is, by the name of its file; shapes no text.
    schema : str
        JSON Schema that the decoding is held to, as text; empty where the model writes freely, as in the papers.
    temperature : float
        Tokens are drawn at this temperature; at 0 the likeliest is taken, as in every condition of the papers.
    seed : int
        Seed of the drawing: another seed, another text. At temperature 0 it shapes nothing and is no part of the key.
    """

    messages: tuple[tuple[str, str], ...]
    max_new_tokens: int
    letters: str = ""
    answer_only: bool = False
    stage: str = ""
    schema: str = ""
    temperature: float = 0.0
    seed: int = 0

    def request(self) -> dict[str, Any]:
        """All of the call that shapes the text, in plain JSON types."""
        stop = {"answer_only": self.letters} if self.answer_only else "end of turn"
        drawn = {"temperature": self.temperature, "seed": self.seed} if self.temperature > 0 else {}
        decoding = {"do_sample": bool(drawn)} | drawn | ({"schema": self.schema} if self.schema else {})
        return {"messages": self.messages, "max_new_tokens": self.max_new_tokens, "decoding": decoding, "stop": stop}


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply: `finish` is "stop" (end of turn), "length" (budget used up) or "answer" (letter settled);
    `stamp` holds what is true of the run but does not shape the text (engine, device, batch rows, seconds, versions).
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    new_tokens: int = 0
    stamp: dict[str, Any] = field(default_factory=dict)


def finish(call: Call, new: Sequence[int], ends: Collection[int], decode: Callable[[Sequence[int]], str]) -> str:
    """Why a reply ends after its newest token: "stop", "length" or "answer"; "" where it goes on.

    Parameters
    ----------
    call : Call
    new : sequence of int
        The reply's tokens so far, at least one.
    ends : collection of int
        End tokens.
    decode : callable
        From tokens to text.

    Examples
    --------
    >>> finish(Call((), 16), [7, 2], ends={2}, decode=str), finish(Call((), 2), [7, 8], ends={2}, decode=str)
    ('stop', 'length')
    """
    if new[-1] in ends:
        return "stop"
    if len(new) >= call.max_new_tokens:
        return "length"
    return "answer" if call.answer_only and settled(decode(new), call.letters) else ""


def settled(text: str, letters: str) -> bool:
    """Whether a reply so far has committed itself to a letter: it reads as one, and a mark or a new line closes it.

    A model may still correct itself later, which is why no paper's condition stops here.

    Examples
    --------
    >>> [settled(text, "ABCD") for text in ("A", "A:", "The answer is B", "The answer is B.", "A patient.")]
    [False, True, False, True, False]
    """
    return text.endswith((":", ".", ")", "*", "\n")) and parse_letter(text, letters).status == "ok"


class Engine(Protocol):
    """What the runner asks of an engine."""

    identity: dict[str, Any]

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Answer each call once, in any order."""
        ...


class ScriptedEngine:
    """Canned replies, for tests and lessons: `reply` is a function of the call.

    Without one, the reply to an answering call is a letter picked by a hash of its messages, which depends on every
    character of the prompt and on nothing else; any other call is answered with the last message.

    Examples
    --------
    >>> engine = ScriptedEngine(reply=lambda call: "B")
    >>> [completion.text for _, completion in engine.generate([Call((("user", "Which?"),), 16)])]
    ['B']
    """

    def __init__(self, model: str = "scripted", reply: Callable[[Call], str] | None = None):
        self.identity = {"model": model, "revision": None, "dtype": None, "quantization": None, "template": {}}
        self.reply = reply or _hashed_letter

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Reply to the calls in their order, one word counting as one token."""
        for index, call in enumerate(calls):
            text = self.reply(call)
            prompt_tokens = sum(len(content.split()) for _, content in call.messages)
            yield index, Completion(text, "stop", prompt_tokens, len(text.split()), {"engine": "scripted"})


def _hashed_letter(call: Call) -> str:
    """Pick a letter by a hash of the messages; echo the last message where no letter is asked for."""
    if not call.letters:
        return call.messages[-1][1]
    digest = hashlib.sha256(repr(call.messages).encode("utf-8", "surrogatepass")).digest()
    return call.letters[digest[0] % len(call.letters)]


class StoreEngine:
    """Never generates: says what is missing. The pages of a book run on it once their generations are made."""

    def __init__(self, identity: dict[str, Any]):
        self.identity = identity

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Refuse.

        Raises
        ------
        MissingDataError
            If any call is asked for.
        """
        if calls:
            raise MissingDataError(
                f"{len(calls)} generations of {self.identity['model']} ({self.identity['dtype']}) "
                "are not in the store; `nsh generate` makes them"
            )
        yield from ()
