"""Types of question: the lists against what `facts` prints of them, and the order in which they are tried."""

from collections import Counter
from importlib.resources import files

import pytest
import yaml

from nsh.cases import load_cases
from nsh.question_types import phrase_lists, phrases, question_type


def test_as_many_phrases_as_the_paper_counts():
    # `facts` Appendix A, Filter 5: 24 phrases, diagnosis 6, treatment and management 12, investigation 6
    lists = {kind: {phrase for part in found.values() for phrase in part} for kind, found in phrase_lists().items()}
    assert {kind: len(found) for kind, found in lists.items()} == {"diagnosis": 6, "treatment": 12, "investigation": 6}
    assert len(set().union(*lists.values())) == 24


def test_general_phrases_tell_no_type():
    general = {phrase for lists in phrase_lists().values() for phrase in lists["general"]}
    assert general == {"following would", "most likely finding"}
    assert not general & set().union(*phrases().values())
    assert all(question_type(phrase) == "other" for phrase in general)


def test_the_printed_phrases_are_marked_and_the_rest_is_reconstructed():
    # `facts` Appendix A, Filter 5 prints three of each type
    declared = yaml.safe_load(files("nsh").joinpath("data/question_types.yaml").read_text(encoding="utf-8"))
    assert declared["status"] == "partly reconstructed"
    assert {kind: lists["printed"] for kind, lists in declared["types"].items()} == {
        "diagnosis": ["most likely diagnosis", "most likely cause", "most likely etiology"],
        "treatment": ["best treatment", "most appropriate next step", "which medication"],
        "investigation": ["best initial test", "most appropriate test", "confirm the diagnosis"],
    }


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the most likely diagnosis?", "diagnosis"),
        ("What is the MOST likely\n  etiology?", "diagnosis"),
        ("Most appropriate next step in management?", "treatment"),
        ("Which medication should be started?", "treatment"),
        ("What is the best initial test?", "investigation"),
        ("Name the best treatment of this most likely diagnosis.", "treatment"),
        ("Best next step to confirm the diagnosis?", "investigation"),
        ("Next best step in diagnosis?", "investigation"),
        ("Which of the following should be given?", "treatment"),
        ("Which of the following would you expect?", "other"),
        ("Which enzyme is affected?", "other"),
        ("", "other"),
    ],
)
def test_types(question, kind):
    assert question_type(question) == kind


def test_types_of_the_released_questions(released):
    # counted here; no paper prints the numbers of each type
    found = Counter(question_type(case.question) for case in load_cases(str(released)))
    assert found == {"diagnosis": 501, "treatment": 395, "investigation": 49, "other": 55}
