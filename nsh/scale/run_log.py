"""What each run took: a line per model in `runs` of the store, beside what `nsh plan` would have said before it."""

import datetime
import json
import logging
import os
import platform
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nsh.conditions import CONDITIONS
from nsh.engines import Call, Completion, Engine
from nsh.errors import without_tokens
from nsh.jobs import Job
from nsh.models import ModelSpec
from nsh.scale.lengths import counted, label_of
from nsh.scale.stages import read_shares_by_text
from nsh.store import Store

TOTALS = ("calls", "prompt_tokens", "new_tokens")
FIELDS = {*TOTALS, "begun", "estimate", "seconds", "steps", "model", "dtype", "machine", "engine"}
FIELDS |= {"parameters", "byte", "stages", "finished", "read_tokens"}
log = logging.getLogger("nsh")


def runs(store: Path) -> list[dict[str, Any]]:
    """The logged runs of a store, oldest first; what is no whole line of a run is left out.

    Examples
    --------
    >>> runs(Path("no such store"))
    []
    """
    rows = []
    for path in filter(Path.is_file, (store / "runs").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                rows.append(json.loads(line))
    return sorted(filter(_whole, rows), key=lambda row: row["begun"])


def _whole(row: Any) -> bool:
    """Whether a line is that of a run: its fields, those that are counted with in their types."""
    if not isinstance(row, dict) or not row.keys() >= FIELDS or not isinstance(row["stages"], dict):
        return False
    counts = [row[name] for name in (*TOTALS, "read_tokens", "seconds", "steps", "byte")]
    counts += [
        value for stage in row["stages"].values() for value in (stage.values() if isinstance(stage, dict) else [""])
    ]
    numbers = all(isinstance(value, int | float) for value in counts)
    return numbers and isinstance(row["begun"], str) and isinstance(row["estimate"], dict | None)


class Logged:
    """An engine whose completions are counted and timed; before it makes the first, the run is planned and the model
    loaded. Everything else of the engine is its own.

    Parameters
    ----------
    engine : Engine
    plan : callable
        Gives what is expected of the run.
    """

    def __init__(self, engine: Engine, plan: Callable[[], Any]):
        self._engine, self._plan, self._batch = engine, plan, []
        self.row: dict[str, Any] = {}
        self.stages: dict[str, Counter] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """The engine's completions."""
        if calls and not self.row:
            begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
            self.row = {"begun": begun, "estimate": self._plan(), "seconds": 0.0, "steps": 0, "read_tokens": 0.0}
            started = time.perf_counter()
            for part in ("loaded", "engine"):  # where the weights are loaded: here, and by vLLM
                getattr(self._engine, part, None)
            self.row["loading_seconds"] = time.perf_counter() - started
        shares = read_shares_by_text(calls)
        started = time.perf_counter()
        for index, completion in self._engine.generate(calls):
            self._count(calls[index], completion, len(calls), shares[index])
            self.row["seconds"] += time.perf_counter() - started
            yield index, completion
            started = time.perf_counter()

    def _count(self, call: Call, completion: Completion, rows: int, share: float) -> None:
        """Count a completion; a batch takes as many steps as its longest reply has tokens. Of a prompt that began with
        what others did, so large a share was read for it."""
        stage = self.stages.setdefault(label_of(call), Counter())
        stage.update(counted(completion, call.max_new_tokens))
        self.row |= {name: completion.stamp.get(name) for name in ("engine", "device", "versions")}
        read = share if completion.stamp.get("shared_start") else 1
        self.row["read_tokens"] += read * completion.prompt_tokens
        self._batch.append(completion.new_tokens)
        if len(self._batch) >= completion.stamp.get("batch_rows", rows):
            self.row["steps"] += max(self._batch)
            self._batch.clear()


@contextmanager
def logged(
    engine: Engine, spec: ModelSpec, jobs: Sequence[Job], values: Mapping[str, Any], store: Store
) -> Iterator[Engine]:
    """Run a model's jobs inside, with the engine given; what it made is logged at the end, whether it is finished or
    raises; a process that is killed logs nothing.

    Parameters
    ----------
    engine : Engine
    spec : ModelSpec
    jobs : sequence of Job
    values : mapping
        Parameters of the run.
    store : Store
        Where it is kept and logged.

    Examples
    --------
    >>> with logged(engine, spec, jobs, values, store) as engine:  # doctest: +SKIP
    ...     run(jobs, engine, store)
    """
    watched = Logged(engine, lambda: _estimate(engine, spec, jobs, values, store))
    finished = False
    try:
        yield watched
        finished = True
    finally:
        if watched.stages:
            try:
                _write(store, watched, spec, values, finished)
            except OSError as error:
                log.warning("the run could not be logged: %s", error)


def _estimate(
    engine: Engine, spec: ModelSpec, jobs: Sequence[Job], values: Mapping[str, Any], store: Store
) -> dict[str, Any] | None:
    """What a plan says of a run; None where there can be none, which keeps no run from going on.

    A condition of one's own is not planned here: it may keep what it was answered, and placeholders are no answers.
    """
    from nsh.scale.estimate import Planner

    if any(job.function not in CONDITIONS.values() for job in jobs):
        return None
    try:
        total = Planner(store).plan(spec, jobs, engine.identity, values).total
    except Exception as error:  # noqa: BLE001 (whatever it is, the run goes on)
        log.debug("no plan of this run: %s", error)
        return None
    return {name: None if total[name] != total[name] else total[name] for name in (*TOTALS, "seconds")}


def _write(store: Store, watched: Logged, spec: ModelSpec, values: Mapping[str, Any], finished: bool) -> None:
    """Write a run into a file of its own."""
    from nsh.scale.rates import bytes_of, machine

    identity = {name: watched.identity[name] for name in ("model", "dtype", "quantization")}
    row = identity | {"parameters": None if spec.effective else spec.parameters, "machine": machine()[0]}
    row |= {"byte": bytes_of(identity["dtype"], values.get("quantization"))} | watched.row
    row["steps"] += max(watched._batch, default=0)
    row |= {name: sum(stage[name] for stage in watched.stages.values()) for name in TOTALS}
    row |= {"stages": watched.stages, "finished": finished}
    folder = store.folder / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
    (folder / name).write_text(without_tokens(json.dumps(row, ensure_ascii=False)) + "\n", encoding="utf-8")
