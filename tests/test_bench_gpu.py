"""The GPU benchmark in its smallest size on the CPU, with the stand-in for vLLM, and its count of operations."""

import json
import statistics
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import fake_vllm
import gpu
import pytest
import torch

from nsh.engines import Completion


@pytest.fixture(scope="module")
def engine():
    return gpu.random_engine(gpu.TINY, "cpu", 4096)


def test_prompts_have_the_lengths_of_the_released_cases(engine):
    direct, rewrites = gpu.workload(engine.loaded[1], tiny=False)
    rows = [engine.row(index, call) for index, call in enumerate(direct.calls)]
    lengths = [len(row) for row in rows]
    assert len(lengths) == 512 and len({row.prompt.ids for row in rows}) == 512
    assert statistics.mean(lengths) == pytest.approx(361, abs=8) and max(lengths) == pytest.approx(936, abs=15)
    assert len(rewrites.calls) == 64 and {call.max_new_tokens for call in rewrites.calls} == {512}
    assert {call.max_new_tokens for call in direct.calls} == {128}


def test_the_sizes_are_those_of_a_model_of_seven_billion():
    with torch.device("meta"):
        config = gpu.LlamaConfig(**gpu.SIZES, vocab_size=49152)
        model = gpu.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    assert 7.0e9 < model.num_parameters() < 7.5e9


def test_operations_of_a_reply_are_those_of_its_tokens_one_by_one(engine):
    """Every token that is read passes the layers and meets all tokens up to it; the last new one is not read."""
    model = engine.loaded[0]
    config = model.config
    head = config.vocab_size * config.hidden_size
    norms = config.hidden_size * (2 * config.num_hidden_layers + 1)
    layers = model.num_parameters() - 2 * head - norms
    tokens = sum(2 * layers + 4 * config.num_hidden_layers * config.hidden_size * place for place in range(1, 12 + 3))
    assert gpu.operations(gpu.shape_of(model), [(12, 3), (12, 3)]) == 2 * (tokens + 3 * 2 * head)


def test_everything_runs_and_is_kept(monkeypatch, tmp_path, capsys):
    fake_vllm.install(monkeypatch)
    monkeypatch.setattr(gpu, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr("sys.argv", ["gpu.py", "--tiny", "--runs", "1"])
    monkeypatch.setenv("OUT", str(tmp_path))
    gpu.main()
    report = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))
    assert [row["against"] for row in report["rows"]] == ["transformers pipeline, batch 64"] * 2 + ["vLLM"] * 2
    assert report["rows"][1]["what"] == "2 rewrite prompts, 4 new tokens, bfloat16"
    assert all(len(row["seconds"]) == 1 and row["ratio"] > 0 for row in report["rows"])
    notes = [row["note"] for row in report["rows"]]
    assert notes[0].startswith("engine: ") and "; pipeline: " in notes[0] and notes[2].startswith("vLLM, after")
    assert all("new and " in note and "% of a product measured here" in note for note in notes)
    assert f"kept in {tmp_path / 'gpu.json'}" in capsys.readouterr().out


def test_a_listed_gpu_has_the_peak_of_its_sheet():
    assert gpu.sheet_peak("NVIDIA H200") == gpu.sheet_peak("NVIDIA H100 80GB HBM3") == 989
    assert gpu.sheet_peak("NVIDIA A100-SXM4-80GB") == 312 and gpu.sheet_peak("") is None


def test_rates_by_hand():
    """One prompt token and one new one in half a second: 2 (10 + 7) operations, and one pair over 3 layers of 5."""
    said = gpu.rates(gpu.Shape(10, 7, 3, 5), {"peak": 1e-9}, [Completion("", "length", 1, 1)], 0.5)
    assert said == "2 new and 2 prompt tokens/s, 1.88e-10 TFLOP/s, 18.8% of peak (1e-09)"


def test_without_vllm_it_is_left_out(monkeypatch):
    monkeypatch.setattr(gpu, "find_spec", lambda name: None)
    found = gpu.rows(SimpleNamespace(tiny=True, runs=1, batch_tokens=4096, pipeline_batch=4))
    assert len(found) == 2 and all(row.limit is None for row in found)


def test_replies_use_up_their_budgets(engine):
    (work, _) = gpu.workload(engine.loaded[1], tiny=True)
    assert {(c.finish, c.new_tokens) for _, c in engine.generate(work.calls)} == {("length", 4)}
