"""How fast 12 narratives are rewritten, 200 new tokens each in bfloat16, against the transformers pipeline at the same
batch, and the time that memory alone would take."""

import os
from argparse import Namespace
from dataclasses import replace

from plain import Pipeline, bandwidth, engine_of, step_bytes, texts
from row import Row, interleaved

from nsh.cases import load_cases
from nsh.prompts import ask

LIMIT = 0.75


def rows(options: Namespace) -> list[Row]:
    """One row for each format; that of the acceptance is bfloat16."""
    return [of_format(options, dtype) for dtype in ("bfloat16", "float32")]


def of_format(options: Namespace, dtype: str) -> Row:
    """Every reply is as long as its budget: no token ends it, on either side."""
    source, new = "released" if os.environ.get("NSH_RELEASED_DIR") else "samples", 8 if options.quick else 200
    told = [(case, text) for case in load_cases(source, 4) for text in case.narratives.values()]
    calls = [replace(ask("rewrite", case, narrative=text), max_new_tokens=new) for case, text in told]
    engine = engine_of(options, dtype)
    engine.ends = set()
    plain = Pipeline.beside(engine, ends=False)
    ways = {"ours": lambda: texts(engine, calls), "pipeline": lambda: plain(calls)}
    seconds, found = interleaved(ways, 1 if engine.widened else min(options.runs, 3))
    places = sum(len(engine.row(place, call)) + new // 2 for place, call in enumerate(calls))
    speed = bandwidth((1 << 20) if options.quick else (1 << 28))
    least = new * step_bytes(engine.loaded[0], places) / speed
    equal = sum(map(str.__eq__, found["ours"], found["pipeline"]))
    return Row(
        f"{len(calls)} narratives rewritten, {new} new tokens each, {dtype}",
        "transformers pipeline",
        seconds["ours"],
        seconds["pipeline"],
        LIMIT if dtype == "bfloat16" else None,
        f"memory alone: {least:.1f} s to write, at {speed / 1e9:.1f} GB/s copied; {equal} texts equal",
    )
