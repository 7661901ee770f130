"""What each run took: a line per model in `runs` of the store, beside what `nsh plan` would have said before it."""

import datetime
import json
import os
import platform
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nsh.engines import Call, Completion, Engine
from nsh.errors import NshError, without_tokens
from nsh.jobs import Job
from nsh.models import ModelSpec
from nsh.scale.lengths import Length, label_of
from nsh.scale.rates import bytes_of, machine
from nsh.store import Store

FOLDER = "runs"  # inside the store, which reads no file of it as generations


def runs(store: Path) -> list[dict[str, Any]]:
    """The logged runs of a store, oldest first; a torn line is left out.

    Examples
    --------
    >>> runs(Path("no such store"))
    []
    """
    rows = []
    for path in sorted((store / FOLDER).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                rows.append(json.loads(line))
    return sorted((row for row in rows if isinstance(row, dict) and "stages" in row), key=lambda row: row["begun"])


class Logged:
    """An engine whose completions are counted and timed; the run is planned before the first is made.

    Everything else of the engine is its own.
    """

    def __init__(self, engine: Engine, plan: Any):
        self._engine, self._plan = engine, plan
        self.row: dict[str, Any] = {}
        self.lengths: dict[str, Length] = {}
        self.prompts: dict[str, int] = {}
        self.seconds, self.loading, self.steps = 0.0, 0.0, 0
        self._batch: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """The engine's completions."""
        if not calls:
            return
        if not self.row:
            self.row = {"begun": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")}
            self.row["estimate"] = self._plan()
            begun = time.perf_counter()
            getattr(self._engine, "loaded", None)
            self.loading = time.perf_counter() - begun
        begun = time.perf_counter()
        for index, completion in self._engine.generate(calls):
            self._count(calls[index], completion, len(calls))
            self.seconds += time.perf_counter() - begun
            begun = time.perf_counter()
            yield index, completion

    def _count(self, call: Call, completion: Completion, rows: int) -> None:
        """Count a completion; a batch has as many steps as its longest reply."""
        label = label_of(call)
        self.lengths.setdefault(label, Length()).add(completion, call.max_new_tokens)
        self.prompts[label] = self.prompts.get(label, 0) + completion.prompt_tokens
        self.row |= {name: completion.stamp.get(name) for name in ("engine", "device", "versions")}
        self._batch.append(completion.new_tokens)
        if len(self._batch) >= completion.stamp.get("batch_rows", rows):
            self.steps += max(self._batch)
            self._batch.clear()


@contextmanager
def logged(engine: Engine, spec: ModelSpec, jobs: Sequence[Job], values: Mapping[str, Any], store: Store) -> Any:
    """Run a model inside, with the engine given, and log what it made.

    Parameters
    ----------
    engine : Engine
    spec : ModelSpec
    jobs : sequence of Job
        What is run.
    values : mapping
        Parameters of the run, as `nsh.scale.estimate.Planner.plan` takes them.
    store : Store

    Examples
    --------
    >>> with logged(engine, spec, jobs, values, store) as engine:  # doctest: +SKIP
    ...     run(jobs, engine, store)
    """

    def estimate() -> dict[str, Any] | None:
        from nsh.scale.estimate import Planner

        try:
            plan = Planner(store).plan(spec, jobs, engine.identity, values)
        except NshError:  # what a plan cannot say keeps no run from going on
            return None
        total = plan.counted.total
        said = {name: getattr(total, name) for name in ("calls", "prompt_tokens", "new_tokens")}
        return said | {"seconds": plan.seconds}

    watched, finished = Logged(engine, estimate), False
    try:
        yield watched
        finished = True
    finally:
        if watched.lengths:
            _write(store.folder, _row(watched, spec, values) | {"finished": finished})


def _row(watched: Logged, spec: ModelSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the log."""
    stages = {name: asdict(row) | {"prompt_tokens": watched.prompts[name]} for name, row in watched.lengths.items()}
    names = ("calls", "prompt_tokens", "new_tokens")
    total = {name: sum(row[name] for row in stages.values()) for name in names}
    identity = {name: watched.identity[name] for name in ("model", "dtype", "quantization")}
    return {
        **identity,
        "parameters": None if spec.effective else spec.parameters,
        "byte": bytes_of(identity["dtype"] or "float32", values.get("quantization")),
        "machine": machine()[0],
        **watched.row,
        "seconds": round(watched.seconds, 3),
        "loading_seconds": round(watched.loading, 3),
        "steps": watched.steps + max(watched._batch, default=0),
        **total,
        "stages": stages,
    }


def _write(store: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a file of this run's own."""
    folder = store / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
    (folder / name).write_text(without_tokens(json.dumps(row, ensure_ascii=False)) + "\n", encoding="utf-8")
