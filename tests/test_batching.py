"""Batches of like length: within their limits, nothing lost, and the start that they share."""

import random

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
    alone = rows_of([90], stage="extract")
    found = in_order([*short, *long, *alone])
    assert [len(row) for row in found] == [90, 40, 30, 20, 35, 18]
    assert [row.shared for row in found] == [0, 19, 19, 19, 17, 17]  # one token of its own for the shortest
    assert all(row.start + row.rest == row.prompt.ids for row in found)
    assert [len(row) for row in in_order([*short, *long], by_stage=False)] == [40, 35, 30, 20, 18]


def test_a_short_start_is_not_read_apart():
    assert {row.shared for row in in_order(rows_of([16, 20]))} == {0}  # 15 tokens
    assert {row.shared for row in in_order(rows_of([17, 20]))} == {16}
