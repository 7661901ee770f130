"""One progress bar with rate and time left; where the output is not a terminal, one line every 15 seconds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

LINE = "{desc}: {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}]\n"


class Progress(tqdm):
    """Count finished items on standard error; nothing is written where there are none to come.

    Parameters
    ----------
    total : int
        Number of items expected.
    label : str
        What is counted.
    unit : str
        One item, as the rate names it.

    Examples
    --------
    >>> with Progress(2, "generations") as progress:
    ...     _ = progress.update()
    """

    def __init__(self, total: int, label: str, unit: str = "call"):
        lines = {} if sys.stderr.isatty() else {"bar_format": LINE, "mininterval": 15, "miniters": 1}
        super().__init__(total=total, desc=label, unit=unit, file=sys.stderr, disable=not total, **lines)


@contextmanager
def no_bars() -> Iterator[None]:
    """Keep the loader's progress bars out of pages and logs.

    Examples
    --------
    >>> with no_bars():  # doctest: +SKIP
    ...     tokenizer = AutoTokenizer.from_pretrained(folder)
    """
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
