"""The laboratory interpreter: every name, unit and end of a range, and what a wrong unit must not do."""

import re
from importlib.resources import files
from math import inf, nan

import numpy as np
import pytest

from nsh.decision_support.labs import TABLE, interpret
from nsh.errors import ParameterError

ANALYTES = {row["names"][0]: row for row in TABLE["analytes"]}
RANGES = [(name, who) for name, row in ANALYTES.items() for who in row["ranges"]]
PATIENTS = {
    "adult": {"age": 40},
    "male": {"age": 40, "sex": "male"},
    "female": {"age": 40, "sex": "female"},
    "child": {"age": 6, "sex": "male"},
    "pregnancy": {"age": 30, "sex": "female", "pregnant": True},
}
# Read off the opened pages a second time: range, then the page's name in the table
PRINTED = """
sodium 136 145 usmle; potassium 3.5 5.0 usmle; chloride 95 105 usmle; bicarbonate 22 28 usmle; magnesium 1.5 2 usmle;
calcium 8.4 10.2 usmle; phosphorus 3.0 4.5 usmle; creatinine 0.6 1.2 usmle; uric acid 3.0 8.2 usmle; amylase 25 125
usmle; urea nitrogen 7 18 usmle; osmolality 275 295 usmle; albumin 3.5 5.5 usmle; total protein 6.0 7.8 usmle; total
bilirubin 0.1 1.0 usmle; direct bilirubin 0 0.3 usmle; arterial pH 7.35 7.45 usmle; arterial pCO2 33 45 usmle;
arterial pO2 75 105 usmle; mean corpuscular volume 80 100 merck; leukocyte count 4.5 11 merck; neutrophils 40 70
merck; lymphocytes 22 44 merck; monocytes 4 11 merck; eosinophils 0 8 merck; basophils 0 3 merck; absolute neutrophil
count 1.8 7.7 merck; absolute lymphocyte count 1 4.8 merck; absolute eosinophil count 0 0.9 merck; red cell
distribution width 11.5 14.5 merck; mean corpuscular hemoglobin concentration 32 36 merck; platelet count 150 400
haematology; INR 0.8 1.2 hematologic; reticulocytes 0.5 1.5 hematologic; CD4 count 400 1400 hematologic; band
neutrophils 0 5 seer; ammonia 9 33 canada; ionized calcium 1.05 1.30 canada; D-dimer 0 250 surgery; mean corpuscular
hemoglobin 25 35 summary; TSH 0.4 4.0 endocrine; thyroxine 4.6 12 thyroid; free thyroxine 0.7 1.9 thyroid;
triiodothyronine 80 180 thyroid; cortisol 5 25 hormones; urea 2.5 7.8 third_trimester; bleeding time 2 9 physiology;
alkaline phosphatase 30 130 third_trimester; urine specific gravity 1.002 1.035 urinalysis; glucose 70 139 endocrine
"""
# IUPAC's abridged atomic weights of 2021, and what a molecule is made of; TIBC is counted as the iron that it binds
WEIGHTS = {"C": 12.011, "H": 1.008, "N": 14.007, "O": 15.999, "P": 30.974, "Ca": 40.078, "Mg": 24.305, "Fe": 55.845}
WEIGHTS |= {"I": 126.90, "Co": 58.933}
FORMULAS = {
    **dict.fromkeys(["calcium", "ionized calcium"], "Ca1"),
    "magnesium": "Mg1",
    "phosphorus": "P1",
    **dict.fromkeys(["glucose", "fasting glucose"], "C6H12O6"),
    "urea nitrogen": "N2",
    "urea": "C1H4N2O1",
    "creatinine": "C4H7N3O1",
    "uric acid": "C5H4N4O3",
    "lactate": "C3H6O3",
    "ammonia": "N1H3",
    **dict.fromkeys(["total bilirubin", "direct bilirubin"], "C33H36N4O6"),
    **dict.fromkeys(["total cholesterol", "LDL cholesterol", "HDL cholesterol"], "C27H46O1"),
    "triglycerides": "C57H104O6",
    **dict.fromkeys(["iron", "total iron-binding capacity"], "Fe1"),
    "vitamin B12": "C63H88Co1N14O14P1",
    "25-hydroxyvitamin D": "C27H44O2",
    **dict.fromkeys(["free thyroxine", "thyroxine"], "C15H11I4N1O4"),
    "triiodothyronine": "C15H12I3N1O4",
    "cortisol": "C21H30O5",
}
CHARGES = {"sodium": 1, "potassium": 1, "chloride": 1, "bicarbonate": 1, "anion gap": 1, "lactate": 1}
CHARGES |= {"calcium": 2, "ionized calcium": 2, "magnesium": 2}
GRAMS = {"g/L": 1, "g/dL": 10, "mg/dL": 1e-2, "mg/L": 1e-3, "mcg/dL": 1e-5, "mcg/L": 1e-6, "ng/dL": 1e-8, "ng/L": 1e-9}
MOLES = {"mmol/L": 1e-3, "mcmol/L": 1e-6, "nmol/L": 1e-9, "pmol/L": 1e-12}


