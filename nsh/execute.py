"""Run one notebook by papermill into a scratch folder; promote it to the book's stage only if it passes the gate."""

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nsh.errors import CellError, KernelDied, ParameterError, without_tokens
from nsh.provenance import versions

PACKAGE = Path(__file__).parent
FOLDED = {"injected-parameters": "parameters of this run", "parameters": "default parameters"}


def execute(slug: str, values: Mapping[str, Any], folder: Path, data_hash: str) -> tuple[Path, float]:
    """Run a page's notebook with checked parameters.

    Parameters
    ----------
    slug : str
        The page; its source is `notebooks/<slug>.ipynb` in `folder`.
    values : mapping
        Parameters that passed `nsh.params.check`.
    folder : pathlib.Path
        The checkout.

    data_hash : str
        `Study.data_hash` of what the page computes on.

    Returns
    -------
    staged : pathlib.Path
        The promoted notebook, `_build/stage/notebooks/<slug>.ipynb`. The scratch copy stays in `_build/run`.
    seconds : float
        How long the notebook ran.

    Raises
    ------
    ParameterError
        If the notebook has no cell tagged `parameters`, or takes other parameters than declared.
    CellError
        If a cell raised an error, or the executed page fails the gate.
    KernelDied
        If the kernel ended early, usually because memory ran out.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    source = folder / "notebooks" / f"{slug}.ipynb"
    scratch = folder / "_build" / "run" / f"{slug}.ipynb"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    check_source(source, values)
    started = time.monotonic()
    sockets = tempfile.mkdtemp(prefix="nsh-")  # no ports, and no two kernels share an address
    quiet = ["--log-level=CRITICAL"]  # a kernel that is told to stop calls that an error
    local = Config(
        {
            "KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"},
            "NotebookClient": {"extra_arguments": quiet},
        }
    )
    try:
        papermill.execute_notebook(
            source, scratch, dict(values), kernel_name="python3", cwd=folder, progress_bar=False, config=local
        )
    except papermill.PapermillExecutionError as error:
        raise CellError(f"page {slug}, cell {error.exec_count}: {error.ename}: {error.evalue}") from None
    except DeadKernelError:
        advice = "; try a smaller batch: -p batch_tokens=512" if "batch_tokens" in values else ""
        raise KernelDied(
            f"page {slug}: the kernel died, most likely for want of memory; what was generated is kept{advice}"
        ) from None
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
        _strike_tokens(scratch)
    seconds = round(time.monotonic() - started, 1)
    notebook = nbformat.read(scratch, 4)
    told = provenance_of(notebook)
    made_from = fingerprint(folder, slug, values, data_hash, told["modules"])
    notebook.metadata["nsh"] = {**told, "fingerprint": made_from, "seconds": seconds}
    return promote(notebook, slug, folder), seconds


def _strike_tokens(scratch: Path) -> None:
    """Strike hub tokens out of an executed notebook: a library may have printed one, or raised it."""
    said = scratch.read_text(encoding="utf-8") if scratch.is_file() else ""
    if (clean := without_tokens(said)) != said:
        scratch.write_text(clean, encoding="utf-8")


def staged_page(folder: Path, slug: str) -> Path:
    """Where a page's executed notebook lies for the book."""
    return folder / "_build" / "stage" / "notebooks" / f"{slug}.ipynb"


def provenance_of(notebook: Any) -> dict[str, Any]:
    """What the provenance cell of an executed page hands on: the modules of this package that the page used, and
    whether its numbers on real models are computed.

    Raises
    ------
    CellError
        If the page has no provenance.
    """
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    found = [output.metadata["nsh"] for output in outputs if "nsh" in output.get("metadata", {})]
    if not found:
        raise CellError("a page has no provenance at its foot: its last cell must be `nsh.Provenance(study)`")
    return dict(found[-1])


def fingerprint(folder: Path, slug: str, values: Mapping[str, Any], data_hash: str, modules: Iterable[str]) -> str:
    """SHA-256 of all that a page is made from: notebook, parameters, cases, answers, code, packaged data, versions."""
    sources = [PACKAGE.joinpath(*name.split(".")[1:]) for name in modules]
    files = [path / "__init__.py" if path.is_dir() else path.with_suffix(".py") for path in sources]
    files += sorted(path for path in (PACKAGE / "data").rglob("*") if path.is_file())
    digest = hashlib.sha256(json.dumps([values, data_hash, versions()], sort_keys=True).encode())
    for file in [folder / "notebooks" / f"{slug}.ipynb", *files]:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def check_source(source: Path, values: Mapping[str, Any]) -> None:
    """Refuse a notebook whose parameters cell is missing or does not take the values; papermill would only warn."""
    import papermill

    if not source.is_file():
        raise ParameterError(f"no notebook {source}")
    try:
        takes = papermill.inspect_notebook(str(source))
    except (ValueError, KeyError, AttributeError) as error:  # torn or conflicting JSON, no kernel named
        raise ParameterError(f"{source} is not a notebook that can be run: {str(error)[:200]}") from None
    if not takes:
        raise ParameterError(f"{source} has no cell tagged `parameters`")
    if set(values) - set(takes):
        raise ParameterError(f"{source} does not take {', '.join(sorted(set(values) - set(takes)))}")


def promote(notebook: Any, slug: str, folder: Path) -> Path:
    """Pass an executed notebook through the gate, fold its parameter cells, hand each figure's text alternative to the
    book, and put the notebook on the stage in one step."""
    import nbformat

    from nsh.gate import check_executed

    check_executed(notebook, slug)
    for cell in notebook.cells:
        _describe_figure(cell)
        tags = cell.metadata.get("tags", [])
        for tag in set(tags) & set(FOLDED):
            show, hide = f"Show the {FOLDED[tag]}", f"Hide the {FOLDED[tag]}"
            cell.metadata["tags"] = [*tags, "hide-input"]
            cell.metadata["mystnb"] = {"code_prompt_show": show, "code_prompt_hide": hide}
    target = staged_page(folder, slug)
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_suffix(".part")
    nbformat.write(notebook, half)
    half.replace(target)
    return target


def _describe_figure(cell: Any) -> None:
    """Hand a figure's text alternative to the book; drop the caption where the cell drew nothing."""
    alts = [
        output.metadata.get("image/svg+xml", {}).get("alt") for output in cell.get("outputs", []) if "data" in output
    ]
    if any(alts):
        cell.metadata.setdefault("mystnb", {})["image"] = {"alt": next(filter(None, alts))}
    else:
        cell.metadata.get("mystnb", {}).pop("figure", None)
