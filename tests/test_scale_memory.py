"""Token budgets from free memory, against counts by hand."""

from types import SimpleNamespace

import pytest

from nsh.scale.memory import (
    CPU_TOGETHER,
    CPU_TOKENS,
    batch_tokens,
    bytes_per_token,
    machine_bytes,
    together,
    together_within,
    tokens_within,
)

SMALL = {"num_hidden_layers": 3, "num_attention_heads": 8, "hidden_size": 64, "vocab_size": 640}


@pytest.mark.parametrize(
    "own, expected",
    [
        ({}, 2 * 3 * 8 * 8 * 2),  # every head its own keys and values, 64 / 8 wide
        ({"num_key_value_heads": 2}, 2 * 3 * 2 * 8 * 2),  # grouped heads
        ({"num_key_value_heads": 1}, 2 * 3 * 1 * 8 * 2),  # all heads share one
        ({"num_key_value_heads": 2, "head_dim": 32}, 2 * 3 * 2 * 32 * 2),  # wider than the hidden size allows
        ({"num_key_value_heads": None, "head_dim": None}, 2 * 3 * 8 * 8 * 2),
    ],
)
def test_keys_and_values_of_a_token(own, expected):
    assert bytes_per_token(SimpleNamespace(**SMALL, **own), 2) == expected
    assert bytes_per_token(SimpleNamespace(**SMALL, **own), 4) == 2 * expected


def test_published_configurations_by_hand():
    """Llama 3.1 8B: 32 layers, 8 of 32 heads kept, 128 wide: 128 KiB in bfloat16. SmolLM2 135M: 30, 3 of 9, 64."""
    llama = SimpleNamespace(num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, hidden_size=4096)
    smol = SimpleNamespace(num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, hidden_size=576)
    assert bytes_per_token(llama, 2) == 128 * 1024
    assert bytes_per_token(smol, 4) == 46_080


def test_a_budget_by_hand():
    """768 bytes for keys and values of prompt and reply; a layer: 4 x 64 + 3 x 100 + 2 x 64 numbers of 2 bytes; scores
    of 640 tokens in 2 + 4 bytes over 64 places: 768 + 1368 + 60 = 2196 bytes a token, of 80% of the memory."""
    config = SimpleNamespace(**SMALL, num_key_value_heads=4, intermediate_size=100)
    assert 2 * bytes_per_token(config, 2) == 768
    assert tokens_within(2_196_000 * 5 // 4, config, 2) == 1000
    assert tokens_within(2_196_000 * 5 // 4 - 5, config, 2) == 999
    assert tokens_within(0, config, 2) == 1  # a row is always tried


def test_a_model_on_a_cpu_takes_what_was_measured_best(monkeypatch):
    torch = pytest.importorskip("torch")
    assert batch_tokens(torch.nn.Linear(2, 2)) == CPU_TOKENS == 2048


def test_a_model_on_gpus_takes_what_fits_into_the_fullest_once_an_earlier_model_is_gone(monkeypatch):
    torch = pytest.importorskip("torch")
    config = SimpleNamespace(**SMALL, intermediate_size=100)
    model = SimpleNamespace(
        parameters=lambda: [SimpleNamespace(device=torch.device("cuda", n)) for n in (0, 1)],
        config=SimpleNamespace(get_text_config=lambda: config),
        dtype=torch.bfloat16,
    )
    free = {0: 10**7, 1: 10**7}
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: free.update({0: 10**9, 1: 10**8}))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gpu: (free[gpu.index], 10**10))
    assert batch_tokens(model) == tokens_within(10**8, config, 2)


def test_rows_continued_together_take_a_quarter_of_what_the_weights_leave_by_hand():
    """SmolLM2 135M in float32: prompt and reply take 2 x 46,080 bytes a token; a quarter of 4 GiB is 2^30 bytes."""
    smol = SimpleNamespace(num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, hidden_size=576)
    assert together_within(4 << 30, smol, 4) == 2**30 // 92_160 == 11_650
    assert together_within(64 << 30, smol, 4) == CPU_TOGETHER  # more rows gain little
    assert together_within(-1, smol, 4) == 0  # the weights alone are more: then as many as are read


def test_weights_leave_less_room_for_keys_and_values(monkeypatch):
    """30 layers, 3 heads, 64 wide: 23,040 bytes a token in bfloat16, twice for a reply; a quarter of 4 GiB less 2."""
    torch = pytest.importorskip("torch")
    config = SimpleNamespace(num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3, hidden_size=576)
    model = SimpleNamespace(
        parameters=lambda: [torch.nn.Parameter(torch.ones(1))],
        config=SimpleNamespace(get_text_config=lambda: config),
        dtype=torch.bfloat16,
        get_memory_footprint=lambda: 2 << 30,
    )
    monkeypatch.setattr("nsh.scale.memory.machine_bytes", lambda: 4 << 30)
    assert together(model) == 2**29 // (2 * 23_040) == 11_650


def test_a_job_of_a_cluster_has_no_more_memory_than_it_was_given(monkeypatch):
    """Slurm tells a job in MiB; nothing where it may take all."""
    monkeypatch.delenv("SLURM_MEM_PER_NODE", raising=False)
    whole = machine_bytes()
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "512")
    assert machine_bytes() == 512 * 2**20 < whole
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "4G")
    monkeypatch.setenv("SLURM_MEM_PER_CPU", "256")
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "3")
    assert machine_bytes() == 768 << 20
    monkeypatch.setenv("SLURM_MEM_PER_NODE", str(2**40))
    assert machine_bytes() == whole
