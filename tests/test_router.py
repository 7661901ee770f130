"""The router: what it sees, its caps and gates, how scores are filled, and that nothing a model writes breaks it."""

import inspect

import pytest

from nsh.decision_support import scores
from nsh.decision_support.router import RULES, asks_for_treatment, options_asked, route, scores_asked
from nsh.declared import parameters
from nsh.errors import ParameterError
from nsh.extraction import Extraction, read_extraction

TREATMENT = "What would be the best treatment?"
OPTIONS = {"A": "Oral prednisone", "B": "Rest", "C": "Aspirin and heparin", "D": "Warfarin", "E": "Metformin"}
PLAIN = {"A": "Gout", "B": "Lyme disease"}
LABS = [
    {"name": name, "value": 1, "unit": "mg/dL"} for name in ("glucose", "creatinine", "bun", "uric acid", "calcium")
]
FULL = Extraction(
    age=70,
    sex="female",
    labs=LABS,
    medications_current=["lisinopril 10 mg", "kale", "metformin", "aspirin 81 mg"],
    chief_complaint="Community-acquired pneumonia with a decreased level of consciousness",
)


def called(*arguments, **choices):
    return [result.tool for result in route(*arguments, **choices)]


def test_it_is_given_extraction_question_and_options_and_nothing_else():
    assert list(inspect.signature(route).parameters) == ["facts", "question", "options", "scoring", "caps"]


def test_the_papers_caps():
    """`facts` §3.3: a lab interpreter, at most one of five scores, at most two look-ups; "up to four tools"."""
    results = route(FULL, TREATMENT, OPTIONS)
    assert [result.tool for result in results] == ["lab_interpreter", "curb65", "drug_kb", "drug_kb"]
    assert [result.input for result in results[2:]] == ["lisinopril 10 mg", "metformin"]
    assert results[0].text.count(";") == 2  # of five values, a glucose and a calcium of 1 mg/dL are none


def test_the_released_caps():
    """The logs: a result per laboratory value; scores and look-ups only while there are fewer than four results."""
    assert called(FULL, TREATMENT, OPTIONS, caps="released") == ["lab_interpreter"] * 5
    few = FULL.model_copy(update={"labs": FULL.labs[:1]})
    assert called(few, TREATMENT, OPTIONS, caps="released") == [
        "lab_interpreter", "curb65", "glasgow_coma", "drug_kb",
    ]  # fmt: skip
    none = Extraction(medications_current=["aspirin", "warfarin", "lithium"])
    assert [result.input for result in route(none, TREATMENT, OPTIONS, caps="released")] == [
        "aspirin", "warfarin", "lithium", "Oral prednisone",
    ]  # fmt: skip


@pytest.mark.parametrize("caps", parameters()["caps"].choices)
@pytest.mark.parametrize("n_labs", range(6))
def test_never_more_than_four_but_for_released_laboratory_values(caps, n_labs):
    facts = FULL.model_copy(update={"labs": FULL.labs[:n_labs]})
    tools = called(facts, TREATMENT, OPTIONS, caps=caps)
    assert len(tools) <= (4 if caps == "paper" else max(4, n_labs))
    assert tools == called(facts, TREATMENT, OPTIONS, caps=caps)


def test_without_an_extraction_question_and_options_decide():
    assert called(None, TREATMENT, OPTIONS) == ["drug_kb", "drug_kb"]
    assert called(None, "What is the diagnosis?", OPTIONS) == []
    assert called(None, "What is the diagnosis?", {"A": "Pulmonary embolism", "B": "Gout"}) == ["wells_pe"]
    assert called(Extraction(question_type="treatment"), "What now?", OPTIONS) == ["drug_kb", "drug_kb"]


@pytest.mark.parametrize(("name", "words"), RULES["scores"].items())
def test_every_keyword_opens_its_gate_and_no_other(name, words):
    for word in words:
        assert scores_asked(f"A case of {word.upper()} here") == [name]


def test_gates_are_shut_for_other_questions():
    assert scores_asked("A man with gout") == []
    assert not asks_for_treatment("What is the most likely diagnosis here?")
    assert options_asked(PLAIN) == []


