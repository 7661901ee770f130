"""All benchmarks in one table, each row a ratio of the same run; kept with the machine's description (`make bench`).

    python bench/table.py [direct rewrite prefix ...] [--runs 5] [--quick]

A benchmark that fails is said to have failed, and the others go on. Seconds depend on the machine, ratios much less.
What was measured before stays in the file until it is measured again; a quick look goes into a file of its own.
"""

import argparse
import importlib
import json
import os
import platform
import sys
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from row import Row

from nsh.scale.wide import has_bfloat16

NAMES = ("intervals", "conditions", "store", "building", "prefix", "rewrite", "formats", "together", "direct")
OUT = Path("_build") / "bench.json"


def main() -> None:
    """Run the named benchmarks, or all; print the table; keep it."""
    options = read_options()
    kept = read_kept(options.out)
    found = {name: part for name in NAMES if (part := [r for r in kept.get("rows", ()) if r["bench"] == name])}
    failed = []
    for name in options.names or NAMES:
        begun = time.perf_counter()
        try:
            rows = importlib.import_module(name).rows(options)
        except Exception:  # noqa: BLE001 (whatever it is, the others go on)
            failed.append(name)
            say(f"{name} failed:\n{traceback.format_exc()}")
            continue
        rows = [replace(row, limit=None) for row in rows] if options.quick else rows  # which are those of full sizes
        found[name] = [told(name, row) for row in rows]
        say(f"{name}: {time.perf_counter() - begun:.0f} s\n{table(found[name])}\n")
        keep(options, found)
    rows = [row for name in NAMES for row in found.get(name, ())]
    say(f"{table(rows)}\n{machine()}\nkept in {options.out}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def read_kept(out: Path) -> dict[str, Any]:
    """The table that a file holds; an empty one where there is no file. Another file is refused, and so kept."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(out.read_text(encoding="utf-8"))
        table(kept["rows"])
        return kept
    except FileNotFoundError:
        return {}
    except OSError as error:
        sys.exit(f"--out {out}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        sys.exit(f"--out {out}: the file holds no table of benchmarks; remove it, or name another")


def told(name: str, row: Row) -> dict[str, Any]:
    """A row in plain types."""
    seconds = {part: [round(value, 4) for value in getattr(row, part)] for part in ("seconds", "against_seconds")}
    own = {"ratio": round(row.ratio, 3), "limit": row.limit, "good": row.good, "note": row.note}
    own |= {"load": round(os.getloadavg()[0], 1), "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}"}
    return {"bench": name, "what": row.what, "against": row.against} | seconds | own


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as lines: ratio, limit, medians of the seconds and their number, what, against what, and the note."""
    lines = [f"{'ratio':>7} {'limit':>6} {'':4} {'seconds':>9} {'against':>9} {'runs':>4}  what, against what; note"]
    for row in rows:
        limit = "" if row["limit"] is None else f"{row['limit']:.2f}"
        good = {None: "", True: "good", False: "OVER"}[row["good"]]
        seconds = [f"{median(row[part]):9.3g}" for part in ("seconds", "against_seconds")]
        words = f"{row['what']} / {row['against']}" + (f"; {row['note']}" if row["note"] else "")
        lines.append(f"{row['ratio']:7.3f} {limit:>6} {good:4} {' '.join(seconds)} {len(row['seconds']):4}  {words}")
    return "\n".join(lines)


def keep(options: argparse.Namespace, found: dict[str, list[dict[str, Any]]]) -> None:
    """Write what is known so far."""
    rows = [row for name in NAMES for row in found.get(name, ())]
    whole = options.out.with_name(f"{options.out.name}.new")  # so that the table is never torn
    whole.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n", encoding="utf-8")
    whole.replace(options.out)


def machine() -> dict[str, Any]:
    """What it was run on."""
    import torch

    return {
        "processor": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "bfloat16": has_bfloat16(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in ("torch", "transformers", "numpy", "scipy", "pandas")},
        "python": platform.python_version(),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
    }


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="name", help=", ".join(NAMES))
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs of the direct prompts; others at most 3")
    parser.add_argument("--quick", action="store_true", help="small sizes and a tiny model: whether it works at all")
    parser.add_argument("--cases", type=int, help="sample cases of the fourteen conditions; else as for the workshop")
    parser.add_argument("--max-new-tokens", type=int, help="with --cases: at least 16; else the papers' budgets")
    parser.add_argument("--models", type=int, default=1, help="models whose finished runs are resumed from the store")
    parser.add_argument("--out", type=Path, help="where the table is kept")
    options = parser.parse_args()
    if min(n for n in (options.runs, options.cases, options.models) if n is not None) < 1:
        parser.error("--runs, --cases and --models: expected 1 or more")
    if options.max_new_tokens is not None and (options.cases is None or options.max_new_tokens < 16):
        parser.error("--max-new-tokens: expected 16 or more, and --cases")
    options.out = options.out or (OUT.with_stem("bench-quick") if options.quick else OUT)
    return options


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
