"""A stand-in for vLLM: the names that the engine uses, with the arguments that vLLM 0.33 takes and no others.

Signatures follow vllm/engine/arg_utils.py, vllm/sampling_params.py, vllm/inputs, vllm/outputs.py and
vllm/v1/engine/llm_engine.py. Tokens come from the whole prompt read anew for each of them, without a cache, so that
they are an account of their own of what a model says.
"""

import sys
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any


@dataclass
class EngineArgs:
    model: str
    tokenizer: str | None = None
    trust_remote_code: bool = False
    dtype: str = "auto"
    seed: int = 0
    max_model_len: int | None = None
    tensor_parallel_size: int = 1
    data_parallel_size: int = 1
    enable_prefix_caching: bool | None = None
    gpu_memory_utilization: float = 0.9
    revision: str | None = None
    tokenizer_revision: str | None = None
    quantization: str | None = None
    enforce_eager: bool = False
    disable_log_stats: bool = False


class RequestOutputKind(Enum):
    CUMULATIVE = 0
    DELTA = 1
    FINAL_ONLY = 2


@dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    max_tokens: int | None = 16
    min_tokens: int = 0
    detokenize: bool = True
    skip_special_tokens: bool = True
    output_kind: RequestOutputKind = RequestOutputKind.CUMULATIVE


class TokensPrompt(dict):
    def __init__(self, *, prompt_token_ids: list[int]):
        super().__init__(prompt_token_ids=prompt_token_ids)


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: list[int]
    finish_reason: str | None = None
    stop_reason: int | str | None = None


@dataclass
class RequestOutput:
    request_id: str
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    finished: bool


@dataclass
class Request:
    prompt: list[int]
    params: SamplingParams
    new: list[int] = field(default_factory=list)


class LLMEngine:
    """Continues the first few unfinished requests, `tokens_a_step` tokens in each step."""

    at_once = 3
    tokens_a_step = 1
    made: list["LLMEngine"] = []  # noqa: RUF012 (the tests look at the last one)

    def __init__(self, engine_args: EngineArgs):
        import torch
        from transformers import AutoModelForCausalLM

        if engine_args.data_parallel_size > 1:
            raise ValueError("not supported for single-process usage")
        self.args, self.torch = engine_args, torch
        self.model = AutoModelForCausalLM.from_pretrained(engine_args.model, dtype=getattr(torch, engine_args.dtype))
        self.vllm_config = SimpleNamespace(device_config=SimpleNamespace(device_type="cpu"))
        self.requests: dict[str, Request] = {}
        self.seen: list[Request] = []
        self.aborted: list[str] = []
        LLMEngine.made.append(self)

    @classmethod
    def from_engine_args(
        cls, engine_args: EngineArgs, usage_context: Any = None, stat_loggers: Any = None, enable_multiprocessing=False
    ) -> "LLMEngine":
        return cls(engine_args)

    def add_request(
        self,
        request_id: str,
        prompt: TokensPrompt,
        params: SamplingParams,
        arrival_time: float | None = None,
        lora_request: Any = None,
        tokenization_kwargs: dict | None = None,
        trace_headers: dict | None = None,
        priority: int = 0,
        prompt_text: str | None = None,
    ) -> str:
        if not isinstance(request_id, str) or request_id in self.requests:
            raise TypeError(f"request_id {request_id!r}")
        self.requests[request_id] = Request(prompt["prompt_token_ids"], params)
        self.seen.append(self.requests[request_id])
        return request_id

    def abort_request(self, request_ids: list[str], internal: bool = False) -> None:
        self.aborted += request_ids
        for request_id in request_ids:
            self.requests.pop(request_id, None)

    def has_unfinished_requests(self) -> bool:
        return bool(self.requests)

    def step(self) -> list[RequestOutput]:
        outputs = []
        for request_id, request in list(self.requests.items())[: self.at_once]:
            reason = self.advance(request)
            if reason:
                del self.requests[request_id]
            if reason or request.params.output_kind is RequestOutputKind.CUMULATIVE:
                output = CompletionOutput(0, "", list(request.new), reason)
                outputs.append(RequestOutput(request_id, request.prompt, [output], reason is not None))
        return outputs

    def advance(self, request: Request) -> str | None:
        """Add tokens; why the request ends, if it does."""
        for _ in range(self.tokens_a_step):
            request.new.append(self.next(request))
            if request.new[-1] in {*request.params.stop_token_ids, self.model.generation_config.eos_token_id}:
                return "stop"
            if len(request.new) == request.params.max_tokens:
                return "length"
        return None

    def next(self, request: Request) -> int:
        """The likeliest token."""
        with self.torch.inference_mode():
            ids = self.torch.tensor([[*request.prompt, *request.new]])
            return int(self.model(ids, logits_to_keep=1).logits[0, -1].argmax())


def install(monkeypatch) -> type[LLMEngine]:
    """Put the stand-in where `import vllm` finds it; gives its engine's class."""
    package, sampling = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    for name in (EngineArgs, LLMEngine, SamplingParams, TokensPrompt):
        setattr(package, name.__name__, name)
    package.__version__ = "0.33.0"
    sampling.RequestOutputKind = RequestOutputKind
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)
    monkeypatch.setattr(LLMEngine, "made", [])
    return LLMEngine