def test_a_score_is_filled_from_the_extraction_alone():
    """CURB-65 of a confused 70-year-old, breathing 32/min at 85/50, BUN 25 mg/dL: all five points."""
    facts = Extraction(
        age=70,
        chief_complaint="community-acquired pneumonia",
        symptoms_present=["confusion"],
        vitals={"rr": 32, "bp_systolic": 85, "bp_diastolic": 50},
        labs=[{"name": "BUN", "value": 25, "unit": "mg/dL"}],
    )
    (score,) = (result.text for result in route(facts, "?", PLAIN) if result.tool == "curb65")
    assert "5 of 5 points" in score and "not stated" not in score
    denied = facts.model_copy(update={"symptoms_present": [], "symptoms_absent": ["confusion"]})
    assert "4 of 5 points" in route(denied, "?", PLAIN)[1].text


def test_an_entry_that_begins_with_a_denial_counts_as_absent():
    """Wells (2003): one point for pitting edema; none for the tenderness that the examination denies."""
    facts = Extraction(chief_complaint="DVT?", physical_exam=["No calf tenderness", "pitting edema"])
    expected = scores.wells_dvt(localized_tenderness=False, pitting_edema=True, scoring="safe")
    assert [result.text for result in route(facts, "?", PLAIN, scoring="safe")] == [expected.text]


def test_what_is_present_in_one_place_is_not_made_absent_by_a_denial_in_another():
    facts = Extraction(
        chief_complaint="bedridden for a week",
        physical_exam=["No cyanosis; calf tenderness on the left"],
        symptoms_absent=["recent surgery", "leg swelling"],
    )
    score = route(facts, "pulmonary embolism?", PLAIN)[0].text
    assert "3 of 12.5" not in score and "4.5 of 12.5 points" in score  # immobilization 1.5, signs of DVT 3


def test_a_newborns_weeks_of_gestation_are_no_pregnancy():
    labs = [{"name": "Hb", "value": 18, "unit": "g/dL"}]
    for age in (0, 4):
        assert "pregnancy" not in route(Extraction(age=age, gestation_weeks=38, labs=labs), "?", PLAIN)[0].text
    assert "pregnancy" in route(Extraction(age=30, gestation_weeks=38, labs=labs), "?", PLAIN)[0].text


def test_scoring_is_passed_on():
    """An Apgar of nothing is 0 as published, as the released logs show; the safe way gives no score."""
    question = "The Apgar score is asked for."
    (published,) = route(Extraction(), question, PLAIN)
    (safe,) = route(Extraction(), question, PLAIN, scoring="safe")
    assert ": 0 of 10 points" in published.text
    assert "0 to 10 of 10 points are possible" in safe.text and "appearance" in safe.text
    assert "15 of 15 points" in route(None, "Glasgow coma scale", PLAIN)[0].text


@pytest.mark.parametrize(("choice", "value"), [("scoring", "strict"), ("caps", "four"), ("caps", "")])
def test_other_choices_are_refused(choice, value):
    with pytest.raises(ParameterError, match=f"{choice} = "):
        route(None, "?", PLAIN, **{choice: value})


@pytest.mark.parametrize(
    "reply",
    [
        '{"age": -5, "vitals": {"hr": 9999, "rr": -3, "bp_systolic": 10, "bp_diastolic": 300}, "chief_complaint": '
        '"pulmonary embolism, dvt, community-acquired pneumonia"}',
        '{"labs": [{"name": "", "value": null}, {"name": "glucose", "value": -1, "unit": "x"}, {"name": "Hb"}]}',
        '{"labs": [{"name": "BUN", "value": 1e308, "unit": "mg/dL"}], "imaging": ["community-acquired pneumonia"]}',
        '{"medications_current": ["", " ", "😀", "no", "x"], "question_type": "treatment"}',
        "{}",
    ],
)
@pytest.mark.parametrize("scoring", parameters()["scoring"].choices)
def test_nothing_a_model_writes_breaks_it(reply, scoring):
    facts = read_extraction(reply).facts
    for caps in parameters()["caps"].choices:
        for result in route(facts, TREATMENT + " pulmonary embolism", PLAIN, scoring, caps):
            assert result.text.strip() and result.tool


def test_two_values_of_one_name_are_both_read():
    facts = Extraction(
        labs=[{"name": "Na", "value": 120, "unit": "mEq/L"}, {"name": "Na", "value": 140, "unit": "mEq/L"}]
    )
    assert route(facts, "?", PLAIN)[0].text.count("sodium") == 2
