"""The command `nsh plan`: what a run would cost, before it is paid for."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nsh.asked import Conditions, Models, Overrides, ParamsFile, asked_study

if TYPE_CHECKING:
    from nsh.scale.estimate import ModelPlan

LEGEND = (
    "Numbers with ~ are estimates, all others exact. Estimated are: time; memory; new tokens, by the lengths named "
    "under each table; and calls and prompt tokens where a prompt holds a reply yet to come, since alike replies make "
    "one call. "
    "In store are calls whose reply is here already, packaged ones included (NSH_PACKAGED=off leaves these out)."
)


def plan(
    params_file: ParamsFile = None,
    model: Models = None,
    condition: Conditions = None,
    overrides: Overrides = None,
    gpu: Annotated[str | None, typer.Option(help="Time on this GPU, by its data sheet: H100, say.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object, for programs.")] = False,
) -> None:
    """Say what `nsh generate` would cost in calls, tokens, memory and time; no model is loaded, nothing written."""
    study = asked_study(params_file, overrides, model, condition)
    from nsh.scale.estimate import plans

    shortened = {name: study.shortened(name) for name in study.conditions if study.shortened(name)}
    made = plans(study, gpu)
    if as_json:
        rows = [asdict(one) | {"lines": json.loads(_exact(one).to_json(orient="index"))} for one in made]
        typer.echo(json.dumps({"models": rows, "shortened": shortened}, ensure_ascii=False, indent=1))
        return
    for name, said in shortened.items():
        typer.echo(f"{name}: {said}")
    told = []
    for one in made:
        typer.echo("\n".join(_told(one)) + "\n")
        told.append(one)
    typer.echo(LEGEND)
    if len(told) > 1 or any(one.gpus for one in told):
        typer.echo(_altogether(told))
    for number, text in enumerate(told[0].prompts if told else (), start=1):
        seen = "in the packaged model's chat template" if told[0].foreign else f"as {told[0].model} sees it"
        typer.echo(f"---------- prompt {number} {seen} ----------\n{text}")
    typer.echo("---------- end of prompts ----------")


def duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> duration(42), duration(600), duration(90000), duration(float("nan"))
    ('~42 s', '~10 min', '~25.0 h', 'not known')
    """
    if seconds != seconds:
        return "not known"
    return (
        f"~{seconds:.0f} s"
        if seconds < 120
        else f"~{seconds / 60:.0f} min"
        if seconds < 7200
        else f"~{seconds / 3600:,.1f} h"
    )


def _exact(plan: "ModelPlan") -> Any:
    """A plan's lines; of tokens that another model's tokenizer counted none are exact."""
    return plan.lines.assign(exact_tokens=0) if plan.foreign else plan.lines


def _told(plan: "ModelPlan") -> Iterator[str]:
    """A model's plan as text."""
    yield ", ".join(filter(None, (plan.model, plan.dtype)))
    if plan.foreign:
        yield f"  tokens ~: counted with the packaged model's tokenizer, since {plan.foreign}"
    cache = "not known" if plan.cache is None else f"~{plan.cache:.1f} GiB"
    gpus = f"; ~{plan.gpus} GPU{'s' * (plan.gpus > 1)}" * bool(plan.gpus)
    weights = "size unknown" if plan.weights is None else f"weights ~{plan.weights:.1f} GiB"
    yield f"  memory: {weights}; keys and values of a batch: {cache}{gpus}"
    import pandas as pd

    rows = {name: _cells(row, plan.foreign) for name, row in plan.lines.to_dict("index").items()}
    rows |= {"all": _cells(plan.total, plan.foreign)} if len(rows) > 1 else {}
    yield "  " + pd.DataFrame.from_dict(rows, orient="index").to_string(col_space=3).replace("\n", "\n  ")
    for source, stages in plan.lengths_from.items():
        yield f"  new tokens of {', '.join(stages)}: {source}"
    if more := plan.total["more"]:
        calls = (
            "an unknown number of calls (a condition of one's own)" if more != more else f"at most {more:,.0f} calls"
        )
        yield f"  besides, {calls}: where a reply has no letter, a rewrite is to be corrected or a tool is called"
    if not plan.total["calls"]:
        return
    lacking = f"the speed of this GPU in {plan.dtype}" if plan.weights else "the size of the model"
    yield f"  time: {plan.time_from or f'not known, as {lacking} is not'}"


def _cells(line: dict[str, float], foreign: str) -> dict[str, str]:
    """A line of the table; ~ marks what is an estimate."""
    later = "~" * bool(line["awaiting"] or line["more"])
    return {
        "answers": f"{line['answers']:,.0f}",
        "calls in store": f"{line['found']:,.0f}",
        "to make": f"{later}{line['calls']:,.0f}",
        "prompt tokens": f"{later or '~' * bool(foreign and line['calls'])}{line['prompt_tokens']:,.0f}",
        "new tokens": f"{'~' * (line['calls'] > 0)}{line['new_tokens']:,.0f}",
        "at most so many": f"{line['most_tokens']:,.0f}",
        "time": duration(line["seconds"]) if line["calls"] else "0 s",
    }


def _altogether(told: list["ModelPlan"]) -> str:
    """The time of all models, and for GPUs what the paper spent."""
    known: list[Any] = [one for one in told if one.total["seconds"] == one.total["seconds"]]
    lacking = ", ".join(one.model for one in told if one.total["seconds"] != one.total["seconds"])
    out = f"; without {lacking}, whose time is not known" * bool(lacking)
    hours = sum(one.total["seconds"] * one.gpus for one in known) / 3600
    spent = f", ~{hours:,.1f} GPU-hours (`voices` spent about 1,113 on its whole study)" if hours else ""
    return f"All models: {duration(sum(one.total['seconds'] for one in known))}{spent}{out}"
