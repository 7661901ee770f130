"""What it saves to run the fourteen conditions of the papers in one run, against one by one with an empty store each.

Whole commands are timed (`nsh generate`), starting and loading included; the note gives the seconds without both, from
the runs' own logs. A call that several conditions make is paid for once, and the calls of all are written together.
The samples are run as `params/workshop.yaml` has it, which shortens what takes long; `--cases` and `--max-new-tokens`
set another size (`--cases 24` is all samples at the papers' budgets).
"""

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from plain import model_of
from row import Row, interleaved

from nsh.conditions import CONDITIONS
from nsh.scale.run_log import runs

BEYOND = ("guarded_rewrite", "rewrite_cot")  # of no paper
PAPERS = [name for name in CONDITIONS if name not in BEYOND]
QUICK = ("extract", "extract_reason")  # which share a call
WORKSHOP = Path("params") / "workshop.yaml"
LIMIT = 0.6


def rows(options: Namespace) -> list[Row]:
    """One row, with the size of the run."""
    names, n, most = (QUICK, 1, 16) if options.quick else (PAPERS, options.cases, options.max_new_tokens)
    own = ["-p", f"n_cases={n}", *(["-p", f"max_new_tokens={most}"] if most else [])]
    size = own if n else ["-f", str(Path(__file__).parents[1] / WORKSHOP)]
    command = ["generate", "--model", model_of(options), *size, "-p", "dtype=float32"]
    ways = {"together": lambda: [made(command, names)], "apart": lambda: [made(command, [name]) for name in names]}
    seconds, found = interleaved(ways, 1)
    texts = {way: {key: text for _, kept in stores for key, text in kept.items()} for way, stores in found.items()}
    calls = {way: sum(len(kept) for _, kept in stores) for way, stores in found.items()}
    generating = {way: sum(spent for spent, _ in stores) for way, stores in found.items()}
    budgets = f"at most {most} new tokens" if most else "the papers' budgets"
    told = f"sample cases: {n}, {budgets}" if n else f"samples as in {WORKSHOP}"
    same = sum(texts["together"].get(key) == text for key, text in texts["apart"].items())
    alone = f"without starting and loading {generating['together']:.0f} s against {generating['apart']:.0f} s"
    return [
        Row(
            f"{len(names)} conditions, {told}, float32, in one command",
            "one by one, an empty store each",
            seconds["together"],
            seconds["apart"],
            LIMIT,
            f"{calls['together']} calls against {calls['apart']}; {same} of {len(texts['apart'])} texts equal; {alone}",
        )
    ]


def made(command: Sequence[str], names: Sequence[str]) -> tuple[float, dict[str, str]]:
    """Run conditions from an empty store; seconds of generating, and the texts by key."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "NSH_STORE": folder, "NSH_PACKAGED": "off", "NSH_ENGINE": ""}
        asked = [word for name in names for word in ("--condition", name)]
        program = [sys.executable, "-c", "from nsh.cli import main; main()", *command, *asked]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        kept = [json.loads(line) for file in Path(folder).glob("*.jsonl") for line in file.open(encoding="utf-8")]
        return sum(run["seconds"] for run in runs(Path(folder))), {one["key"]: one["text"] for one in kept}
