"""The commands of `nsh data`: the released files, and files of your own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from nsh.making.retell_cli import retell

FOR = "Independent re-implementation: research and teaching only, not for clinical use, not reviewed by a clinician."
data_app = typer.Typer(help="Fetch the released data, check a file of your own, or make a benchmark of one.")
Out = Annotated[Path, typer.Option(help="File to write: .jsonl.")]


@data_app.command(epilog=FOR)
def pull() -> None:
    """Fetch the released files at the pinned commit, each checked by its SHA-256; those already there are kept."""
    from nsh.pull import pull as fetch

    typer.echo(f"The released files: {fetch(progress=sys.stderr.isatty())}")


@data_app.command(epilog=FOR)
def status() -> None:
    """Say which released files are on this machine."""
    from nsh.released import released_dir, released_status

    folder = released_dir("auto")
    if folder is None:
        typer.echo("No released files: set NSH_RELEASED_DIR to their folder, or fetch them with `nsh data pull`.")
    else:
        typer.echo(f"{folder}\n{released_status(folder).to_string(index=False)}")


@data_app.command("check", epilog=FOR)
def check_file(file: Path) -> None:
    """Check a file of cases of your own, and say what it holds.

    One case a line of a .jsonl file (a .csv or .parquet file has the same fields, and narrative_VOICE columns):

    {"id": "1", "question": "Which?", "options": {"A": "Gout", "B": "Lyme disease"}, "gold": "B",
    "narratives": {"plain": "...", "rural": "..."}, "original": "the vignette before retelling, if there is one"}
    """
    from nsh.cases import check

    typer.echo(check(file))


@data_app.command("filter", epilog=FOR)
def filter_questions(source: str, out: Out) -> None:
    """Keep the questions of SOURCE that pass the six filters, and say how many each filter removes.

    SOURCE: a file in MedQA's layout (question, options, answer_idx, meta_info), hf:GBaker/MedQA-USMLE-4-options,
    released, or samples. A line written has id, question (the question sentence), options, gold, original (the whole
    vignette), meta_info (the exam step) and what else the row held: a case that lacks only its narratives.
    """
    from nsh.making import filters, items

    out = items.writable(out)
    questions = items.load_items(source)
    mask = filters.apply(questions)
    kept = filters.kept(questions, mask)
    items.write_items(kept, out)
    typer.echo(filters.effect(mask).to_string())
    typer.echo(f"{out}: {len(kept)} of {len(questions)} questions pass all six")


@data_app.command(epilog=FOR)
def sample(
    source: str,
    out: Out,
    n: Annotated[int, typer.Option(help="Questions to draw.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 42,
) -> None:
    """Draw questions of SOURCE in proportion to exam step and answer letter, and say how many of each.

    SOURCE and the lines written are as for `nsh data filter`, whose file it takes.
    """
    from nsh.making import items, sampling

    out = items.writable(out)
    questions = items.load_items(source)
    drawn = sampling.sample(questions, n, seed)
    items.write_items(drawn, out)
    table = sampling.draw_table(questions, drawn)
    typer.echo(table.to_string())
    typer.echo(f"{out}: {n} of {len(questions)} questions, {sampling.topped_up(table)} of them as top-up")


data_app.command(epilog=FOR)(retell)
