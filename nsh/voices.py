"""The voices of the papers and how each is drawn; voices of a user's own data get a fallback style."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from nsh.declared import read_data

OVERALL = "overall"  # the row over all voices, where a table has one


@dataclass(frozen=True, slots=True)
class Voice:
    """One voice.

    Attributes
    ----------
    name : str
        As in every table and record, for example ``"clinical"``.
    label : str
        As shown in legends and column headings.
    released : str or None
        The name in the released files, for example ``"alpha"``.
    color, marker : str
        Hexadecimal color and matplotlib marker, the same in every figure.
    """

    name: str
    label: str
    released: str | None
    color: str
    marker: str


def known_voices() -> tuple[Voice, ...]:
    """Return the voices of the papers, in their order (`voices`, section 3).

    Examples
    --------
    >>> [voice.name for voice in known_voices()]
    ['clinical', 'socioeconomic', 'cultural']
    """
    return tuple(Voice(**entry) for entry in read_data("voices.yaml")["voices"])


def released_names() -> dict[str, str]:
    """Map the names of the released files to the names used here.

    Examples
    --------
    >>> released_names()["gamma"]
    'cultural'
    """
    return {voice.released: voice.name for voice in known_voices()}


def styles_of(voices: Iterable[str]) -> dict[str, Voice]:
    """Return the style of each voice, in the order given, no two alike while fallback styles last.

    A known voice keeps its own style. An unknown one takes the fallback style that a checksum of its name points
    to, or the next free one, so the same set of voices always looks the same.

    Examples
    --------
    >>> styles = styles_of(["clinical", "rural", "urban"])
    >>> styles["clinical"].marker, len({style.color for style in styles.values()})
    ('o', 3)
    """
    names = list(dict.fromkeys(voices))
    known = {voice.name: voice for voice in known_voices()}
    fallback, taken = read_data("voices.yaml")["fallback"], {}
    for name in sorted(set(names) - set(known)):
        start = zlib.crc32(name.encode("utf-8", "surrogatepass"))
        slots = [(start + step) % len(fallback) for step in range(len(fallback))]
        taken[name] = next((slot for slot in slots if slot not in taken.values()), slots[0])
    return {name: known[name] if name in known else Voice(name, name, None, **fallback[taken[name]]) for name in names}
