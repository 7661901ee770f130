"""What it saves to read a common start once: 24 prompts that share an instruction of some 370 tokens, float32."""

from argparse import Namespace
from dataclasses import replace
from unittest.mock import patch

from plain import engine_of, texts
from row import Row, interleaved

from nsh.cases import load_cases
from nsh.prompts import ask
from nsh.scale import stages

LIMIT = 0.65
NEVER = 10**9


def rows(options: Namespace) -> list[Row]:
    """One row: the start read once, and with every prompt."""
    engine, n, new = engine_of(options, "float32"), 1 if options.quick else 8, 4 if options.quick else 16
    told = [(case, text) for case in load_cases("samples", n) for text in case.narratives.values()]
    calls = [replace(ask("few_shot", case, narrative=text), max_new_tokens=new) for case, text in told]
    shared = stages.in_order(engine.row(place, call) for place, call in enumerate(calls))[0].shared

    def whole() -> list[str]:
        """Every prompt read whole."""
        with patch.object(stages, "SHARED", NEVER):
            return texts(engine, calls)

    seconds, found = interleaved({"once": lambda: texts(engine, calls), "whole": whole}, min(options.runs, 3))
    equal = sum(map(str.__eq__, found["once"], found["whole"]))
    what = f"{len(calls)} prompts, their {shared} common tokens read once, {new} new tokens, float32"
    return [Row(what, "read with every prompt", seconds["once"], seconds["whole"], LIMIT, f"{equal} texts equal")]
