"""The bytes that each condition sends, pinned on one case."""

import pytest
from made_cases import make_cases

from nsh import prompts
from nsh.conditions import CONDITIONS
from nsh.engines import Completion

CASE = make_cases(1)[0]
DIRECT = """Story 0 told in the clinical voice. Which finding is next?

Options:
A: finding A
B: finding B
C: finding C
D: finding D

Which of the following is the correct option? Provide only the single correct letter."""
ANSWER = """CLINICAL VIGNETTE:
A {narrative} in {braces}.

QUESTION:
Which finding is next?

OPTIONS:
A: finding A
B: finding B
C: finding C
D: finding D

Answer letter:"""


def test_direct_sends_the_printed_prompt():
    """`voices` Appendix I, B1: no system turn."""
    call = next(CONDITIONS["direct"](CASE, "clinical"))
    assert call.messages == (("user", DIRECT),)
    assert (call.max_new_tokens, call.letters) == (128, "ABCD")


def test_rewrite_sends_the_printed_prompts():
    """`voices` Appendix I; braces in a vignette are text."""
    steps = CONDITIONS["rewrite"](CASE, "clinical")
    system, user = next(steps).messages
    assert system[1].startswith("You are a clinician writing up a patient’s own account as a standard clinical case")
    assert system[1].endswith("Do not suggest a diagnosis. Output only the vignette.")
    assert user[1] == f"PATIENT NARRATIVE:\n{CASE.narratives['clinical']}\n\nWrite the clinical vignette."
    answer = steps.send(Completion("A {narrative} in {braces}."))
    assert answer.messages == (
        ("system", "Select the best answer letter (A, B, C, or D). Output exactly one letter."),
        ("user", ANSWER),
    )


def test_other_sets_of_letters_fill_the_same_sentence():
    two = make_cases(1, letters="AB")[0]
    assert (
        prompts.answer_from("X", "y", two)[0][1] == "Select the best answer letter (A or B). Output exactly one letter."
    )


@pytest.mark.parametrize("name", ["direct", "rewrite", "answer_from"])
def test_every_prompt_names_its_source_and_status(name):
    assert prompts.template(name)["source"].startswith("voices, Appendix I")
    assert prompts.template(name)["status"].startswith("verbatim")
