"""Shards: every case in one share, all of its voices and conditions with it."""

import os
import subprocess
import sys

import pytest

from nsh.errors import ParameterError
from nsh.opening import open_page
from nsh.scale.shards import shard
from nsh.store import Store


@pytest.mark.parametrize("n", [1, 2, 3, 7, 24, 30])
@pytest.mark.parametrize("cases", [1, 6, 24])
def test_shards_hold_each_case_once_and_differ_by_one_at_most(n, cases):
    shares = [list(range(cases))[shard(f"{i}/{n}")] for i in range(1, n + 1)]
    assert sorted(case for share in shares for case in share) == list(range(cases))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert sum(not share for share in shares) == max(0, n - cases)


@pytest.mark.parametrize(
    "text", ["0/4", "5/4", "1/0", "-1/4", "1/-4", "1", "/4", "a/b", "1/4/2", "1.0/4", "¹/4", "", " 1/4"]
)
def test_anything_else_is_refused_by_its_value(text):
    with pytest.raises(ParameterError, match=f"--shard {text}: expected i/n"):
        shard(text)


def study(n_cases: int, **values):
    made = open_page("voices-07-mitigation", models=["scripted"], released="off", n_cases=n_cases, **values)
    made.values |= {"conditions": ["direct", "rewrite", "cot"]}
    return made


@pytest.mark.parametrize("shortened", [None, 4])
def test_the_shards_of_a_study_are_the_study_and_keep_a_case_together(shortened):
    """Also where conditions take fewer cases than `direct`."""
    whole = study(7, shortened_cases=shortened)
    shares = [study(7, shortened_cases=shortened) for _ in range(3)]
    for i, one in enumerate(shares, 1):
        one.shard = shard(f"{i}/3")
    found = [{(job.name, job.case.id, job.voice) for job in one.jobs} for one in shares]
    assert sum(map(len, found)) == len(whole.jobs)
    assert set().union(*found) == {(job.name, job.case.id, job.voice) for job in whole.jobs}
    ids = [{case for _, case, _ in share} for share in found]
    assert not (ids[0] & ids[1] or ids[0] & ids[2] or ids[1] & ids[2])


def generate(folder, *arguments):
    """Run `nsh generate` on canned answers in a process of its own."""
    command = [sys.executable, "-c", "from nsh.cli import main; main()", "generate", "--model", "scripted"]
    environment = {**os.environ, "NSH_STORE": str(folder), "NSH_PACKAGED": "off"}
    return subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True)


def test_shards_fill_one_store_with_what_a_whole_run_makes(tmp_path):
    asked = ["-p", "n_cases=2", "--condition", "rewrite", "--condition", "rewrite_cot"]
    for i in (1, 2, 3):
        result = generate(tmp_path / "shards", *asked, "--shard", f"{i}/3")
        assert result.returncode == 0, result.stderr
        assert ("shard 3/3 is empty: there are 2 cases" in result.stdout) == (i == 3)
    assert "generations: 0 made, 18 found" in generate(tmp_path / "shards", *asked).stdout
    assert len(list((tmp_path / "shards").glob("*.jsonl"))) == 2
    assert len(Store(tmp_path / "shards")) == 18  # 2 cases, 3 voices; a shared rewrite and two replies each


def test_a_bad_shard_stops_before_anything_is_loaded(tmp_path):
    result = generate(tmp_path, "--shard", "4/3")
    assert (result.returncode, result.stderr.strip()[:30]) == (2, "error: --shard 4/3: expected i")
    assert not any(tmp_path.iterdir())