def moles(name, unit):
    """Moles in a litre of what has the value 1 in a unit."""
    if unit in GRAMS:
        parts = re.findall(r"([A-Z][a-z]?)(\d+)", FORMULAS[name])
        return GRAMS[unit] / sum(WEIGHTS[element] * int(n) for element, n in parts)
    return MOLES[unit] if unit in MOLES else 1e-3 / CHARGES[name]


def test_the_table_is_sound():
    text = files("nsh").joinpath("data/decision_support/labs.yaml").read_text(encoding="utf-8")
    assert "not for clinical use" in " ".join(text.split()[:30]) and len(ANALYTES) >= 60
    assert all(page["checked"] == "opened" and page["address"].startswith("http") for page in TABLE["sources"].values())
    used = set()
    for name, row in ANALYTES.items():
        assert set(row["ranges"]) <= set(PATIENTS) and {"adult", "male"} & set(row["ranges"]), name
        named = {} if row["source"] == "unchecked" else row["source"]
        assert named.keys() <= row["ranges"].keys()
        used |= set(named.values())
        low, high = row["plausible"]
        for bounds in row["ranges"].values():
            ends = [end for end in (low, *bounds, high) if end is not None]
            assert ends == sorted(ends) and (None in bounds or bounds[0] < bounds[1]), name
    assert used == set(TABLE["sources"])


@pytest.mark.parametrize("line", [" ".join(line.split()) for line in PRINTED.split(";")])
def test_ranges_are_those_of_the_page_that_is_named(line):
    name, low, high, source = re.fullmatch(r"(.+) (\S+) (\S+) (\S+)", line).groups()
    assert ANALYTES[name]["ranges"]["adult"] == [float(low), float(high)]
    assert ANALYTES[name]["source"]["adult"] == source


@pytest.mark.parametrize("name", ANALYTES)
def test_every_name_is_its_own_analyte(name):
    row = ANALYTES[name]
    assert (
        interpret(f"{next(alias for alias in row['names'][::-1] if '(' not in alias)} ({name})", 1, None).name == name
    )
    value = next(end for bounds in row["ranges"].values() for end in bounds if end is not None)
    for alias in row["names"]:
        for said in (alias, alias.upper(), f"Serum {alias}", f" {alias} level:"):
            result = interpret(said, value, row["units"][0], age=40)
            assert (result.name, result.value, result.unit) == (name, value, row["units"][0]), said


def test_no_spelling_means_two_units():
    """Each spelling, given with an analyte of that unit, is that unit and no other."""
    for unit, row in TABLE["units"].items():
        for spelling in [unit, *row["names"]]:
            for analyte in ANALYTES.values():
                if analyte["units"][0] == unit:
                    result = interpret(analyte["names"][0], analyte["plausible"][1], spelling)
                    assert (result.value, result.unit) == (analyte["plausible"][1], unit), spelling


