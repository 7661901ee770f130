"""Greedy decoding of one batch, with a key/value cache: rows that are finished leave, the others go on without them."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from transformers import DynamicCache

from nsh.batching import pad_left


def greedy(
    model: Any, prompts: Sequence[Sequence[int]], finished: Callable[[int, list[int]], bool]
) -> Iterator[tuple[int, list[int]]]:
    """Continue prompts token by token, always by the most likely one.

    Parameters
    ----------
    model : transformers model
    prompts : sequence of token id sequences
        Padded here on the left; padding is masked and takes no position.
    finished : callable
        Given a prompt's place and its new tokens after each step, whether it ends there.

    Yields
    ------
    int, list of int
        Place of a prompt and its new tokens, as soon as it is finished.

    Examples
    --------
    >>> dict(greedy(model, [[1, 5, 7], [1, 9]], lambda place, new: len(new) == 4))  # doctest: +SKIP
    {0: [7, 2, 2, 9], 1: [4, 4, 8, 2]}
    """
    ids, mask = (torch.tensor(rows, device=model.device) for rows in pad_left(prompts))  # both rows x longest
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    cache = DynamicCache(config=model.config)
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    fixed = {"use_cache": True, "logits_to_keep": 1, name: cache}  # only the last column is scored
    rows = [(place, []) for place in range(len(prompts))]
    while True:
        tokens = _next(model, ids, mask, positions, fixed)
        for (_, new), token in zip(rows, tokens.tolist(), strict=True):
            new.append(token)
        ends = [finished(*row) for row in rows]
        yield from (row for row, end in zip(rows, ends, strict=True) if end)
        if all(ends):
            return
        if any(ends):
            rows = [row for row, end in zip(rows, ends, strict=True) if not end]
            going = torch.tensor([number for number, end in enumerate(ends) if not end], device=model.device)
            cache.batch_select_indices(going)
            tokens, mask, positions = tokens[going], mask[going], positions[going]
        ids, positions = tokens[:, None], positions[:, -1:] + 1
        mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)


def _next(model: Any, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, fixed: dict[str, Any]):
    """Most likely next token of each row; the cache among the fixed arguments takes in what was read."""
    with torch.inference_mode():
        return model(input_ids=ids, attention_mask=mask, position_ids=positions, **fixed).logits[:, -1].argmax(-1)
