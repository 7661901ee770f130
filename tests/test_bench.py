"""The table of benchmarks: its rows, its arithmetic, and that it works at all with a tiny model."""

import json
import re
import sys

import pytest
import table
from row import Row, interleaved

torch = pytest.importorskip("torch")

import direct  # noqa: E402
import plain  # noqa: E402
from tiny_model import save_tiny_model  # noqa: E402

from nsh.engines import Call  # noqa: E402
from nsh.models import resolve  # noqa: E402
from nsh.transformers_engine import TransformersEngine  # noqa: E402


@pytest.fixture(autouse=True)
def threads():
    """A quick look takes one thread; the other tests take what they had."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> TransformersEngine:
    return TransformersEngine(resolve(save_tiny_model(tmp_path_factory.mktemp("tiny"))), "float32")


def test_a_ratio_is_that_of_the_medians():
    row = Row("ours", "theirs", [3.0, 1.0, 100.0], [6.0, 5.0, 4.0, 7.0], limit=0.5)
    assert row.ratio == 3.0 / 5.5 and row.good is False
    assert Row("ours", "theirs", [1.0], [2.0]).good is None
    assert Row("ours", "theirs", [1.0], [2.0], 0.5).good is True


def test_ways_are_run_in_turn():
    order = []
    seconds, results = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b") or 7}, 3)
    assert order == list("ababab") and results == {"a": None, "b": 7}
    assert [len(seconds[name]) for name in "ab"] == [3, 3] and min(map(min, seconds.values())) >= 0


def run(monkeypatch, out, *arguments: str) -> dict:
    monkeypatch.setattr(sys, "argv", ["table.py", *arguments, "--out", str(out)])
    table.main()
    return json.loads(out.read_text(encoding="utf-8"))


def test_a_failing_benchmark_leaves_the_others_and_what_was_measured_before(monkeypatch, tmp_path, capsys):
    def rows(options):
        if options.runs == 1:
            raise RuntimeError("no memory")
        return [Row("prefix", "none", [1.0] * options.runs, [2.0], 0.4, "a note")]

    monkeypatch.setattr("prefix.rows", rows)
    monkeypatch.setattr("together.rows", lambda options: [Row("all", "each", [float(options.runs)], [8.0])])
    out = tmp_path / "made" / "bench.json"
    first = run(monkeypatch, out, "together", "prefix", "--runs", "2")
    assert [(row["bench"], row["ratio"], row["good"]) for row in first["rows"]] == [
        ("prefix", 0.5, False),
        ("together", 0.25, None),
    ]
    assert {"cores", "threads", "load", "versions", "date", "processor"} <= set(first["machine"])
    with pytest.raises(SystemExit, match="failed: prefix"):
        run(monkeypatch, out, "prefix", "together", "--runs", "1")
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [row["ratio"] for row in rows] == [0.5, 0.125]
    printed = capsys.readouterr().out
    assert "no memory" in printed and "OVER" in printed and "prefix / none; a note" in printed


def test_a_quick_look_leaves_what_was_measured(monkeypatch, tmp_path):
    monkeypatch.setattr("prefix.rows", lambda options: [Row("a", "b", [1.0], [2.0])])
    monkeypatch.chdir(tmp_path)
    for arguments in (["prefix"], ["prefix", "--quick"]):
        monkeypatch.setattr(sys, "argv", ["table.py", *arguments])
        table.main()
    assert sorted(path.name for path in (tmp_path / "_build").iterdir()) == ["bench-quick.json", "bench.json"]


@pytest.mark.parametrize("held", ["a readme", '{"rows": [ torn', "[1]", '{"rows": [{"ratio": 1}]}'])
def test_a_file_that_is_no_table_is_not_written_over(monkeypatch, tmp_path, held):
    monkeypatch.setattr("prefix.rows", lambda options: [Row("a", "b", [1.0], [2.0])])
    (tmp_path / "kept").write_text(held, encoding="utf-8")
    for out, said in (("kept", "no table of benchmarks"), (".", "directory"), ("kept/table.json", "directory|exists")):
        with pytest.raises(SystemExit, match=said):
            run(monkeypatch, tmp_path / out, "prefix")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == held


def test_every_benchmark_of_the_table_has_rows():
    import importlib

    assert all(callable(importlib.import_module(name).rows) for name in table.NAMES)


def test_an_unknown_benchmark_is_refused(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path / "b.json", "speed")
    assert "speed" in capsys.readouterr().err


@pytest.mark.parametrize("options", ["--max-new-tokens 32", "--cases 2 --max-new-tokens 15", "--cases 0"])
def test_a_size_that_would_not_be_used_is_refused(monkeypatch, tmp_path, capsys, options):
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path / "b.json", "together", *options.split())
    assert "expected" in capsys.readouterr().err


def test_operations_are_those_that_the_library_counts(engine):
    """Against PyTorch's own count of a pass; its attention counts masked pairs, too."""
    from torch.utils.flop_counter import FlopCounterMode

    model = engine.loaded[0]
    row = engine.row(0, Call((("user", "A fever and a cough since Monday."),), 4))
    model.set_attn_implementation("eager")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=torch.tensor([row.prompt.ids]), logits_to_keep=1, use_cache=False)
    model.set_attn_implementation("sdpa")
    config, n = model.config, len(row)
    masked = 4 * config.num_hidden_layers * config.hidden_size * (n**2 - n * (n + 1) // 2)
    shape = plain.shape_of(model)
    assert plain.operations(shape, [(n, 1)]) == counter.get_total_flops() - masked


def test_bytes_of_a_step(engine):
    """All weights once, and 2 x 2 layers x 2 heads x 16 numbers of 4 bytes for each place."""
    weights = sum(parameter.numel() * 4 for parameter in engine.loaded[0].parameters())
    assert plain.step_bytes(engine.loaded[0], 10) - weights == 10 * 2 * 2 * 2 * 16 * 4


def test_the_pipeline_of_the_benchmarks_is_the_library_s_own_and_says_what_the_engine_says(engine):
    calls = [Call((("user", text),), 6, "ABCD") for text in ("Which?", "A fever and a cough.")]
    assert plain.texts(engine, calls) == plain.Pipeline.beside(engine)(calls)
    assert plain.Pipeline.beside(engine).generate.model is not engine.loaded[0]


def test_peak_and_bandwidth_are_measured():
    assert 1e7 < plain.peak(torch.float32, 128) < 1e15
    assert 1e7 < plain.bandwidth(1 << 20) < 1e13


def test_letters_and_texts_are_compared_one_by_one():
    calls = [Call((), 8, "ABCD")] * 3
    assert direct.equal(["A", "b", "c"], ["A", "c", "c"]) == 2
    assert direct.same_letters(calls, ["A", "Answer: B", "?"], ["Answer: A", "C", "!"]) == 2


@pytest.mark.slow
def test_the_table_works_with_a_tiny_model(monkeypatch, tmp_path, capsys):
    names = ["direct", "prefix", "together", "formats"]
    found = run(monkeypatch, tmp_path / "bench.json", *names, "--quick", "--runs", "1")
    rows = {name: [row for row in found["rows"] if row["bench"] == name] for name in names}
    assert [len(rows[name]) for name in names] == [6, 1, 1, 6]
    assert all(row["ratio"] > 0 and row["what"] and row["against"] for row in found["rows"])
    for row in rows["direct"][:3]:
        assert "float32" in row["what"]
    assert rows["direct"][0]["note"] == "4 texts equal the pipeline's"  # in float32
    assert "0 texts and 0 letters differ" in rows["direct"][2]["note"]
    assert "3 texts equal" in rows["prefix"][0]["note"]
    calls, apart, same, texts = map(int, re.findall(r"\d+", rows["together"][0]["note"])[:4])
    assert calls < apart and same == texts > 0
