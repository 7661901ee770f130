"""The commands of `nsh annotate`: tables of retellings for raters, and what comes back."""

from pathlib import Path
from typing import Annotated

import typer

from nsh.data_cli import FOR

annotate_app = typer.Typer(help="Have people rate retellings: blinded tables out, checked ratings back.")
Own = Annotated[list[str] | None, typer.Option("--register", help="How a voice speaks, VOICE=WORDS; may be repeated.")]


@annotate_app.command(epilog=FOR)
def export(
    cases: str,
    out: Annotated[Path, typer.Option(help="Table to write: .xlsx or .csv; for several raters one each.")],
    n: Annotated[int, typer.Option(help="Questions, each in every voice.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of sample, ids and order.")] = 42,
    raters: Annotated[str, typer.Option(help="Names of the raters, with commas between.")] = "rater1",
    register: Own = None,
) -> None:
    """Draw a stratified sample of CASES, and write a blinded table for each rater, a guide, and the key.

    CASES: samples, released, hf:ORGANIZATION/DATASET, or a file. The key says which voice is which: not for raters.

    Each row tells raters in words how the retelling is meant to speak. For voices of your own, --register gives them.
    """
    from nsh.cases import load_cases
    from nsh.making import annotate

    loaded = load_cases(cases)
    words = annotate.described(loaded[0].narratives, dict(pair.partition("=")[::2] for pair in register or ()))
    drawn = annotate.sample_cases(loaded, n, seed)
    *tables, guide, key = annotate.export(drawn, out, [name.strip() for name in raters.split(",")], words, seed)
    typer.echo(f"For raters: {', '.join(map(str, tables))}, with {guide}\nFor you alone: {key}")
    typer.echo("They hold the texts of the cases: do not publish those of the released ones.")


@annotate_app.command("import", epilog=FOR)
def import_ratings(
    key: Path,
    files: list[Path],
    out: Annotated[Path, typer.Option(help="File of ratings to write: .csv.")],
    partial: Annotated[bool, typer.Option("--partial", help="Write what is valid, and list the rest.")] = False,
) -> None:
    """Check the tables that came back against KEY, and join them to a file that the page of ratings takes.

    Every problem is named with its file, row and column. `nsh run facts-02-dataset -p ratings=FILE` shows the ratings.
    """
    from nsh.making.returned import collect, write_ratings

    returned = collect(key, files)
    path = write_ratings(returned, out, partial)
    typer.echo("\n".join([*returned.problems, f"{path}: {len(returned.rows)} retellings rated"]))
