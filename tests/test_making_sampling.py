"""Sampling: the printed formula by brute force, independence of order, and what is drawn of each stratum."""

import random
from collections import Counter
from hashlib import sha256
from math import gcd

import pytest
from test_cli import nsh

from nsh.errors import ParameterError
from nsh.making.items import Item, load_items, write_items
from nsh.making.sampling import allocation, ranked, sample, stratum_sizes

OPTIONS = dict(zip("ABCD", ("Rest", "Splint", "Cast", "Ice"), strict=True))


def made(counts):
    """Items of the given numbers per (step, letter)."""
    strata = [stratum for stratum, count in counts.items() for _ in range(count)]
    return [Item(f"q{n}", f"V{n}. Why?", "Why?", OPTIONS, gold, step) for n, (step, gold) in enumerate(strata)]


def printed_draws(counts, n):
    """`facts` Appendix B: min(|stratum|, max(1, int(n * |stratum| / pool))) per stratum."""
    pool = sum(counts.values())
    return {stratum: min(size, max(1, int(n * size / pool))) for stratum, size in counts.items()}


def brute_force(items, n, seed):
    """The draw written out: order by digest, take from each stratum, top up from all that is left, shuffle, cut."""

    def order(found, purpose):
        digests = {sha256(f"{seed}:{purpose}:{item.id}".encode()).hexdigest(): item for item in found}
        return [digests[digest] for digest in sorted(digests)]

    counts = Counter((item.step, item.gold) for item in items)
    drawn = []
    for stratum, share in printed_draws(counts, n).items():
        drawn.extend(order([item for item in items if (item.step, item.gold) == stratum], "stratum")[:share])
    while len(drawn) < n:
        drawn.append(order([item for item in items if item not in drawn], "top-up")[0])
    return order(drawn, "shuffle")[:n]


def random_counts(seed):
    """Sizes of two steps times four letters, some of them small."""
    generator = random.Random(seed)
    return {(step, letter): generator.choice([1, 3, 9, 40]) for step in ("step1", "step2&3") for letter in "ABCD"}


@pytest.mark.parametrize("seed", range(6))
def test_the_draw_is_the_brute_force_one_in_any_order_of_the_rows(seed):
    items = made(random_counts(seed))
    n = random.Random(seed).randint(1, len(items))
    expected = brute_force(items, n, seed)
    assert sample(items, n, seed) == expected
    random.Random(seed).shuffle(items)
    assert sample(items, n, seed) == expected == sample(items[::-1], n, seed)
    assert len(expected) == n == len({item.id for item in expected})


@pytest.mark.parametrize("seed", range(6))
def test_the_allocation_is_the_printed_formula(seed):
    counts = random_counts(seed)
    for n in (1, 7, 30, sum(counts.values())):
        assert allocation(counts, n)["drawn"].to_dict() == printed_draws(counts, n)


def test_every_stratum_gets_its_share_and_the_rest_comes_from_all():
    counts = {("step1", "A"): 333, ("step1", "B"): 333, ("step2&3", "A"): 334}
    items = made(counts)
    shares = allocation(stratum_sizes(items), 100)
    assert shares["drawn"].tolist() == [33, 33, 33] and shares["exact"].tolist() == pytest.approx([33.3, 33.3, 33.4])
    drawn = stratum_sizes(sample(items, 100))
    assert drawn.sum() == 100 and ((drawn - 33) >= 0).all() and (drawn - 33).sum() == 1


def test_the_top_up_may_take_from_any_stratum():
    """What the paper flags: over seeds it falls into strata that were not cut short."""
    items = made({("step1", "A"): 50, ("step1", "B"): 25, ("step2&3", "A"): 25})  # n = 10: shares 5, 2.5 and 2.5
    found = Counter()
    for seed in range(20):
        sizes = stratum_sizes(sample(items, 10, seed))
        found[(sizes - [5, 2, 2]).idxmax()] += 1
    assert found["step1", "A"] > 0 and len(found) == 3


def test_with_the_printed_numbers_no_share_is_whole_so_the_top_up_draws():
    # 1,000 of 2,921 (`voices`, `facts`, Appendix A): without a common factor, 1000 · size / 2921 is never whole
    assert gcd(1000, 2921) == 1
    for seed in range(20):
        cuts = sorted(random.Random(seed).sample(range(1, 2921), 7))
        sizes = dict(enumerate(b - a for a, b in zip([0, *cuts], [*cuts, 2921], strict=True)))
        table = allocation(sizes, 1000)
        assert (table["exact"] % 1 > 0).all()
        if (table["exact"] >= 1).all():
            assert 1 <= 1000 - table["drawn"].sum() <= 7


def test_more_small_strata_than_draws_are_cut_to_n():
    items = made({("step1", letter): 1 for letter in "ABCD"})
    assert allocation(stratum_sizes(items), 2)["drawn"].sum() == 4
    assert len(sample(items, 2)) == 2 and {item.id for item in sample(items, 4)} == {"q0", "q1", "q2", "q3"}


def test_a_seed_gives_another_draw_and_orders_are_pinned():
    items = made({("step1", "A"): 200, ("step2&3", "B"): 300})
    assert sample(items, 50) == sample(items, 50, 42) != sample(items, 50, 43)
    # first eight digits of the SHA-256 of "42:shuffle:q0" to "42:shuffle:q3", by sha256sum
    digests = {"q0": "8a1e2f3d", "q1": "26ba878a", "q2": "8456cd23", "q3": "d03eea40"}
    assert [item.id for item in ranked(items[:4], 42, "shuffle")] == sorted(digests, key=digests.get)


def test_a_step_that_is_not_stated_is_a_stratum_of_its_own():
    sizes = stratum_sizes(made({(None, "A"): 2, ("step1", "A"): 1}))
    assert sizes.to_dict() == {("not stated", "A"): 2, ("step1", "A"): 1}


@pytest.mark.parametrize("n", [0, -1, 4])
def test_more_than_there_are_or_none_is_refused(n):
    with pytest.raises(ParameterError, match=rf"n={n}: expected a whole number from 1 to 3"):
        sample(made({("step1", "A"): 3}), n)


def test_an_id_that_stands_twice_is_refused():
    items = made({("step1", "A"): 3})
    with pytest.raises(ParameterError, match="same id"):
        sample([*items, items[0]], 2)


def test_the_command_writes_the_draw_and_says_how_many_of_each(tmp_path):
    items = made({("step1", "A"): 6, ("step2&3", "B"): 5})
    write_items(items, tmp_path / "pool.jsonl")
    done = nsh("data", "sample", tmp_path / "pool.jsonl", "--n", 4, "--seed", 7, "--out", tmp_path / "drawn.jsonl")
    assert done.returncode == 0, done.stderr
    assert "4 of 11 questions, 1 of them as top-up" in done.stdout
    assert load_items(tmp_path / "drawn.jsonl") == sample(items, 4, 7)


def test_the_steps_and_letters_of_the_released_questions_keep_their_shares(released):
    items = load_items(released)
    shares, drawn = allocation(stratum_sizes(items), 300), stratum_sizes(sample(items, 300))
    assert shares["pool"].sum() == 1000 and (drawn >= shares["drawn"]).all() and drawn.sum() == 300
