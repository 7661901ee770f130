"""Where a reply commits itself to an answer letter: the patterns behind `nsh.answers`.

The text is expected to hold no run of blanks longer than one. Repetitions are bounded, so the time to read a reply
grows with its length and no faster.
"""

import re
from collections.abc import Mapping

from nsh.declared import read_data

WORDS = {name: "|".join(words) for name, words in read_data("answer_words.yaml").items()}
NOUN, SUPERLATIVE, JOIN, SPECIES = (WORDS[name] for name in ("noun", "superlative", "join", "species"))
IS_BEST = r"(?:is|are|would be|must be|seems) (?:the )?(?:right|answer|best|correct|most (?:likely|appropriate))\b"
EDGE = r"(?:[^\w\n]|_)"  # punctuation or a blank, within the line
WRAP = r"[\s:,=*_\"'`“”‘«»$()\[\]{}<>#\\–—-]"  # what may stand between a statement and its letter
TOKEN = r"([A-Ja-j])(?![^\W_])"

STATEMENT = re.compile(
    rf"""(?: (?:{NOUN}) (?:[^.!?\n]{{0,60}}?(?:\b(?:is|be|are|ist|lautet|es|est|è|é)\b|是))??
           | \b(?:{SUPERLATIVE.replace(" ", "[ ]")})\b [^.!?\n]{{0,120}}? (?:\b(?:is|are|be)\b|:)
           | \b(?:option|choice|selection)(?:[ ]is\b|[ ]would[ ]be\b|[ ]?[:=])
           | \b(?:choose|pick|select|go[ ]with|think|believe|guess|it[ ]is|it's)\b
           | \\boxed\{{
           | (?P<so>\b(?:therefore|thus|hence|so)\b) )
        {WRAP}{{0,12}} (?:(?:most[ ])?(?:likely|probably|therefore|clearly)[ ])?
        (?:\b(?:option|choice|answer|letter)\b {WRAP}{{0,6}})? (?:\\[a-z]+\{{)? (?P<letter>{TOKEN})""",
    re.IGNORECASE | re.VERBOSE,
)
DISOWNED = re.compile(
    r"(?i:\b(?:incorrect|wrong|another|other|one)(?: the)?|(?:n't|not) (?:think|believe)(?: that)?(?: the)?"
    r"|(?:n't|\bnot|\bnever)|\btempting to"
    r"|\b(?:students|people|clinicians|physicians|doctors|many|some|others)(?: (?!I\b)\w+){0,2}) $"
)
NEGATED = re.compile(
    r"\b(?:not|cannot|never|neither|nor|unlikely|less likely|incorrect|wrong|rather than|instead of|ruled? out"
    r"|avoid|stop|discontinue)\b|n't\b",
    re.IGNORECASE,
)
VERDICT = re.compile(
    rf"(?:^|[.!?:;]\s|\b(?i:option|choice|answer|therefore,?|thus,?|hence,?|so,?) ){EDGE}{{0,4}}"
    rf"(?P<letter>[A-J]){EDGE}{{0,4}}(?i:{IS_BEST})",
    re.MULTILINE,
)
MORE = re.compile(
    rf"{EDGE}{{0,3}}?(?:,? ?\b(?:and/or|and|or|und|oder)\b|[,/;&+]) ?(?:(?:option|choice) )?{EDGE}{{0,3}}{TOKEN}",
    re.IGNORECASE,
)
LONE = re.compile(
    rf"^{EDGE}{{0,12}}(?:(?:both|either|options?|answers?|choice) ){{0,2}}{EDGE}{{0,4}}"
    rf"(?P<letter>{TOKEN})(?:{MORE.pattern}){{0,9}}{EDGE}{{0,12}}$",
    re.IGNORECASE | re.MULTILINE,
)
OPENING = re.compile(rf"{EDGE}{{0,12}}(?:(?:option|choice) )?{TOKEN}", re.IGNORECASE)
LABEL = re.compile(
    rf"^{EDGE}{{0,12}}(?i:option |choice )?(?P<line>[A-J])(?=[)\]:*]|\.(?! (?:{SPECIES})\b)|$)"
    r"|(?<=\s)(?P<run>[A-J])(?=:\s)",
    re.MULTILINE,
)
STANDS = re.compile(
    rf"""\w (?!['-]\w)                             # not C-section, I'm
            (?!\.\w\.)                             # not D.C.
            (?!\.[ ](?:{SPECIES})\b)               # not C. difficile
            (?![ ](?!(?:{JOIN})\b)[a-z\d])         # not B cell, a vessel
            (?!(?<=[AaIi])[ ][A-Z])                # not A CT scan
            (?!(?<=[Ii])[ ]?,)                     # not I, an assistant""",
    re.VERBOSE,
)
SUBJECT = re.compile(r"[B-HJ] (?:is|are|was|were|both)\b")


