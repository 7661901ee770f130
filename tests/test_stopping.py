"""The stop rule: end token, budget, and a letter that is settled."""

import pytest

from nsh.engines import Call, finish, settled


@pytest.mark.parametrize("text", ["B:", "B.", "B\n", "**B**", "(B)", "The answer is B.", "Answer: B\n"])
def test_a_letter_that_reads_as_one_and_is_closed_is_settled(text):
    assert settled(text, "ABCD")


@pytest.mark.parametrize("text", ["", "B", "The answer is B", "The answer is B or D.", "I am not sure.", "E:", "A 5:"])
def test_a_letter_that_may_still_turn_out_otherwise_is_not_settled(text):
    assert not settled(text, "ABCD")


@pytest.mark.parametrize(
    "answer_only, new, expected",
    [
        (False, "B: go", ""),
        (True, "B: go", ""),
        (False, "B:", ""),
        (True, "B:", "answer"),
        (True, "I think:", ""),
        (True, "B$", "stop"),
        (False, "B: gout a", "length"),
    ],
)
def test_a_reply_ends_by_its_own_rule_and_no_other(answer_only, new, expected):
    call = Call((), 9, "ABCD", answer_only)
    assert finish(call, new, ends={"$"}, decode=str) == expected
