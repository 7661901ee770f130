"""What all tests share: their order, and the released files and a browser, both required where CI=true."""

import os
import shutil
from pathlib import Path

import pytest

# as many workers as processors: a thread each, set before NumPy and PyTorch are loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that hold slow tests, so that no worker is left with one at the end, and end with those that
    measure time, when no book is being built beside them. A file stays on one worker, so its fixtures are made once."""
    slow, timed = ({item.path for item in items if item.get_closest_marker(mark)} for mark in ("slow", "timed"))
    items.sort(key=lambda item: 2 if item.path in timed else item.path not in slow)


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
