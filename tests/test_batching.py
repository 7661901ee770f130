"""Batches of like length: within their limits, nothing lost, and the start that they share."""

import random
from dataclasses import replace

import pytest

from nsh.batching import Row, plan, shared_start
from nsh.chat import Prompt
from nsh.engines import Call
from nsh.scale.stages import in_order


def rows_of(lengths, shared: int = 0, stage: str = "", first: int = 1) -> list[Row]:
    """Prompts of one token again and again."""
    call = Call((), 8, stage=stage)
    return [Row(n, call, Prompt((first,) * length, False, True), shared) for n, length in enumerate(lengths)]


@pytest.mark.parametrize("budget, room", [(2048, 2048), (2048, 8192), (300, 5000), (1, 1), (10**6, 10**6)])
@pytest.mark.parametrize("seed", range(3))
def test_batches_hold_every_row_once_and_stay_within_their_limits(seed, budget, room):
    lengths = sorted(random.Random(seed).choices(range(1, 900), k=200), reverse=True)
    waiting = list(lengths)
    while waiting:
        sizes = plan(rows_of(waiting), budget, room)
        together, waiting = waiting[: sum(sizes)], waiting[sum(sizes) :]
        assert len(together) * together[0] <= room or len(together) == 1
        for size in sizes:
            batch, together = together[:size], together[size:]
            assert size * batch[0] <= budget or size == 1
        assert not together
        lengths = lengths[sum(sizes) :]
        assert lengths == waiting


def test_no_batch_could_take_one_more_row():
    lengths = [500, 500, 400, 400, 400, 300, 300]
    assert plan(rows_of(lengths), budget=1200, room=10_000) == [2, 3, 2]  # 3 x 500 and 4 x 400 exceed 1200
    assert plan(rows_of(lengths), budget=1200, room=2500) == [2, 3]  # 6 x 500 exceed 2500


def test_a_row_over_every_limit_goes_alone():
    assert plan(rows_of([5000, 4000]), budget=2048, room=2048) == [1]


def test_all_that_rows_share_is_found_by_comparing_them_place_by_place():
    rows = [[1, 2, 3, 4, 5], [1, 2, 3, 9], [1, 2, 3, 4]]
    assert shared_start(rows) == 3
    assert shared_start([*rows, [2]]) == 0
    assert shared_start([[1, 2, 3], [1, 2]]) == 1  # the shorter row keeps a token of its own


def test_what_a_stage_shares_is_not_counted_as_read_and_stages_are_read_apart_but_continued_together():
    rows = [*rows_of([500, 450, 420], shared=400), *rows_of([300, 300], shared=250, first=2)]
    assert plan(rows, budget=200, room=10_000) == [2, 1, 2]  # 2 x 100 and 1 x 20; 3 x 100 exceed 200
    assert plan(rows, budget=10_000, room=2000) == [3, 1]  # 5 x 500 exceed 2000


def test_a_longer_row_in_a_later_stage_widens_the_whole():
    assert plan([*rows_of([100, 90]), *rows_of([500, 400])], budget=10_000, room=1000) == [2]  # 3 x 500 exceed 1000
    assert plan([*rows_of([100]), *rows_of([500, 400])], budget=500, room=1000) == [1, 1]


def test_only_the_rows_that_are_taken_are_looked_at():
    looked = iter(rows_of([10] * 100))
    assert plan(looked, budget=20, room=50) == [2, 2, 1]
    assert len(list(looked)) == 100 - 6


def test_stages_follow_one_another_the_longest_prompt_first_each_with_what_all_its_prompts_begin_with():
    long, short = rows_of([30, 20, 40], stage="rewrite"), rows_of([35, 18], stage="direct", first=2)
    alone = rows_of([90], stage="extract", first=3)
    found = in_order([*short, *long, *alone])
    assert [len(row) for row in found] == [90, 40, 30, 20, 35, 18]
    assert [row.shared for row in found] == [0, 19, 19, 19, 17, 17]  # one token of its own for the shortest
    assert all((*row.start, *row.branch, *row.rest) == row.prompt.ids for row in found)
    assert [len(row) for row in in_order([*short, *long], by_stage=False)] == [40, 35, 30, 20, 18]


def told_by(*stages: str, narratives: int = 3, opening: int = 20, story: int = 50) -> list[Row]:
    """A row for each stage and narrative: an opening of all, the narrative, and the stage's own question."""
    kinds = [(told, stage) for told in range(narratives) for stage in stages]
    ids = [(1,) * opening + (10 + told,) * (story + told) + (100 + len(stage),) * 5 for told, stage in kinds]
    calls = (Call((), 8, stage=stage) for _, stage in kinds)
    return [Row(n, call, Prompt(ids[n], False, True)) for n, call in enumerate(calls)]


