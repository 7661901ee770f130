"""The record of an extraction: the schema of facts Appendix D, coercions, what is set aside, what goes on from it."""

import json

import jsonschema
import pytest
from pydantic import ValidationError

from nsh.extraction import SCHEMA, Extraction, Lab, read_extraction

# the keys of facts Appendix D, in its order; "r" in its text is rr
FIELDS = [
    "age",
    "sex",
    "gestation_weeks",
    "chief_complaint",
    "symptom_onset_days",
    "symptoms_present",
    "symptoms_absent",
    "vitals",
    "physical_exam",
    "labs",
    "imaging",
    "medications_current",
    "medications_given_ed",
    "past_medical_history",
    "past_surgical_history",
    "allergies",
    "relevant_history",
    "question_type",
]
EMPTY = Extraction().model_dump_json()  # the shortest record that states nothing
VITALS = ["temp_f", "bp_systolic", "bp_diastolic", "hr", "rr", "spo2"]
FULL = {
    "age": 34,
    "sex": "female",
    "gestation_weeks": 30,
    "chief_complaint": "Headache",
    "symptom_onset_days": 0.5,
    "symptoms_present": ["headache"],
    "symptoms_absent": ["fever"],
    "vitals": {"temp_f": 98.6, "bp_systolic": 165, "bp_diastolic": 105, "hr": 88, "rr": 16, "spo2": 98.5},
    "physical_exam": ["edema"],
    "labs": [{"name": "platelets", "value": 90, "unit": "10^3/µL"}],
    "imaging": [],
    "medications_current": ["folic acid"],
    "medications_given_ed": [],
    "past_medical_history": [],
    "past_surgical_history": [],
    "allergies": [],
    "relevant_history": None,
    "question_type": "next_step",
}


def test_a_full_record_is_read_as_it_is():
    read = read_extraction(json.dumps(FULL))
    assert read.status == "ok" and read.set_aside == ()
    assert read.facts.model_dump() == FULL
    assert read.text == json.dumps(FULL, ensure_ascii=False, separators=(",", ":"))
    with pytest.raises(ValidationError):
        read.facts.age = 35


def test_the_schema_is_that_of_appendix_d():
    schema = json.loads(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == schema["required"] == FIELDS
    vitals, lab = schema["properties"]["vitals"], schema["properties"]["labs"]["items"]
    assert list(vitals["properties"]) == vitals["required"] == VITALS
    assert list(lab["properties"]) == lab["required"] == ["name", "value", "unit"]
    assert all(part["additionalProperties"] is False for part in (schema, vitals, lab))
    assert schema["properties"]["sex"]["enum"] == ["male", "female", "unknown"]
    kinds = schema["properties"]["question_type"]["anyOf"][0]["enum"]
    assert kinds == ["diagnosis", "treatment", "mechanism", "next_step", "prognosis"]
    assert not {"$ref", "$defs", "title", "default"} & set(json.dumps(schema).split('"'))
    assert json.dumps(schema, separators=(",", ":")) == SCHEMA
    jsonschema.validate(FULL, schema)
    for wrong in ({**FULL, "mood": "sad"}, {**FULL, "sex": None}, {**FULL, "age": "34"}, {"age": 34}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_the_empty_record_fits_the_schema_and_states_nothing():
    empty = json.loads(EMPTY)
    jsonschema.validate(empty, json.loads(SCHEMA))
    stated = {name: value for name, value in empty.items() if value not in (None, [])}
    assert stated == {"sex": "unknown", "vitals": dict.fromkeys(VITALS)}
    assert json.dumps(empty, separators=(",", ":")) == EMPTY
    assert read_extraction(EMPTY).facts == read_extraction("{}").facts == Extraction()


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"age": "61"}, "age", 61),
        ({"age": 61.0}, "age", 61),
        ({"symptom_onset_days": " 2.5 "}, "symptom_onset_days", 2.5),
        ({"sex": "Female "}, "sex", "female"),
        ({"question_type": "Diagnosis"}, "question_type", "diagnosis"),
        ({"allergies": None}, "allergies", []),
        ({"sex": None}, "sex", "unknown"),
        ({"labs": [{"name": "Na", "value": "140"}]}, "labs", [Lab(name="Na", value=140, unit=None)]),
    ],
)
def test_numbers_as_text_case_and_null(given, field, value):
    read = read_extraction(json.dumps(given))
    assert (getattr(read.facts, field), read.set_aside) == (value, ())
    assert json.loads(read.text) == given


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"age": "61 years"}, ["age"]),
        ({"age": 61.5}, ["age"]),
        ({"age": True, "sex": "F"}, ["age", "sex"]),
        ({"age": [61]}, ["age"]),
        ({"symptom_onset_days": "nan"}, ["symptom_onset_days"]),
        ({"chief_complaint": 5, "relevant_history": {}}, ["chief_complaint", "relevant_history"]),
        ({"imaging": "CT"}, ["imaging"]),
        ({"vitals": "stable"}, ["vitals"]),
        ({"vitals": {"hr": "fast", "rr": False}}, ["vitals.hr", "vitals.rr"]),
        ({"labs": ["Na 140", {"value": 3}, {"name": None}]}, ["labs[0]", "labs[1]", "labs[2]"]),
        ({"symptoms_present": [None, {"name": "fever"}]}, ["symptoms_present[0]", "symptoms_present[1]"]),
        ({"question_type": "other"}, ["question_type"]),
    ],
)
def test_a_wrong_type_is_set_aside_by_name_and_the_rest_kept(given, names):
    read = read_extraction(json.dumps({"gestation_weeks": 30, **given}))
    assert read.set_aside == tuple(names)
    assert read.facts == Extraction(gestation_weeks=30)
    assert json.loads(read.text) == {"gestation_weeks": 30, **given}


def test_of_a_list_only_the_wrong_item_is_set_aside():
    read = read_extraction(
        '{"symptoms_present": ["fever", 3, "cough"], "labs": [{"name": "Na", "value": "high", "unit": "mmol/L"}, 7]}'
    )
    assert read.facts.symptoms_present == ["fever", "cough"]
    assert read.facts.labs == [Lab(name="Na", value=None, unit="mmol/L")]
    assert read.set_aside == ("symptoms_present[1]", "labs.value", "labs[1]")


def test_keys_of_no_field_are_passed_over_and_still_seen_by_the_next_call():
    read = read_extraction("Here it is: {'age': 61, 'mood': 'sad', 'Ψ': 'µ'}")
    assert (read.status, read.facts, read.set_aside) == ("repaired", Extraction(age=61), ())
    assert read.text == '{"age":61,"mood":"sad","Ψ":"µ"}'


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("I cannot do that.", "none"),
        ('{"age": 61, "symptoms_present": ["fev', "truncated"),
        ('{"age": 61} {"age": 62}', "ambiguous"),
    ],
)
def test_what_is_not_read_goes_on_as_the_raw_reply(reply, status):
    read = read_extraction(reply)
    assert (read.status, read.facts, read.text, read.set_aside) == (status, None, reply, ())


def test_a_cut_reply_is_truncated_at_every_character():
    text = json.dumps(FULL)
    assert {read_extraction(text[:end], "length").status for end in range(1, len(text))} == {"truncated"}


def test_the_record_itself_refuses_what_is_wrong():
    with pytest.raises(ValidationError, match="age"):
        Extraction(age="old")
