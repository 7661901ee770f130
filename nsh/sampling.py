"""Tokens drawn at a temperature, each row by a generator of its own, so that its text does not depend on the batch."""

import random
from typing import Any

import numpy as np

from nsh.engines import Call
from nsh.errors import EngineError


class Sampler:
    """What draws the tokens of one reply, all of them possible (no top-k, no top-p).

    Parameters
    ----------
    call : Call
        With a temperature above 0. The generator is seeded by its messages and its seed, and by nothing else.

    Raises
    ------
    EngineError
        If the call has a schema too, which drawn tokens would not meet within the budget.

    Examples
    --------
    >>> sampler = Sampler(Call((("user", "Which?"),), 16, temperature=1.0))
    >>> drawn = [sampler.next([0.0, 1.0]) for _ in range(1000)]  # the second has the probability 0.731
    >>> 690 < sum(drawn) < 770
    True
    """

    def __init__(self, call: Call):
        if call.schema:
            raise EngineError("a reply under a schema cannot be drawn; expected temperature 0, or no schema")
        self.temperature = call.temperature
        self.draw = random.Random(repr((call.messages, call.seed)))

    def next(self, scores: Any) -> int:
        """Draw the next token.

        Parameters
        ----------
        scores : tensor or array, one per token
            The model's.

        Returns
        -------
        int
            Token t with the probability softmax(scores / temperature)[t]: the first whose cumulative weight exceeds
            one uniform number.
        """
        scores = np.asarray(scores.float().cpu() if hasattr(scores, "cpu") else scores, dtype=np.float64)
        weights = np.exp((scores - scores.max()) / self.temperature).cumsum()
        return int(weights.searchsorted(self.draw.random() * weights[-1], side="right"))
