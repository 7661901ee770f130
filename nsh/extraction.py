"""The facts that a model extracts from a narrative, as a typed record: the output schema of ``facts`` Appendix D.

Its printed text is garbled in two places, read here as `rr` in `vitals` and as objects in the list `labs`. The last
field, `question_type`, is not among those that ``voices`` §4 lists for its own schema.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator

from nsh.json_text import parse_json

ENUMERATED = ("sex", "question_type")


class _Facts(BaseModel):
    """Fields that are read one by one; keys of no field are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
    place: ClassVar[str] = ""

    @field_validator("*", mode="wrap")
    @classmethod
    def _typed(cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """A value as declared; the default for null, and for what is set aside by its name in the given list."""
        declared = cls.model_fields[info.field_name]
        value = value.strip().lower() if info.field_name in ENUMERATED and isinstance(value, str) else value
        if value is None and not declared.is_required():
            return declared.get_default(call_default_factory=True)
        if info.context is None or declared.is_required():
            return read(value)
        name = cls.place + info.field_name
        if isinstance(value, list) and declared.default_factory is list:
            items = [_kept([item], read, info.context, f"{name}[{place}]", []) for place, item in enumerate(value)]
            return [item for kept in items for item in kept]
        return _kept(value, read, info.context, name, declared.get_default(call_default_factory=True))


def _kept(value: Any, read: ValidatorFunctionWrapHandler, aside: list[str], name: str, default: Any) -> Any:
    """A value that has, or can be read as, the declared type, which no truth value can; else the default."""
    with suppress(ValueError):
        if not isinstance(value, bool):
            return read(value)
    aside.append(name)
    return default


class Vitals(_Facts):
    """Vital signs: °F, mmHg, beats and breaths per minute, percent; None where not stated."""

    place: ClassVar[str] = "vitals."
    temp_f: float | None = None
    bp_systolic: int | None = None
    bp_diastolic: int | None = None
    hr: int | None = None
    rr: int | None = None
    spo2: float | None = None


class Lab(_Facts):
    """One laboratory result, in the unit that the narrative gives."""

    place: ClassVar[str] = "labs."
    name: str
    value: float | None = None
    unit: str | None = None


class Extraction(_Facts):
    """The record of ``facts`` Appendix D, in its order; None, an empty list or "unknown" where nothing is stated.

    `age` is in years, `gestation_weeks` in weeks, `symptom_onset_days` in days before the encounter.
    """

    age: int | None = None
    sex: Literal["male", "female", "unknown"] = "unknown"
    gestation_weeks: int | None = None
    chief_complaint: str | None = None
    symptom_onset_days: float | None = None
    symptoms_present: list[str] = Field(default_factory=list)
    symptoms_absent: list[str] = Field(default_factory=list)
    vitals: Vitals = Field(default_factory=Vitals)
    physical_exam: list[str] = Field(default_factory=list)
    labs: list[Lab] = Field(default_factory=list)
    imaging: list[str] = Field(default_factory=list)
    medications_current: list[str] = Field(default_factory=list)
    medications_given_ed: list[str] = Field(default_factory=list)
    past_medical_history: list[str] = Field(default_factory=list)
    past_surgical_history: list[str] = Field(default_factory=list)
    allergies: list[str] = Field(default_factory=list)
    relevant_history: str | None = None
    question_type: Literal["diagnosis", "treatment", "mechanism", "next_step", "prognosis"] | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of one extraction call.

    `status` is that of `parse_json`; `facts` the typed record, None unless the status is "ok" or "repaired"; `text`
    what the next call sees; `set_aside` the fields whose value had the wrong type, "labs[0]" being an item of a list.
    """

    status: str
    facts: Extraction | None
    text: str
    set_aside: tuple[str, ...] = ()


@lru_cache(maxsize=1024)  # four conditions read each extraction, one right after the other
def read_extraction(text: str, finish: str = "stop") -> Extracted:
    """Read the reply to an extraction call (``facts`` §3.3 and Appendix D; ``voices`` §4).

    Numbers given as text are read as numbers, sex and type of question in any case; null stands for nothing stated in
    every field; a value of the wrong type is set aside, and of a list only the item; keys of no field are passed over.

    Parameters
    ----------
    text : str
        The whole reply.
    finish : str
        "length" where the reply was cut off at its token budget.

    Returns
    -------
    Extracted
        Its `text` is the object as the model wrote it, every key and value, as compact JSON ("used unmodified",
        ``facts`` Appendix D), or the raw reply where no object could be read (``voices`` §4).

    Examples
    --------
    >>> read = read_extraction('{"age": "61", "vitals": {"hr": "fast"}, "mood": "sad"}')
    >>> read.facts.age, read.facts.vitals.hr, read.set_aside, read.text
    (61, None, ('vitals.hr',), '{"age":"61","vitals":{"hr":"fast"},"mood":"sad"}')
    """
    found = parse_json(text, finish)
    if found.value is None:
        return Extracted(found.status, None, text)
    aside: list[str] = []
    facts = Extraction.model_validate(found.value, context=aside)
    written = json.dumps(found.value, ensure_ascii=False, separators=(",", ":"))
    return Extracted(found.status, facts, written, tuple(aside))


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema without references, titles and defaults, in which every field is required and no other is allowed."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    plain = {key: schema[key] for key in ("enum", "type") if key in schema}
    if "items" in schema:
        plain["items"] = _plain(schema["items"], definitions)
    if "anyOf" in schema:
        plain["anyOf"] = [_plain(option, definitions) for option in schema["anyOf"]]
    if "properties" in schema:
        fields = {name: _plain(field, definitions) for name, field in schema["properties"].items()}
        plain |= {"additionalProperties": False, "properties": fields, "required": list(fields)}
    return dict(sorted(plain.items()))


_DECLARED = Extraction.model_json_schema()
SCHEMA = json.dumps(_plain(_DECLARED, _DECLARED["$defs"]), separators=(",", ":"))  # what decoding is constrained to
