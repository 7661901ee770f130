"""Notebooks stand alone: plain papermill, and "Run all" in JupyterLab (whose working folder is the notebook's own),
generate what is missing and finish.

Every page runs without the released files, in a fork of a process that has the libraries loaded; a few run in a kernel
of their own, on what this machine has.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from copied_book import fabricate_cases, fabricate_released
from warm_pages import run_notebook, warm

from nsh.declared import pages
from nsh.gate import check_executed

ROOT = Path(__file__).resolve().parents[1]
SMALL = {"n_cases": 3, "resamples": 50, "models": ["scripted"]}
SECRET = "xylography"  # a word that only the fabricated cases hold


def small(slug: str, **others: Any) -> dict[str, Any]:
    """The parameters of a short run, as far as the page takes them."""
    return {name: value for name, value in {**SMALL, **others}.items() if name in pages()[slug].parameters}


def run(slug: str, folder: Path, values: dict[str, Any], released: str = "") -> nbformat.NotebookNode:
    """Run a page by itself, on a store of its own; the executed notebook."""
    source, out = ROOT / "notebooks" / f"{slug}.ipynb", folder / "out.ipynb"
    environment = {"NSH_STORE": str(folder / "store"), "NSH_ENGINE": "", "NSH_RELEASED_DIR": released}
    process = warm().Process(target=run_notebook, args=(source, out, values, environment))
    process.start()
    process.join()
    notebook = nbformat.read(out, 4)
    check_executed(notebook, slug)
    assert process.exitcode == 0
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("slug", pages())
def test_a_page_runs_without_models(tmp_path, slug):
    page = run(slug, tmp_path, small(slug, models=[]))
    assert all(cell.execution_count for cell in page.cells if cell.cell_type == "code")
    assert not list((tmp_path / "store").glob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "slug", [slug for slug, page in pages().items() if {"source", "models"} & set(page.parameters)]
)
def test_a_page_generates_what_is_missing_and_shows_no_text_of_the_released_cases(tmp_path, slug):
    """Nor what a model made of it: the scripted one repeats what it is sent."""
    fabricate_released(tmp_path)
    fabricate_cases(tmp_path, SECRET)
    page = run(slug, tmp_path, small(slug, source="released"), str(tmp_path))
    assert SECRET not in nbformat.writes(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "folder"),
    [("voices-05-anchoring", "notebooks"), ("voices-04-setup", "notebooks"), ("ledger", "."), ("home", "notebooks")],
)
def test_plain_papermill_in_either_folder(tmp_path, slug, folder):
    settings = [word for name, value in small(slug).items() for word in ("-y", f"{name}: {value}")]
    command = [sys.executable, "-m", "papermill", ROOT / "notebooks" / f"{slug}.ipynb", tmp_path / "out.ipynb"]
    environment = {**os.environ, "NSH_STORE": str(tmp_path / "store"), "NSH_ENGINE": ""}
    result = subprocess.run(
        [*map(str, command), "--no-progress-bar", *settings],
        cwd=ROOT / folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    check_executed(nbformat.read(tmp_path / "out.ipynb", 4), slug)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_cases", "many", "n_cases = 'many': expected int or null"),
        ("n_itmes", "5", "did you mean 'n_cases'"),
    ],
)
def test_the_page_itself_refuses_what_papermill_lets_pass(tmp_path, name, value, message):
    """Papermill guesses types, and only warns of a name that the notebook does not have."""
    notebook = ROOT / "notebooks" / "voices-05-anchoring.ipynb"
    command = [sys.executable, "-m", "papermill", notebook, tmp_path / "out.ipynb"]
    result = subprocess.run(
        [*map(str, command), "--no-progress-bar", "-p", name, value],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert message in result.stderr
