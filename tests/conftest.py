"""Fixtures shared by all tests: the released files and a browser, both required where CI=true."""

import os
import shutil
from pathlib import Path

import pytest


def skip_or_fail(reason: str) -> None:
    """Skip on a user's machine, fail on the continuous-integration machine, where everything must be present."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def released() -> Path:
    """Folder of the released data files, as named by NSH_RELEASED_DIR."""
    folder = os.environ.get("NSH_RELEASED_DIR", "")
    if not (folder and Path(folder, "results").is_dir()):
        skip_or_fail("NSH_RELEASED_DIR does not name a folder with the released files (fill one with `nsh data pull`)")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium or Chrome program."""
    found = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if not found:
        skip_or_fail("no Chromium found (Debian: apt-get install chromium)")
    return found
