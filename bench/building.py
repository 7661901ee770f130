"""What building the book costs: once with all generations there, and again with nothing changed.

In a copy of the checkout with its own stage and store, on the packaged generations. Takes minutes; where there is no
checkout it is left out, in a sentence.

    python bench/building.py [--quick]      # quick: one page
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from row import Row

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("_build", "_store", ".venv", ".git", "node_modules", ".pytest_cache", ".ruff_cache", "__pycache__")
QUICK = "workshop-1-measure"  # a page that runs no model
LIMIT = 0.25  # unchanged over full


def build(folder: Path, only: list[str]) -> float:
    """Seconds that `nsh book` takes in a copy of the checkout."""
    command = [sys.executable, "-c", "from nsh.cli import main; main()", "book", "-f", "params/workshop.yaml", *only]
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "NSH_STORE": str(folder / "_store")}
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def rows(options: Namespace) -> list[Row]:
    """The one row of the table; none where there is no checkout."""
    if not (ROOT / "notebooks").is_dir():
        sys.stderr.write(f"{ROOT} holds no notebooks, so no book is built\n")
        return []
    only = ["--only", QUICK] if options.quick else []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "book")
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        viewers = ROOT / "_build" / "npm"  # fetched once, from npm
        if viewers.is_dir():
            shutil.copytree(viewers, folder / "_build" / "npm", symlinks=True)
        full, again = build(folder, only), build(folder, only)
    what = f"the page {QUICK}" if options.quick else "the book"
    limit = None if options.quick else LIMIT
    return [Row(f"{what}, nothing changed", f"{what}, all pages run", [again], [full], limit)]


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one page")
    for row in rows(parser.parse_args()):
        again, full = row.seconds[0], row.against_seconds[0]
        sys.stdout.write(f"{row.what}: {again:.1f} s, {row.against}: {full:.1f} s, ratio {row.ratio:.3f}\n")
