"""The command `nsh verify`: a random share of the packaged answers, made again on this machine, by either engine."""

from contextlib import chdir
from typing import Annotated

import typer


def verify(
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the answers to make again.")] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice.")] = 0,
    engine: Annotated[str, typer.Option(help="What makes them, transformers or vllm.")] = "transformers",
) -> None:
    """Make a random share of the packaged answers again with an empty store, and say how many agree."""
    if not share:
        raise typer.BadParameter("a share of 0 makes no answer", param_hint="--share")
    from nsh.build import checkout
    from nsh.declared import pages
    from nsh.making.study import study_of
    from nsh.params import check, for_page, load_file
    from nsh.verify import verify as verify_answers

    chosen = {"engine": check("engine", engine, "--engine"), "tensor_parallel": 1}
    values = load_file(checkout() / "params" / "workshop.yaml")
    studies = [study_of(page, for_page(page, values)) for page in pages().values() if "models" in page.parameters]
    for study in studies:
        study.values |= chosen
    if engine == "vllm":  # which holds no reply to a schema and draws no tokens
        studies = [one for one in studies if not one.values.get("structured") and "registers" not in one.values]
    with chdir(checkout()):  # the pages' own paths are the checkout's
        typer.echo(verify_answers(studies, share, seed))
