"""The benchmark of a large store, in a small size: what it makes is a finished run, and what it says of it is true."""

from argparse import Namespace

import store as bench

from nsh.cases import load_cases
from nsh.store import Store


def test_its_cases_are_distinct_in_every_voice():
    made = bench.cases(30)
    assert len({case.id for case in made}) == 30
    texts = [text for case in made for text in case.narratives.values()]
    assert len(set(texts)) == len(texts) == 30 * len(load_cases("samples")[0].narratives)


def test_a_store_is_filled_to_its_size_by_several_writers(tmp_path):
    bench.fill(tmp_path, 50)
    assert len(Store(tmp_path)) == 50
    assert len(list(tmp_path.glob("*.jsonl"))) == bench.WRITERS
    lines = [line for file in tmp_path.glob("*.jsonl") for line in file.read_bytes().splitlines()]
    assert 1400 < sum(map(len, lines)) / len(lines) < 2000  # bytes, as the longer generations of a study


def test_a_run_that_it_finished_is_resumed_with_nothing_generated(tmp_path):
    """Nine conditions, two cases, three voices."""
    bench.run_study(tmp_path, 1, 2)
    told = bench.measure(str(tmp_path), 1, 2)
    assert (told["generated"], told["answers"]) == (0, 54)
    assert told["rows"] >= 9 * 6 + 5  # an answer each, and the shared extraction; some reasonings are the same call


def test_its_rows_hold_what_the_table_needs():
    rows = bench.rows(Namespace(quick=True))
    assert [row.limit for row in rows] == [1.2] * 6 + [1.0] * 3 + [None]
    assert all(row.ratio > 0 for row in rows)
    assert "; 0 generations made" in rows[8].note and "81 answers" in rows[8].what
    assert rows[6].what.startswith("open 1,000 generations")
