"""Batches of like length: within the budget, nothing lost, padded where a decoder wants it."""

import random

import pytest

from nsh.batching import pad_left, rows_that_fit


@pytest.mark.parametrize("seed", range(5))
def test_batches_hold_every_row_once_and_stay_within_the_budget(seed):
    lengths = sorted(random.Random(seed).choices(range(1, 900), k=200), reverse=True)
    waiting, batches = list(lengths), []
    while waiting:
        n = rows_that_fit(waiting, 2048)
        batches.append(waiting[:n])
        waiting = waiting[n:]
    assert [length for batch in batches for length in batch] == lengths
    assert all(len(batch) * batch[0] <= 2048 for batch in batches)
    assert all((len(batch) + 1) * batch[0] > 2048 for batch in batches[:-1])  # no batch could take one more row


def test_a_row_over_the_budget_goes_alone():
    assert rows_that_fit([5000, 4000], 2048) == 1


def test_padding_is_on_the_left_and_masked():
    ids, mask = pad_left([(7, 8, 9), (5,)])
    assert [row[-1] for row in ids] == [9, 5]
    assert mask == [[1, 1, 1], [0, 0, 1]]
    assert [sum(row) for row in mask] == [3, 1]
