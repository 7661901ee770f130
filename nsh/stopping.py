"""The stop rule of a call: its end token or its budget, or, where a call asks for it, the settled letter."""

from collections.abc import Callable, Collection, Sequence

from nsh.answers import parse_letter
from nsh.engines import Call


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
