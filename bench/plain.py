"""What the engine is held against: the transformers pipeline as it comes, bare reading, and the machine's limits."""

import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, pipeline

from nsh.batching import Row as Prompted
from nsh.engines import Call
from nsh.models import resolve
from nsh.progress import no_bars
from nsh.scale.memory import bytes_per_token, head_width
from nsh.transformers_engine import TransformersEngine
from nsh.weights import weights_folder

MODEL = "SmolLM2-135M-Instruct"


def engine_of(options: Namespace, dtype: str) -> TransformersEngine:
    """The model of the benchmarks, loaded and warm."""
    engine = TransformersEngine(resolve(model_of(options)), dtype)
    list(engine.generate([Call((("user", "Which?"),), 2)]))  # the first pass of a process is slower than the others
    return engine


def model_of(options: Namespace) -> str:
    """The packaged model, or for a quick look a tiny random one, on one thread."""
    if not options.quick:
        return MODEL
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from tiny_model import save_tiny_model

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    return save_tiny_model(Path(tempfile.mkdtemp(prefix="nsh-bench-")), context=8192)


@dataclass(frozen=True)
class Shape:
    """What of a model counts in operations: weights of its layers and of the output layer, layers, width."""

    body: int
    head: int
    layers: int
    width: int


class Pipeline:
    """The plainest way: the library's own pipeline, padded batches in the order given; one unless `batch` says how
    many rows."""

    def __init__(self, model: Any, tokenizer: Any, batch: int | None = None):
        tokenizer.padding_side = "left"
        self.batch = batch
        self.generate = pipeline("text-generation", model=model, tokenizer=tokenizer)

    @classmethod
    def beside(cls, engine: TransformersEngine, ends: bool = True) -> "Pipeline":
        """One with weights of its own; `ends` is False where every reply is to be as long as its budget."""
        tokenizer, dtype = engine.loaded[1], getattr(torch, engine.identity["dtype"])
        with no_bars():
            model = AutoModelForCausalLM.from_pretrained(weights_folder(engine.spec), dtype=dtype).eval()
        model.generation_config.pad_token_id = tokenizer.eos_token_id
        if not ends:
            model.generation_config.eos_token_id = None
        return cls(model, tokenizer)

    def __call__(self, calls: Sequence[Call]) -> list[str]:
        """The texts."""
        chats = [[{"role": role, "content": text} for role, text in call.messages] for call in calls]
        how = {"max_new_tokens": calls[0].max_new_tokens, "do_sample": False, "return_full_text": False}
        return [
            found[0]["generated_text"] for found in self.generate(chats, batch_size=self.batch or len(chats), **how)
        ]


def texts(engine: TransformersEngine, calls: Sequence[Call]) -> list[str]:
    """The engine's texts, in the order of the calls."""
    found = dict(engine.generate(calls))
    return [found[place].text for place in range(len(calls))]


def read_each(engine: TransformersEngine, rows: Sequence[Prompted]) -> None:
    """Read every prompt once, without padding, and write nothing: no engine that reads whole prompts can be quicker."""
    with torch.inference_mode():
        for row in rows:
            engine.loaded[0](input_ids=torch.tensor([row.prompt.ids]), logits_to_keep=1, use_cache=False)


def shape_of(model: Any) -> Shape:
    """The shape of a model, whether or not its output layer is its input embedding."""
    config, head = model.config.get_text_config(), model.get_output_embeddings()
    linear = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear) and layer is not head]
    body = sum(layer.weight.numel() for layer in linear)
    width = config.num_attention_heads * head_width(config)
    return Shape(body, head.weight.numel(), config.num_hidden_layers, width)


def operations(shape: Shape, lengths: Iterable[tuple[int, int]]) -> float:
    """Operations that replies of so many prompt and new tokens need, whoever makes them; a product and a sum are two.

    Two for each weight of a layer and token read, and 4 x layers x width for each pair of a token and one up to it.
    The input embedding is a look-up, only new tokens pass the output layer, and the last of them is not read again.
    """
    total = 0.0
    for prompt, new in lengths:
        read = prompt + new - 1
        pairs = read * (read + 1) / 2
        total += 2 * shape.body * read + 2 * shape.head * new + 4 * shape.layers * shape.width * pairs
    return total


def peak(dtype: torch.dtype, size: int) -> float:
    """Floating-point operations a second of a large square product, the best of three."""
    square = torch.randn(size, size).to(dtype)
    return 2 * size**3 / best(lambda: square @ square)


def bandwidth(size: int) -> float:
    """Bytes a second that are read and written in copying so many, the best of three."""
    source = torch.zeros(size, dtype=torch.uint8)
    into = torch.ones_like(source)
    return 2 * size / best(lambda: into.copy_(source))


def best(way: Any) -> float:
    """Seconds of the quickest of three."""
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        way()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def step_bytes(model: Any, places: int) -> int:
    """Bytes that a step of writing has to read: all weights, and the keys and values of so many places."""
    weights = sum(parameter.nbytes for parameter in model.parameters())
    return weights + places * bytes_per_token(model.config.get_text_config(), model.dtype.itemsize)
