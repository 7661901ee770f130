"""A knowledge base of 47 drugs: which drugs a text names, and the lines about one that go into a prompt.

Research and teaching only; not for clinical use; not reviewed by a clinician. The entries, their sources and the
phrases that only look like a drug are in data/decision_support/drugs.yaml; `facts` §3.3 gives the number and no names.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from nsh.declared import read_data

GREEK = "GREEK SMALL LETTER "
MARKS = ("Mn", "Cf")  # accents taken off their letter; soft hyphens and joiners


@dataclass(frozen=True, slots=True)
class Drug:
    """One drug of the knowledge base; texts and lists are short and incomplete, none is empty.

    Attributes
    ----------
    name : str
        The generic name in lower case, as the United States spell it.
    aliases : tuple of str
        Brand names, other spellings and abbreviations.
    drug_class, mechanism : str
    indications, contraindications : tuple of str
        Contraindications hold cautions too, which say so.
    pregnancy : str
    adverse_effects : tuple of str
        Key ones only.
    withdrawal : str
        What stopping may cause, or "none known".
    interactions : tuple of str
    source : str
        Pages that were opened, with what they state, or "unchecked".
    """

    name: str
    aliases: tuple[str, ...]
    drug_class: str
    mechanism: str
    indications: tuple[str, ...]
    contraindications: tuple[str, ...]
    pregnancy: str
    adverse_effects: tuple[str, ...]
    withdrawal: str
    interactions: tuple[str, ...]
    source: str


@cache
def knowledge_base() -> dict[str, Drug]:
    """All 47 drugs by name.

    Examples
    --------
    >>> len(knowledge_base()), knowledge_base()["albuterol"].drug_class
    (47, 'short-acting beta-2 agonist')
    """
    drugs = read_data("decision_support/drugs.yaml")["drugs"].items()
    entries = {name: {f: tuple(v) if isinstance(v, list) else v for f, v in row.items()} for name, row in drugs}
    return {name: Drug(name, **entry) for name, entry in entries.items()}


def find(text: str) -> tuple[Drug, ...]:
    """Find the drugs that a text names.

    Parameters
    ----------
    text : str
        Such as an option or a list of medications.

    Returns
    -------
    tuple of Drug
        In order of first mention, each once. A name or alias counts as a whole word, with or without a plural s,
        whatever its case, accents, dashes and slashes, and with Greek letters spelt out; the longest that fits is
        taken, so low-molecular-weight heparin is not heparin. A combination names those of its parts that are in the
        knowledge base. That a text denies a drug or stops it is not seen.

    Examples
    --------
    >>> [drug.name for drug in find("Stop α‑methyldopa; give Bactrim and salbutamol")]
    ['methyldopa', 'trimethoprim-sulfamethoxazole', 'albuterol']
    >>> find("red, no, x")
    ()
    """
    named = (_names()[match[1]] for match in _pattern().finditer(_folded(text)))
    return tuple(knowledge_base()[name] for name in dict.fromkeys(named) if name)


def card(drug: Drug) -> str:
    """The lines about a drug that go into a prompt, at most 90 words; aliases and source are left out.

    Examples
    --------
    >>> print(card(knowledge_base()["naloxone"]).splitlines()[0])
    naloxone (opioid antagonist): competitive antagonist at opioid receptors, shorter-acting than many opioids
    """
    lines = {"Indications": drug.indications, "Contraindications": drug.contraindications}
    lines |= {"Pregnancy": [drug.pregnancy], "Adverse effects": drug.adverse_effects}
    lines |= {"Withdrawal": [drug.withdrawal], "Interactions": drug.interactions}
    head = f"{drug.name} ({drug.drug_class}): {drug.mechanism}"
    return "\n".join([head, *(f"{label}: {'; '.join(items)}" for label, items in lines.items())])


@cache
def _names() -> dict[str, str | None]:
    """The drug that each folded name or alias names; None for a phrase that names none."""
    names = {_folded(said): drug.name for drug in knowledge_base().values() for said in (drug.name, *drug.aliases)}
    return names | {_folded(phrase): None for phrase in read_data("decision_support/drugs.yaml")["not_names"]}


@cache
def _pattern() -> re.Pattern[str]:
    """Any of the names, the longest first, between characters that are no letters."""
    names = "|".join(map(re.escape, sorted(_names(), key=len, reverse=True)))
    return re.compile(rf"(?<![^\W\d_])({names})s?(?![^\W\d_])")


def _folded(text: str) -> str:
    """Small letters without accents, Greek letters by name; dashes, slashes and white space as one space."""
    letters = (c for c in unicodedata.normalize("NFD", text.casefold()) if unicodedata.category(c) not in MARKS)
    latin = (unicodedata.name(c).removeprefix(GREEK).lower() if "α" <= c <= "ω" else c for c in letters)
    return re.sub(r"[\s/\-‐-―−]+", " ", "".join(latin))
