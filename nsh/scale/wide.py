"""bfloat16 on a CPU that has no instructions for it: weights stay in 2 bytes, products are made in float32.

Such a CPU (AVX2) multiplies bfloat16 matrices 5 to 10 times slower than float32 ones. A product in float32 of the same
numbers, rounded at its end, is what bfloat16 hardware computes as well; only the order of its sums differs.
"""

from functools import partial
from typing import Any

import torch
from torch.nn.functional import linear

PART = 1 << 21  # weights that are widened at a time: 8 MiB, which stay in a processor's cache


def widen(model: Any) -> bool:
    """Have a model's products made in float32 where its bfloat16 weights lie on a CPU without bfloat16.

    Parameters
    ----------
    model : transformers model
        Changed in place; its weights stay as they are.

    Returns
    -------
    bool
        Whether it was changed. oneDNN's own account of the processor decides, so a machine always does the same.

    Examples
    --------
    >>> widen(torch.nn.Linear(2, 2))  # float32
    False
    """
    layers = [layer for layer in model.modules() if type(layer) is torch.nn.Linear]
    kinds = {(layer.weight.dtype, layer.weight.device.type) for layer in layers}
    if kinds != {(torch.bfloat16, "cpu")} or has_bfloat16():
        return False
    for layer in layers:
        layer.forward = partial(product, layer)
    return True


def has_bfloat16() -> bool:
    """Whether oneDNN says that this CPU has instructions for bfloat16; also where PyTorch has no oneDNN to ask.

    Examples
    --------
    >>> isinstance(has_bfloat16(), bool)
    True
    """
    return not torch.backends.mkldnn.is_available() or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


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
