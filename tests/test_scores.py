"""The five clinical scores: every combination of items against the published rule, written out here a second time."""

import inspect
import re
from itertools import product

import numpy as np
import pytest

from nsh.decision_support.scores import UREA_PER_BUN, apgar, curb65, glasgow, wells_dvt, wells_pe
from nsh.decision_support.scoring import LIMITS, RULES
from nsh.errors import ParameterError

NAN, INF = float("nan"), float("inf")
SCORES = {"wells_dvt": wells_dvt, "wells_pe": wells_pe, "curb65": curb65, "glasgow_coma": glasgow, "apgar": apgar}
# The two-level DVT Wells Score after Wells et al. 2003, ncbi.nlm.nih.gov/pubmedhealth/PMH0055213, appendix K, table 1
DVT = {
    "active_cancer": 1,
    "paralysis_or_plaster": 1,
    "bedridden_or_surgery": 1,
    "localized_tenderness": 1,
    "entire_leg_swollen": 1,
    "calf_swelling": 1,
    "pitting_edema": 1,
    "collateral_veins": 1,
    "previous_dvt": 1,
    "alternative_diagnosis": -2,
}
# Medscape's Wells Score PE, after Wells et al. 2000; the pulse by values on both sides of 100
PE = {
    "dvt_signs": {True: 3, False: 0},
    "pe_most_likely": {True: 3, False: 0},
    "heart_rate": {0: 0, 100: 0, 100.5: 1.5, 101: 1.5},
    "immobilization_or_surgery": {True: 1.5, False: 0},
    "previous_dvt_or_pe": {True: 1.5, False: 0},
    "hemoptysis": {True: 1, False: 0},
    "malignancy": {True: 1, False: 0},
}
# CURB-65 as in hospital, after the British Thoracic Society, gpnotebook.com; the pressures are one item
CURB = {
    "confusion": {True: 1, False: 0},
    "urea": {0: 0, 7: 0, 7.1: 1, 30: 1},
    "respiratory_rate": {12: 0, 29: 0, 30: 1, 45: 1},
    "age": {18: 0, 64.9: 0, 65: 1, 90: 1},
}
PRESSURES = {(120, 80): 0, (90, 61): 0, (90, 60): 1, (89, 61): 1, (89, 60): 1, (200, 60): 1, (89, 89): 1}
# Best responses of the Glasgow Coma Scale, table 1 of doi 10.1186/s41984-020-00096-5; signs of Apgar, MSD Manual
GRADES = {"glasgow_coma": {"eye": range(1, 5), "verbal": range(1, 6), "motor": range(1, 7)}}
GRADES["apgar"] = dict.fromkeys(("appearance", "pulse", "grimace", "activity", "respiration"), range(3))


def possible(score):
    """The least and the most points that the text says are possible."""
    return tuple(map(float, re.search(r"scored, (\S+) to (\S+) of", score.text).groups()))


def combinations(items):
    """Every choice of one value, or None, for each item."""
    for chosen in product(*([None, *values] for values in items.values())):
        yield dict(zip(items, chosen, strict=True))


def totals(items, given):
    """Every total that the items can come to, with all that an unknown one may be."""
    ends = [[items[name][value]] if value is not None else items[name].values() for name, value in given.items()]
    return {sum(chosen) for chosen in product(*ends)}


def scored(function, given):
    """Both scorings of one patient: points, whether they miss the same items, how many, and what the safe one says."""
    as_published, safe = function(**given), function(**given, scoring="safe")
    told = (safe.points, safe.category, possible(safe)) if safe.missing else (safe == as_published, {safe.points})
    return as_published.points, as_published.missing == safe.missing, len(safe.missing), told


def expected(reachable, published, n_missing):
    """What `scored` gives, from the totals by brute force."""
    told = (None, None, (min(reachable), max(reachable))) if n_missing else (True, reachable)
    return published, True, n_missing, told


def test_wells_dvt_of_every_combination():
    for present in product((True, False), repeat=10):
        given = dict(zip(DVT, present, strict=True))
        points = sum(weight for name, weight in DVT.items() if given[name])
        tier = "low" if points <= 0 else "moderate" if points <= 2 else "high"
        score = wells_dvt(**given)
        assert (score.points, score.maximum, score.missing) == (points, 9, ())
        assert score.category == f"{tier} probability, DVT {'likely' if points >= 2 else 'unlikely'}"