@pytest.mark.parametrize(("name", "who"), RANGES)
def test_both_ends_belong_to_the_range(name, who):
    row = ANALYTES[name]
    unit, patient = row["units"][0], PATIENTS[who]
    low, high = row["ranges"][who]
    for end, beyond, wrong in ((low, -1e-6, "low"), (high, 1e-6, "high")):
        if end is not None:
            result = interpret(name, end, unit, **patient)
            assert (result.status, result.low, result.high) == ("normal", low, high)
            if row["plausible"][0] <= end + beyond <= row["plausible"][1]:
                assert interpret(name, end + beyond, unit, **patient).status == wrong


@pytest.mark.parametrize("name", [name for name, row in ANALYTES.items() if "molar" in row or "charge" in row])
def test_moles_grams_and_equivalents_are_converted(name):
    row = ANALYTES[name]
    own, middle = row["units"][0], float(np.sqrt(max(row["plausible"][0], 0.01) * row["plausible"][1]))
    known = [*(GRAMS if name in FORMULAS else []), *MOLES, *(["mEq/L"] if name in CHARGES else [])]
    for unit in known:
        result = interpret(name, middle * moles(name, own) / moles(name, unit), unit)
        assert (result.value, result.unit) == (pytest.approx(middle, rel=1e-4), own)
    assert ("molar" in row, "charge" in row) == (name in FORMULAS, name in CHARGES)


@pytest.mark.parametrize(
    ("name", "unit", "low", "high", "digits"),
    [
        ("creatinine", "µmol/L", 53, 106, 0),
        ("bilirubin", "umol/L", 2, 17, 0),
        ("magnesium", "mmol/L", 0.75, 1.0, 2),
        ("phosphorus", "mmol/L", 1.0, 1.5, 1),
        ("pO2", "kPa", 10.0, 14.0, 1),
        ("pCO2", "kPa", 4.4, 5.9, 1),
        ("albumin", "g/L", 35, 55, 0),
        ("total protein", "g/L", 60, 78, 0),
    ],
)
def test_ends_are_those_that_the_page_prints_in_other_units(name, unit, low, high, digits):
    """Selected USMLE Laboratory Values, its column of SI intervals, rounded as printed (kPa: 5.99 is cut to 5.9)."""
    per_unit = interpret(name, high, unit).value / high
    result = interpret(name, high, unit)
    for printed, own in ((low, result.low), (high, result.high)):
        assert own / per_unit == pytest.approx(printed, abs=10.0**-digits)


COUNTS = [
    "/mm3",
    "/mm^3",
    "mm3",
    "mm³",
    "/µL",
    "/μL",
    "/uL",
    "/mcL",
    "mcL",
    "cells/mm3",
    "cells/µL",
    "cells per microliter",
]
COUNTS += ["per cubic millimeter", "cells per cubic millimetre", "/cu mm", "platelets/mcL", "microliter"]
THOUSANDS = [
    "10^3/µL",
    "x10^3/mm³",
    "×10³/µL",
    "10³/uL",
    "K/uL",
    "K/µL",
    "thousand/mm3",
    "x 10^9/L",
    "×10⁹/L",
    "10*9/L",
]
THOUSANDS += ["x10e9/L", "10^9 cells/L", "1000/mm3", "109/L", "10^9 per liter"]


@pytest.mark.parametrize(("unit", "times"), [*((unit, 1) for unit in COUNTS), *((unit, 1000) for unit in THOUSANDS)])
def test_counts_are_read_in_any_spelling(unit, times):
    for count, status in ((45000, "low"), (197000, "normal"), (450000, "high")):
        result = interpret("platelet count", count / times, unit)
        assert (result.status, result.value) == (status, count / 1000)


