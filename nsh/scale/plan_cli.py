"""The command `nsh plan`: what a run would cost, before it is paid for."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nsh.asked import Conditions, Models, Overrides, ParamsFile, asked_study

if TYPE_CHECKING:
    from nsh.scale.estimate import ModelPlan

HEAD = ("condition", "answers", "in store", "calls", "prompt tokens", "new tokens", "at most", "time")
LEGEND = (
    "A number without ~ is exact. An estimate are: time; new tokens, by the lengths named under each table; and calls "
    "and prompt tokens where a prompt holds a reply yet to come, since alike replies make one later call of two."
)


def plan(
    params_file: ParamsFile = None,
    model: Models = None,
    condition: Conditions = None,
    overrides: Overrides = None,
    gpu: Annotated[str | None, typer.Option(help="Time on this GPU, by its data sheet: H100, say.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object, for programs.")] = False,
) -> None:
    """Say what `nsh generate` would cost: calls, tokens, memory, time; no model is loaded and nothing written."""
    study = asked_study(params_file, overrides, model, condition)
    from nsh.scale.estimate import plans

    shortened = {name: study.shortened(name) for name in study.conditions if study.shortened(name)}
    if as_json:
        rows = [plan_row(one) for one in plans(study, gpu)]
        typer.echo(json.dumps({"models": rows, "shortened": shortened}, ensure_ascii=False, indent=1))
        return
    for name, said in shortened.items():
        typer.echo(f"{name}: {said}")
    made, first = [], None
    for one in plans(study, gpu):
        first = first or one
        typer.echo("\n".join(plan_lines(one)) + "\n")
        made.append((one.seconds, cards_of(one)))
    typer.echo(LEGEND)
    if len(made) > 1:
        typer.echo(total_line(made))
    if first:
        typer.echo("\n".join(prompt_lines(first)))


def cards_of(plan: "ModelPlan") -> int:
    """How many GPUs a model is planned on; 0 without one."""
    from nsh.scale.rates import cards

    return cards(plan.weights, plan.rates) if plan.rates and plan.rates.memory and plan.weights else 0


def total_line(made: list[tuple[float | None, int]]) -> str:
    """The time of all models, and for GPUs what the paper spent.

    Examples
    --------
    >>> total_line([(3600.0, 2), (None, 0), (3600.0, 1)])
    'All models: about 2.0 h, 3.0 GPU-hours (1 model of unknown time left out; `voices` spent 1,113 on its whole study)'
    """
    unknown = sum(seconds is None for seconds, _ in made)
    told = [(seconds, gpus) for seconds, gpus in made if seconds is not None]
    hours = sum(seconds * gpus for seconds, gpus in told) / 3600
    out = f"{unknown} model{'s' * (unknown > 1)} of unknown time left out" if unknown else ""
    spent = "`voices` spent 1,113 on its whole study" if hours else ""
    said = "; ".join(filter(None, (out, spent)))
    spoken = f", {hours:,.1f} GPU-hours" if hours else ""
    return f"All models: about {duration(sum(s for s, _ in told))}{spoken}" + (f" ({said})" if said else "")


def duration(seconds: float | None) -> str:
    """A time in words.

    Examples
    --------
    >>> duration(42), duration(600), duration(90000), duration(None)
    ('42 s', '10 min', '25.0 h', 'not known')
    """
    if seconds is None:
        return "not known"
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:,.1f} h"
    )


def plan_lines(plan: "ModelPlan") -> Iterator[str]:
    """A model's plan as text."""
    identity = plan.identity
    yield ", ".join(filter(None, (plan.spec.name, identity["dtype"], identity["quantization"])))
    if plan.foreign:
        yield f"  tokens are estimates, counted with the packaged model's tokenizer: {plan.foreign}"
    yield f"  memory: {_memory(plan)}"
    lines = [*plan.counted.lines.values()]
    lines += [plan.counted.total] if len(lines) > 1 else []
    cells = [HEAD, *(_cells(line, plan) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  " + "  ".join(
            [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        )
    for source, stages in plan.counted.sources.items():
        yield f"  new tokens of {', '.join(stages)}: {source}"
    if more := plan.counted.total.more:
        yield f"  at most {more:,} calls more, where a reply has no letter or a rewrite must be corrected"
    if more is None:
        yield "  how many calls more a condition of one's own may make is not known"
    yield f"  time: {plan.rates.source if plan.rates else 'not known: the size of the model or the machine is not'}"


def _memory(plan: "ModelPlan") -> str:
    """Memory in words; a size that is not known is called so."""
    if plan.weights is None:
        return "size unknown"
    kept = (
        "keys and values of a batch not known"
        if plan.cache is None
        else f"keys and values of a batch {plan.cache:.1f} GiB"
    )
    gpus = cards_of(plan)
    return f"weights {plan.weights:.1f} GiB, {kept}" + (f"; {gpus} GPU{'s' * (gpus > 1)}" if gpus else "")


def _cells(line: Any, plan: "ModelPlan") -> tuple[str, ...]:
    """A row of the table."""
    awaiting = "~" * bool(line.awaiting)
    tokens = "~" * bool(line.awaiting or plan.foreign)
    seconds = plan.parts.get(line.condition, plan.seconds)
    return (
        line.condition,
        f"{line.answers:,}",
        f"{line.found:,}",
        f"{awaiting}{line.calls:,}",
        f"{tokens}{line.prompt_tokens:,.0f}",
        f"~{line.new_tokens:,.0f}" if line.calls else "0",
        f"{line.most_tokens:,}",
        (f"~{duration(seconds)}" if line.calls else "0 s") if seconds is not None else "not known",
    )


def prompt_lines(plan: "ModelPlan") -> Iterator[str]:
    """The first prompts as the model sees them."""
    whose = "the packaged model" if plan.foreign else plan.spec.name
    for number, text in enumerate(plan.prompts, start=1):
        yield f"---------- prompt {number}, as {whose} sees it ----------\n{text}"
    yield "---------- end ----------"


def plan_row(plan: "ModelPlan") -> dict[str, Any]:
    """A model's plan in plain JSON types; `prompt_tokens` of a condition are exact where `awaiting` is 0 and the
    tokenizer is the model's own."""

    def row(line: Any) -> dict[str, Any]:
        return asdict(line) | {"seconds": plan.parts.get(line.condition, plan.seconds)}

    return {
        "model": plan.spec.name,
        "identity": dict(plan.identity),
        "own_tokenizer": not plan.foreign,
        "note": plan.foreign,
        "parameters": None if plan.spec.effective else plan.spec.parameters,
        "weights_gib": plan.weights,
        "cache_gib": plan.cache,
        "gpus": cards_of(plan),
        "conditions": [row(line) for line in plan.counted.lines.values()],
        "total": row(plan.counted.total),
        "lengths_from": plan.counted.sources,
        "time_from": plan.rates.source if plan.rates else None,
        "prompts": plan.prompts,
    }
