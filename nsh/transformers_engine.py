"""The engine that runs models with PyTorch and transformers, on a CPU or on GPUs: greedy, in batches of like length."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from nsh.answers import parse_letter
from nsh.batching import rows_that_fit
from nsh.chat import Prompt, encode
from nsh.engines import Call, Completion
from nsh.errors import EngineError
from nsh.models import ModelSpec
from nsh.weights import load

log = logging.getLogger("nsh")


@dataclass(frozen=True, slots=True)
class Row:
    """A call with its place in the stream and its prompt in tokens."""

    index: int
    call: Call
    prompt: Prompt

    def __len__(self) -> int:
        return len(self.prompt.ids)


class TransformersEngine:
    """Greedy generation with a transformers model, loaded when the first call needs it.

    Rows are sorted by length and batched so that rows x longest prompt stays within `batch_tokens`. A row leaves its
    batch at its end token, its budget, or (`answer_only`) once its letter is settled. In float32 a prompt's text is
    the same alone and in any batch; in bfloat16 it need not be.

    Parameters
    ----------
    spec : ModelSpec
        As `nsh.models.resolve` gives it.
    dtype : str, optional
        Number format in place of the model's own.
    batch_tokens : int
        Most prompt tokens in one batch, padding included. Halved when memory runs out.

    Examples
    --------
    >>> from nsh.models import resolve
    >>> TransformersEngine(resolve("Qwen3-8B")).identity["dtype"]
    'bfloat16'
    """

    def __init__(self, spec: ModelSpec, dtype: str | None = None, batch_tokens: int = 2048):
        self.spec = spec
        self.identity = spec.identity(dtype)
        self.batch_tokens = batch_tokens

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """Model and tokenizer."""
        return load(self.spec, self.identity["dtype"])

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
            If the model cannot be loaded, a prompt with its budget exceeds the context (before anything is
            generated; nothing is ever cut), or one row alone does not fit into memory.

        Examples
        --------
        >>> list(engine.generate([Call((("user", "Which?"),), 16)]))  # doctest: +SKIP
        [(0, Completion(text='A', finish='stop', ...))]
        """
        waiting = sorted((self.row(index, call) for index, call in enumerate(calls)), key=len, reverse=True)
        budget = self.batch_tokens
        while waiting:
            n = rows_that_fit([len(row) for row in waiting], budget)
            left = {row.index: row for row in waiting[:n]}
            try:
                for index, completion in self._complete(waiting[:n], budget):
                    del left[index]
                    yield index, completion
            except (RuntimeError, MemoryError) as error:
                if not _out_of_memory(error):
                    raise
                if n == 1:
                    raise EngineError(f"{_named(waiting[0])} does not fit into memory alone: {error}") from None
                budget = n * len(waiting[0]) // 2
                log.warning("out of memory with %d rows; going on with batches of at most %d tokens", n, budget)
            waiting = [*left.values(), *waiting[n:]]

    def row(self, index: int, call: Call) -> Row:
        """Tokenize a call and check that it fits."""
        model, tokenizer = self.loaded
        row = Row(index, call, encode(tokenizer, call.messages, self.identity["template"]))
        context = self.spec.context or getattr(model.config.get_text_config(), "max_position_embeddings", None)
        if context and len(row) + call.max_new_tokens > context:
            raise EngineError(
                f"{_named(row)}: {len(row)} prompt tokens and {call.max_new_tokens} new ones exceed the context of "
                f"{self.spec.name}, {context}; leave the case out or take a model with a longer context"
            )
        return row

    def _complete(self, rows: Sequence[Row], budget: int) -> Iterator[tuple[int, Completion]]:
        """Generate one batch, each completion as soon as its row ends."""
        from nsh.decoding import greedy

        start = time.perf_counter()
        model, _ = self.loaded
        prompts = [row.prompt.ids for row in rows]
        for place, new in greedy(model, prompts, lambda place, new: bool(self._end(rows[place].call, new))):
            row = rows[place]
            stamp = {
                "engine": "transformers",
                "device": str(model.device),
                "versions": f"transformers {version('transformers')}, torch {version('torch')}",
                "commit": getattr(model.config, "_commit_hash", None),
                "batch_rows": len(rows),
                "batch_tokens": budget,
                "halved": budget < self.batch_tokens,
                "seconds": round(time.perf_counter() - start, 3),
                "system_folded": row.prompt.system_folded,
                "chat_template": row.prompt.chat_template,
            }
            yield row.index, Completion(self._text(new), self._end(row.call, new), len(row), len(new), stamp)

    def _end(self, call: Call, new: Sequence[int]) -> str:
        """Why a reply ends here: "stop", "length", "answer", or "" where it goes on."""
        if new[-1] in self.ends:
            return "stop"
        if len(new) >= call.max_new_tokens:
            return "length"
        return "answer" if call.answer_only and settled(self._text(new), call.letters) else ""

    @cached_property
    def ends(self) -> set[int]:
        """Tokens that end a reply: the model's and the tokenizer's."""
        model, tokenizer = self.loaded
        ends = model.generation_config.eos_token_id
        return {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}

    def _text(self, new: Sequence[int]) -> str:
        """New tokens as text, blanks as the model wrote them."""
        return self.loaded[1].decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def settled(text: str, letters: str) -> bool:
    """Whether a reply so far has committed itself to a letter: it reads as one, and a mark or a new line closes it.

    A model may still correct itself later, which is why no paper's condition stops here.

    Examples
    --------
    >>> [settled(text, "ABCD") for text in ("A", "A:", "The answer is B", "The answer is B.", "A patient.")]
    [False, True, False, True, False]
    """
    return text.endswith((":", ".", ")", "*", "\n")) and parse_letter(text, letters).status == "ok"


def _out_of_memory(error: Exception) -> bool:
    """Whether PyTorch, on a GPU or a CPU, or Python ran out of memory."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said


def _named(row: Row) -> str:
    """A call by its place and first words."""
    words = " ".join(" ".join(text for role, text in row.call.messages if role == "user").split()[:8])
    return f'call {row.index} ("{words} ...")'
