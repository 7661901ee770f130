"""The tool router of `facts` §3.3: fixed rules that choose what decision support the reasoning agent is shown.

Research and teaching only; not for clinical use; not reviewed by a clinician. It sees the extraction, the question and
the options, and never the narrative. Its keywords are in data/decision_support/router.yaml.

The paper says "up to four tools": the laboratory interpreter, at most one risk score, at most two drug look-ups
(`caps="paper"`; all laboratory values are one result). The released logs show other rules (`caps="released"`): a result
for each laboratory value, however many; then scores, more than one if several fit, then medications and at most two
options that name a drug, each only while there are fewer than four results.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nsh.decision_support import scores
from nsh.decision_support.drugs import card, find
from nsh.decision_support.labs import LabResult, interpret
from nsh.declared import parameters, read_data
from nsh.errors import ParameterError
from nsh.extraction import Extraction

RULES = read_data("decision_support/router.yaml")
MOST, LOOKUPS = 4, 2
CHILDHOOD = 9  # years: up to here the weeks of gestation are those at birth
READ = ("low", "normal", "high", "depends on sex")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One call of a tool: its name, what it was asked, and what the reasoning agent is shown."""

    tool: str
    input: str
    text: str


def route(
    facts: Extraction | None,
    question: str,
    options: Mapping[str, str],
    scoring: str = "published",
    caps: str = "paper",
) -> tuple[ToolResult, ...]:
    """Choose and call the tools for one encounter.

    Parameters
    ----------
    facts : Extraction or None
        None where the extraction could not be read: question and options alone then decide.
    question : str
        The question sentence.
    options : mapping
        Letter to text.
    scoring : str
        "published" or "safe": what a score makes of items that are not stated (`nsh.decision_support.scores`).
    caps : str
        "paper" or "released".

    Returns
    -------
    tuple of ToolResult
        In the order of the calls; `tool` is "lab_interpreter", a score's name, or "drug_kb".

    Raises
    ------
    ParameterError
        If `caps` or `scoring` is another word.

    References
    ----------
    ``facts`` §3.3. The rules are reconstructed; `nsh.router_audit` holds them against the released logs.

    Examples
    --------
    >>> facts = Extraction(sex="female", labs=[{"name": "Hb", "value": 9.1, "unit": "g/dL"}])
    >>> options = {"A": "Oral prednisone", "B": "Rest", "C": "Aspirin", "D": "Warfarin"}
    >>> [(result.tool, result.input) for result in route(facts, "What is the best treatment?", options)]
    [('lab_interpreter', 'Hb'), ('drug_kb', 'Oral prednisone'), ('drug_kb', 'Aspirin')]
    """
    for name, value in {"scoring": scoring, "caps": caps}.items():
        if value not in parameters()[name].choices:
            raise ParameterError(f"{name} = {value!r}: one of {', '.join(parameters()[name].choices)} is expected")
    results = list(_labs(facts, caps)) if facts else []
    fitting = scores_asked(" ".join([question, *options.values(), *_entries(facts)]))
    for name in fitting[: 1 if caps == "paper" else None]:
        if len(results) < MOST:
            results.append(_score(name, facts, scoring))
    lookups = []
    if asks_for_treatment(question, facts):
        taken = facts.medications_current if facts else []
        lookups = [*(text for text in taken if find(text)), *options_asked(options)[:LOOKUPS]]
        lookups = lookups[: LOOKUPS if caps == "paper" else None]
    room = max(0, MOST - len(results))
    return (*results, *(ToolResult("drug_kb", text, card(find(text)[0])) for text in lookups[:room]))


def scores_asked(text: str) -> list[str]:
    """Names of the risk scores whose keywords stand in a text, in the router's order.

    Examples
    --------
    >>> scores_asked("Pulmonary embolism or DVT?")
    ['wells_dvt', 'wells_pe']
    """
    return [name for name, words in RULES["scores"].items() if _holds(text, words)]


