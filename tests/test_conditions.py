"""What each condition sends, pinned to the byte on one case, and which text each of its calls sees."""

import json
import re
from pathlib import Path

import pytest
from made_cases import make_cases

from nsh import prompts
from nsh.cases import Case
from nsh.conditions import CONDITIONS
from nsh.engines import Call, Completion

PINNED = Path(__file__).parent / "data" / "conditions.txt"
NARRATIVE = (
    "My kettle hissed all night like my chest. At fifty-three I walk bent to the well {bucket} in hand. "
    "My sister rubbed camphor on my back. Which remedy should this man be given next?"
)
CASE = Case(
    "walk",
    "Which drug is the best next step in treatment?",
    {"A": "Oral prednisone", "B": "Warfarin", "C": "Inhaled albuterol", "D": "Rest"},
    "C",
    {"clinical": "A 53-year-old man wheezes. Which drug is the best next step in treatment?", "cultural": NARRATIVE},
)
FACTS = {"age": 53, "sex": "male", "labs": [{"name": "sodium", "value": 128, "unit": "mEq/L"}], "imaging": []}
REPLIES = {
    "rewrite": "A 53-year-old man with wheezing, pulse 118/min.",
    "rewrite_again": "A 53-year-old man with wheezing, pulse 118/min.",
    "extract": f"Here it is:\n{json.dumps(FACTS)}",
    "reason": "1. SUMMARY: wheezing. The findings fit asthma.",
    "fallback": "C",
    "cot": "Step by step. Answer: C",
}
NO_NARRATIVE = {
    "rewrite": {"answer_from"},
    "guarded_rewrite": {"answer_from"},
    "rewrite_cot": {"cot_from"},
    "extract": {"answer_from"},
    "extract_reason": {"reason"},
    "extract_tools": {"reason", "fallback"},
}


def walk(condition, replies=REPLIES, case=CASE, voice="cultural", **choices):
    """The calls of a condition on one case with canned replies by stage ("C" where none is given), and its answer."""
    steps, calls, reply = CONDITIONS[condition](case, voice, **choices), [], None
    try:
        while True:
            calls.append(steps.send(reply))
            reply = Completion(replies.get(calls[-1].stage, "C"))
    except StopIteration as end:
        return calls, end.value


def written(name: str, calls: list[Call]) -> str:
    """Calls as the pinned file holds them."""
    lines = []
    for number, call in enumerate(calls, start=1):
        lines.append(f"=== {name}, call {number}: {call.stage}, {call.max_new_tokens} new tokens, [{call.letters}]")
        for role, text in call.messages:
            lines += [f"--- {role}", text]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", [*CONDITIONS, "facts_cot two_shot"])
def test_the_bytes_sent_are_pinned(name):
    """One changed character of a prompt, a budget or an option line shows here."""
    condition, *two_shot = name.split()
    calls, _ = walk(condition, **({"two_shot": True} if two_shot else {}))
    pinned = dict(re.findall(r"(?ms)^##### (.+?)\n(.*?)(?=^##### |\Z)", PINNED.read_text(encoding="utf-8")))
    assert written(name, calls) == pinned[name]


@pytest.mark.parametrize("name", CONDITIONS)
def test_answering_calls_of_the_representation_conditions_see_nothing_of_the_narrative(name):
    """No sentence, and no run of three words, but what the question sentence shares with it."""
    words = re.findall(r"\w+", NARRATIVE.lower())
    runs = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
    for call in walk(name)[0]:
        sent = " ".join(re.findall(r"\w+", " ".join(text for _, text in call.messages).lower()))
        assert any(run in sent for run in runs) != (call.stage in NO_NARRATIVE.get(name, ()))


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_answering_call_holds_options_and_letters_and_no_other_call_does(name):
    calls, answer = walk(name, {**REPLIES, "reason": "Answer: C"} if name == "extract_reason" else REPLIES)
    assert [bool(call.letters) for call in calls] == [
        call.stage not in ("rewrite", "rewrite_again", "extract") for call in calls
    ]
    for call in calls:
        assert ("Inhaled albuterol" in call.messages[-1][1]) == (bool(call.letters) and call.stage != "fallback")
    assert (answer.letter, answer.status) == ("C", "ok")


def test_the_tools_see_extraction_question_and_options_and_nothing_else(monkeypatch):
    """`facts` §3.3: the router inspects Agent 1's JSON and the question."""
    seen = []

    def route(facts, question, options, scoring, caps):
        seen.append((facts.age, facts.labs[0].value, question, options, scoring, caps))
        return ()

    monkeypatch.setattr("nsh.conditions.route", route)
    walk("extract_tools", scoring="safe")
    assert seen == [(53, 128, CASE.question, CASE.options, "safe", "paper")]


def test_the_fallback_is_called_only_where_no_letter_was_found():
    calls, answer = walk("extract_tools")
    assert [call.stage for call in calls] == ["extract", "reason", "fallback"]
    assert (answer.fallback, answer.text) == (True, REPLIES["reason"])
    calls, answer = walk("extract_tools", {**REPLIES, "reason": "Answer: B"})
    assert [call.stage for call in calls] == ["extract", "reason"]
    assert (answer.fallback, answer.letter, answer.extraction) == (False, "B", "ok")


@pytest.mark.parametrize("reason", ["Answer: A and C", "I cannot give medical advice.", ""])
def test_an_ambiguous_refused_or_empty_reasoning_is_no_letter(reason):
    calls, answer = walk("extract_tools", {**REPLIES, "reason": reason})
    assert calls[-1].stage == "fallback" and answer.fallback and answer.letter == "C"


