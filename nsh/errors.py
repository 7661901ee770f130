"""Every error a user can meet, each with the exit code that the command line returns for it."""

import os
import re
from typing import Any

TOKEN_NAMES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN")
TOKEN = re.compile(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{16,}")
LEAST = 8  # characters of a token: shorter values of these variables are words of their own


def without_tokens(text: str) -> str:
    """Strike the user's hub token out of a text: the values of `TOKEN_NAMES`, and what has the form of one.

    Examples
    --------
    >>> without_tokens("401 for Bearer hf_abcdefghijklmnopqrst at /api")
    '401 for Bearer [token] at /api'
    """
    for token in (os.environ.get(name, "").strip() for name in TOKEN_NAMES):
        text = text.replace(token, "[token]") if len(token) >= LEAST else text
    return TOKEN.sub("[token]", text)


class NshError(Exception):
    """Base of all errors raised on purpose; its text, without hub tokens, is shown to the user without a traceback."""

    exit_code = 1

    def __init__(self, *said: Any):
        super().__init__(*(without_tokens(part) if isinstance(part, str) else part for part in said))


class ParameterError(NshError):
    """A parameter is unknown, of the wrong type, or outside its set."""

    exit_code = 2


class DataError(NshError):
    """A row or file of the data does not have the expected form."""

    exit_code = 3


class MissingDataError(DataError):
    """Data or generations that a page needs are not on this machine."""


class CellError(NshError):
    """A notebook cell raised an error, or an executed page fails its gate."""

    exit_code = 4


class KernelDied(NshError):
    """The notebook's kernel ended before the page was finished."""

    exit_code = 5


class BuildError(NshError):
    """The HTML book could not be built."""

    exit_code = 6


class EngineError(NshError):
    """A model could not be loaded or could not generate."""

    exit_code = 7
