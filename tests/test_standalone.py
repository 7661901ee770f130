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
    settings = ["-p", "n_cases", "3"]
    if "models" in pages()[slug].parameters:
        settings += ["-y", "models: [scripted]"]
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
def test_the_page_itself_refuses_a_bad_value(tmp_path):
    """Papermill guesses types and checks nothing; the page does."""
    command = [
        sys.executable,
        "-m",
        "papermill",
        ROOT / "notebooks" / "voices-05-anchoring.ipynb",
        tmp_path / "o.ipynb",
    ]
    result = subprocess.run(
        [*map(str, command), "--no-progress-bar", "-p", "n_cases", "many"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "n_cases = 'many': expected int or null" in result.stderr
