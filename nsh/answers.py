"""Reading the answer letter out of a reply: strictly, by its last commitment, and leniently, as the papers did.

The first step of the strict reading that finds something decides:

1. a statement ("Answer: B", "the most likely diagnosis is B", "B is correct", a boxed letter), a line that holds only
   a letter, or a reply that opens with "B: text"; of several, the last;
2. a bracketed letter, else an option's text, in a sentence that calls it best ("the best test is an MRI (B)");
3. the only letter that the reply names; of a reply of one sentence, else the only option's text.

Two letters in one statement are ambiguous. A letter that belongs to a word ("C-section", "36.8°C", "a") never counts.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsh.commitments import IS_BEST, LABEL, MORE, NEGATED, NOUN, SUPERLATIVE, last_commitment, words

THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
REFUSAL = re.compile(
    r"\bI(?: am|'m| must| do|,)?(?: really| simply)? (?:can't|cannot|can not|won't|unable|not able)\b"
    r"|\bI(?: am|'m) (?:an AI|not a (?:doctor|medical))\b|\bas an? (?:[\w-]+ ){0,3}AI\b|\b(?:do not|don't) know\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s(?=[A-Z(*\[])|\n")
FAVORED = re.compile(rf"\b(?:{SUPERLATIVE})\b|{NOUN}", re.IGNORECASE)
BEST_FOLLOWS = re.compile(rf"[^\w\n]{{0,4}}{IS_BEST}", re.IGNORECASE)
BRACKETED = re.compile(
    r"[(\[*$`]{1,4} ?(?:[Oo]ption |[Cc]hoice )?([A-J])(?= ?[)\]*$`:])|\b(?:[Oo]ption|[Cc]hoice) ([A-J])(?![^\W_]|['-]\w)"
)
PAIR = re.compile(rf"(?:^|\b(?:[Ee]ither|[Bb]oth|[Bb]etween) )([A-J]){MORE.pattern}")
LEAD_IN = re.compile(rf"^ (?:the )?(?:final |correct |best )?(?:{NOUN}) (?:is )?")


class Reading(NamedTuple):
    """What was read from a reply: a letter or None, and why.

    `status` is "ok", "unparsed" (no option is named), "ambiguous" (several are), "refusal", "truncated" or "empty".
    """

    letter: str | None
    status: str


def parse_letter(
    text: str, letters: str = "ABCD", options: Mapping[str, str] | None = None, finish: str = "stop"
) -> Reading:
    """Read the letter that a reply commits to last; never a letter outside `letters`, and never a guess.

    Parameters
    ----------
    text : str
        The whole reply. Blocks of reasoning (``<think>``) are not read.
    letters : str
        The letters of the options, of A to J.
    options : mapping, optional
        Letter to option text. A reply that names the text of one option is then read as its letter.
    finish : str
        "length" where the reply was cut off at its token budget: what it has only mentioned so far is no answer.

    Returns
    -------
    Reading
        The letter where `status` is "ok", else None.

    Examples
    --------
    >>> parse_letter("At first I thought of A. Final answer: **C**")
    Reading(letter='C', status='ok')
    >>> parse_letter("Either B or D").status
    'ambiguous'
    >>> parse_letter("The most likely diagnosis is gout.", options={"A": "Gout", "B": "Lyme disease"}).letter
    'A'
    """
    reply, unfinished = _reply(text)
    if unfinished:
        return Reading(None, "truncated")
    folded = {letter: words(_plain(option)) for letter, option in (options or {}).items()}
    texts = {letter: option for letter, option in folded.items() if [*folded.values()].count(option) == 1}
    refusal = None
    named = last_commitment(reply, letters, texts) or _option_alone(reply, texts)
    if not named:
        refusal = REFUSAL.search(reply)
        named = _mentioned(reply[: refusal.start()] if refusal else reply, texts, finish == "length")
    if len(named) == 1 and named <= {*letters}:
        return Reading(*named, "ok")
    if len(named) > 1:
        return Reading(None, "ambiguous")
    if refusal:
        return Reading(None, "refusal")
    return Reading(None, "truncated" if finish == "length" else "unparsed" if reply else "empty")


def published_letter(text: str, letters: str = "ABCD") -> str | None:
    """Read a reply as the papers' released files do: the first capital of the set that stands as a word of its own.

    The papers take "the first pattern that yields a letter" and do not print the patterns. This single one gives the
    released letter for every released B1, B2 and B3 answer (``facts`` §3.2; ``voices`` Appendix I), and so also reads
    "C-section" as C.

    Returns
    -------
    str or None
        The letter, or None.

    Examples
    --------
    >>> published_letter("The history of a C-section suggests option B.")
    'C'
    """
    found = re.search(rf"\b([{letters}])\b", text)
    return found[1] if found else None


def _plain(text: str) -> str:
    """Compatibility forms, apostrophes and runs of blanks made uniform."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return re.sub(r" ?\n\s*", "\n", re.sub(r"[^\S\n]+", " ", text)).strip()


def _reply(text: str) -> tuple[str, bool]:
    """The text without its reasoning blocks, and whether it ends inside one."""
    first, *rest = THINK.split(_plain(text))
    kept, inside = [first], False
    for slash, piece in zip(rest[::2], rest[1::2], strict=True):
        if slash:
            kept = [*kept, piece] if inside else [piece]  # a block without a beginning was opened by the prompt
        inside = not slash
    return _plain("\n".join(kept)), inside


def _option_alone(reply: str, texts: Mapping[str, str]) -> set[str]:
    """The option whose text is all that the reply, or its first sentence, says."""
    said = {LEAD_IN.sub(" ", words(part)) for part in (reply, SENTENCE_END.split(reply, 1)[0])} if texts else ()
    return {letter for letter, option in texts.items() if option in said and option.strip()}


def _mentioned(reply: str, texts: Mapping[str, str], cut_off: bool) -> set[str]:
    """Letters, else options, that sentences call best; else all those named, unless the only one is negated."""
    sentences = SENTENCE_END.split(reply)
    by_letter = [(*found, s) for s in sentences for found in _letters_in(s)]
    by_text = [(*found, s) for s in sentences for found in _options_in(s, texts)]
    for mentions in (by_letter, by_text):
        if best := {letter for letter, lead, rest, _ in mentions if _is_best(lead, rest)}:
            return best
    for mentions in () if cut_off else (by_letter, by_text if len(sentences) == 1 else []):
        named = {letter for letter, *_ in mentions}
        if len(named) > 1 or (named and not any(NEGATED.search(sentence) for *_, sentence in mentions)):
            return named
    return set()


def _is_best(lead: str, rest: str) -> bool:
    """Whether the words around a mention call it best."""
    return bool(FAVORED.search(lead) and not NEGATED.search(lead)) or bool(BEST_FOLLOWS.match(rest))


def _letters_in(sentence: str) -> Iterator[tuple[str, str, str]]:
    """Letters set apart in a sentence, each with the text before and after it."""
    for pattern in (BRACKETED, LABEL, PAIR):
        for match in pattern.finditer(sentence):
            for letter in filter(None, match.groups()):
                yield letter.upper(), sentence[: match.start()], sentence[match.end() :]


def _options_in(sentence: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Options whose text a sentence holds, each with the folded text before and after; longer options first."""
    folded = words(sentence)
    for letter, option in sorted(texts.items(), key=lambda item: -len(item[1])):
        before, found, after = folded.partition(option)
        if found and re.search(r"[^\W\d_]{3}", option):
            yield letter, before + " ", " " + after
            folded = folded.replace(option, " | ")