def test_wells_dvt_of_every_combination_of_unknown_items():
    for unknown in product((True, False), repeat=10):
        given = {name: None if hidden else True for name, hidden in zip(DVT, unknown, strict=True)}
        items = {name: {True: weight, False: 0} for name, weight in DVT.items()}
        published = sum(weight for name, weight in DVT.items() if given[name])
        assert scored(wells_dvt, given) == expected(totals(items, given), published, sum(unknown))


def test_wells_pe_of_every_combination():
    for given in combinations(PE):
        published = sum(PE[name][value] for name, value in given.items() if value is not None)
        n_missing = sum(value is None for value in given.values())
        assert scored(wells_pe, given) == expected(totals(PE, given), published, n_missing)


def test_wells_pe_categories():
    """Low below 2, moderate to 6, high above; PE likely above 4 (timeofcare.com, medscape)."""
    for present in product((True, False), repeat=6):
        given = dict(zip([name for name in PE if name != "heart_rate"], present, strict=True))
        for rate in (100, 101):
            score = wells_pe(**given, heart_rate=rate)
            tier = "low" if score.points < 2 else "moderate" if score.points <= 6 else "high"
            assert score.category == f"{tier} probability, PE {'likely' if score.points > 4 else 'unlikely'}"


def test_curb65_of_every_combination():
    """An unknown pressure matters unless the other one has already decided the item."""
    risk = ["low", "low", "intermediate", "high", "high", "high"]
    for given in combinations(CURB):
        n_missing = sum(value is None for value in given.values())
        others = sum(CURB[name][value] for name, value in given.items() if value is not None)
        for (systolic, diastolic), point in PRESSURES.items():
            pressures = {"systolic": systolic, "diastolic": diastolic}
            reachable = {total + point for total in totals(CURB, given)}
            assert scored(curb65, given | pressures) == expected(reachable, others + point, n_missing)
            assert curb65(**given, **pressures).category == f"{risk[others + point]} risk of death"


@pytest.mark.parametrize(
    ("systolic", "diastolic", "published", "ends", "missing"),
    [
        (None, None, 0, (0, 1), ("systolic", "diastolic")),
        (89, None, 1, (1, 1), ()),
        (90, None, 0, (0, 1), ("diastolic",)),
        (None, 60, 1, (1, 1), ()),
        (None, 61, 0, (0, 1), ("systolic",)),
    ],
)
def test_curb65_with_one_pressure(systolic, diastolic, published, ends, missing):
    given = {"confusion": False, "urea": 5, "respiratory_rate": 16, "age": 40, "systolic": systolic}
    score, safe = curb65(**given, diastolic=diastolic), curb65(**given, diastolic=diastolic, scoring="safe")
    assert (score.points, score.missing) == (published, missing)
    assert (possible(safe) if missing else (safe.points, safe.points)) == ends
    assert ("1 of 5 items not stated" in score.text) == bool(missing)


def test_blood_urea_nitrogen_reaches_the_limit_between_19_and_20():
    """Pages give the limit as 20 mg/dL, others as more than 19: in whole numbers the same (unitslab.com: x 0.357)."""
    assert [curb65(urea=bun * UREA_PER_BUN).points for bun in (19, 20)] == [0, 1]
    assert pytest.approx(1 / (2 * 14.007) * 10, rel=1e-3) == UREA_PER_BUN  # two nitrogen atoms in a molecule of urea


