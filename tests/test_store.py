"""The store: keyed by content, append-only, robust against torn lines and many writers."""

import hashlib
import json
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_cases import make_cases

from nsh.engines import Call, Completion, ScriptedEngine
from nsh.errors import DataError
from nsh.jobs import jobs
from nsh.records import from_outcomes
from nsh.runner import run
from nsh.store import Store, key_of

CALL = Call((("user", "Which?"),), 16)
IDENTITY = {"model": "m", "revision": "1", "dtype": "float32", "quantization": None, "template": {}}


def keys(number: int) -> str:
    """A key that is a valid SHA-256 in form."""
    return f"{number:064x}"


@pytest.mark.parametrize(
    "change",
    [{"model": "n"}, {"revision": "2"}, {"dtype": "bfloat16"}, {"quantization": "4bit"}, {"template": {"x": 1}}],
)
def test_another_engine_has_another_key(change):
    assert key_of({**IDENTITY, **change}, CALL) != key_of(IDENTITY, CALL)


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, messages=(("user", "Which ?"),)),
        replace(CALL, messages=(("system", ""), ("user", "Which?"))),
        replace(CALL, max_new_tokens=17),
        replace(CALL, letters="ABCD", answer_only=True),
    ],
)
def test_another_call_has_another_key(other):
    assert key_of(IDENTITY, other) != key_of(IDENTITY, CALL)


def test_the_key_is_the_hash_of_canonical_json():
    """SHA-256 of the JSON written out by hand, so that stores stay readable."""
    written = (
        '{"decoding":{"do_sample":false},"engine":{"dtype":"float32","model":"m","quantization":null,"revision":"1",'
        '"template":{}},"max_new_tokens":16,"messages":[["user","\\u03b1 \\ud83c"]],"stop":"end of turn"}'
    )
    call = Call((("user", "α \ud83c"),), 16)
    assert key_of(IDENTITY, call) == hashlib.sha256(written.encode()).hexdigest()


def test_a_hub_token_is_struck_out_of_the_stamp(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefghijklmnopqrst")
    Store(tmp_path).put(keys(1), Completion("x", stamp={"note": "hf_abcdefghijklmnopqrst α"}), IDENTITY)
    assert Store(tmp_path).get(keys(1)).stamp == {"note": "[token] α"}


def test_letters_alone_do_not_change_the_key():
    assert key_of(IDENTITY, replace(CALL, letters="ABCD")) == key_of(IDENTITY, CALL)


@pytest.mark.parametrize(
    "text",
    ["α-synuclein 5 µg ≥ 3×", "lone \ud83c surrogate", "\U0001f600", '"quoted"\nnew line\r\u2028 \x00', ""],
)
def test_any_text_is_read_back_as_it_was(tmp_path, text):
    Store(tmp_path).put(keys(1), Completion(text, "length", 3, 4, {"seconds": 0.5}), IDENTITY)
    assert Store(tmp_path).get(keys(1)) == Completion(text, "length", 3, 4, {"seconds": 0.5})


def test_a_surrogate_pair_is_joined(tmp_path):
    Store(tmp_path).put(keys(1), Completion("\ud83d\ude00"), IDENTITY)
    assert Store(tmp_path).get(keys(1)).text == "\U0001f600"


def test_numpy_numbers_become_numbers_and_nan_is_refused(tmp_path):
    store = Store(tmp_path)
    store.put(keys(1), Completion("x", stamp={"seconds": np.float32(0.5), "folded": np.bool_(True)}), IDENTITY)
    assert Store(tmp_path).get(keys(1)).stamp == {"seconds": 0.5, "folded": True}
    with pytest.raises(ValueError, match="JSON"):
        store.put(keys(2), Completion("x", stamp={"seconds": float("nan")}), IDENTITY)
    assert len(Store(tmp_path)) == 1


def cut_in_a_character(data: bytes) -> bytes:
    """Cut the last line in the middle of the two bytes of its α."""
    return data[: data.rindex("α".encode()) + 1]


@pytest.mark.parametrize(
    ("damage", "kept"),
    [
        (cut_in_a_character, 2),
        (lambda data: cut_in_a_character(data) + b"\n\n", 2),
        (lambda data: data[:-1], 3),
        (lambda data: data[:-20], 2),
        (lambda data: data + b"\n", 3),
    ],
    ids=["inside a character", "torn and a blank line", "no newline", "torn", "blank line"],
)
def test_a_torn_tail_costs_one_generation(tmp_path, damage, kept):
    store = Store(tmp_path)
    for number in range(3):
        store.put(keys(number), Completion(f"α {number}"), IDENTITY)
    store.close()
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(damage(file.read_bytes()))

    opened = Store(tmp_path)
    found = [n for n in range(3) if opened.get(keys(n)) is not None]
    assert found == list(range(kept))
    for number in range(kept, 3):
        opened.put(keys(number), Completion(f"α {number}"), IDENTITY)
    assert [Store(tmp_path).get(keys(n)).text for n in range(3)] == ["α 0", "α 1", "α 2"]


def test_a_damaged_line_in_the_middle_is_redone(tmp_path, caplog):
    store = Store(tmp_path)
    for number in range(3):
        store.put(keys(number), Completion(f"text {number}"), IDENTITY)
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'text 1", ', b'text 1", \xff'))
    opened = Store(tmp_path)
    assert [opened.get(keys(n)) is None for n in range(3)] == [False, True, False]
    assert str(file) in caplog.text