@pytest.mark.parametrize(
    ("name", "value", "unit", "expected"),
    [
        ("RBC", 4.5, "million/mm³", 4.5),
        ("RBC", 4.5, "x 10^12/L", 4.5),
        ("RBC", 4500000, "/mm3", 4.5),
        ("Hb", 9.2, "grams per deciliter", 9.2),
        ("Hb", 9.2, "gm/dl", 9.2),
        ("Hb", 9.2, "g%", 9.2),
        ("Hb", 92, "g/L", 9.2),
        ("hematocrit", 0.35, "fraction", 35),
        ("hematocrit", 35, "percent", 35),
        ("MCV", 85, "µm^3", 85),
        ("MCHC", 34, "% Hb/cell", 34),
        ("MCHC", 34, "%", 34),
        ("glucose", 126, "milligrams per deciliter", 126),
        ("glucose", 7, "millimoles/L", 126.1092),
        ("sodium", 140, "mM", 140),
        ("sodium", 140, "milliequivalents/liter", 140),
        ("ALT", 60, "IU/L", 60),
        ("ALT", 60, "units/L", 60),
        ("ALT", 60, "mU/mL", 60),
        ("TSH", 3.8, "μU/mL", 3.8),
        ("TSH", 3.8, "mIU/L", 3.8),
        ("TSH", 3.8, "uIU/mL", 3.8),
        ("ESR", 40, "mm/hr", 40),
        ("ESR", 40, "mm/hour", 40),
        ("PT", 14, "sec.", 14),
        ("bleeding time", 300, "seconds", 5),
        ("CRP", 5, "mg/dL", 50),
        ("ferritin", 30, "ng/mL", 30),
        ("troponin", 40, "ng/L", 0.04),
        ("D-dimer", 0.5, "µg/mL", 500),
        ("pCO2", 40, "mmHg", 40),
        ("pH", 7.3, "unitless", 7.3),
        ("INR", 1.7, "ratio", 1.7),
        ("serum osmolality", 290, "mOsmol/kg H2O", 290),
    ],
)
def test_units_are_read_in_any_spelling(name, value, unit, expected):
    assert interpret(name, value, unit).value == pytest.approx(expected, rel=1e-9)


def test_the_released_tool_took_any_number_for_its_own_unit():
    """Its logs call 45,000 and 197,000 platelets per mm3 high."""
    assert interpret("platelet count", 45000, "mm3").status == "low"
    assert interpret("platelet count", 197000, "/mm^3").status == "normal"


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("sodium", 138, 138),
        ("WBC", 12000, 12),
        ("WBC", 12, 12),
        ("platelets", 45000, 45),
        ("hemoglobin", 130, 13),
        ("hematocrit", 0.3, 30),
        ("calcium", 9.1, 9.1),
        ("creatinine", 1.1, 1.1),
        ("creatinine", 900, 10.1808),
        ("ferritin", 8, 8),
        ("specific gravity", 1.02, 1.02),
    ],
)
def test_a_number_without_a_unit_is_read_where_one_unit_alone_is_plausible(name, value, read):
    for unit in (None, "", " ", "null", "N/A"):
        assert interpret(name, value, unit).value == read and interpret(name, value, unit).status != "unknown unit"


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        *(("hemoglobin", 9, unit) for unit in ("apples", "mg/dL/L", "mmol/L", "%", "/hpf", "U/L")),
        *(
            (name, value, None)
            for name, value in (("glucose", 15), ("magnesium", 1.8), ("neutrophils", 0.6), ("BUN", 20))
        ),
        ("specific gravity", 1020, None),
    ],
)
def test_an_unclear_unit_is_not_interpreted(name, value, unit):
    result = interpret(name, value, unit)
    assert (result.status, result.value, result.unit) == ("unknown unit", value, unit)
    assert result.low is result.high is None and "not interpreted" in result.text


@pytest.mark.parametrize(
    ("name", "value", "unit", "read"),
    [
        *(("hemoglobin", value, "g/dL", value) for value in (1e9, 140, 0)),
        ("hemoglobin", 13.2, "mg/dL", 0.0132),
        ("sodium", 13.5, "mEq/L", 13.5),
        ("platelets", 225000, "thousand/mcL", 225000),
    ],
)
def test_what_cannot_be_measured_in_its_unit_is_implausible(name, value, unit, read):
    """The released logs hold each of the last three."""
    result = interpret(name, value, unit)
    assert (result.status, result.value, result.low, result.high) == ("implausible", read, None, None)
    assert "not interpreted" in result.text


