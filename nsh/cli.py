"""The command line: read, re-run and check the executable NarrativeShield papers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from nsh.asked import Conditions, Models, Overrides, ParamsFile, asked_study, asked_values
from nsh.data_cli import FOR, data_app
from nsh.errors import NshError, ParameterError
from nsh.live import live
from nsh.making.annotate_cli import annotate_app
from nsh.scale.plan_cli import plan
from nsh.verify_cli import verify

EXIT_CODES = (
    "Exit codes: 0 done, 2 bad parameter, 3 missing or bad data, 4 cell error, 5 kernel died, 6 build failed, "
    "7 model failed."
)
app = typer.Typer(
    help=f"The executable NarrativeShield papers.\n\n{FOR}\n\n{EXIT_CODES}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data", no_args_is_help=True)
app.add_typer(annotate_app, name="annotate", no_args_is_help=True)
app.command(epilog=FOR)(live)
app.command(epilog=FOR)(verify)
app.command(epilog=FOR)(plan)

Workers = Annotated[
    int | None, typer.Option("-j", min=1, help="Pages run at once; all processors unless given.", show_default=False)
]


def main() -> None:
    """Run the command line; an error made on purpose becomes one message and its exit code."""
    try:
        app()
    except (NshError, OSError) as error:  # no room, no right, no such folder
        typer.echo(f"error: {error}", err=True)
        sys.exit(getattr(error, "exit_code", 3))


@app.command(epilog=FOR)
def book(
    params_file: ParamsFile = None,
    only: Annotated[list[str] | None, typer.Option(help="Run only this page anew; may be repeated.")] = None,
    overrides: Overrides = None,
    workers: Workers = None,
    html: Annotated[bool, typer.Option(help="Make the HTML when the pages have run.")] = True,
) -> None:
    """Build the whole book: generate what is missing, run the pages that changed, make the HTML."""
    from nsh.declared import find_page, pages

    slugs = [find_page(slug).slug for slug in only or ()]
    values = asked_values(params_file, overrides)
    from nsh.build import build_pages, rebuild_html

    build_pages(slugs or pages(), values, workers, typer.echo)
    if html:
        _say_where(rebuild_html(), "index")


@app.command(epilog=FOR)
def run(page: str, params_file: ParamsFile = None, overrides: Overrides = None) -> None:
    """Run one page with other parameters; its HTML follows where the other pages are built already."""
    from nsh.declared import find_page

    values = asked_values(params_file, overrides, find_page(page).parameters)
    from nsh.build import build_pages, checkout, rebuild_html

    build_pages([page], values, 1, typer.echo)
    typer.echo("It stands in the place of the book's page; `nsh book` brings that back.")
    typer.echo(f"The executed notebook: {checkout() / '_build' / 'stage' / 'notebooks' / f'{page}.ipynb'}")
    _say_where(rebuild_html(), f"notebooks/{page}")


def _say_where(index: Path | None, page: str) -> None:
    """Print where the HTML of a page is, or how to have it."""
    none = "No HTML yet: `nsh book` runs the other pages and builds it"
    typer.echo(f"To read: {index.parent / f'{page}.html'}" if index else none)


@app.command("pages", epilog=FOR)
def list_pages() -> None:
    """List the pages with their parameters: type, default, help; and those that only the runs of models take."""
    from nsh.declared import pages, parameters

    told = [
        (f"{page.slug}: {page.title} (paper {page.paper}, section {page.section})", page.default, page.parameters)
        for page in pages().values()
    ]
    of_runs = {name: row.default for name, row in parameters().items() if row.kind == "run"}
    told.append(("only generate, records and plan:", of_runs.get, tuple(of_runs)))
    for title, default, names in told:
        typer.echo(title)
        for name in names:
            parameter, value = parameters()[name], "null" if default(name) is None else default(name)
            extra = f"; one of {', '.join(parameter.choices)}" if parameter.choices else ""
            typer.echo(f"    {name}: {parameter.type} = {value}{extra}\n        {parameter.help}")


@app.command(epilog=FOR)
def generate(
    params_file: ParamsFile = None,
    model: Models = None,
    condition: Conditions = None,
    overrides: Overrides = None,
    shard: Annotated[str, typer.Option(help="The share i/n of the cases, for one of n jobs.")] = "1/1",
) -> None:
    """Generate what the store lacks for models and conditions over the cases, and nothing else."""
    from nsh.scale.shards import shard as share

    cut = share(shard)
    study = asked_study(params_file, overrides, model, condition)
    study.shard = cut
    from nsh.build import generate as generate_missing

    if not study.jobs:
        typer.echo(f"shard {shard} is empty: there are {len(study.cases)} cases, or fewer that the conditions take")
    for name in filter(study.shortened, study.conditions):
        typer.echo(f"{name}: {study.shortened(name)}")
    typer.echo(generate_missing([study]))


@app.command(epilog=FOR)
def records(
    out: Annotated[Path, typer.Option(help="File to write: .csv, .parquet, or .html to look through.")],
    params_file: ParamsFile = None,
    model: Models = None,
    condition: Conditions = None,
    overrides: Overrides = None,
    with_text: Annotated[bool, typer.Option(help="Write the texts too. Do not publish them.")] = False,
) -> None:
    """Write the records of a run, generating what is missing: a row per model, condition, case and voice."""
    study = asked_study(params_file, overrides, model, condition)
    from nsh.jobs import own_files
    from nsh.records import check_out, write_records

    own = (file for name in study.conditions for file in own_files(name))
    check_out(out, filter(None, (params_file, study.values["source"], *own)))
    typer.echo(f"{len(study.records)} records: {write_records(study.records, out, with_text, study.cases)}")


@app.command("models", epilog=FOR)
def list_models() -> None:
    """List the models of the papers: what is known of each, what was checked, and what this machine can run."""
    from nsh.model_list import models_lines

    typer.echo(models_lines())


@app.command("ledger", epilog=FOR)
def show_ledger(
    paper: Annotated[str | None, typer.Option(help="Rows of one paper: voices, facts or sdoh.")] = None,
    status: Annotated[str | None, typer.Option(help="Rows of one status, such as differs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every row as an object, for programs.")] = False,
    overrides: Overrides = None,
) -> None:
    """Say of every number and claim of the papers where it stands; -p takes the parameters of the page `ledger`."""
    from nsh.declared import find_page

    page = find_page("ledger")
    if paper not in (None, *page.paper.split(", ")):
        raise ParameterError(f"--paper {paper}: one of {page.paper} is expected")
    from nsh.params import for_page

    values = for_page(page, asked_values(None, overrides, page.parameters))
    from nsh.ledger import STATUSES, ledger
    from nsh.ledger_text import ledger_lines
    from nsh.recomputed import recompute
    from nsh.released import released_dir

    if status not in (None, *STATUSES):
        raise ParameterError(f"--status {status}: one of {', '.join(STATUSES)} is expected")
    sources = recompute(released_dir(values["released"]), values["resamples"], values["seed"])
    for reason in sources["left out"]:
        typer.echo(reason, err=True)
    rows = ledger(sources, lambda row: paper in (None, row.paper))
    rows = rows[rows["status"] == status] if status else rows
    if as_json:
        typer.echo(rows.to_json(orient="records", indent=1, force_ascii=False))
    else:
        typer.echo(f"{ledger_lines(rows)}\n\n{rows['status'].value_counts().to_string()}")