def _write(folder: Path, first: int, count: int) -> None:
    """One of several writers."""
    store = Store(folder)
    for number in range(first, first + count):
        store.put(keys(number), Completion("é" * 2000), IDENTITY)


def test_two_processes_lose_and_tear_nothing(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write, args=(tmp_path, first, 300)) for first in (0, 200)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = [json.loads(line) for file in tmp_path.glob("*.jsonl") for line in file.read_bytes().splitlines()]
    assert len(lines) == 600
    assert {line["key"] for line in lines} == {keys(n) for n in range(500)}
    assert len(Store(tmp_path)) == 500


def staged_reply(call):
    """Facts for an extraction, reasoning that commits to no letter in two of three cases, else a letter."""
    spot = len(call.messages[-1][1])
    if call.stage == "extract":
        return json.dumps({"chief_complaint": call.messages[-1][1], "age": spot})
    if call.stage == "reason" and hash_of(call) % 3:
        return "α" * 500 + str(hash_of(call))
    return f"{hash_of(call)} {'α' * 500} Answer: {'ABCD'[spot % 4]}"  # so no two rewrites are alike


def hash_of(call):
    return int(hashlib.sha256(call.messages[-1][1].encode()).hexdigest()[:6], 16)


KILLED = """
import sys, time
sys.path.insert(0, {tests!r})
from made_cases import make_cases
from nsh.engines import ScriptedEngine
from nsh.jobs import jobs
from nsh.runner import run
from nsh.store import Store

from test_store import staged_reply

def reply(call):
    time.sleep(0.01)
    return staged_reply(call)

run(jobs(make_cases(24), {condition!r}), ScriptedEngine(reply=reply), Store({folder!r}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("condition", "stages"), [("direct", 1), ("rewrite", 2), ("extract_tools", 3)])
def test_kill_and_resume(tmp_path, condition, stages):
    """Killed with signal 9 three times in each stage, then finished: each generation once, records as undisturbed."""
    program = KILLED.format(tests=str(Path(__file__).parent), condition=condition, folder=str(tmp_path / "killed"))
    draw = np.random.default_rng(0)
    targets = [72 * stage + more for stage in range(stages) for more in (5, 10, 15)]
    for target in targets:
        process = subprocess.Popen([sys.executable, "-c", program])
        deadline = time.monotonic() + 60
        while lines_in(tmp_path / "killed") < target and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.05))
        process.kill()
        process.wait()
    held = lines_in(tmp_path / "killed")
    assert held >= targets[-1]

    engine = ScriptedEngine(reply=staged_reply)
    resumed, tally = run(jobs(make_cases(24), condition), engine, Store(tmp_path / "killed"))
    undisturbed, _ = run(jobs(make_cases(24), condition), engine, Store(tmp_path / "whole"))
    assert max(len(outcome.keys) for outcome in undisturbed) == stages
    assert 0 < tally.generated <= len({key for outcome in undisturbed for key in outcome.keys}) - held + len(targets)
    assert from_outcomes(resumed, "m").equals(from_outcomes(undisturbed, "m"))
    stored = [json.loads(line)["key"] for f in (tmp_path / "killed").glob("*.jsonl") for line in whole_lines(f)]
    assert len(stored) == len(set(stored)) == len(Store(tmp_path / "whole"))


def lines_in(folder: Path) -> int:
    """Whole lines in a store so far."""
    return sum(len(whole_lines(file)) for file in folder.glob("*.jsonl"))


def whole_lines(file: Path) -> list[bytes]:
    """The lines of a file that end in a newline."""
    return [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def test_a_damaged_line_does_not_hide_a_good_one_of_another_writer(tmp_path):
    for _ in range(2):
        store = Store(tmp_path)
        store.put(keys(1), Completion("text"), IDENTITY)
        store.close()
    first = min(tmp_path.glob("*.jsonl"))
    first.write_bytes(first.read_bytes().replace(b'"text"', b'"te\xff"'))
    assert Store(tmp_path).get(keys(1)).text == "text"


@pytest.mark.parametrize("field", ["text", "finish", "prompt_tokens", "stamp"])
def test_a_line_without_what_a_completion_needs_is_absent(tmp_path, field):
    store = Store(tmp_path)
    store.put(keys(1), Completion("text"), IDENTITY)
    store.close()
    (file,) = tmp_path.glob("*.jsonl")
    file.write_text(file.read_text(encoding="utf-8").replace(f'"{field}": ', f'"{field}_": '), encoding="utf-8")
    assert Store(tmp_path).get(keys(1)) is None


def test_many_keys_are_found_at_once_each_with_what_get_gives(tmp_path):
    """Over several writers' files, some keys in two of them, one damaged in the first, one in none."""
    for numbers in ((0, 1, 2), (2, 3), (1, 4)):
        store = Store(tmp_path)
        for number in numbers:
            store.put(keys(number), Completion(f"{number} of {numbers}"), IDENTITY)
        store.close()
    holder = next(file for file in tmp_path.glob("*.jsonl") if b"1 of (0, 1, 2)" in file.read_bytes())
    holder.write_bytes(holder.read_bytes().replace(b'"1 of (0, 1, 2)"', b'"1 of (0, 1, 2)\xff"'))
    store = Store(tmp_path)
    store.put(keys(5), Completion("own"), IDENTITY)
    asked = [keys(number) for number in (5, 3, 0, 9, 1, 4, 2, 3)]
    found = list(store.find(asked))
    assert len(found) == 6 and dict(found) == {key: store.get(key) for key in asked if key != keys(9)}
    assert (dict(found)[keys(1)].text, dict(found)[keys(5)].text) == ("1 of (1, 4)", "own")