@pytest.mark.parametrize("value", [None, nan, inf, -inf, -1, 10**400])
def test_what_is_no_value(value):
    result = interpret("sodium", value, "mEq/L")
    assert (result.status, result.value) == ("no value", None)
    assert interpret("heart rate", value, "mEq/L").status == "unknown lab"


OTHERS = ["blood pressure", "temperature", "heart rate", "pulse", "respiratory rate", "SpO2", "kidney number", "", "()"]
OTHERS += ["urine protein", "protein", "CSF glucose", "urine sodium", "venous pH", "RBC (urine)", "sodium (potassium)"]


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_laboratory_value_of_the_table_is_unknown(name):
    result = interpret(name, 100, "mm Hg")
    assert (result.name, result.status, result.low, result.high) == (name, "unknown lab", None, None)


def test_sex_counts_where_the_ranges_differ():
    """Hemoglobin 13: low in a man, normal in a woman; 8 is low, 15 normal and 18 high in both."""
    status = [interpret("Hb", 13, "g/dL", sex).status for sex in ("male", "female", "unknown", None, "child")]
    assert status == ["low", "normal", *["depends on sex"] * 3]
    assert [interpret("Hb", value, "g/dL").status for value in (8, 15, 18)] == ["low", "normal", "high"]
    assert (
        interpret("Hb", 13, "g/dL").text
        == "hemoglobin 13 g/dL: depends on sex (male adult 13.5-17.5, female adult 12-16)"
    )
    assert interpret("Hb", 13, "g/dL").low is None and interpret("Hb", 13, "g/dL", "male").low == 13.5


def test_children_and_pregnancy_have_ranges_of_their_own():
    status = [interpret("ALP", 300, "U/L", age=age).status for age in (0, 0.9, 1, 12.9, 13, None)]
    assert status == ["no range"] * 2 + ["normal"] * 2 + ["high"] * 2
    assert interpret("sodium", 150, "mEq/L", age=10).text == "sodium 150 mEq/L: high (adult range 136-145)"
    assert interpret("ferritin", 5, "ng/mL", "male", 10).text.endswith("low (male adult range 20-250)")
    assert interpret("Hb", 11.5, "g/dL", "female", 30, pregnant=True).status == "normal"
    assert interpret("Hb", 11.5, "g/dL", "male", 30, pregnant=True).status == "low"
    assert interpret("ALP", 110, "U/L", age=-4).text.endswith("(adult 30-130)")
    assert interpret("ferritin", 15, "ng/mL", age=30).status == "depends on sex"
    assert interpret("ferritin", 15, "ng/mL", age=30, pregnant=True).status == "normal"


def test_a_patient_without_a_range_has_no_status():
    result = interpret("PSA", 5, "ng/mL", "female")
    assert (result.status, result.value, result.low, result.high) == ("no range", 5, None, None)
    assert interpret("PSA", 5, "ng/mL", "male").status == "high"


def test_the_text_says_what_was_given_and_what_it_is():
    assert interpret("Hb", 9.2, "g/dL", "female").text == "hemoglobin 9.2 g/dL: low (female adult 12-16)"
    assert interpret("Hb", 92, "g/L", "female").text == "hemoglobin 92 g/L = 9.2 g/dL: low (female adult 12-16)"
    assert (
        interpret("AFP", 1250000, "mcg/L", "male").text == "alpha-fetoprotein 1250000 mcg/L: high (male adult up to 10)"
    )
    assert interpret("pH", 7.2, None).text == "arterial pH 7.2: low (adult 7.35-7.45)"
    assert interpret("HDL", 30, "mg/dL").text == "HDL cholesterol 30 mg/dL: low (adult from 40)"
    assert interpret("sodium", 135.96, "mEq/L").text == "sodium 135.96 mEq/L: low (adult 136-145)"


WRONG = [{"name": 3}, {"name": None}, {"value": "138"}, {"value": True}, {"unit": 5}, {"age": "40"}]


@pytest.mark.parametrize("wrong", WRONG)
def test_other_types_are_refused(wrong):
    with pytest.raises(ParameterError, match="expected a name, a number, a unit and an age"):
        interpret(**{"name": "sodium", "value": 138, "unit": "mEq/L"} | wrong)
