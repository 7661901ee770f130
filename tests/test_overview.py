"""The table of the conditions comes from walking their code."""

import pytest

from nsh.conditions import CONDITIONS
from nsh.overview import calls, conditions_table
from nsh.prompts import template

# `voices` §4 and Appendix I, `sdoh` configuration table; 700 and the 16 of fallback and story_schema are reconstructed
BUDGETS = {
    "direct": [128], "cot": [1280], "debias": [128], "cot_debias": [1280], "rewrite": [512, 16], "extract": [600, 16],
    "extract_reason": [600, 700], "extract_tools": [600, 700, 16], "story_schema": [600, 16], "zero_shot": [120],
    "few_shot": [120], "bias_aware": [120],
}  # fmt: skip


@pytest.mark.parametrize("name", BUDGETS)
def test_calls_and_budgets_are_those_of_the_papers(name):
    assert [call.max_new_tokens for call in calls(CONDITIONS[name])] == BUDGETS[name]


def test_every_condition_takes_every_step():
    assert [call.stage for call in calls(CONDITIONS["guarded_rewrite"])] == ["rewrite", "rewrite_again", "answer_from"]
    assert [call.stage for call in calls(CONDITIONS["extract_tools"])] == ["extract", "reason", "fallback"]


def test_the_table_has_a_row_for_every_call():
    text = conditions_table().text.splitlines()
    assert len(text) == 1 + sum(len(calls(condition)) for condition in CONDITIONS.values())
    row = next(line for line in text if "extract_tools" in line and "fallback" in line)
    assert "16 (reconstructed)" in row and template("fallback")["source"] in row
    seen = {line.split()[0]: line for line in text if " answer_from " in line}
    assert "narrative" not in seen["rewrite"].split("answer_from")[1].split("16 (")[0]
