"""Tokens drawn at a temperature, each row by a generator of its own, so that its text does not depend on the batch."""

import hashlib
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
        seed = hashlib.sha256(repr((call.messages, call.seed)).encode("utf-8", "surrogatepass")).digest()
        self.uniform = np.random.Generator(np.random.Philox(int.from_bytes(seed))).random

    def next(self, scores: Any) -> int:
        """Draw the next token.

        Parameters
        ----------
        scores : tensor or array, one per token
            The model's.

        Returns
        -------
        int
            Token t with the probability softmax(scores / temperature)[t], by the Gumbel-max trick: the largest sum of
            scaled score and Gumbel noise. Scores that differ in their last digits, as those of a row do with its
            batch, give the same token but where two sums are as near; along a cumulative distribution, boundaries
            would move.

        Raises
        ------
        EngineError
            If a score is no number.
        """
        scores = np.asarray(scores.float().cpu() if hasattr(scores, "cpu") else scores, dtype=np.float64)
        if np.isnan(scores).any():
            raise EngineError("the model's scores hold no number where one is drawn; expected finite scores")
        noise = -np.log(-np.log(self.uniform(len(scores))))
        return int(np.argmax(scores / self.temperature + noise))
