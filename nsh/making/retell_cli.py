"""The command `nsh data retell`: cases retold in further voices, and written as cases."""

from pathlib import Path
from typing import Annotated

import typer

from nsh.engines import Engine


def retell(
    source: str,
    out: Annotated[Path, typer.Option(help="File to write: .jsonl.")],
    voice: Annotated[list[str], typer.Option(help="A register, by name or as a .yaml file; may be repeated.")],
    model: Annotated[str, typer.Option(help="The model that writes.")],
    n: Annotated[int | None, typer.Option("-n", min=1, help="The first n cases.", show_default="all")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Most attempts for a case in one voice.")] = 10,
    auditor: Annotated[str | None, typer.Option(help="The model that audits.", show_default="the writer")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another one gives other retellings.")] = 0,
    dtype: Annotated[str, typer.Option(help="Number format of the weights.")] = "float32",
) -> None:
    """Retell cases in further voices, each retelling checked and audited, and write them as cases.

    SOURCE: what `nsh data filter` takes or writes, or cases, which keep their voices. A case that no attempt tells well
    is named and left out; every attempt stands in OUT.csv. A run that was stopped goes on where it was.

    Without --auditor the writer audits its own text, which the papers exclude: their auditor is another model.

    Registers: clinical, socioeconomic, cultural, neutral, third_person, older_speaker.
    """
    from nsh.errors import ParameterError
    from nsh.making.items import writable
    from nsh.making.retold import retell_all
    from nsh.making.retold_files import to_retell, write_cases
    from nsh.making.voices import register
    from nsh.place import packaged_generations, store_folder
    from nsh.store import Store

    out, engine = writable(out), _engine(model, auditor, dtype)
    registers, store = [register(name) for name in voice], Store(store_folder(), packaged_generations())
    cases = to_retell(source, n)
    if told := {register.name for register in registers}.intersection(*(case.narratives for case in cases)):
        raise ParameterError(f"{source} is told in {', '.join(told)} already; give a register another name")
    made = retell_all(cases, registers, engine, store, attempts, seed)
    store.close()
    made.report.to_csv(f"{out}.csv", index=False)
    for lost in made.gave_up:
        typer.echo(lost, err=True)
    write_cases(made.cases, out)
    typer.echo("Both hold the texts of the cases: do not publish those of MedQA or of the released cases.")
    typer.echo(f"{out}: {len(made.cases)} cases in {', '.join(made.cases[0].narratives)}; every attempt in {out}.csv")


def _engine(model: str, auditor: str | None, dtype: str) -> Engine:
    """The engine of a model that writes, and of another that audits where one is named."""
    from nsh.declared import parameters
    from nsh.making.retell import Audited
    from nsh.params import check
    from nsh.study import Study

    values = {name: parameter.default for name, parameter in parameters().items()}
    values |= {"dtype": check("dtype", dtype, "--dtype"), "models": [name for name in (model, auditor) if name]}
    study = Study("command line", values)
    engines = [study.engine(spec) for spec in study.models]
    return engines[0] if len(engines) == 1 else Audited(*engines)
