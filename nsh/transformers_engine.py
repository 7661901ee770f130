"""The engine that runs models with PyTorch and transformers, on a CPU or on GPUs, in batches of like length."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from itertools import filterfalse, islice, takewhile
from typing import Any

from nsh.batching import Row, check_length, check_window, fits, plan
from nsh.chat import encode
from nsh.engines import Call, Completion, finish
from nsh.errors import EngineError
from nsh.models import ModelSpec
from nsh.scale import continuous, memory
from nsh.scale.stages import in_order
from nsh.token_sampling import Sampler
from nsh.weights import load

log = logging.getLogger("nsh")


class TransformersEngine:
    """Generation with a transformers model, loaded when the first call needs it; greedy where a call does not draw.

    Rows are sorted by stage, then by length, read in batches within `batch_tokens`, what those of a stage or of one
    narrative begin with once, and continued together. A row leaves at its end token, its budget, or (`answer_only`)
    once its letter is settled. A reply to a call with a schema is complete JSON under it within its budget
    (`nsh.structured`); a call with a temperature has its tokens drawn (`nsh.token_sampling`). In float32 a call's text
    is the same alone and in any batch; in bfloat16 it need not be.

    Parameters
    ----------
    spec : ModelSpec
        As `nsh.models.resolve` gives it.
    dtype : str, optional
        Number format in place of the model's own.
    batch_tokens : int, optional
        Most prompt tokens read in one batch, padding included; unless given, 2,048 on a CPU, on a GPU what its free
        memory takes once the model is loaded (`nsh.scale.memory`). Halved when memory runs out.
    quantization : str, optional
        "4bit" loads the weights with bitsandbytes.

    Examples
    --------
    >>> from nsh.models import resolve
    >>> TransformersEngine(resolve("Qwen3-8B")).identity["dtype"]
    'bfloat16'
    """

    def __init__(
        self,
        spec: ModelSpec,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        quantization: str | None = None,
    ):
        self.spec = spec
        self.identity = spec.identity(dtype, quantization)
        self.batch_tokens = batch_tokens
        self.quantization = quantization

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """Model and tokenizer."""
        model, tokenizer = load(self.spec, self.identity["dtype"], self.quantization)
        from nsh.scale.wide import widen

        self.widened = widen(model)
        self.batch_tokens = self.batch_tokens or memory.batch_tokens(model)
        self.together = memory.together(model)
        return model, tokenizer

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Complete calls, each as soon as it is finished, the stage with the longest prompt first.

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
        from nsh.decoding import joinable, read, rope_window

        if not calls:
            return
        begun, done = time.perf_counter(), set()
        rows = [self.row(index, call) for index, call in enumerate(calls)]
        model = self.loaded[0]
        near = partial(fits, window := rope_window(model))
        for row in rows:
            check_window(row, window, self.spec.name)
        for row, new in continuous.complete(model, list(filter(near, rows)), self.ends):
            done.add(row.index)
            yield row.index, self._completion(row, new, begun, self._stamp() | {"continuous": True})
        joins = joinable(model)  # a window allows no joining and no start
        waiting = deque(in_order([row for row in rows if near(row) and row.index not in done], by_stage=joins))
        waiting.extend(filterfalse(near, rows))  # each alone
        room = max(self.batch_tokens, self.together * joins)
        start = lru_cache(maxsize=1)(lambda ids: read(model, [ids]) if ids else None)
        while waiting:
            sizes = plan(takewhile(near, waiting), min(self.batch_tokens, room), room) or [1]
            rows = [waiting.popleft() for _ in range(sum(sizes))]
            left = {row.index: row for row in rows}
            try:
                for index, completion in self._complete(rows, sizes, start):
                    del left[index]
                    yield index, completion
            except (RuntimeError, MemoryError) as error:
                if not memory.ran_out(error):
                    raise
                if len(rows) == 1:
                    raise EngineError(f"{rows[0]} does not fit into memory alone: {error}") from None
                room = len(rows) * max(map(len, rows)) // 2
                log.warning("out of memory with %d rows; going on with at most %d tokens at a time", len(rows), room)
            waiting.extendleft(reversed(left.values()))

    def row(self, index: int, call: Call) -> Row:
        """Tokenize a call and check that it fits, and its schema into its budget."""
        model, tokenizer = self.loaded
        row = Row(index, call, encode(tokenizer, call.messages, self.identity["template"]))
        check_length(row, len(row), call.max_new_tokens, self.spec, model.config.get_text_config())
        self._held(call)
        return row

    def _held(self, call: Call) -> Any:
        """What takes a row's tokens in the place of the likeliest one, if anything."""
        if call.temperature > 0:
            return Sampler(call)
        return self.schemas.begin(call) if call.schema else None

    def _complete(
        self, rows: Sequence[Row], sizes: Sequence[int], start: Callable[[Sequence[int]], Any]
    ) -> Iterator[tuple[int, Completion]]:
        """Read rows in batches of the given sizes and continue them together, each until its own end."""
        from nsh.decoding import greedy, read_branches

        begun, model = time.perf_counter(), self.loaded[0]
        held = [self._held(row.call) for row in rows]
        reading = iter(rows)
        batches = [list(islice(reading, size)) for size in sizes]
        prompts = [[row.rest for row in batch] for batch in batches]
        starts = (read_branches(model, [row.branch for row in batch], start(batch[0].start)) for batch in batches)
        stamp = self._stamp() | {"read_rows": list(sizes), "batch_rows": len(rows)}
        for place, new in greedy(model, prompts, lambda place, new: bool(self._end(rows[place], new)), starts, held):
            row = rows[place]
            own = {"shared_start": row.shared + row.branched}
            if row.call.schema:
                own |= {"structured": self.schemas.library, "forced_tokens": held[place].forced}
            yield row.index, self._completion(row, new, begun, stamp | own)

    def _stamp(self) -> dict[str, Any]:
        """What is true of all completions of a run."""
        model = self.loaded[0]
        return {
            "engine": "transformers",
            "device": str(model.device),
            "versions": f"transformers {version('transformers')}, torch {version('torch')}",
            "commit": getattr(model.config, "_commit_hash", None),
            "batch_tokens": self.batch_tokens,
        } | ({"products": "float32"} if self.widened else {})

    def _completion(self, row: Row, new: Sequence[int], begun: float, stamp: dict[str, Any]) -> Completion:
        """A row's reply, with the seconds since its batch was begun."""
        own = {
            "seconds": round(time.perf_counter() - begun, 3),
            "system_folded": row.prompt.system_folded,
            "chat_template": row.prompt.chat_template,
        }
        return Completion(self._text(new), self._end(row, new), len(row), len(new), stamp | own)

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
