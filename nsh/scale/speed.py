"""What the status page shows of speed: each run beside its plan, and the benchmarks of this machine."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nsh.scale.run_log import TOTALS, runs

SHOWN, STAGES = 10, 3  # runs; stages that a run is named by
NO_RUNS = "No run is logged in this build's store yet: `nsh generate` logs each, beside what `nsh plan` says of it."
NO_BENCH = "Nothing was timed in this checkout yet: `make bench` does, and writes its table."


def speed_section(checkout: Path, store: Path) -> str:
    """The two tables as MyST text; a sentence in the place of one that is not there.

    Examples
    --------
    >>> speed_section(Path("no checkout"), Path("no store")).splitlines()[0]
    '## Estimate and truth'
    """
    logged = runs(store)[::-1][:SHOWN]
    truth = _table(["run", "", "plan", "truth", "ratio"], map(_run_rows, logged)) if logged else NO_RUNS
    bench = checkout / "_build" / "bench.json"
    fast = _bench(json.loads(bench.read_text(encoding="utf-8"))) if bench.is_file() else NO_BENCH
    return f"## Estimate and truth\n\n{truth}\n\n## How fast\n\n{fast}\n"


def _table(head: list[str], groups: Iterable[list[list[str]]]) -> str:
    """Rows as a table whose numbers stand on the right."""
    rows = [head, [":--"] * 2 + ["--:"] * (len(head) - 2), *(row for group in groups for row in group)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def _run_rows(run: Mapping[str, Any]) -> list[list[str]]:
    """A run: calls, tokens and seconds, planned and true."""
    first, others = list(run["stages"])[:STAGES], len(run["stages"]) - STAGES
    stages = ", ".join(first) + (f" and {others} more" if others > 0 else "")
    about = f"{run['model'].rpartition('/')[2]}, {run['dtype']}, {stages}; {run['begun'][:16]}"
    about += "" if run["finished"] else "; **not finished**"
    rows = []
    for name in (*TOTALS, "seconds"):
        plan, truth = (run["estimate"] or {}).get(name), run[name]
        ratio = f"{plan / truth:.2f}" if plan is not None and truth else ""
        told = "not known" if plan is None else f"{plan:,.0f}"
        rows.append(["" if rows else about, name.replace("_", " "), told, f"{truth:,.0f}", ratio])
    return rows


def _bench(made: Mapping[str, Any]) -> str:
    """The benchmarks, and the machine that they ran on."""
    from statistics import median

    rows = []
    for row in made["rows"]:
        ours, theirs = median(row["seconds"]), median(row["against_seconds"])
        limit = "" if row["limit"] is None else f"{row['limit']:.2f}"
        runs_of = f"{len(row['seconds'])} run{'s' * (len(row['seconds']) > 1)}, {row['date']}"
        what = f"{row['what']} ({'; '.join(filter(None, (row['note'], runs_of)))})"
        rows.append([what, row["against"], f"{ours:.3g}", f"{theirs:.3g}", f"{ours / theirs:.2f}", limit])
    machine = {**made["machine"], **made["machine"].get("versions", {})}
    about = "; ".join(f"{name} {value}" for name, value in machine.items() if value and name != "versions")
    table = _table(["what", "against", "median", "of that", "ratio", "at most"], [rows])
    said = "Seconds unless said otherwise; of several runs the two sides took turns."
    return f"{table}\n\n{said} The machine, of the newest row: {about}."
