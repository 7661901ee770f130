"""Pages run in forks of a process that has the libraries loaded, where papermill starts a kernel for each of them.

As a program, in a checkout, it does what `nsh book` does up to the HTML, and prints the same lines:

    python tests/warm_pages.py '{"models": ["scripted"]}' [page ...]
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import papermill
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.layout_engine import ConstrainedLayoutEngine
from papermill.engines import Engine, papermill_engines

# What a model may write, and HTML, mathematics, Markdown, tables and UTF-8 would take for their own.
ODD = (
    '\nHb <5 g/dL <b class="nsh-odd">x</b><script>odd = 1</script><img class="nsh-odd" src="x" onerror="odd = 1"> &lt; '
    "$x^2$ \\(y\\) `code` **bold** |pipe|\n\u202etfel\u202c \u05d0\u05d1 \ud83c"
)
for library in ("matplotlib.pyplot", "myst_nb", "pandas", "pyarrow", "pydantic", "scipy.stats", "seaborn"):
    import_module(library)
ConstrainedLayoutEngine.execute = lambda engine, figure: None  # half the time of a figure, and its data are the same


class Fork(Engine):
    """Runs the cells of a notebook in a fork of this process."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork").Process(target=run_cells, args=(nb_man.nb, theirs))
        fork.start()
        theirs.close()  # so that a fork that dies ends the wait
        nb_man.nb.cells = nbformat.reads(ours.recv(), 4).cells
        fork.join()


def run_cells(notebook: nbformat.NotebookNode, out: Connection) -> None:
    """Run the cells, each as IPython runs it, up to the first that ends in an error; send the notebook."""
    shell = InteractiveShell.instance()
    all(run_cell(shell, cell) for cell in notebook.cells if cell.cell_type == "code")
    out.send(nbformat.writes(notebook))


def run_cell(shell: InteractiveShell, cell: nbformat.NotebookNode) -> bool:
    """Run a cell and keep what it shows as its outputs; whether it ended well."""
    shell.display_pub = CapturingDisplayPublisher()
    shown = shell.display_pub.outputs
    shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=shown)
    streams = {"stdout": StringIO(), "stderr": StringIO()}
    with redirect_stdout(streams["stdout"]), redirect_stderr(streams["stderr"]):
        result = shell.run_cell(cell.source, store_history=True)
    said = {name: text for name, stream in streams.items() if (text := stream.getvalue())}
    new = nbformat.v4.new_output
    cell.outputs = [new("stream", name=name, text=text) for name, text in said.items()]
    cell.outputs += [new("display_data", data=one["data"], metadata=one["metadata"] or {}) for one in shown]
    if error := result.error_before_exec or result.error_in_exec:
        cell.outputs.append(new("error", ename=type(error).__name__, evalue=str(error), traceback=[]))
    cell.execution_count = result.execution_count
    return result.success


def warm() -> BaseContext:
    """The context whose processes are forks of one that has imported this file."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([Path(__file__).stem])
    return context


def run_notebook(source: Path, out: Path, values: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """What `papermill SOURCE OUT` does in the notebook's own folder, for a process of its own."""
    os.environ.update(environment)
    os.chdir(source.parent)
    papermill_engines.register(None, Fork)
    papermill.execute_notebook(source, out, dict(values), progress_bar=False)


def main(values: str, *slugs: str) -> None:
    """Bring pages onto the stage; every canned reply ends in the odd text."""
    from nsh import build, engines
    from nsh.declared import pages

    canned = engines._hashed_letter
    engines._hashed_letter = lambda call: canned(call) + ODD
    papermill_engines.register(None, Fork)
    build.multiprocessing = SimpleNamespace(get_context=lambda name: multiprocessing.get_context("fork"))
    build.build_pages(slugs or pages(), json.loads(values), say=print)


if __name__ == "__main__":
    main(*sys.argv[1:])