@pytest.mark.parametrize(
    ("name", "limits", "words", "unstated"),
    [
        ("glasgow_coma", (8, 12), ("severe", "moderate", "mild"), "best"),
        ("apgar", (3, 6), ("low", "intermediate", "normal"), "worst"),
    ],
)
def test_graded_scores_of_every_combination(name, limits, words, unstated):
    """Severe to 8, moderate to 12 (the same table of the Glasgow scale); low to 3, intermediate to 6 (MSD Manual)."""
    grades = {item: {grade: grade for grade in values} for item, values in GRADES[name].items()}
    for given in combinations(grades):
        counted = {"best": max, "worst": min}[unstated]
        points = sum(counted(grades[item]) if grade is None else grade for item, grade in given.items())
        n_missing = sum(grade is None for grade in given.values())
        assert scored(SCORES[name], given) == expected(totals(grades, given), points, n_missing)
        category = words[(points > limits[0]) + (points > limits[1])]
        assert SCORES[name](**given).category == category


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("wells_dvt", -2, 9), ("wells_pe", 0, 12.5), ("curb65", 0, 5), ("glasgow_coma", 3, 15), ("apgar", 0, 10)],
)
def test_nothing_known(name, least, most):
    """As published the released logs of `facts` show Apgar 0, GCS 15 and 0 for the Wells rules and CURB-65."""
    published, safe = SCORES[name](), SCORES[name](scoring="safe")
    assert published.name == safe.name == name
    assert published.points == (15 if name == "glasgow_coma" else 0)
    assert safe.points is None
    assert possible(safe) == (least, most)
    assert published.maximum == safe.maximum == most
    n, word = len(RULES[name]["items"]), "normal" if name == "glasgow_coma" else "absent"
    assert published.text.endswith(f"{n} of {n} items not stated and counted as {word}")
    assert all(missing.replace("_", " ") in safe.text for missing in safe.missing)
    assert "\n" not in published.text + safe.text


@pytest.mark.parametrize("name", SCORES)
def test_functions_take_the_items_of_the_data_by_name_only(name):
    parameters = inspect.signature(SCORES[name]).parameters
    assert list(parameters) == [key for item in RULES[name]["items"] for key in item] + ["scoring"]
    assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(key in SCORES[name].__doc__ for key in parameters)


@pytest.mark.parametrize("name", SCORES)
def test_the_data_is_complete(name):
    rule = RULES[name]
    inputs = [declared for item in rule["items"] for declared in item.values()]
    assert all(set(declared) <= {"points", "from", "to", "unit", *LIMITS} for declared in inputs)
    assert all(("from" in declared) == ("to" in declared) for declared in inputs)
    assert all(set(source) == {"title", "address", "checked"} for source in rule["sources"])
    assert rule["reference"]


@pytest.mark.parametrize(
    ("function", "item", "value", "words"),
    [
        (wells_dvt, "active_cancer", 1, "wells_dvt, active_cancer: expected true, false or None"),
        (wells_dvt, "previous_dvt", "yes", "found 'yes'"),
        (wells_dvt, "previous_dvt", NAN, "found nan"),
        (wells_pe, "heart_rate", True, "expected a number from 0 to 400 per minute or None (not known); found True"),
        (wells_pe, "heart_rate", NAN, "found nan"),
        (wells_pe, "heart_rate", INF, "found inf"),
        (wells_pe, "heart_rate", "110", "found '110'"),
        (curb65, "urea", -0.1, "from 0 to 150 mmol/L or None (not known); found -0.1"),
        (curb65, "urea", [7], "found [7]"),
        (curb65, "age", 131, "found 131"),
        (curb65, "confusion", 0, "curb65, confusion"),
        (glasgow, "eye", 0, "glasgow_coma, eye: expected a whole number from 1 to 4 or None (not known); found 0"),
        (glasgow, "motor", 7, "motor"),
        (glasgow, "verbal", 3.5, "found 3.5"),
        (glasgow, "verbal", True, "found True"),
        (apgar, "pulse", 3, "from 0 to 2"),
        (apgar, "pulse", -1, "found -1"),
        (apgar, "scoring", "strict", "apgar, scoring: expected published or safe; found 'strict'"),
        (apgar, "scoring", None, "found None"),
    ],
)
def test_what_is_wrong_is_named(function, item, value, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        function(**{item: value})


def test_pressures_the_wrong_way_round_are_refused():
    with pytest.raises(ParameterError, match="at most the systolic 80 mmHg; found 120"):
        curb65(systolic=80, diastolic=120)


def test_numbers_of_numpy_are_numbers():
    assert wells_pe(heart_rate=np.float64(101)).points == 1.5
    assert glasgow(eye=np.int64(1), verbal=1.0, motor=1).category == "severe"
