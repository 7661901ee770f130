"""How fast 48 direct prompts (B1) are answered, against the plainest way to do it (`make bench`).

Interleaved runs of four ways: a transformers pipeline with all prompts in one batch in file order; this project's
engine with full replies; the same with `answer_only`; and the prompts only read, one forward pass each and no padding,
which nothing that generates can beat. Seconds depend on the machine, ratios much less.

    python bench/direct.py [--runs 3] [--dtype float32] [--cases 16] [--batch-tokens 2048]
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import pipeline

from nsh.answers import parse_letter
from nsh.cases import load_cases
from nsh.engines import Call
from nsh.models import resolve
from nsh.prompts import direct
from nsh.transformers_engine import TransformersEngine

BUDGET = 128  # new tokens under direct prompting (voices, Compute)
MODEL = "SmolLM2-135M-Instruct"


def main() -> None:
    """Run the four ways in turn, print seconds, medians and ratios, and keep them in `_build/bench.json`."""
    options = read_options()
    engine = TransformersEngine(resolve(MODEL), options.dtype, options.batch_tokens)
    source = "released" if os.environ.get("NSH_RELEASED_DIR") else "samples"
    cases = load_cases(source, options.cases)
    calls = [Call(direct(case, voice), BUDGET, "".join(case.options)) for case in cases for voice in case.narratives]
    model, _ = engine.loaded
    with torch.inference_mode():
        model(torch.tensor([[1, 2, 3]]))  # the first pass of a process is slower than the others
    seconds, results = {name: [] for name in WAYS}, {}
    for run in range(options.runs):
        for name, way in WAYS.items():
            start = time.perf_counter()
            results[name] = way(engine, calls)
            seconds[name].append(round(time.perf_counter() - start, 2))
            say(f"run {run + 1} of {options.runs}, {name}: {seconds[name][-1]} s")
    report = {**setting(options, source, len(calls)), **compared(calls, seconds, results)}
    out = Path("_build") / "bench.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    say(json.dumps(report, indent=2))


def by_pipeline(engine: TransformersEngine, calls: list[Call]) -> list[str]:
    """The plainest way: one padded batch in file order, until its last row is finished."""
    model, tokenizer = engine.loaded
    tokenizer.padding_side = "left"
    generate = pipeline("text-generation", model=model, tokenizer=tokenizer)
    chats = [[{"role": role, "content": text} for role, text in call.messages] for call in calls]
    replies = generate(chats, batch_size=len(chats), max_new_tokens=BUDGET, do_sample=False, return_full_text=False)
    return [reply[0]["generated_text"] for reply in replies]


def by_engine(engine: TransformersEngine, calls: list[Call], answer_only: bool = False) -> list[str]:
    """This project's engine, full replies or only as far as the letter."""
    calls = [Call(call.messages, BUDGET, call.letters, answer_only) for call in calls]
    found = dict(engine.generate(calls))
    return [found[index].text for index in range(len(calls))]


def by_reading(engine: TransformersEngine, calls: list[Call]) -> int:
    """Read every prompt once and generate nothing; gives the number of prompt tokens."""
    model, _ = engine.loaded
    rows = [engine.row(index, call) for index, call in enumerate(calls)]
    with torch.inference_mode():
        for row in rows:
            model(input_ids=torch.tensor([row.prompt.ids]), logits_to_keep=1, use_cache=False)
    return sum(map(len, rows))


WAYS = {
    "pipeline": by_pipeline,
    "full": by_engine,
    "answer_only": lambda engine, calls: by_engine(engine, calls, answer_only=True),
    "reading": by_reading,
}


def setting(options: argparse.Namespace, source: str, prompts: int) -> dict[str, Any]:
    """What was run, and on what."""
    threads, kind = torch.get_num_threads(), torch.backends.cpu.get_cpu_capability()
    return {
        "command": " ".join(["python", *sys.argv]),
        "machine": f"{platform.machine()} {kind}, {os.cpu_count()} cores, {threads} threads",
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in ("torch", "transformers")},
        "model": MODEL,
        "dtype": options.dtype,
        "batch_tokens": options.batch_tokens,
        "prompts": f"{prompts} from {source}",
    }


def compared(calls: list[Call], seconds: dict[str, list[float]], results: dict[str, Any]) -> dict[str, Any]:
    """Medians, ratios to the pipeline, and how many texts and letters agree."""
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    letters = {
        name: [parse_letter(text, call.letters).letter for text, call in zip(results[name], calls, strict=True)]
        for name in ("full", "answer_only")
    }
    return {
        "prompt_tokens": results["reading"],
        "seconds": seconds,
        "median_seconds": medians,
        "ratio_to_pipeline": {name: round(median / medians["pipeline"], 3) for name, median in medians.items()},
        "texts_equal_to_pipeline": sum(map(str.__eq__, results["full"], results["pipeline"])),
        "letters_equal_answer_only": sum(a == b for a, b in zip(*letters.values(), strict=True)),
    }


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", type=int, default=16)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--batch-tokens", type=int, default=2048)
    return parser.parse_args()


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
