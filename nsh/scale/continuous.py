"""Long replies on a GPU by the library's continuous batching: a row that ends makes room for the next at once.

Untested on a GPU: it has run on a CPU only, where it is slower than the engine's own loop (63 s against 24 s for 12
rewrites of 200 tokens) and is never used unless asked for. A prefix that prompts share is kept by the library itself.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from nsh.batching import Row
from nsh.engines import Call

log = logging.getLogger("nsh")
LONG = 256  # new tokens: from this budget on, replies of one batch end far apart
OPTIONS: dict[str, Any] = {}  # of the library's `ContinuousBatchingConfig`; it finds memory and sizes by itself
WAIT = 1.0  # seconds after which it is asked whether the library still runs


def suits(call: Call) -> bool:
    """Whether a call may be left to the library: long, greedy, free of a schema, and to its own end.

    Examples
    --------
    >>> suits(Call((), 512)), suits(Call((), 128)), suits(Call((), 512, schema="{}")), suits(Call((), 512, "A", True))
    (True, False, False, False)
    """
    return call.max_new_tokens >= LONG and not (call.schema or call.answer_only or call.temperature > 0)


def supported(model: Any) -> bool:
    """Whether a model lies on GPUs and its library can batch it continuously.

    Examples
    --------
    >>> supported(object())
    False
    """
    return hasattr(model, "continuous_batching_context_manager") and model.device.type == "cuda"


def complete(model: Any, rows: Iterable[Row], ends: set[int]) -> Iterator[tuple[Row, list[int]]]:
    """Continue the rows whose calls suit, greedily, each to an end token or its budget, if the model is `supported`.

    Parameters
    ----------
    model : transformers model
    rows : iterable of Row
    ends : set of int
        End tokens.

    Yields
    ------
    Row, list of int
        A row and its new tokens, as soon as it is finished. Rows that the library gave up are left out, all of those
        left where it fails: the engine's own loop takes them.

    Examples
    --------
    >>> list(complete(object(), [], {2}))
    []
    """
    suited = {str(row.index): row for row in rows if suits(row.call)} if supported(model) else {}
    try:
        yield from _by_library(model, suited, ends) if suited else ()
    except (ImportError, RuntimeError, ValueError, TypeError) as error:
        log.warning("continuous batching failed (%s); going on without it", error)


def _by_library(model: Any, suited: dict[str, Row], ends: set[int]) -> Iterator[tuple[Row, list[int]]]:
    """What the library makes of rows, by the name of their request."""
    from transformers import ContinuousBatchingConfig, GenerationConfig

    most = max(row.call.max_new_tokens for row in suited.values())
    greedily = GenerationConfig(do_sample=False, eos_token_id=sorted(ends), max_new_tokens=most)
    how = ContinuousBatchingConfig(**OPTIONS)
    with model.continuous_batching_context_manager(greedily, continuous_batching_config=how) as manager:
        for name, row in suited.items():
            manager.add_request(list(row.prompt.ids), request_id=name, max_new_tokens=row.call.max_new_tokens)
        while suited:
            result = manager.get_result(timeout=WAIT)
            if result is None and not manager.is_running():
                return
            if result is not None and result.is_finished():
                row = suited.pop(result.request_id)
                if result.error is None:
                    yield row, list(result.generated_tokens)
