"""Notebooks stand alone: plain papermill, and "Run all" in JupyterLab (whose working folder is the notebook's own),
generate what is missing and finish."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from nsh.declared import pages
from nsh.gate import check_executed

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("slug", list(pages()))
@pytest.mark.parametrize("folder", [".", "notebooks"])
def test_plain_papermill_generates_what_is_missing(tmp_path, slug, folder):
    small = {"n_cases": "3", "resamples": "50", "models": "[scripted]"}
    settings = [word for name in pages()[slug].parameters if name in small for word in ("-y", f"{name}: {small[name]}")]
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
