"""Parameters of a run, checked before anything is loaded: from a file, the command line, or Python."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from nsh.declared import Page, Parameter, Yaml12, nearest, parameters
from nsh.errors import ParameterError

WORDS = {"source": ("samples", "released", "hf:ORGANIZATION/DATASET"), "released": ("auto", "require", "off")}


def check(name: str, value: Any, origin: str, known: Iterable[str] | None = None) -> Any:
    """Check one value against its declaration and return it in plain types.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        Tuples become lists, NumPy scalars plain numbers and paths text; nothing else is converted.
    origin : str
        Where the value was given (a file, the command line), for the message.
    known : iterable of str, optional
        The parameters that count here (all declared ones unless given).

    Raises
    ------
    ParameterError
        If the name is unknown (the nearest known one is named), or the value has another type or is outside its set.

    Examples
    --------
    >>> check("models", ("a/b",), "example")
    ['a/b']
    """
    known = tuple(parameters() if known is None else known)
    if name not in known:
        raise ParameterError(f"{origin}: unknown parameter {name!r}; did you mean {nearest(name, known)!r}?")
    value = _plain(value)
    try:
        return _checked(parameters()[name], value)
    except ParameterError as error:
        raise ParameterError(f"{origin}: {name} = {value!r}: {error}") from None


def _checked(parameter: Parameter, value: Any) -> Any:
    """The value, without loading data or a model; an error says what was expected.

    Paths are made absolute, since pages run in the checkout whatever folder they were asked for in.
    """
    if not _has_type(value, parameter.type):
        raise ParameterError(f"expected {parameter.type} ({parameter.help})")
    if value is not None and parameter.minimum is not None and value < parameter.minimum:
        raise ParameterError(f"expected at least {parameter.minimum}")
    allowed = parameter.choices
    if allowed and value is not None and value not in allowed:
        raise ParameterError(f"expected one of {', '.join(allowed)}")
    if parameter.kind == "condition":
        return _condition(value)
    if parameter.kind == "conditions":
        names = [_condition(name) for name in value]
        if not names or len({name.rpartition(":")[2] for name in names}) < len(names):
            raise ParameterError("expected one condition or more, no two of them named alike")
        return names
    if parameter.kind == "models":
        from nsh.models import resolve

        names = [resolve(model).name for model in value]
        if len(set(names)) < len(names):
            raise ParameterError("two models are named alike; expected each once")
        return [_absolute(model) for model in value]
    if parameter.kind == "registers":
        from nsh.making.voices import register

        names = [register(_absolute(name)).name for name in value]
        if not names or len(set(names)) < len(names):
            raise ParameterError("expected one register or more, no two of them named alike")
        return [_absolute(name) for name in value]
    if parameter.kind == "file" and value is not None:
        if not Path(_absolute(value)).is_file():
            raise ParameterError("expected the path of a file that exists")
        return _absolute(value)
    words = WORDS.get(parameter.kind, ())
    if not words or value in words or (parameter.kind == "source" and value.removeprefix("hf:") not in ("", value)):
        return value
    if not value.strip() or not Path(_absolute(value)).exists():
        raise ParameterError(f"expected {', '.join(words)}, or a path that exists")
    return _absolute(value)


def _plain(value: Any) -> Any:
    """Tuples to lists, NumPy scalars to numbers, paths to text."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _has_type(value: Any, declared: str) -> bool:
    """Whether a value has a declared type; True and False are not numbers here."""
    if declared.endswith(" or null"):
        return value is None or _has_type(value, declared.removesuffix(" or null"))
    if declared == "list[str]":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is {"str": str, "int": int, "bool": bool}[declared]


def _condition(name: str) -> str:
    """The first name of a condition, or FILE.py:FUNCTION with an absolute path."""
    from nsh.jobs import find_condition

    path, colon, function = name.rpartition(":")
    name = f"{_absolute(path)}:{function}" if colon else name
    condition = find_condition(name)
    return name if colon else condition.__name__


def _absolute(path: str) -> str:
    """A path that exists as an absolute one; any other text as it is."""
    expanded = os.path.expanduser(path)  # noqa: PTH111 (Path.expanduser raises on an unknown user)
    return os.path.abspath(expanded) if path and Path(expanded).exists() else path  # noqa: PTH100


def parse_assignment(text: str, known: Iterable[str] | None = None) -> tuple[str, Any]:
    """Read `name=value` of a command line by the parameter's declared type.

    Raises
    ------
    ParameterError
        As `check` does, and if the text holds no `=`.

    Examples
    --------
    >>> parse_assignment("n_cases=5"), parse_assignment("models=[a/b, c/d]")
    (('n_cases', 5), ('models', ['a/b', 'c/d']))
    """
    name, sign, value = text.partition("=")
    if not sign:
        raise ParameterError(f"-p {text}: expected name=value")
    declared = parameters()[name].type if name in parameters() else "str"
    try:
        read = value if declared == "str" else yaml.load(value, Yaml12)
    except (yaml.YAMLError, UnicodeError) as error:
        raise ParameterError(f"-p {text}: expected {declared}: {' '.join(str(error).split())}") from None
    if declared == "list[str]" and isinstance(read, str):
        read = [item.strip() for item in read.split(",")]
    return name, check(name, read, f"-p {text}", known)


def load_file(path: str | Path) -> dict[str, Any]:
    """Read and check a file of parameters.

    Raises
    ------
    ParameterError
        If there is no such file, it is not a mapping, or a value in it does not pass `check`.
    """
    path = Path(path)
    if not path.is_file():
        raise ParameterError(f"no parameter file {path}")
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Yaml12) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: not a YAML file in UTF-8: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ParameterError(f"{path}: expected one `name: value` a line")
    return {name: check(name, value, str(path)) for name, value in values.items()}


def for_page(page: Page, values: Mapping[str, Any]) -> dict[str, Any]:
    """The checked parameters of a page: the given values that it takes, and the defaults of the others."""
    return {name: values.get(name, page.default(name)) for name in page.parameters}
