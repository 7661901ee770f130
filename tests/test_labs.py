"""The laboratory interpreter: every name, unit and end of a range, and the released tool's mistakes."""

from importlib.resources import files
from math import inf, nan

import pytest

from nsh.decision_support.labs import DATA, interpret
from nsh.declared import read_data
from nsh.errors import ParameterError

LABS = read_data(DATA)
ANALYTES = {row["names"][0]: row for row in LABS["analytes"]}
PATIENTS = {
    "adult": {"age": 40},
    "male": {"age": 40, "sex": "male"},
    "female": {"age": 40, "sex": "female"},
    "child": {"age": 6, "sex": "male"},
    "pregnancy": {"age": 30, "sex": "female", "pregnant": True},
}
# Molar masses in g/mol from atomic weights: glucose C6H12O6, urea nitrogen 2 N, creatinine C4H7N3O, calcium Ca.
BY_HAND = [
    ("glucose", 5.55, "mmol/L", 5.55 * 180.156 / 10),
    ("blood urea nitrogen", 5, "mmol/L", 5 * 28.014 / 10),
    ("creatinine", 88.4, "µmol/L", 88.4 * 113.12 / 10000),
    ("calcium", 2.5, "mmol/L", 2.5 * 40.078 / 10),
    ("calcium", 5, "mEq/L", 5 / 2 * 40.078 / 10),
    ("sodium", 140, "mmol/L", 140),
    ("hemoglobin", 140, "g/L", 14),
    ("platelet count", 45000, "/mm^3", 45),
    ("platelet count", 250, "x10⁹/L", 250),
    ("leukocyte count", 12300, "cells per cubic millimeter", 12.3),
    ("erythrocyte count", 4.5, "million/mm³", 4.5),
    ("hematocrit", 0.35, "ratio", 35),
    ("pCO2", 5.33, "kPa", 5.33 * 760 / 101.325),
    ("TSH", 3.8, "μU/mL", 3.8),
    ("free T4", 15, "pmol/L", 15 * 776.87 / 10000),
    ("troponin", 40, "ng/L", 0.04),
]


def test_the_table_is_sound():
    folded = {}
    for name, row in ANALYTES.items():
        low, high = row["plausible"]
        assert row["unit"] in LABS["units"] and set(row["ranges"]) <= set(PATIENTS)
        assert "adult" in row["ranges"] or {"male", "female"} & set(row["ranges"])
        for bounds in row["ranges"].values():
            bottom, top = (low if bounds[0] is None else bounds[0]), (high if bounds[1] is None else bounds[1])
            assert low <= bottom < top <= high, name
        for alias in row["names"]:
            result = interpret(alias, 1, row["unit"])
            assert result.name == name, alias
            assert folded.setdefault(alias.casefold(), name) == name
    assert len(ANALYTES) >= 60
    spellings = [(spelling, unit) for unit, row in LABS["units"].items() for spelling in {*row["names"]}]
    assert len({spelling for spelling, _ in spellings}) == len(spellings)


def test_the_file_says_what_it_is_and_where_it_is_from():
    text = files("nsh").joinpath(f"data/{DATA}").read_text(encoding="utf-8")
    assert "not for clinical use" in text.splitlines()[0] and "source: unchecked" in text


@pytest.mark.parametrize(("name", "who"), [(name, who) for name, row in ANALYTES.items() for who in row["ranges"]])
def test_both_ends_belong_to_the_range(name, who):
    row = ANALYTES[name]
    low, high = row["ranges"][who]
    patient, step = PATIENTS[who], 1e-6
    for bound, outside, wrong in ((low, -step, "low"), (high, step, "high")):
        if bound is not None:
            assert interpret(name, bound, row["unit"], **patient).status == "normal"
            if bound + outside >= 0:
                assert interpret(name, bound + outside, row["unit"], **patient).status == wrong
    result = interpret(name, row["plausible"][1], row["unit"], **patient)
    assert (result.low, result.high) == (low, high)


