"""How fast this project's engines answer on a GPU: a 7B-parameter architecture with random weights, no download.

512 direct prompts (B1) of the lengths of the released cases (200 to 936 tokens, 361 in the mean) and 64 rewrites, made
of the packaged samples, through the transformers engine, a transformers pipeline and, where it is installed, vLLM. What
random weights say means nothing, but takes as long as what trained ones say; they are kept from ending before their
budget. Prints tokens per second and the share of the GPU's peak that is used, and keeps them in `$OUT/gpu.json` or
`_build/bench-gpu.json`. Needs the packaged model's tokenizer (`make weights`) and no network.

    python bench/gpu.py [--runs 2] [--batch-tokens N] [--pipeline-batch 64] [--tiny]
"""

import argparse
import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from plain import Pipeline, Shape, operations, shape_of
from row import Row, interleaved
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

from nsh.cases import load_cases
from nsh.declared import read_data
from nsh.engines import Call, Completion
from nsh.models import ModelSpec, resolve
from nsh.prompts import ask
from nsh.scale.rates import listed_gpu
from nsh.scale.vllm_engine import VllmEngine
from nsh.transformers_engine import TransformersEngine
from nsh.weights import weights_folder

SIZES = {  # 7.4 billion parameters with the packaged tokenizer's 49,152 tokens, grouped-query attention
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
TINY = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
Say = Callable[[Sequence[Completion], float], str]  # from replies and their seconds to words
SHORTEST, LONGEST, BEND = 200, 936, 3.57  # prompt lengths 200 + 736 u^3.57: mean 200 + 736 / 4.57 = 361 tokens


@dataclass(frozen=True)
class Work:
    """A set of calls, and how they are called in the table."""

    name: str
    calls: list[Call]


def main() -> None:
    """Run, print, keep."""
    options = read_options()
    report = measured(options)
    out = Path(os.environ["OUT"], "gpu.json") if os.environ.get("OUT") else Path("_build", "bench-gpu.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(report, indent=2) + f"\nkept in {out}\n")


def rows(options: argparse.Namespace) -> list[Row]:
    """The rows of the table: each set of calls against the pipeline, and against vLLM where it is installed."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    engine = random_engine(TINY if options.tiny else SIZES, device, options.batch_tokens)
    works = workload(engine.loaded[1], options.tiny)
    shape, peaks = shape_of(engine.loaded[0]), {"a product measured here": matmul_peak(device, options.tiny)}
    if sheet := sheet_peak(torch.cuda.get_device_name(0) if device == "cuda" else ""):
        peaks["its data sheet"] = sheet
    say = partial(rates, shape, peaks)
    found = [against_pipeline(engine, work, options, say) for work in works]
    return found + (against_vllm(engine, works, found, options, say) if find_spec("vllm") else [])


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All that is kept: the machine, the model's sizes, the rows."""
    found = rows(options)
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    machine = {"gpu": gpu, "cpu": platform.machine(), "cores": os.cpu_count(), "torch": torch.__version__}
    table = [asdict(row) | {"bench": "gpu", "ratio": round(row.ratio, 3), "good": row.good} for row in found]
    return {"machine": machine, "model": TINY if options.tiny else SIZES, "rows": table}


def random_engine(sizes: dict[str, int], device: str, batch_tokens: int | None) -> TransformersEngine:
    """The engine with a random model put into its place, made where it runs, whose replies use up their budgets."""
    tokenizer = AutoTokenizer.from_pretrained(weights_folder(resolve("SmolLM2-135M-Instruct")))
    config = LlamaConfig(**sizes, vocab_size=len(tokenizer), max_position_embeddings=4096, eos_token_id=None)
    torch.manual_seed(0)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    engine = TransformersEngine(ModelSpec("random", "random", context=4096), "bfloat16", batch_tokens)
    with patch("nsh.transformers_engine.load", return_value=(model, tokenizer)):
        generation = engine.loaded[0].generation_config
    generation.eos_token_id, generation.pad_token_id = None, tokenizer.pad_token_id
    engine.ends = set()
    return engine


def workload(tokenizer: Any, tiny: bool) -> list[Work]:
    """Direct prompts and rewrites: each narrative is a stretch of the samples' text of the length that is wanted."""
    cases = load_cases("samples")
    text = " ".join(narrative for case in cases for narrative in case.narratives.values())
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    found, frames = [], {}
    for name, count in (("direct", 4 if tiny else 512), ("rewrite", 2 if tiny else 64)):
        calls = []
        for number in range(count):
            case = cases[number % len(cases)]
            wanted = round(SHORTEST + (LONGEST - SHORTEST) * ((number + 0.5) / count) ** BEND)
            if (frame := ask(name, case if name == "direct" else None, narrative="")) not in frames:
                frames[frame] = prompt_tokens(tokenizer, frame)
            room = max(1, wanted - frames[frame])
            start = number * 37 % (len(ids) - LONGEST)
            said = tokenizer.decode(ids[start : start + room])
            call = ask(name, case if name == "direct" else None, narrative=said)
            calls.append(replace(call, max_new_tokens=4) if tiny else call)
        found.append(Work(f"{count} {name} prompts, {calls[0].max_new_tokens} new tokens, bfloat16", calls))
    return found


def prompt_tokens(tokenizer: Any, call: Call) -> int:
    """Tokens of a call's rendered prompt."""
    chat = [{"role": role, "content": text} for role, text in call.messages]
    return len(tokenizer(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))["input_ids"])


def against_pipeline(engine: TransformersEngine, work: Work, options: argparse.Namespace, say: Say) -> Row:
    """The engine and the plainest way, in turn, after one short pass."""
    plain = Pipeline(*engine.loaded, options.pipeline_batch)
    ways = {"engine": lambda: dict(engine.generate(work.calls)), "pipeline": lambda: plain(work.calls)}
    dict(engine.generate([replace(work.calls[0], max_new_tokens=4)]))
    seconds, results = interleaved(ways, options.runs)
    done = list(results["engine"].values())
    note = "; ".join(f"{name}: {say(done, statistics.median(taken))}" for name, taken in seconds.items())
    against = f"transformers pipeline, batch {options.pipeline_batch}"
    return Row(work.name, against, seconds["engine"], seconds["pipeline"], note=note)


def against_vllm(
    engine: TransformersEngine, works: Sequence[Work], found: Sequence[Row], options: argparse.Namespace, say: Say
) -> list[Row]:
    """The engine's seconds against vLLM's, which runs once, as it keeps what it has read, and after the engine, as one
    GPU's memory does not hold both."""
    (model, tokenizer), table = engine.loaded, []
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        del model, engine.loaded
        gc.collect()
        torch.cuda.empty_cache()
        other = VllmEngine(resolve(folder), "bfloat16")
        other.ends = set()
        for work, row in zip(works, found, strict=True):
            dict(other.generate([replace(work.calls[0], max_new_tokens=4)]))
            seconds, results = interleaved({"vLLM": lambda work=work: dict(other.generate(work.calls))}, 1)
            note = f"vLLM, after the others: {say(list(results['vLLM'].values()), statistics.median(seconds['vLLM']))}"
            table.append(Row(work.name, "vLLM", row.seconds, seconds["vLLM"], note=note))
    return table


def rates(shape: Shape, peaks: Mapping[str, float], done: Sequence[Completion], seconds: float) -> str:
    """Tokens per second and model FLOP utilisation, in words."""
    lengths = [(reply.prompt_tokens, reply.new_tokens) for reply in done]
    flops = operations(shape, lengths) / seconds / 1e12
    read, new = map(sum, zip(*lengths, strict=True))
    shares = ", ".join(f"{flops / peak:.1%} of {name} ({peak:,.3g})" for name, peak in peaks.items())
    return f"{new / seconds:,.0f} new and {read / seconds:,.0f} prompt tokens/s, {flops:,.3g} TFLOP/s, {shares}"


def sheet_peak(gpu: str) -> float | None:
    """TFLOP/s in bfloat16 without sparsity by the data sheet of a listed GPU."""
    return read_data("scale/gpus.yaml")["gpus"][name]["tflops"] if (name := listed_gpu(gpu)) else None


def matmul_peak(device: str, tiny: bool, runs: int = 10) -> float:
    """TFLOP/s of the fastest of several bfloat16 products of two square matrices."""
    size, best = 64 if tiny else 8192, float("inf")
    one, other = (torch.randn(size, size, device=device).to(torch.bfloat16) for _ in range(2))
    for _ in range(runs + 1):  # the first is slower than the others
        begun = time.perf_counter()
        one @ other
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best / 1e12


def read_options(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, help="chosen from free memory unless given")
    parser.add_argument("--pipeline-batch", type=int, default=64)
    parser.add_argument("--tiny", action="store_true", help="a tiny model and a few prompts, on any machine")
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
