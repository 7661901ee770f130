"""A share of a run's cases: what one job of a cluster generates."""

import re

from nsh.errors import ParameterError

SHARD = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")


def shard(text: str) -> slice:
    """The share of a sequence of cases that ``i/n`` names: the i-th and every n-th after it.

    The n shares hold each case once, with all its voices and conditions, and differ by one case at most; where there
    are more shares than cases, the last ones are empty.

    Parameters
    ----------
    text : str
        ``i/n``, two whole numbers with 1 ≤ i ≤ n.

    Raises
    ------
    ParameterError
        If it is anything else.

    Examples
    --------
    >>> [list("abcdefg")[shard(text)] for text in ("1/3", "2/3", "3/3")]
    [['a', 'd', 'g'], ['b', 'e'], ['c', 'f']]
    """
    found = SHARD.fullmatch(text)
    share, shares = map(int, found.groups()) if found else (0, 0)
    if not 1 <= share <= shares:
        raise ParameterError(f"--shard {text}: expected i/n, whole numbers with 1 ≤ i ≤ n, such as 1/4")
    return slice(share - 1, None, shares)
