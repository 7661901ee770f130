"""How fast 48 direct prompts (B1) are answered, in both formats: full replies against the transformers pipeline, with
`answer_only` against bare reading (one forward pass for each prompt, no padding), in batches against one at a time."""

import os
from argparse import Namespace
from dataclasses import replace
from typing import Any

import torch
from plain import Pipeline, engine_of, operations, peak, read_each, shape_of, texts
from row import Row, interleaved

from nsh.answers import parse_letter
from nsh.cases import load_cases
from nsh.engines import Call
from nsh.prompts import ask
from nsh.transformers_engine import TransformersEngine

FULL, ONLY = 0.46, 1.06  # of the pipeline's time, of that of reading


def rows(options: Namespace) -> list[Row]:
    """Three rows for each format."""
    return [row for dtype in ("float32", "bfloat16") for row in of_format(options, dtype)]


def prompts(options: Namespace) -> list[Call]:
    """16 cases in their three voices; the released ones where they are on this machine."""
    source = "released" if os.environ.get("NSH_RELEASED_DIR") else "samples"
    calls = [ask("direct", c, narrative=text) for c in load_cases(source, 16) for text in c.narratives.values()]
    return [replace(call, max_new_tokens=4) for call in calls[:4]] if options.quick else calls


def of_format(options: Namespace, dtype: str) -> list[Row]:
    """Time the ways in turn; a CPU without bfloat16 gives the pipeline one run, for it takes very long."""
    engine, calls = engine_of(options, dtype), prompts(options)
    asked = [engine.row(place, call) for place, call in enumerate(calls)]
    plain = Pipeline.beside(engine)
    short = [replace(call, answer_only=True) for call in calls]
    ways = {
        "pipeline": lambda: plain(calls),
        "full": lambda: texts(engine, calls),
        "only": lambda: texts(engine, short),
        "reading": lambda: read_each(engine, asked),
    }
    seconds, found = interleaved(ways, 1 if engine.widened else options.runs)
    alone = interleaved({"alone": lambda: [text for call in calls for text in texts(engine, [call])]}, 1)
    what, same = f"{len(calls)} direct prompts, {{}}, {dtype}", same_letters(calls, found["full"], found["only"])
    reading = f"bare reading at {share(options, engine, asked, min(seconds['reading']))}"
    return [
        Row(
            what.format("full replies"),
            "transformers pipeline",
            seconds["full"],
            seconds["pipeline"],
            FULL,
            f"{equal(found['full'], found['pipeline'])} texts equal the pipeline's",
        ),
        Row(
            what.format("answer_only"),
            "bare reading",
            seconds["only"],
            seconds["reading"],
            ONLY,
            f"{same} letters equal those of full replies; {reading}",
        ),
        Row(
            what.format("full replies in batches"),
            "one at a time",
            seconds["full"],
            alone[0]["alone"],
            None,
            f"{len(calls) - equal(found['full'], alone[1]['alone'])} texts and "
            f"{len(calls) - same_letters(calls, found['full'], alone[1]['alone'])} letters differ",
        ),
    ]


def equal(some: list[str], others: list[str]) -> int:
    """How many texts are equal."""
    return sum(map(str.__eq__, some, others))


def same_letters(calls: list[Call], some: list[str], others: list[str]) -> int:
    """How many letters are equal, those of unreadable replies included."""
    pairs = zip(calls, some, others, strict=True)
    return sum(parse_letter(a, call.letters).letter == parse_letter(b, call.letters).letter for call, a, b in pairs)


def share(options: Namespace, engine: TransformersEngine, asked: list[Any], seconds: float) -> str:
    """What part of the machine's peak the reading of whole prompts reached, in the format that products are made in."""
    made = torch.float32 if engine.widened else engine.loaded[0].dtype
    most = peak(made, 256 if options.quick else 2048)
    reached = operations(shape_of(engine.loaded[0]), [(len(row), 1) for row in asked]) / seconds
    kind = str(made).removeprefix("torch.")
    return f"{reached / most:.0%} of the measured peak of {most / 1e9:.1f} GFLOP/s ({kind} products)"
