"""What the engine is held against: the transformers pipeline as it comes, bare reading, and the machine's limits."""

import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, pipeline

from nsh.batching import Row as Prompted
from nsh.engines import Call
from nsh.models import resolve
from nsh.scale.memory import bytes_per_token, head_width
from nsh.transformers_engine import TransformersEngine
from nsh.weights import no_bars, weights_folder

MODEL = "SmolLM2-135M-Instruct"


def engine_of(options: Namespace, dtype: str) -> TransformersEngine:
    """The packaged model, or a tiny random one for a quick look, loaded and warm."""
    model = MODEL
    if options.quick:
        sys.path.append(str(Path(__file__).parents[1] / "tests"))
        from tiny_model import save_tiny_model

        transformers.utils.logging.disable_progress_bar()
        model = save_tiny_model(Path(tempfile.mkdtemp(prefix="nsh-bench-")), context=8192)
        torch.set_num_threads(1)
    engine = TransformersEngine(resolve(model), dtype)
    list(engine.generate([Call((("user", "Which?"),), 2)]))  # the first pass of a process is slower than the others
    return engine


class Pipeline:
    """The plainest way: the library's own pipeline and weights, one padded batch in the order given.

    `ends` is False where every reply is to be as long as its budget.
    """

    def __init__(self, engine: TransformersEngine, ends: bool = True):
        tokenizer = engine.loaded[1]
        tokenizer.padding_side = "left"
        dtype = getattr(torch, engine.identity["dtype"])
        with no_bars():
            model = AutoModelForCausalLM.from_pretrained(weights_folder(engine.spec), dtype=dtype).eval()
        model.generation_config.pad_token_id = tokenizer.eos_token_id
        if not ends:
            model.generation_config.eos_token_id = None
        self.generate = pipeline("text-generation", model=model, tokenizer=tokenizer)

    def __call__(self, calls: Sequence[Call]) -> list[str]:
        """The texts."""
        chats = [[{"role": role, "content": text} for role, text in call.messages] for call in calls]
        how = {"max_new_tokens": calls[0].max_new_tokens, "do_sample": False, "return_full_text": False}
        return [found[0]["generated_text"] for found in self.generate(chats, batch_size=len(chats), **how)]


def texts(engine: TransformersEngine, calls: Sequence[Call]) -> list[str]:
    """The engine's texts, in the order of the calls."""
    found = dict(engine.generate(calls))
    return [found[place].text for place in range(len(calls))]


def read_each(engine: TransformersEngine, rows: Sequence[Prompted]) -> None:
    """Read every prompt once, without padding, and write nothing: no engine that reads whole prompts can be quicker."""
    with torch.inference_mode():
        for row in rows:
            engine.loaded[0](input_ids=torch.tensor([row.prompt.ids]), logits_to_keep=1, use_cache=False)


def operations(model: Any, rows: Sequence[Prompted]) -> float:
    """Floating-point operations of reading prompts whole: two for each weight and token, and attention (half a square).

    The scores of all tokens are made for each row's last place alone.
    """
    config = model.config.get_text_config()
    linear = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    head = model.get_output_embeddings()
    body = sum(layer.weight.numel() for layer in linear if layer is not head)
    width = config.num_attention_heads * head_width(config)
    squares = sum(len(row) ** 2 for row in rows)
    tokens = sum(map(len, rows))
    return (
        2.0 * body * tokens + 2.0 * head.weight.numel() * len(rows) + 2.0 * config.num_hidden_layers * width * squares
    )


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
