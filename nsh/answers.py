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
from functools import lru_cache
from typing import NamedTuple

from nsh.commitments import IS_BEST, LABEL, MORE, NEGATED, NOUN, SUPERLATIVE, last_commitment, words

THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
REFUSAL = re.compile(
    r"\bI(?: am|'m| must| do|,)?(?: really| simply)? (?:can't|cannot|can not|won't|unable|not able)\b"
    r"|\bI(?: am|'m) (?:an AI|not a (?:doctor|medical))\b|\bas an? (?:[\w-]+ ){0,3}AI\b"
    r"|(?:\bI |: ?|^)(?:do not|don't) know\b",
    re.IGNORECASE,
)
UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
SENTENCE_END = re.compile(r"(?<=[.!?])\s(?=[A-Z(*\[])|\n")
FAVORED = re.compile(rf"\b(?:{SUPERLATIVE})\b|{NOUN}", re.IGNORECASE)
BEST_FOLLOWS = re.compile(rf"[^\w\n]{{0,4}}{IS_BEST}", re.IGNORECASE)
BRACKETED = re.compile(
    r"[(\[*$`]{1,4} ?(?:[Oo]ption |[Cc]hoice )?([A-J])(?= ?[)\]*$`:])"
    r"|\b(?:[Oo]ption|[Cc]hoice) ([A-J])(?![^\W_]|['-]\w)"
)
PAIR = re.compile(rf"(?:^|\b(?:[Ee]ither|[Bb]oth|[Bb]etween) )([A-J]){MORE.pattern}")
LEAD_IN = re.compile(rf"^ (?:the )?(?:final |correct |best )?(?:{NOUN}) (?:is )?")
CONTEXT = 300  # characters around a mention that may call it best
LONGEST = 20_000  # characters; of a longer reply only the two ends are read


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
    texts = {letter: _folded(option) for letter, option in (options or {}).items()}
    refusal = REFUSAL.search(reply)
    named = last_commitment(reply, letters, texts) or _option_alone(reply, texts)
    named = named or _mentioned(reply, texts, settled=not refusal and finish != "length")
    if len(named) == 1 and named <= {*letters}:
        return Reading(*named, "ok")
    if len(named) > 1:
        return Reading(None, "ambiguous")
    if refusal:
        return Reading(None, "refusal")
    return Reading(None, "truncated" if finish == "length" else "unparsed" if reply else "empty")


def published_letter(text: str, letters: str = "ABCD") -> str | None:
    """Read a reply as the papers' released files do: the first capital of the set that stands as a word of its own.

    The papers report how many replies yield a letter (``facts`` §3.2, Tables 5 and 6) and do not print how it is
    found. This one pattern gives the released letter, or none, for each of the 36,000 B1, B2 and B3 answers of the
    public repository that were compared; so it also reads "C-section" as C and "36.8°C" as C.

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


@lru_cache(maxsize=8192)
def _folded(option: str) -> str:
    """Words of an option, read a million times in a run of the study."""
    return words(_plain(option))


def _plain(text: str) -> str:
    """Compatibility forms, apostrophes and runs of blanks made uniform."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").translate(UNSEEN)
    return re.sub(r" ?\n\s*", "\n", re.sub(r"[^\S\n]+", " ", text)).strip()


def _reply(text: str) -> tuple[str, bool]:
    """The text without its reasoning blocks, and whether it ends inside one."""
    first, *rest = THINK.split(text)
    kept, inside = [first], False
    for slash, piece in zip(rest[::2], rest[1::2], strict=True):
        if slash and not inside:
            kept.clear()  # a block without a beginning was opened by the prompt
        if slash:
            kept.append(piece)
        inside = not slash
    reply = "\n".join(kept).strip()
    if len(reply) > LONGEST:
        reply = "\n".join([reply[: LONGEST // 2].rsplit(None, 1)[0], reply[-LONGEST // 2 :].split(None, 1)[-1]])
    return _plain(reply), inside


def _option_alone(reply: str, texts: Mapping[str, str]) -> set[str]:
    """The option whose text is all that the reply, or its first sentence, says."""
    said = {LEAD_IN.sub(" ", words(part)) for part in (reply, SENTENCE_END.split(reply, 1)[0])} if texts else ()
    return {letter for letter, option in texts.items() if option in said and option.strip()}


def _mentioned(reply: str, texts: Mapping[str, str], settled: bool) -> set[str]:
    """Letters, else options, that sentences call best; in a settled reply else all named, bar a sole one negated."""
    sentences = SENTENCE_END.split(reply)
    by_letter = [(*found, s) for s in sentences for found in _letters_in(s)]
    by_text = [(*found, s) for s in sentences for found in _options_in(s, texts)]
    for mentions in (by_letter, by_text):
        if best := {letter for letter, lead, rest, _ in mentions if _is_best(lead, rest)}:
            return best
    for mentions in (by_letter, by_text if len(sentences) == 1 else []) if settled else ():
        named = {letter for letter, *_ in mentions}
        if len(named) > 1 or (named and not any(map(NEGATED.search, {sentence for *_, sentence in mentions}))):
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
                before = max(0, match.start() - CONTEXT)
                yield letter.upper(), sentence[before : match.start()], sentence[match.end() : match.end() + CONTEXT]


def _options_in(sentence: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Options whose text a sentence holds, each with the folded text before and after; longer options first."""
    folded = words(sentence)
    for option in sorted({*texts.values()}, key=len, reverse=True):
        before, found, after = folded.partition(option)
        if found and re.search(r"[^\W\d_]{3}", option):
            yield from ((letter, before + " ", " " + after) for letter, text in texts.items() if text == option)
            folded = folded.replace(option, " | ")