@pytest.mark.parametrize(("name", "value", "unit", "expected"), BY_HAND)
def test_units_are_converted(name, value, unit, expected):
    result = interpret(name, value, unit)
    assert result.value == pytest.approx(expected, rel=1e-4)
    assert result.unit == ANALYTES[result.name]["unit"]


def test_the_released_tool_took_any_number_for_its_own_unit():
    """Its logs call 45,000 and 197,000 platelets per mm3 high, and do not know K+."""
    assert interpret("platelet count", 45000, "mm3").status == "low"
    assert interpret("platelet count", 197000, "/mm^3").status == "normal"
    assert interpret("K+", 5.2, "mEq/L").status == "high"
    assert interpret("urea nitrogen", 16, "mg/dL").name == "urea nitrogen"


@pytest.mark.parametrize(
    ("name", "value", "status", "read"),
    [
        ("sodium", 138, "normal", 138),
        ("WBC", 12000, "high", 12),
        ("WBC", 12, "high", 12),
        ("platelets", 45000, "low", 45),
        ("hemoglobin", 100, "low", 10),
        ("glucose", 100, "normal", 100),
        ("glucose", 15, "unknown unit", 15),
        ("creatinine", 900, "high", 10.1808),
    ],
)
def test_a_number_without_a_unit_is_read_where_only_one_unit_is_plausible(name, value, status, read):
    for unit in (None, "", " "):
        result = interpret(name, value, unit, sex="female")
        assert (result.status, result.value) == (status, read)


@pytest.mark.parametrize("unit", ["apples", "mg/dL/L", "mmol/L", "%"])
def test_a_unit_that_does_not_measure_this_is_unknown(unit):
    result = interpret("hemoglobin", 9, unit)
    assert (result.status, result.low, result.high) == ("unknown unit", None, None)
    assert "not interpreted" in result.text


def test_what_cannot_be_measured_is_not_interpreted():
    """A hemoglobin of 140 g/dL is a slip of the unit, and a body temperature of 1e9 is none at all."""
    for value in (1e9, 140, 0):
        result = interpret("Hb", value, "g/dL")
        assert (result.status, result.low, result.high) == ("implausible", None, None)


def test_no_age_and_no_pregnancy_that_cannot_be():
    assert interpret("ALP", 110, "U/L", age=-4).text.endswith("(adult 30-120)")
    assert "male adult" in interpret("Hb", 15, "g/dL", sex="male", pregnant=True).text


@pytest.mark.parametrize("value", [None, nan, inf, -inf, -1])
def test_what_is_no_value(value):
    assert interpret("sodium", value, "mEq/L").status == "no value"


@pytest.mark.parametrize("name", ["blood pressure", "temperature", "heart rate", "kidney number", ""])
def test_what_is_no_laboratory_value_is_unknown(name):
    assert interpret(name, 100, "mm Hg").status == "unknown lab"


def test_sex_counts_where_the_ranges_differ():
    """Hemoglobin 13: low in a man, normal in a woman; 8 is low and 15 normal in both."""
    status = {sex: interpret("Hb", 13, "g/dL", sex=sex).status for sex in ("male", "female", "unknown", None)}
    assert list(status.values()) == ["low", "normal", "depends on sex", "depends on sex"]
    assert interpret("Hb", 8, "g/dL").status == "low" and interpret("Hb", 15, "g/dL").status == "normal"
    assert "male adult 13.5-17.5, female adult 12-16" in interpret("Hb", 13, "g/dL").text
    assert interpret("PSA", 10, "ng/mL", sex="female").status == "high"


def test_children_and_pregnancy_have_ranges_of_their_own():
    assert interpret("ALP", 300, "U/L", age=10).status == "normal"
    assert interpret("ALP", 300, "U/L", age=40).status == "high"
    assert interpret("Hb", 11.5, "g/dL", "female", 30, pregnant=True).status == "normal"
    assert interpret("sodium", 140, "mEq/L", age=10).text.endswith("(adult range 136-145)")


@pytest.mark.parametrize(("name", "value"), [(3, 1.0), ("sodium", "138"), ("sodium", True), (None, 1)])
def test_other_types_are_refused(name, value):
    with pytest.raises(ParameterError, match="expected a name and a number"):
        interpret(name, value, None)
