"""Decoding with a key/value cache: prompts are read in small batches and continued together.

Reading is fastest in batches that fit a processor's caches; writing is fastest with many rows, since each new token
costs one pass over the weights whatever the number of rows. So batches are read one by one and then joined. A start
that prompts share is read once. A row that is finished leaves, and the last ones take the places that are free.
"""

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice, pairwise, repeat
from math import inf
from typing import Any

import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from nsh.scale.growing import GrowingLayer

Prompts = Sequence[Sequence[int]]
Held = Sequence[Any]  # for each row None, or what takes its tokens: `next`, from the row's scores to a token


@dataclass(slots=True)
class Read:
    """Rows that the model has read: its cache, which places of it are real, each row's last position and next token."""

    cache: DynamicCache
    mask: torch.Tensor  # rows x places, 1 where real
    positions: torch.Tensor  # rows x 1
    tokens: torch.Tensor  # rows

    def keep(self, rows: list[int]) -> None:
        """Let the other rows go; those that stay come in the order given."""
        kept = torch.tensor(rows)
        self.cache.batch_select_indices(kept)
        self.mask, self.positions, self.tokens = self.mask[kept], self.positions[kept], self.tokens[kept]


def joinable(model: Any) -> bool:
    """Whether rows may be joined and starts shared: every layer attends to all places, so padding costs no window."""
    return _plain(DynamicCache(config=model.config))


def rope_window(model: Any) -> float:
    """Tokens up to which a model codes positions in one way; beyond them it codes all those of a batch in another,
    the shorter rows' too. Infinite where there is one way only.

    Examples
    --------
    >>> rope_window(model)  # doctest: +SKIP
    inf
    """
    config = model.config.get_text_config()
    ropes = getattr(config, "rope_parameters", None) or {}
    changing = [
        rope
        for rope in (ropes, *ropes.values())
        if isinstance(rope, Mapping) and rope.get("rope_type") in ("longrope", "dynamic")
    ]
    firsts = (rope.get("original_max_position_embeddings") or config.max_position_embeddings for rope in changing)
    return min(firsts, default=inf)


def _plain(cache: DynamicCache) -> bool:
    """Whether every layer of a cache keeps all places of all rows, and nothing else."""
    return all(type(layer) is DynamicLayer for layer in cache.layers)


def read(model: Any, prompts: Prompts, start: Read | None = None, places: Sequence[int] = (), held: Held = ()) -> Read:
    """Read prompts in one batch, padded on the left, after a start: each after its row of it (`places`), or all after
    the only one.

    Examples
    --------
    >>> read(model, [[1, 5, 7], [1, 9]]).tokens  # doctest: +SKIP
    tensor([7, 4])
    """
    rows = [torch.tensor(prompt, device=model.device) for prompt in prompts]
    ids = pad_sequence(rows, batch_first=True, padding_side="left")  # rows x longest
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True, padding_side="left")
    cache = DynamicCache(config=model.config)
    if start:
        before = torch.tensor(places or [0] * len(prompts))
        cache = copy.deepcopy(start.cache)
        cache.batch_select_indices(before)
        mask = torch.cat([start.mask[before], mask], dim=1)
    positions = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
    return Read(cache, mask, positions[:, -1:], _next(model, cache, ids, mask, positions, held))


def read_branches(model: Any, branches: Prompts, start: Read | None = None) -> tuple[Read | None, list[int]]:
    """Read what each prompt goes on with after the start, once where neighbours go on alike; gives the rows that were
    read and the place of each prompt's among them. Without branches it is the start.

    Examples
    --------
    >>> rows, places = read_branches(model, [[1, 5, 7], [1, 5, 7], [1, 9]])  # doctest: +SKIP
    >>> rows.tokens, places  # doctest: +SKIP
    (tensor([7, 4]), [0, 0, 1])
    """
    if not any(branches):
        return start, [0] * len(branches)
    distinct = [branch for branch, _ in groupby(branches)]
    return read(model, distinct, start), [0, *accumulate(one != other for one, other in pairwise(branches))]


def joined(parts: Sequence[Read]) -> Read:
    """Put batches together, the shorter ones padded on the left, with room for what is written next."""
    width = max(part.mask.shape[1] for part in parts)
    cache = parts[0].cache
    if _plain(cache):
        cache.layers = [
            GrowingLayer(layers, width) for layers in zip(*(part.cache.layers for part in parts), strict=True)
        ]
    mask = torch.cat([pad(part.mask, (width - part.mask.shape[1], 0)) for part in parts])
    positions, tokens = (torch.cat([getattr(part, name) for part in parts]) for name in ("positions", "tokens"))
    return Read(cache, mask, positions, tokens)


def greedy(
    model: Any,
    batches: Sequence[Prompts],
    finished: Callable[[int, list[int]], bool],
    starts: Iterable[tuple[Read | None, Sequence[int]]] = (),
    held: Held = (),
) -> Iterator[tuple[int, list[int]]]:
    """Continue prompts token by token, always by the most likely one, or where a row is held, by the one taken for it.

    Parameters
    ----------
    model : transformers model
    batches : sequence of batches of token id sequences
        Read batch by batch, continued together.
    finished : callable
        Given a prompt's place and its new tokens after each step, whether it ends there.
    starts : iterable of (Read or None, sequence of int), optional
        For each batch what its prompts begin with and are given without, if anything, and each one's row of it; asked
        for when it is read.
    held : sequence, optional
        For each prompt None, or an object such as `nsh.structured.Reply` or `nsh.token_sampling.Sampler`, whose
        `next` takes the scores of all tokens and gives the one to take.

    Yields
    ------
    int, list of int
        Place of a prompt (counted over all batches) and its new tokens, as soon as it is finished.

    Examples
    --------
    >>> dict(greedy(model, [[[1, 5, 7], [1, 9]]], lambda place, new: len(new) == 4))  # doctest: +SKIP
    {0: [7, 2, 2, 9], 1: [4, 4, 8, 2]}
    """
    held = held or [None] * sum(map(len, batches))
    takers = iter(held)
    begun = zip(batches, starts or repeat((None, ())), strict=False)
    state = joined([read(model, prompts, *start, list(islice(takers, len(prompts)))) for prompts, start in begun])
    rows = [(place, []) for place in range(len(state.tokens))]
    while True:
        for (_, new), token in zip(rows, state.tokens.tolist(), strict=True):
            new.append(token)
        ends = [finished(*row) for row in rows]
        yield from (row for row, end in zip(rows, ends, strict=True) if end)
        if all(ends):
            return
        if any(ends):
            staying = [number for number, end in enumerate(ends) if not end]
            last = (number for number in staying if number >= len(staying))
            going = [next(last) if end else number for number, end in enumerate(ends[: len(staying)])]
            rows = [rows[number] for number in going]
            state.keep(going)
        state.mask = torch.cat([state.mask, state.mask.new_ones(len(rows), 1)], dim=1)
        state.positions = state.positions + 1
        going = [held[place] for place, _ in rows]
        state.tokens = _next(model, state.cache, state.tokens[:, None], state.mask, state.positions, going)


def _next(
    model: Any, cache: DynamicCache, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, held: Held
) -> torch.Tensor:
    """Next token of each row; the cache takes in what was read, and only the last column is scored."""
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    with torch.inference_mode():
        kept = {name: cache, "use_cache": True, "logits_to_keep": 1}
        out = model(input_ids=ids, attention_mask=mask, position_ids=positions, **kept)
        scores = out.logits[:, -1]
        tokens = scores.argmax(-1)
        for row, taker in enumerate(held):
            if taker:
                tokens[row] = taker.next(scores[row])
    return tokens