def test_what_other_writers_append_later_changes_nothing_that_is_read(tmp_path):
    """Only what was there when the store was opened counts, also in a file that has grown since."""
    first = Store(tmp_path)
    first.put(keys(1), Completion("one"), IDENTITY)
    opened = Store(tmp_path)
    first.put(keys(2), Completion("two"), IDENTITY)
    assert [key for key, _ in opened.find([keys(1), keys(2)])] == [keys(1)]
    assert len(Store(tmp_path)) == 2


def test_foreign_entries_in_the_folder_are_passed_over(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "nowhere")
    assert len(Store(tmp_path)) == 0


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file cannot be written"):
        Store(tmp_path / "file").put(keys(1), Completion("text"), IDENTITY)


def test_another_folder_is_read_after_the_own_one_and_never_written(tmp_path):
    own, also, key = tmp_path / "own", tmp_path / "also", "0" * 64
    for folder, text in ((also, "B"), (own, "A")):
        store = Store(folder)
        store.put(key, Completion(text), {"model": "scripted"})
        store.put(("1" if folder == own else "2") * 64, Completion(text), {"model": "scripted"})
        store.close()
    before = {file: file.read_bytes() for file in also.iterdir()}
    store = Store(own, also)
    assert [store.get(digit * 64).text for digit in "012"] == ["A", "A", "B"]
    store.put("3" * 64, Completion("C"), {"model": "scripted"})
    store.close()
    assert {file: file.read_bytes() for file in also.iterdir()} == before and Store(own).get("3" * 64).text == "C"
