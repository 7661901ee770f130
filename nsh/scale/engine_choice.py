"""Which engine runs a model: what a run's parameters ask for."""

from collections.abc import Mapping
from typing import Any

from nsh.engines import Engine
from nsh.errors import EngineError
from nsh.models import ModelSpec


def engine_of(model: ModelSpec, values: Mapping[str, Any]) -> Engine:
    """The engine that loads a model; pages, which take no parameter `engine`, run on the transformers engine.

    Parameters
    ----------
    model : ModelSpec
    values : mapping
        Checked parameters: `dtype`, `batch_tokens` and, where they are taken, `quantization`, `structured`,
        `engine` and `tensor_parallel`.

    Raises
    ------
    EngineError
        If the engine cannot do what `quantization`, `structured` or `tensor_parallel` asks.

    Examples
    --------
    >>> from nsh.models import resolve
    >>> type(engine_of(resolve("Qwen3-8B"), {"dtype": "bfloat16", "batch_tokens": 2048})).__name__
    'TransformersEngine'
    """
    dtype, quantization = values["dtype"], values.get("quantization")
    if values.get("engine") == "vllm":
        if values.get("structured"):
            raise EngineError("structured = true: vLLM holds no reply to a schema; run it with engine=transformers")
        from nsh.scale.vllm_engine import VllmEngine

        return VllmEngine(model, dtype, values["tensor_parallel"], quantization)
    if (sharing := values.get("tensor_parallel", 1)) > 1:
        raise EngineError(f"tensor_parallel = {sharing}: only engine=vllm shares a model between GPUs in this way")
    from nsh.transformers_engine import TransformersEngine

    return TransformersEngine(model, dtype, values["batch_tokens"], quantization)
