"""The engine that runs models with PyTorch and transformers, on a CPU or on GPUs, in batches of like length."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from typing import Any

from nsh.batching import plan, shared_start
from nsh.chat import Prompt, encode
from nsh.engines import Call, Completion, finish
from nsh.errors import EngineError
from nsh.models import ModelSpec
from nsh.token_sampling import Sampler
from nsh.weights import load

log = logging.getLogger("nsh")
TOGETHER = 8192  # rows of so many prompt tokens are continued together, even where fewer are read at a time
SHARED = 16  # so many first tokens that all prompts have in common are read once


@dataclass(frozen=True, slots=True)
class Row:
    """A call with its place in the stream and its prompt in tokens."""

    index: int
    call: Call
    prompt: Prompt

    def __len__(self) -> int:
        return len(self.prompt.ids)

    def __str__(self) -> str:
        words = " ".join(text for role, text in self.call.messages if role == "user").split()
        return f'call {self.index} ("{" ".join(words[:8])} ...")'


class TransformersEngine:
    """Generation with a transformers model, loaded when the first call needs it; greedy where a call does not draw.

    Rows are sorted by length, read in batches within `batch_tokens`, and continued together. A row leaves at its end
    token, its budget, or (`answer_only`) once its letter is settled. A reply to a call with a schema is complete JSON
    under it within its budget (`nsh.structured`); a call with a temperature has its tokens drawn
    (`nsh.token_sampling`). In float32 a call's text is the same alone and in any batch; in bfloat16 it need not be.

    Parameters
    ----------
    spec : ModelSpec
        As `nsh.models.resolve` gives it.
    dtype : str, optional
        Number format in place of the model's own.
    batch_tokens : int
        Most prompt tokens read in one batch, padding included. Halved when memory runs out.
    quantization : str, optional
        "4bit" loads the weights with bitsandbytes.

    Examples
    --------
    >>> from nsh.models import resolve
    >>> TransformersEngine(resolve("Qwen3-8B")).identity["dtype"]
    'bfloat16'
    """

    def __init__(
        self, spec: ModelSpec, dtype: str | None = None, batch_tokens: int = 2048, quantization: str | None = None
    ):
        self.spec = spec
        self.identity = spec.identity(dtype, quantization)
        self.batch_tokens = batch_tokens
        self.quantization = quantization

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """Model and tokenizer."""
        return load(self.spec, self.identity["dtype"], self.quantization)

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Complete calls, each as soon as it is finished, longest prompts first.

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
            If the model cannot be loaded, a prompt with its budget exceeds the context or a schema cannot be met within
            it (before anything is generated; nothing is ever cut), a call has a schema and a temperature, or one row
            alone does not fit into memory.

        Examples
        --------
        >>> list(engine.generate([Call((("user", "Which?"),), 16)]))  # doctest: +SKIP
        [(0, Completion(text='A', finish='stop', ...))]
        """
        waiting = sorted((self.row(index, call) for index, call in enumerate(calls)), key=len, reverse=True)
        room, start = self._room_and_start(waiting) if waiting else (0, None)
        while waiting:
            sizes = plan([len(row) for row in waiting], min(self.batch_tokens, room), room)
            rows = waiting[: sum(sizes)]
            left = {row.index: row for row in rows}
            try:
                for index, completion in self._complete(rows, sizes, start):
                    del left[index]
                    yield index, completion
            except (RuntimeError, MemoryError) as error:
                if not _out_of_memory(error):
                    raise
                if len(rows) == 1:
                    raise EngineError(f"{rows[0]} does not fit into memory alone: {error}") from None
                room = len(rows) * len(rows[0]) // 2
                log.warning("out of memory with %d rows; going on with at most %d tokens at a time", len(rows), room)
            waiting = [*left.values(), *waiting[len(rows) :]]

    def row(self, index: int, call: Call) -> Row:
        """Tokenize a call and check that it fits, and its schema into its budget."""
        model, tokenizer = self.loaded
        row = Row(index, call, encode(tokenizer, call.messages, self.identity["template"]))
        context = self.spec.context or getattr(model.config.get_text_config(), "max_position_embeddings", None)
        if context and len(row) + call.max_new_tokens > context:
            raise EngineError(
                f"{row}: {len(row)} prompt tokens and {call.max_new_tokens} new ones exceed the context of "
                f"{self.spec.name}, {context}; leave the case out or take a model with a longer context"
            )
        self._held(call)
        return row

    def _held(self, call: Call) -> Any:
        """What takes a row's tokens in the place of the likeliest one, if anything."""
        if call.temperature > 0:
            return Sampler(call)
        return self.schemas.begin(call) if call.schema else None

    def _room_and_start(self, rows: Sequence[Row]) -> tuple[int, Any]:
        """How many tokens to continue together, and what all prompts begin with, read once, where the model allows."""
        from nsh.decoding import joinable, read

        model, _ = self.loaded
        if not joinable(model):
            return self.batch_tokens, None
        shared = shared_start([row.prompt.ids for row in rows]) if len(rows) > 1 else 0
        start = read(model, [rows[0].prompt.ids[:shared]]) if shared >= SHARED else None
        return max(self.batch_tokens, TOGETHER), start

    def _complete(self, rows: Sequence[Row], sizes: Sequence[int], start: Any) -> Iterator[tuple[int, Completion]]:
        """Read rows in batches of the given sizes and continue them together, each until its own end."""
        from nsh.decoding import greedy

        begun, model = time.perf_counter(), self.loaded[0]
        skip = start.mask.shape[1] if start else 0
        held = [self._held(row.call) for row in rows]
        prompts = iter([row.prompt.ids[skip:] for row in rows])
        batches = [list(islice(prompts, size)) for size in sizes]
        shared = {
            "engine": "transformers",
            "device": str(model.device),
            "versions": f"transformers {version('transformers')}, torch {version('torch')}",
            "commit": getattr(model.config, "_commit_hash", None),
            "batch_tokens": self.batch_tokens,
            "read_rows": list(sizes),
            "batch_rows": len(rows),
            "shared_start": skip,
        }
        for place, new in greedy(model, batches, lambda place, new: bool(self._end(rows[place], new)), start, held):
            row = rows[place]
            own = {
                "seconds": round(time.perf_counter() - begun, 3),
                "system_folded": row.prompt.system_folded,
                "chat_template": row.prompt.chat_template,
            }
            if row.call.schema:
                own |= {"structured": self.schemas.library, "forced_tokens": held[place].forced}
            yield row.index, Completion(self._text(new), self._end(row, new), len(row), len(new), shared | own)

    def _end(self, row: Row, new: Sequence[int]) -> str:
        """Why a row's reply ends here, or "" where it goes on."""
        return finish(row.call, new, self.ends, self._text)

    @cached_property
    def schemas(self) -> Any:
        """Schemas compiled for the tokens of this model."""
        from nsh.structured import Schemas

        model, tokenizer = self.loaded
        return Schemas(tokenizer, self.ends, model.config.get_text_config().vocab_size)

    @cached_property
    def ends(self) -> set[int]:
        """Tokens that end a reply: the model's and the tokenizer's."""
        model, tokenizer = self.loaded
        ends = model.generation_config.eos_token_id
        return {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}

    def _text(self, new: Sequence[int]) -> str:
        """New tokens as text, blanks as the model wrote them."""
        return self.loaded[1].decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _out_of_memory(error: Exception) -> bool:
    """Whether PyTorch, on a GPU or a CPU, or Python ran out of memory."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said
