"""Number formats and threads: reading 2,000 tokens and writing 32 more for twelve rows, by the packaged model."""

from argparse import Namespace

import torch
from plain import engine_of
from row import Row, interleaved

from nsh.decoding import greedy, read
from nsh.transformers_engine import TransformersEngine

WRITERS = 12


def rows(options: Namespace) -> list[Row]:
    """bfloat16 against float32 with all threads, and one thread against all in both formats."""
    engines = {dtype: engine_of(options, dtype) for dtype in ("float32", "bfloat16")}
    length, new, every = (40, 3, 2) if options.quick else (170, 33, torch.get_num_threads())
    threads = sorted({1, every})
    found = []
    for name, way in {"reading": reading, "writing": writing}.items():
        ways = {
            (dtype, n): (lambda engine=engine, n=n, way=way: with_threads(n, way, engine, length, new))
            for dtype, engine in engines.items()
            for n in threads
        }
        seconds, told = interleaved(ways, min(options.runs, 3))
        if name == "writing":  # without the reading before it
            seconds = {key: [told[key]] for key in ways}
        pairs = [(("bfloat16", every), ("float32", every))]
        pairs += [((dtype, 1), (dtype, every)) for dtype in engines] if every > 1 else []
        found += [
            Row(said(name, *a), said(name, *b), seconds[a], seconds[b], None, made(engines[a[0]])) for a, b in pairs
        ]
    return found


def said(name: str, dtype: str, threads: int) -> str:
    """A way in words."""
    return f"{name}, {dtype}, {threads} thread{'s' * (threads > 1)}"


def made(engine: TransformersEngine) -> str:
    """Where bfloat16 products are made in float32."""
    return "products made in float32: this CPU has no bfloat16" if engine.widened else ""


def with_threads(n: int, way, engine: TransformersEngine, length: int, new: int):
    """What a way gives with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        return way(engine, length, new)
    finally:
        torch.set_num_threads(before)


def reading(engine: TransformersEngine, length: int, new: int) -> None:
    """Read twelve prompts in one batch."""
    read(engine.loaded[0], prompts(engine, length))


def writing(engine: TransformersEngine, length: int, new: int) -> float:
    """Seconds from the first new token to the last."""
    import time

    times: list[float] = []

    def finished(place: int, tokens: list[int]) -> bool:
        times.append(time.perf_counter())
        return len(tokens) == new

    list(greedy(engine.loaded[0], [prompts(engine, length)], finished))
    return times[-1] - times[0]


def prompts(engine: TransformersEngine, length: int) -> list[list[int]]:
    """Rows of tokens without a meaning."""
    size = engine.loaded[0].config.vocab_size
    return [[(7 * place + row) % size for place in range(length)] for row in range(WRITERS)]