def words(text: str) -> str:
    """Words of a text, case and punctuation folded, with a blank before and after each."""
    return " ".join(["", *re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.casefold()), ""])


def letters_at(text: str, spot: int, options: Mapping[str, str]) -> set[str]:
    """Letters of the list that begins at `spot` ("B", "B or C"); empty if a word or an option's text begins there.

    `options` holds the texts as `words` folds them.
    """
    if not _stands(text, spot, options):
        return set()
    named, end = {text[spot].upper()}, spot + 1
    while (more := MORE.match(text, end)) and len(named) < 10:
        if not (_stands(text, more.start(1), options) or SUBJECT.match(text, more.start(1))):
            break
        named.add(more[1].upper())
        end = more.end()
    return named


def _stands(text: str, spot: int, options: Mapping[str, str]) -> bool:
    """Whether the letter at `spot` stands for an option and is not part of a word, a name or an option's text."""
    tail = words(text[spot : spot + 2 + max(map(len, options.values()), default=0)]) if options else ""
    if any(len(option) > 3 and tail.startswith(option) for option in options.values()):
        return False
    if STANDS.match(text, spot):
        return True
    own = options.get(text[spot], "")
    return len(own) > 3 and tail[2:].startswith(own)


def last_commitment(text: str, letters: str, options: Mapping[str, str]) -> set[str]:
    """Letters named by the last statement, lone letter or opening label; empty if the reply holds none.

    Parameters
    ----------
    text : str
        A reply without its reasoning blocks.
    letters : str
        The letters of the options. A statement that lists all of them (of more than two) repeats the question.
    options : mapping
        Letter to folded text (see `words`); may be empty.

    Examples
    --------
    >>> sorted(last_commitment("The answer is A. No: the correct option is C or D.", "ABCD", {}))
    ['C', 'D']
    """
    spots = [(match.start("letter"), None) for match in STATEMENT.finditer(text) if _owned(text, match)]
    spots += [(match.start("letter"), {match["letter"]}) for match in VERDICT.finditer(text)]
    spots += [(spot, None) for spot in _line_answers(text)]
    possible = {*letters, *"ABCDEFGHJ"}  # a letter that is no option settles the reply too; the pronoun "I" does not
    for spot, verdict in sorted(spots, key=lambda found: found[0], reverse=True):
        named = verdict or letters_at(text, spot, options)
        if named and named <= possible and not (len(letters) > 2 and named == set(letters)):
            return named
    return set()


def _owned(text: str, match: re.Match[str]) -> bool:
    """Whether a statement is the reply's own: neither negated nor about the other options."""
    if NEGATED.search(match.group()) or DISOWNED.search(text, max(0, match.start() - 40), match.start()):
        return False
    return not (match["so"] and MORE.match(text, match.end()))


def _line_answers(text: str) -> list[int]:
    """Where a line holds one letter only, or the reply opens with "B: text"; not where the options are listed."""
    lone = list(LONE.finditer(text))
    spots = [lone[-1].start("letter")] if len({match.group().strip() for match in lone}) == 1 else []
    opening = OPENING.match(text)
    labels = {match["line"] or match["run"] for match in LABEL.finditer(text)}
    if opening and labels <= {opening[1].upper()}:
        spots.append(opening.start(1))
    return spots
