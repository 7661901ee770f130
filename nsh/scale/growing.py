"""A cache layer with room behind its last place, so that a step writes its keys and values without copying all others.

The library's own layer is joined anew at every step: at 12 rows of 700 places, as many bytes as the weights of a small
model, read and written again for each token.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import pad
from transformers.cache_utils import DynamicLayer

ROOM = 64  # places that are added at once


class GrowingLayer(DynamicLayer):
    """Keys and values of rows that were read apart, put together and padded on the left.

    Parameters
    ----------
    parts : sequence of transformers.cache_utils.DynamicLayer
        One layer of each batch; they are emptied, so that nothing is held twice.
    width : int
        Places of the longest.

    Examples
    --------
    >>> part = DynamicLayer()
    >>> _ = part.update(torch.ones(1, 1, 2, 4), torch.ones(1, 1, 2, 4))
    >>> layer = GrowingLayer([part], width=3)
    >>> layer.update(torch.ones(1, 1, 1, 4), torch.ones(1, 1, 1, 4))[0][0, 0, :, 0]
    tensor([0., 1., 1., 1.])
    """

    def __init__(self, parts: Sequence[DynamicLayer], width: int):
        super().__init__()
        self.lazy_initialization(parts[0].keys, parts[0].values)
        self.whole = [_grown([getattr(part, name) for part in parts], width) for name in ("keys", "values")]
        self._show(len(self.whole[0]), width)
        for part in parts:
            part.reset()

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new places (rows x heads x places x width of a head) behind the others; gives all of them."""
        rows, _, begin, _ = self.keys.shape
        end = begin + keys.shape[2]
        if end > self.whole[0].shape[2]:
            self.whole = [pad(old, (0, 0, 0, end - begin + ROOM)) for old in (self.keys, self.values)]
        for whole, new in zip(self.whole, (keys, values), strict=True):
            whole[:rows, :, begin:end] = new
        self._show(rows, end)
        return self.keys, self.values

    @torch.inference_mode()
    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep rows; only those that change their place are copied, each from behind its new place."""
        for place, row in enumerate(indices.tolist()):
            for whole in self.whole if place != row else []:
                whole[place] = whole[row]
        self._show(len(indices), self.keys.shape[2])

    def _show(self, rows: int, places: int) -> None:
        """Hand out what is filled."""
        self.keys, self.values = (whole[:rows, :, :places] for whole in self.whole)


def _grown(tensors: Sequence[torch.Tensor], width: int) -> torch.Tensor:
    """All rows in one tensor, empty places before the shorter ones and room behind all."""
    first, rows = tensors[0], sum(map(len, tensors))
    whole = first.new_zeros(rows, first.shape[1], width + ROOM, first.shape[3])  # rows x heads x places x head width
    for part, into in zip(tensors, whole.split([len(one) for one in tensors]), strict=True):
        into[:, :, width - part.shape[2] : width] = part
    return whole