def test_where_nothing_parses_the_raw_extraction_stands_for_the_facts():
    """`voices` §4: "if the JSON does not parse, the answering call receives the raw extraction text"."""
    raw = 'The patient is {"age": 53, "labs": ['
    for name in ("extract", "extract_reason", "extract_tools", "story_schema"):
        calls, answer = walk(name, {**REPLIES, "extract": raw})
        assert raw in calls[1].messages[-1][1]
        assert answer.extraction == "truncated"


def test_parsed_facts_are_passed_on_as_the_model_wrote_them():
    calls, answer = walk("extract")
    assert f"CLINICAL FACTS:\n{json.dumps(FACTS, separators=(',', ':'))}\n" in calls[1].messages[-1][1]
    assert answer.extraction == "ok"


def test_tool_results_stand_in_the_reasoning_prompt_and_only_there():
    calls, answer = walk("extract_tools")
    assert "lab_interpreter" in answer.tools and "drug_kb" in answer.tools and len(answer.tools) <= 4
    assert "DECISION SUPPORT" in calls[1].messages[-1][1] and "sodium" in calls[1].messages[-1][1]
    assert "DECISION SUPPORT" not in walk("extract_reason")[0][1].messages[-1][1]


def test_without_a_tool_the_reasoning_call_is_shared_with_extract_reason():
    case = make_cases(1)[0]
    replies = {"extract": "{}", "reason": "Answer: A"}
    with_tools, answer = walk("extract_tools", replies, case, "clinical")
    assert answer.tools == ()
    assert with_tools == walk("extract_reason", replies, case, "clinical")[0]


def test_a_guarded_rewrite_asks_once_more_and_then_strikes_out():
    """The pulse of 118 stands in no narrative; the age does, in words."""
    calls, _ = walk("guarded_rewrite")
    assert [call.stage for call in calls] == ["rewrite", "rewrite_again", "answer_from"]
    assert "118" in calls[1].messages[-1][1]
    assert "118" not in calls[2].messages[-1][1] and "53-year-old man" in calls[2].messages[-1][1]
    calls, _ = walk("guarded_rewrite", {"rewrite": "A 53-year-old man with wheezing."})
    assert [call.stage for call in calls] == ["rewrite", "answer_from"]


def test_printed_words_and_budgets():
    """`voices` Appendix I and section 4, `sdoh` Table I, typed from the papers."""
    sent = {name: walk(name)[0] for name in CONDITIONS}
    assert (
        sent["cot"][0]
        .messages[0][1]
        .endswith(
            "Think step by step. Consider each option carefully based only on the clinical facts presented. "
            "Then state your final answer as: Answer: [letter]"
        )
    )
    assert sent["debias"][0].messages[0] == (
        "system",
        "Ignore how the patient describes their symptoms. Focus exclusively on the objective clinical facts, test "
        "results, and medical history. Do not let the patient’s language style, health literacy, or cultural framing "
        "influence your reasoning.",
    )
    assert sent["debias"][0].messages[1:] == sent["direct"][0].messages
    assert sent["cot_debias"][0].messages == (sent["debias"][0].messages[0], *sent["cot"][0].messages)
    assert (
        sent["zero_shot"][0]
        .messages[0][1]
        .startswith("Choose the best option and return one letter with a brief explanation.")
    )
    assert (
        sent["few_shot"][0]
        .messages[0][1]
        .startswith("Use two solved medical examples before answering the target case.")
    )
    assert (
        sent["bias_aware"][0]
        .messages[0][1]
        .startswith(
            "Focus on clinical evidence. Ignore writing style or patient background unless clinically relevant."
        )
    )
    assert 'record as "inhaler [type if inferrable]" -- do NOT preserve' in sent["extract"][0].messages[0][1]
    printed = {name: [call.max_new_tokens for call in calls] for name, calls in sent.items()}
    assert printed["direct"] == printed["debias"] == [128] and printed["cot"] == printed["cot_debias"] == [1280]
    assert printed["rewrite"] == [512, 16] and printed["extract"] == [600, 16]
    assert printed["zero_shot"] == printed["few_shot"] == printed["bias_aware"] == [120]


def test_facts_and_voices_have_conditions_of_their_own():
    """A page never mixes `facts_cot` with `cot`, nor `facts_debias` with `debias`."""
    for ours, theirs in {"facts_cot": "cot", "facts_debias": "debias"}.items():
        assert walk(ours)[0] != walk(theirs)[0]
        assert prompts.template(ours)["status"] == "reconstructed"
        assert prompts.template(theirs)["status"] == "verbatim"
    (shot,), (none,) = walk("facts_cot", two_shot=True)[0], walk("facts_cot")[0]
    assert shot.messages[0][1].count("Reasoning:") == 2 and none.messages[0][1].count("Reasoning:") == 0


def test_braces_in_a_narrative_or_reply_are_text():
    assert "{bucket}" in walk("direct")[0][0].messages[0][1]
    calls, _ = walk("rewrite", {"rewrite": "A {narrative} in {braces} and {options}."})
    assert "A {narrative} in {braces} and {options}." in calls[1].messages[1][1]


@pytest.mark.parametrize(("letters", "said"), [("AB", "(A or B)"), ("ABCDE", "(A, B, C, D, or E)")])
def test_other_sets_of_letters_fill_the_same_sentence(letters, said):
    calls, _ = walk("rewrite", case=make_cases(1, letters=letters)[0], voice="clinical")
    assert calls[1].messages[0][1] == f"Select the best answer letter {said}. Output exactly one letter."
    assert calls[1].letters == letters
