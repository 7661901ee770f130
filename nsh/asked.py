"""What a command line asks for: the parameters of a file and its own, and the study that they come to."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nsh.errors import ParameterError

Words = list[str] | None
ParamsFile = Annotated[
    Path | None,
    typer.Option("-f", "--params", help="A way of running: a YAML file of parameters.", show_default=False),
]
Overrides = Annotated[Words, typer.Option("-p", help="One parameter, name=value; may be repeated.", show_default=False)]
Models = Annotated[Words, typer.Option("--model", help="A model to run; may be repeated.")]
Conditions = Annotated[Words, typer.Option("--condition", help="A condition, FILE.py:FUNCTION, all; may be repeated.")]

RUN = ("models", "condition", "conditions", "reference", "batch_tokens", "engine", "tensor_parallel")  # besides `CALLS`


def asked_values(file: Path | None, overrides: Words, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The parameters of a file, then those of the command line, all checked before anything is loaded.

    Raises
    ------
    ParameterError
        As `nsh.params.check` does, or if one is given twice.

    Examples
    --------
    >>> asked_values(None, ["n_cases=2"])
    {'n_cases': 2}
    """
    from nsh.params import load_file, parse_assignment

    given: dict[str, Any] = {}
    for name, value in (parse_assignment(text, known) for text in overrides or ()):
        if name in given:
            raise ParameterError(f"-p {name} is given twice")
        given[name] = value
    return {**(load_file(file) if file else {}), **given}


def asked_study(file: Path | None, overrides: Words, models: Words, conditions: Words) -> Any:
    """The study of a file, the command line's parameters, and its models and conditions.

    Raises
    ------
    ParameterError
        As `nsh.params.check` does; if a parameter of the command line is none that changes a run; or if `condition` and
        `conditions` are both given and none is named.

    Examples
    --------
    >>> asked_study(None, ["n_cases=2"], ["scripted"], ["rewrite"]).conditions
    ['rewrite']
    """
    from nsh.params import check
    from nsh.scale.cluster import CALLS

    values = asked_values(file, overrides, (*CALLS, *RUN))
    if "condition" in values and "conditions" in values and not conditions:
        raise ParameterError("condition and conditions are both given: name those to be run by --condition")
    if models:
        values["models"] = check("models", models, "--model")
    from nsh.conditions import CONDITIONS
    from nsh.declared import parameters
    from nsh.study import Study

    defaults = {name: parameter.default for name, parameter in parameters().items()}
    named = [name for given in conditions or () for name in (CONDITIONS if given == "all" else [given])]
    if "conditions" not in values or named:
        named = named or [values.get("condition", defaults["condition"])]
        chosen = dict.fromkeys(check("condition", name, "--condition") for name in named)
        values["conditions"] = check("conditions", list(chosen), "--condition")
    return Study("command line", {**defaults, **values})