def asks_for_treatment(question: str, facts: Extraction | None = None) -> bool:
    """Whether a question, or what the extraction says of it, asks for treatment or management.

    Examples
    --------
    >>> asks_for_treatment("Which therapy is best?"), asks_for_treatment("What is the diagnosis?")
    (True, False)
    """
    return _holds(question, RULES["treatment"]) or bool(facts and facts.question_type in RULES["question_types"])


def options_asked(options: Mapping[str, str]) -> list[str]:
    """Options that name a drug of the knowledge base, in their order.

    Examples
    --------
    >>> options_asked({"A": "Rest", "B": "Stop metformin", "C": "Aspirin and heparin"})
    ['Stop metformin', 'Aspirin and heparin']
    """
    return [text for text in options.values() if find(text)]


def _labs(facts: Extraction, caps: str) -> Iterator[ToolResult]:
    """The laboratory values, as one result or one each."""
    pregnant = bool(facts.gestation_weeks) and (facts.age is None or facts.age > CHILDHOOD)
    patient = {"sex": facts.sex, "age": facts.age, "pregnant": pregnant}
    found = [interpret(lab.name, lab.value, lab.unit, **patient) for lab in facts.labs]
    names = [lab.name for lab in facts.labs]
    if caps == "released":
        yield from (ToolResult("lab_interpreter", name, lab.text) for name, lab in zip(names, found, strict=True))
    elif found:
        yield ToolResult("lab_interpreter", ", ".join(names), _report(found))


def _report(labs: Sequence[LabResult]) -> str:
    """All laboratory values that could be interpreted, in one line."""
    return "; ".join(lab.text for lab in labs if lab.status in READ) or "no laboratory value could be interpreted"


def _score(name: str, facts: Extraction | None, scoring: str) -> ToolResult:
    """One risk score, its items filled from the extraction; what it refuses is said and not scored."""
    rule: Callable[..., scores.Score] = {"glasgow_coma": scores.glasgow}.get(name) or getattr(scores, name)
    try:
        text = rule(**_items(name, facts), scoring=scoring).text
    except ParameterError as error:
        text = f"{name}: not scored: {error}"
    return ToolResult(name, name, text)


def _items(name: str, facts: Extraction | None) -> dict[str, bool | float | None]:
    """Items of a score as the extraction states them; None for what it does not state."""
    if facts is None:
        return {}
    entries = [part.strip() for entry in _entries(facts) for part in re.split(r"[;.]\s", entry)]
    denials = [entry for entry in entries if entry.lower().startswith(tuple(RULES["denials"]))]
    denied = " ".join([*facts.symptoms_absent, *denials])
    stated = " ".join(entry for entry in entries if entry not in denials)
    items: dict[str, bool | float | None] = {
        item: _holds(stated, words) or (False if _holds(denied, words) else None)
        for item, words in RULES["items"].get(name, {}).items()
    }
    if name == "wells_pe":
        items["heart_rate"] = facts.vitals.hr
    if name == "curb65":
        found = {lab.name: lab for lab in (interpret(lab.name, lab.value, lab.unit) for lab in facts.labs)}
        bun = found.get("urea nitrogen")
        items["urea"] = bun.value * scores.UREA_PER_BUN if bun and bun.status in READ else None
        vitals = facts.vitals
        items |= {"respiratory_rate": vitals.rr, "systolic": vitals.bp_systolic, "diastolic": vitals.bp_diastolic}
        items["age"] = facts.age
    return items


def _entries(facts: Extraction | None) -> list[str]:
    """What the extraction says in words, but for the symptoms it states as absent."""
    if facts is None:
        return []
    lists = (facts.symptoms_present, facts.physical_exam, facts.imaging)
    lists += (facts.past_medical_history, facts.past_surgical_history)
    sentences = [facts.chief_complaint or "", facts.relevant_history or ""]
    return [*sentences, *(entry for entries in lists for entry in entries)]


def _holds(text: str, words: Sequence[str]) -> bool:
    """Whether one of the keywords stands in a text."""
    lower = text.lower()
    return any(word in lower for word in words)
