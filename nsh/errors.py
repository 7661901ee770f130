"""Every error a user can meet, each with the exit code that the command line returns for it."""


class NshError(Exception):
    """Base of all errors raised on purpose; its text is shown to the user without a traceback."""

    exit_code = 1


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
