"""bfloat16 on a CPU: products as it makes them quickest, with weights that stay in 2 bytes.

Without instructions for bfloat16 (AVX2) a CPU multiplies bfloat16 matrices 5 to 10 times slower than float32 ones. A
product in float32 of the same numbers, rounded at its end, is what bfloat16 hardware computes as well; only the order
of its sums differs. With such instructions oneDNN lays the weights out anew for every product, half of the time of one
with 12 rows; laid out once, they gave the same numbers to the bit where it was tried (AVX512).
"""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.nn.functional import linear

from nsh.scale.memory import machine_bytes

log = logging.getLogger("nsh")

PART = 1 << 21  # weights that are widened at a time: 8 MiB, which stay in a processor's cache
COPIES = 4  # weights are laid out, beside the model's own, where they take one part in so many of the machine's memory
ROWS = 16  # for which they are laid out; at 1 to 2,048 rows no slower than as they are


def widen(model: Any) -> bool:
    """Suit the products of a model whose bfloat16 weights lie on a CPU to it: in float32 where it has no bfloat16, else
    of weights that are laid out once.

    Parameters
    ----------
    model : transformers model
        Changed in place; its weights stay as they are. Those that are laid out are a copy, which takes as much memory
        again, a quarter of the machine's at most.

    Returns
    -------
    bool
        Whether its products are made in float32. oneDNN's own account of the processor decides, so a machine always
        does the same.

    Examples
    --------
    >>> widen(torch.nn.Linear(2, 2))  # float32
    False
    """
    layers = [layer for layer in model.modules() if type(layer) is torch.nn.Linear]
    kinds = {(layer.weight.dtype, layer.weight.device.type) for layer in layers}
    if kinds != {(torch.bfloat16, "cpu")}:
        return False
    if widened := not has_bfloat16():
        for layer in layers:
            layer.forward = partial(product, layer)
    elif COPIES * sum(layer.weight.nbytes for layer in layers) <= machine_bytes():
        lay_out(layers)
    return widened


def has_bfloat16() -> bool:
    """Whether oneDNN says that this CPU has instructions for bfloat16; also where PyTorch has no oneDNN to ask.

    Examples
    --------
    >>> isinstance(has_bfloat16(), bool)
    True
    """
    return not torch.backends.mkldnn.is_available() or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def lay_out(layers: Sequence[torch.nn.Linear]) -> None:
    """Give layers a copy of their weights in oneDNN's own order; where that cannot be had they stay as they are.

    Examples
    --------
    >>> layer = torch.nn.Linear(2, 1, bias=False).requires_grad_(False)
    >>> _ = torch.nn.init.ones_(layer.weight)
    >>> lay_out([layer])
    >>> layer(torch.tensor([[256.0, 1.0]]))
    tensor([[257.]])
    """
    try:
        copies = [torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), ROWS) for layer in layers]
    except (AttributeError, MemoryError, RuntimeError) as error:  # no oneDNN, or no room
        log.info("weights are not laid out: %s", error)
        return
    for layer, weight in zip(layers, copies, strict=True):
        layer.forward = partial(_laid_out, weight, layer.bias)


def _laid_out(weight: torch.Tensor, bias: torch.Tensor | None, x: torch.Tensor) -> torch.Tensor:
    """What a linear layer gives (... x outputs)."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def product(layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What a linear layer gives, summed in float32 and rounded to its own format (... x outputs).

    Examples
    --------
    >>> layer = torch.nn.Linear(2, 1, bias=False).bfloat16()
    >>> _ = torch.nn.init.ones_(layer.weight)
    >>> product(layer, torch.tensor([256.0, 1.0]).bfloat16())
    tensor([256.], dtype=torch.bfloat16, grad_fn=<ToCopyBackward0>)
    """
    wide = x.float()
    parts = layer.weight.split(max(1, PART // layer.in_features))
    whole = torch.cat([linear(wide, part.float()) for part in parts], dim=-1)
    return (whole if layer.bias is None else whole + layer.bias.float()).to(x.dtype)
