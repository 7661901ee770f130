"""Appendices C and I of `voices`: a case in its voices, its values marked, and the printed prompts filled for it."""

import re
from dataclasses import replace

import pytest
from made_cases import make_cases

from nsh.cases import load_cases
from nsh.conditions import CONDITIONS
from nsh.opening import open_page
from nsh.overview import calls
from nsh.prompts import template
from nsh.sections.appendix_texts import (
    PRINTED,
    facts_table,
    filled,
    filled_shown,
    marked_values,
    prompt_words,
    voices_shown,
    words,
)


@pytest.fixture
def study():
    return open_page("voices-i-prompts")


def test_ages_and_values_are_marked_and_everything_is_escaped():
    html = marked_values('At fifty-three, BP 134/76 <b>"high"</b>; 3 weeks, type 2 diabetes, 37.8°C')
    assert re.findall("<mark>(.*?)</mark>", html) == ["fifty-three", "134/76", "3 weeks", "37.8°C"]
    assert "&lt;b&gt;&quot;high&quot;&lt;/b&gt;" in html
    assert "type 2 diabetes" in html
    assert marked_values("Nothing here") == "Nothing here"


def test_marking_changes_no_letter_of_any_sample():
    for case in load_cases("samples"):
        for text in case.narratives.values():
            plain = re.sub("</?mark>", "", marked_values(text))
            assert (
                plain.replace("&#x27;", "'").replace("&quot;", '"').replace("&lt;", "<").replace("&amp;", "&") == text
            )


def test_the_voices_stand_side_by_side_the_unmarked_one_first(study):
    study.values["reference"] = "cultural"
    html = voices_shown(study).html
    assert re.findall('<th scope="col">(.*?)</th>', html) == ["cultural", "clinical", "socioeconomic"]
    assert html.count("<td>") == 3 and "<mark>134/76" in html


def test_released_narratives_are_never_shown(study):
    case = study.cases[0]
    study.values["source"] = "released"
    for shown in (voices_shown(study), filled_shown(filled(study, "clinical"))):
        assert all(text not in shown.html and text not in shown.text for text in case.narratives.values())
        assert case.question not in shown.html and case.options["A"] not in shown.html


def test_facts_are_looked_for_in_every_voice():
    (case,) = load_cases("samples", n_cases=1)
    text = facts_table(case, "Findings").text
    assert text.count("found") == 3 * len(case.meta["facts"])
    silent = replace(case, narratives=case.narratives | {"cultural": "It hurts."})
    assert facts_table(silent, "Findings").text.count("not found") >= len(case.meta["facts"]) - 2
    assert "without a list" in facts_table(make_cases(1)[0], "Findings").text


def test_the_filled_prompts_are_those_that_the_conditions_send(study):
    """The conditions of Appendix I, walked, make just these calls."""
    case = study.cases[0]
    found = filled(study, "cultural")
    for name in ("direct", "cot", "debias", "cot_debias"):
        assert found[name].messages == next(CONDITIONS[name](case, "cultural")).messages
    assert found["rewrite"].messages == next(CONDITIONS["rewrite"](case, "cultural")).messages
    assert found["extract"].messages == next(CONDITIONS["extract"](case, "cultural")).messages
    walked = {call.stage for name in ("direct", "rewrite", "extract") for call in calls(CONDITIONS[name])}
    assert walked <= set(PRINTED)
    assert case.narratives["cultural"] not in str(found["answer_from"].messages)


def test_every_prompt_is_shown_with_source_status_and_budget(study):
    shown = filled_shown(filled(study, "clinical"))
    assert shown.html.count("<details") == len(PRINTED) == 7
    for name in PRINTED:
        assert template(name)["source"] in shown.text and template(name)["status"] in shown.text
        assert f"At most {template(name)['max_new_tokens']} new tokens" in shown.text
    assert "{rewrite}" in shown.text and "{narrative}" not in shown.text


def test_words_of_a_prompt_are_the_instruction_and_the_case():
    """B1: 14 words of instruction, "Options:", four letters; then narrative and options as they are."""
    (case,) = make_cases(1)
    table = prompt_words(case)
    story, options = len(case.narratives["clinical"].split()), sum(len(text.split()) for text in case.options.values())
    assert table.at["direct", "instruction"] == 14 + 1 + 4
    assert table.at["direct", "clinical"] == table.at["direct", "instruction"] + story + options
    assert table.at["rewrite", "clinical"] == table.at["rewrite", "instruction"] + story
    assert table.loc["answer_from", list(case.narratives)].nunique() == 1


def test_words_are_divided_at_white_space(study):
    call = filled(study, "clinical")["direct"]
    assert words(call) == len(" ".join(text for _, text in call.messages).split())
