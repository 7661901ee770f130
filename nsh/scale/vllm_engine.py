"""The engine that runs models with vLLM, on GPUs: the same calls and completions as the transformers engine.

Untested on a GPU: its tests run against a stand-in with vLLM's own signatures. One process uses one vLLM engine, since
vLLM refuses data parallelism within one process; `nsh generate --shard i/n` on a GPU each is the way to several.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from nsh.batching import Row
from nsh.engines import Call, Completion
from nsh.errors import EngineError
from nsh.models import ModelSpec
from nsh.transformers_engine import TransformersEngine
from nsh.weights import INSTALL, explained, pinned_source

ELSEWHERE = "run it with engine=transformers"


class VllmEngine(TransformersEngine):
    """Greedy generation with vLLM, loaded when the first call needs it.

    Prompts are rendered and tokenized as for the transformers engine, which it takes its checks, end tokens and
    decoding from; vLLM sees token ids and gives token ids. Prefix caching is on. Greedy texts are those of the
    transformers engine but where two tokens are all but equally likely. Drawn tokens would be others, by another
    generator, under the same key of the store: such a call is refused.

    Parameters
    ----------
    spec : ModelSpec
        As `nsh.models.resolve` gives it.
    dtype : str, optional
        Number format in place of the model's own.
    tensor_parallel : int
        GPUs that share the weights of one model.
    quantization : str, optional
        Refused: vLLM loads no weights in 4 bit by itself, and its plugin for it quantizes in another way.

    Raises
    ------
    EngineError
        If `quantization` is asked for.

    Examples
    --------
    >>> from nsh.models import resolve
    >>> VllmEngine(resolve("Qwen3-8B"), tensor_parallel=2).identity["dtype"]
    'bfloat16'
    """

    def __init__(
        self, spec: ModelSpec, dtype: str | None = None, tensor_parallel: int = 1, quantization: str | None = None
    ):
        if quantization:
            raise EngineError(f"quantization = {quantization!r}: vLLM loads {spec.name} unquantized; {ELSEWHERE}")
        super().__init__(spec, dtype)
        self.tensor_parallel = tensor_parallel
        self.asked = 0

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """What there is to know of the model without its weights (configuration, end tokens), and its tokenizer."""
        from transformers import AutoConfig, AutoTokenizer, GenerationConfig

        source, pinned = self.source
        with explained(self.spec):
            config = AutoConfig.from_pretrained(source, **pinned)
            tokenizer = AutoTokenizer.from_pretrained(source, **pinned)
            try:
                generation = GenerationConfig.from_pretrained(source, revision=pinned["revision"])
            except OSError:  # the model has none
                generation = GenerationConfig.from_model_config(config)
        return SimpleNamespace(config=config, generation_config=generation), tokenizer

    @cached_property
    def source(self) -> tuple[str, dict[str, Any]]:
        """Folder or hub id of the weights, and what every loader of it is told."""
        return pinned_source(self.spec)

    @cached_property
    def library(self) -> Any:
        """The package vLLM."""
        try:
            import vllm
        except ImportError as error:
            raise EngineError(f"{error}; in an environment of its own: {INSTALL.replace('models', 'vllm')}") from None
        return vllm

    @cached_property
    def engine(self) -> Any:
        """vLLM's engine, which holds the weights."""
        source, pinned = self.source
        with explained(self.spec):
            arguments = self.library.EngineArgs(
                model=source,
                tokenizer=source,
                tokenizer_revision=pinned["revision"],
                dtype=self.identity["dtype"],
                max_model_len=self.spec.context,
                tensor_parallel_size=self.tensor_parallel,
                enable_prefix_caching=True,
                disable_log_stats=True,
                **pinned,
            )
            return self.library.LLMEngine.from_engine_args(arguments)

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Complete calls, each as soon as it is finished: vLLM is stepped, so that a killed run keeps what was done.

        Parameters
        ----------
        calls : sequence of Call

        Yields
        ------
        int, Completion
            Index of the call and its completion.

        Raises
        ------
        EngineError
            If vLLM is not installed, the model cannot be loaded, a prompt with its budget exceeds the context or a call
            has a schema or a temperature (before anything is generated), or vLLM gives a reply up.

        Examples
        --------
        >>> list(engine.generate([Call((("user", "Which?"),), 16)]))  # doctest: +SKIP
        [(0, Completion(text='A', finish='stop', ...))]
        """
        if not calls:
            return
        library, rows = self.library, [self.row(index, call) for index, call in enumerate(calls)]
        begun, waiting = time.perf_counter(), {str(self.asked + row.index): row for row in rows}
        self.asked, read = self.asked + len(rows), dict.fromkeys(waiting, 0)
        try:
            for name, row in waiting.items():
                prompt = library.TokensPrompt(prompt_token_ids=list(row.prompt.ids))
                self.engine.add_request(name, prompt, self._parameters(row.call))
            while waiting:
                for output in self.engine.step():
                    name, said = output.request_id, output.outputs[0]
                    if name not in waiting:
                        continue
                    row, new = waiting[name], list(said.token_ids)
                    length = self._length(row, new, read[name])
                    read[name] = len(new)
                    if length and not output.finished:
                        self.engine.abort_request([name])
                    if length or output.finished:
                        del waiting[name]
                        yield row.index, self._reply(row, new[: length or None], said.finish_reason, begun)
        finally:
            if waiting:
                self.engine.abort_request(list(waiting))

    def _held(self, call: Call) -> None:
        """Refuse a temperature, and a schema: what vLLM cuts at the end of a budget is no complete JSON."""
        if call.temperature > 0:
            raise EngineError(
                f"tokens at temperature {call.temperature:g} are drawn in another way by vLLM; {ELSEWHERE}"
            )
        if call.schema:
            raise EngineError(f'the schema of "{call.stage}" cannot be met within its budget by vLLM; {ELSEWHERE}')

    def _parameters(self, call: Call) -> Any:
        """How vLLM is to continue a call; token by token where its letter is waited for."""
        from vllm.sampling_params import RequestOutputKind

        return self.library.SamplingParams(
            temperature=0.0,
            max_tokens=call.max_new_tokens,
            stop_token_ids=sorted(self.ends),
            detokenize=False,
            output_kind=RequestOutputKind.CUMULATIVE if call.answer_only else RequestOutputKind.FINAL_ONLY,
        )

    def _length(self, row: Row, new: Sequence[int], read: int) -> int:
        """Tokens after which a reply ends, of those that were not looked at yet; 0 where it goes on."""
        first = read + 1 if row.call.answer_only else max(1, len(new))
        return next((length for length in range(first, len(new) + 1) if self._end(row, new[:length])), 0)

    def _reply(self, row: Row, new: Sequence[int], reason: str | None, begun: float) -> Completion:
        """A finished reply; where its last token does not say why it ends, vLLM does."""
        if not new or reason not in (None, "stop", "length"):
            raise EngineError(f"{row}: vLLM gave the reply up ({reason})")
        reply = self._completion(row, new, begun, self._stamp())
        return reply if reply.finish else replace(reply, finish=reason)

    def _stamp(self) -> dict[str, Any]:
        """What is true of all completions of a run."""
        return {
            "engine": "vllm",
            "untested": True,
            "device": self.engine.vllm_config.device_config.device_type,
            "versions": f"vllm {self.library.__version__}, torch {version('torch')}",
            "commit": getattr(self.loaded[0].config, "_commit_hash", None),
            "tensor_parallel": self.tensor_parallel,
        }
