"""How many prompt tokens to read at once, 2,048 on a CPU, and to continue together; on a GPU what its memory takes."""

import gc
import os
from typing import Any

from nsh.errors import EngineError

CPU_TOKENS = 2048  # measured best on two cores: more rows no longer fit the processor's caches
CPU_TOGETHER = 65_536  # a step of 144 rows of 400 took 1.6 times as long as one of 72; one of 216 as much again
CPU_SHARE = 4  # of the memory beside the weights, one part in so many for keys and values
SHARE = 0.8  # of the free memory; the rest is for what is not counted here
SHORTEST = 64  # tokens of a prompt, so that its scores have something to be shared out to


def head_width(config: Any) -> int:
    """Numbers of one head: `head_dim` where the configuration has it, else its share of the hidden size.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> head_width(SimpleNamespace(num_attention_heads=4, hidden_size=64))
    16
    """
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def bytes_per_token(config: Any, width: int) -> int:
    """Memory of the keys and values of one token in all layers.

    Parameters
    ----------
    config : transformers configuration
        Of the text model: `num_key_value_heads` and `head_dim` are taken where it has them; else every head has keys
        of its own, and the heads share the hidden size.
    width : int
        Bytes of a number.

    Raises
    ------
    EngineError
        If the model has no attention, and so no keys and values: such models are not run.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> bytes_per_token(SimpleNamespace(num_hidden_layers=2, num_attention_heads=4, hidden_size=64), 2)
    512
    """
    if not getattr(config, "num_attention_heads", None):
        raise EngineError("models without attention, such as state-space models, are not run")
    kept = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    return 2 * config.num_hidden_layers * kept * head_width(config) * width


def tokens_within(free: int, config: Any, width: int) -> int:
    """Prompt tokens that fit into free memory, read in one batch and continued together.

    A token is counted with: its keys and values twice, since a reply is taken to be no longer than its prompt; what one
    layer holds of it at a time (four vectors of the hidden size, three of the intermediate one, keys and values
    repeated for every head); and its part of the scores of its row's last place, in the model's format and in float32.
    These are assumptions: where memory runs out nevertheless, the engine halves what it takes.

    Parameters
    ----------
    free : int
        Bytes.
    config : transformers configuration
    width : int
        Bytes of a number.

    Examples
    --------
    >>> from transformers import LlamaConfig
    >>> tokens_within(8 << 30, LlamaConfig(num_key_value_heads=8), 2)  # 8 GiB
    18067
    """
    inner = getattr(config, "intermediate_size", None) or 4 * config.hidden_size
    layer = (4 * config.hidden_size + 3 * inner + 2 * config.num_attention_heads * head_width(config)) * width
    scores = -(-config.vocab_size * (width + 4) // SHORTEST)
    return max(1, int(free * SHARE) // (2 * bytes_per_token(config, width) + layer + scores))


def batch_tokens(model: Any) -> int:
    """The budget of a loaded model: 2,048 tokens on a CPU; on GPUs what fits into the fullest one.

    The layers of a model on several GPUs are spread over them, yet each is taken to hold the keys and values of all.

    Examples
    --------
    >>> batch_tokens(model)  # doctest: +SKIP
    2048
    """
    return _on_gpus(model) or CPU_TOKENS


def together(model: Any) -> int:
    """Prompt tokens whose rows a loaded model continues together: on GPUs as many as fit; on a CPU at most 65,536.

    There the keys and values of prompts and as long replies take a quarter of the machine's memory beside the weights
    at most. Free memory is not asked for: a run that is repeated has the same batches.

    Examples
    --------
    >>> together(model)  # doctest: +SKIP
    65536
    """
    if room := _on_gpus(model):
        return room
    beside = machine_bytes() - model.get_memory_footprint()
    return together_within(beside, model.config.get_text_config(), model.dtype.itemsize)


def together_within(beside: int, config: Any, width: int) -> int:
    """`together` on a CPU of a machine with so many bytes of memory beside the weights.

    Examples
    --------
    >>> from transformers import LlamaConfig
    >>> together_within(8 << 30, LlamaConfig(num_key_value_heads=8), 4)  # 8 GiB, 256 KiB a token
    4096
    """
    return min(CPU_TOGETHER, max(0, beside) // CPU_SHARE // (2 * bytes_per_token(config, width)))


def machine_bytes() -> int:
    """Memory of this machine in bytes, or what Slurm gives this job of it, in all or for each processor.

    Examples
    --------
    >>> machine_bytes() > 2**30
    True
    """
    node, each, processors = (
        int(value) if (value := os.environ.get(f"SLURM_{name}", "")).isdigit() else 0
        for name in ("MEM_PER_NODE", "MEM_PER_CPU", "CPUS_ON_NODE")
    )
    job = (node or each * processors) << 20  # MiB; not set where a job may take all
    return min(filter(None, (os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), job)))


def _on_gpus(model: Any) -> int:
    """What fits into the fullest GPU of a model; 0 where it lies on a CPU."""
    import torch

    gpus = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    if gpus:  # what PyTorch kept of an earlier model is free
        gc.collect()
        torch.cuda.empty_cache()
    free = [torch.cuda.mem_get_info(gpu)[0] for gpu in gpus]
    return tokens_within(min(free), model.config.get_text_config(), model.dtype.itemsize) if gpus else 0


def ran_out(error: Exception) -> bool:
    """Whether PyTorch, on a GPU or a CPU, or Python ran out of memory.

    Examples
    --------
    >>> ran_out(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")), ran_out(RuntimeError("shape mismatch"))
    (True, False)
    """
    said = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said