def test_rows_of_several_stages_that_tell_one_narrative_come_together_with_it_as_their_branch():
    rows = told_by("direct", "cot")
    random.Random(1).shuffle(rows)
    found = in_order(rows)
    assert [(row.shared, row.branched) for row in found] == [(20, n) for n in (52, 52, 51, 51, 50, 50)]
    assert [row.index // 2 for row in found] == [2, 2, 1, 1, 0, 0]  # the narratives, the longest first
    assert all((*row.start, *row.branch, *row.rest) == row.prompt.ids for row in found)


def test_a_stage_that_takes_fewer_narratives_than_another_still_shares_them():
    few, many = told_by("cot", narratives=1), told_by("direct", narratives=2)
    found = in_order([*few, *(replace(row, index=row.index + 10) for row in many)])
    assert sorted((row.call.stage, row.shared, row.branched) for row in found) == [
        ("cot", 20, 50),
        ("direct", 20, 0),  # alone, and yet with its stage's start
        ("direct", 20, 50),
    ]


def test_rows_whose_budgets_are_far_apart_do_not_wait_for_one_another():
    budgets = {"cot": 1280, "direct": 128, "facts": 512}
    rows = [replace(row, call=replace(row.call, max_new_tokens=budgets[row.call.stage])) for row in told_by(*budgets)]
    found = in_order(rows)
    assert {(row.call.stage, row.branched > 0) for row in found} == {("cot", False), ("direct", True), ("facts", True)}
    assert sorted(row.index for row in found) == list(range(9))


@pytest.mark.parametrize("between", [1, 150])
def test_a_longer_question_about_a_narrative_keeps_no_others_apart(between):
    """Whatever its first token, before or behind the others in order."""
    rows = told_by("direct", "cot", narratives=2)
    long = [
        Row(10 + n, Call((), 8, stage="long"), Prompt(row.prompt.ids[:-5] + (between,) * 80, False, True))
        for n, row in enumerate(rows[::2])
    ]
    assert [row.branched for row in in_order([*rows, *long])] == [51, 51, 51, 50, 50, 50]


def test_stages_with_a_long_start_of_their_own_and_narratives_with_a_few_words_in_common_stay_as_they_are():
    apart = [*told_by("extract", opening=300), *told_by("direct", opening=20)]
    found = in_order(replace(row, index=n) for n, row in enumerate(apart))
    assert [(row.call.stage, row.shared, row.branched) for row in found] == [("extract", 300, 0)] * 3 + [
        ("direct", 20, 0)
    ] * 3
    assert {row.branched for row in in_order(told_by("direct", "cot", story=13))} == {0}  # 13 to 15 tokens


def test_a_prompt_that_is_drawn_from_several_times_is_read_once():
    drawn = [replace(row, index=n) for n, row in enumerate(told_by("direct") * 3)]
    assert [(row.shared, row.branched, len(row.rest)) for row in in_order(drawn)] == [
        (20, told + 4, 1) for told in (52, 52, 52, 51, 51, 51, 50, 50, 50)
    ]


def test_branches_are_counted_once_and_a_batch_has_them_for_all_its_rows_or_for_none():
    rows = in_order(told_by("direct", "cot", "facts", narratives=6))  # branches of 55 to 50 tokens, rests of 5
    assert plan(rows, budget=220, room=10_000) == [12, 6]  # 4 x 55; 12 x 5 tokens come on top, read by themselves
    assert plan(rows, budget=25, room=10_000) == [3] * 6  # one branch a batch, though it is over the budget
    assert plan(rows, budget=220, room=10 * 80) == [10]  # 10 x 80; what is left begins the next
    without = [replace(row, shared=20, branched=0) for row in told_by("direct")]
    assert plan([*rows[:3], *without], budget=10_000, room=10_000) == [3, 3]


def test_rows_with_long_branches_and_rows_with_long_rests_are_as_wide_as_both():
    narrow = Row(0, Call((), 8), Prompt((1,) * 100, False, True), 10, 80)  # 10, 80 and 10 tokens
    other = Row(1, Call((), 8), Prompt((1,) * 10 + (2,) * 90, False, True), 10, 20)  # 10, 20 and 70
    assert plan([narrow, other], budget=1000, room=2 * 160) == [2]
    assert plan([narrow, other], budget=1000, room=2 * 160 - 1) == [1]


def test_a_short_start_is_not_read_apart():
    assert {row.shared for row in in_order(rows_of([16, 20]))} == {0}  # 15 tokens
    assert {row.shared for row in in_order(rows_of([17, 20]))} == {16}
