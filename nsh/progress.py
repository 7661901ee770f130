"""One progress bar with rate and time left; where the output is not a terminal, one line an interval."""

import sys
import time

from tqdm import tqdm


class Progress:
    """Count finished items on standard error.

    Parameters
    ----------
    total : int
        Number of items expected.
    label : str
        What is counted.
    interval : float
        Seconds between two lines where standard error is not a terminal.

    Examples
    --------
    >>> with Progress(2, "generations") as progress:
    ...     progress.step()
    """

    def __init__(self, total: int, label: str, interval: float = 15.0):
        self.total, self.label, self.interval = total, label, interval
        self.done, self.start = 0, time.monotonic()
        self.shown = self.start
        self.bar = tqdm(total=total, desc=label, unit="call") if total and sys.stderr.isatty() else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exc_info) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.done:
            self._line()

    def step(self) -> None:
        """Count one more item."""
        self.done += 1
        if self.bar is not None:
            self.bar.update()
        elif time.monotonic() - self.shown >= self.interval:
            self._line()

    def _line(self) -> None:
        """Write the state as one line."""
        self.shown = time.monotonic()
        meter = tqdm.format_meter(self.done, self.total, self.shown - self.start, ncols=0, unit="call")
        print(f"{self.label}: {meter}", file=sys.stderr, flush=True)  # noqa: T201
