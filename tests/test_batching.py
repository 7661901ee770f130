"""Batches of like length: within their limits, nothing lost, and the start that they share."""

import random

import pytest

from nsh.batching import plan, shared_start


@pytest.mark.parametrize("budget, room", [(2048, 2048), (2048, 8192), (300, 5000), (1, 1), (10**6, 10**6)])
@pytest.mark.parametrize("seed", range(3))
def test_batches_hold_every_row_once_and_stay_within_their_limits(seed, budget, room):
    lengths = sorted(random.Random(seed).choices(range(1, 900), k=200), reverse=True)
    waiting = list(lengths)
    while waiting:
        sizes = plan(waiting, budget, room)
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
    assert plan(lengths, budget=1200, room=10_000) == [2, 3, 2]  # 3 x 500 and 4 x 400 exceed 1200
    assert plan(lengths, budget=1200, room=2500) == [2, 3]  # 6 x 500 exceed 2500


def test_a_row_over_every_limit_goes_alone():
    assert plan([5000, 4000], budget=2048, room=2048) == [1]


def test_all_that_rows_share_is_found_by_comparing_them_place_by_place():
    rows = [[1, 2, 3, 4, 5], [1, 2, 3, 9], [1, 2, 3, 4]]
    assert shared_start(rows) == 3
    assert shared_start([*rows, [2]]) == 0
    assert shared_start([[1, 2, 3], [1, 2]]) == 1  # the shorter row keeps a token of its own
