"""The commands of `nsh data`: the released files, and files of your own."""

import sys
from pathlib import Path

import typer

from nsh.making.retell_cli import retell

FOR = "Independent re-implementation: research and teaching only, not for clinical use, not reviewed by a clinician."
data_app = typer.Typer(help="Fetch the released data, see what is there, or check a file of your own.")


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


data_app.command(epilog=FOR)(retell)
