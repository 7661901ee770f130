"""The installed wheel, not only the checkout: an empty environment outside the checkout lists pages and runs."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from conftest import skip_or_fail

ROOT = Path(__file__).resolve().parents[1]


def call(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder of programs of an environment that holds the wheel and its required packages only."""
    folder = tmp_path_factory.mktemp("wheel")
    built = call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / "bin"
    pip = call(programs / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    if pip.returncode:
        skip_or_fail(f"pip could not fetch the wheel's requirements: {pip.stderr[-300:]}")
    return programs


@pytest.mark.slow
def test_the_wheel_lists_the_pages(installed, tmp_path):
    result = call(installed / "nsh", "pages", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "voices-05-anchoring: Anchoring is universal" in result.stdout


@pytest.mark.slow
def test_the_wheel_runs_a_condition_with_the_scripted_engine(installed, tmp_path):
    environment = {**os.environ, "NSH_STORE": str(tmp_path / "store")}
    command = [installed / "nsh", "records", "--out", "r.csv", "--model", "scripted", "--condition", "rewrite"]
    result = call(*command, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 1 + 72


@pytest.mark.slow
def test_a_model_without_its_packages_says_what_to_install(installed, tmp_path):
    result = call(
        installed / "nsh", "generate", "-p", "n_cases=1", cwd=tmp_path, env={**os.environ, "NSH_PACKAGED": "off"}
    )
    assert result.returncode == 7
    assert "narrativeshield-papers[models]" in result.stderr
    assert "Traceback" not in result.stderr
