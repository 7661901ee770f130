"""What a store of many generations costs: to append, open and read it, to resume a finished run, and to export records.

Stores of 10^4, 10^5 and 6 x 10^5 rows lie on disk, in as many files as a run has writers. The largest holds a finished
run of nine conditions over 1,000 cases in three voices (27,000 answers of one model), and fabricated rows up to its
size. Everything but appending is timed in a process of its own, which tells its peak memory.

    python bench/store.py [--quick] [--models 12]     # 12 models are a whole study: 324,000 answers, model by model
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from row import Row

from nsh.cases import Case, load_cases
from nsh.conditions import CONDITIONS
from nsh.engines import Call, Completion, ScriptedEngine, StoreEngine
from nsh.jobs import Job, jobs
from nsh.records import from_outcomes, write_records
from nsh.runner import run
from nsh.store import Store

RUNS, WRITERS = 5, 24
OPENS, RESUMES, MEMORY, CONSTANT = 8.0, 30.0, 3.0, 1.2  # seconds, seconds, GiB; cost of a row against a smaller store's
NINE = list(CONDITIONS)[:9]  # those of `voices`
LABS = [{"name": "sodium", "value": 128, "unit": "mEq/L"}, {"name": "hemoglobin", "value": 9.1, "unit": "g/dL"}]
WORDS = "the patient reports fever and denies chest pain while examination reveals rales over one lower lung field"
LENGTHS = {"cot": 300, "cot_debias": 300, "rewrite": 180, "reason": 180, "direct": 40, "debias": 40, "story_schema": 40}
IDENTITY = {"model": "fabricated", "revision": "1", "dtype": "bfloat16", "quantization": None, "template": {"date": ""}}
STAMP = {
    **{"engine": "transformers", "device": "cuda", "versions": "transformers 5.24.0, torch 2.13.0", "commit": "0" * 40},
    **{"batch_tokens": 65536, "read_rows": [8, 8, 8], "batch_rows": 24, "shared_start": 312, "seconds": 8.442},
    **{"system_folded": False, "chat_template": True},
}


def cases(n: int) -> list[Case]:
    """n distinct cases: the packaged samples, told again under other numbers."""
    samples = load_cases("samples")
    return [
        replace(case, id=f"{i:04d}", narratives={v: f"Visit {i}. {text}" for v, text in case.narratives.items()})
        for i in range(n)
        for case in [samples[i % len(samples)]]
    ]


def prose(seed: int, words: int) -> str:
    """So many words that depend on a number."""
    return " ".join(random.Random(seed).choices(WORDS.split(), k=words)).capitalize() + "."


class Engine(ScriptedEngine):
    """Replies as long as a model's, with what a real engine stamps beside them."""

    def generate(self, calls: list[Call]) -> Iterator[tuple[int, Completion]]:
        """Reply to the calls in their order."""
        for index, call in enumerate(calls):
            yield index, Completion(reply(call), "stop", 420, 90, STAMP)


def reply(call: Call) -> str:
    """A reply that depends on the prompt; every third reasoning commits to no letter."""
    seed = zlib.crc32(repr(call.messages).encode("utf-8", "surrogatepass"))
    if call.stage == "extract":
        facts = {"age": seed % 90, "sex": "female", "chief_complaint": prose(seed, 12), "labs": LABS}
        return json.dumps(facts | {"symptoms_present": [prose(seed, 6)] * 6, "physical_exam": [prose(seed, 9)] * 4})
    said = prose(seed, LENGTHS[call.stage]) if call.stage in LENGTHS else ""
    if not call.letters or (call.stage == "reason" and seed % 3 == 0):
        return said
    return f"{said}\nAnswer: {call.letters[seed % len(call.letters)]}"


def study(model: int, n: int) -> tuple[list[Job], Engine]:
    """Jobs and engine of one model."""
    return [job for name in NINE for job in jobs(cases(n), name)], Engine(f"scripted-{model}")


def run_study(folder: Path, models: int, n: int) -> None:
    """Have the answers of some models generated into a folder, a writer each."""
    for model in range(models):
        store, (todo, engine) = Store(folder), study(model, n)
        run(todo, engine, store)
        store.close()


def append(store: Store, rows: int, first: int) -> float:
    """Append fabricated rows; the processor's seconds of the appending alone, for each row."""
    made = [(f"{n:064x}", Completion(prose(n, 150), "stop", 420, 90, STAMP)) for n in range(first, first + rows)]
    begun = time.process_time()
    for key, completion in made:
        store.put(key, completion, IDENTITY)
    return (time.process_time() - begun) / rows


def fill(folder: Path, rows: int) -> None:
    """Append fabricated rows, by several writers, until a store holds so many."""
    lacking, first = rows - len(Store(folder)), 0
    store = Store(folder / "new")  # of no rows, so that no writer has to open what the others wrote
    store.folder = folder
    for writer in range(WRITERS):
        share = lacking // WRITERS + (writer < lacking % WRITERS)
        if share > 0:
            append(store, share, first)
        store.close()
        first += share


def measure(folder: str, models: int, n: int) -> dict[str, float]:
    """In a process of its own: open a store, read fabricated rows of it, resume the models, export their records."""
    begun, busy = time.perf_counter(), time.process_time()
    store = Store(folder)
    told = {"open": time.perf_counter() - begun, "rows": len(store), "open GiB": peak()}
    told |= {"open a row": (time.process_time() - busy) / len(store)}
    keys = [f"{number:064x}" for number in range(min(len(store), 5000))]
    busy = time.process_time()
    read = sum(1 for _ in store.find(keys))
    told |= {"read a row": (time.process_time() - busy) / max(read, 1)}
    frames, took, generated, used = [], [], 0, 0.0
    for model in range(models):
        todo, engine = study(model, n)
        begun, busy = time.perf_counter(), time.process_time()
        outcomes, tally = run(todo, StoreEngine(engine.identity), store)
        took.append(time.perf_counter() - begun)
        used += time.process_time() - busy
        generated += tally.generated
        frames.append(from_outcomes(outcomes, f"scripted-{model}"))
    told |= {"resume": sum(took), "resume processor": used, "generated": generated, "resume GiB": peak()}
    return told | (export(frames) if frames else {})


def export(frames: list) -> dict[str, float]:
    """Write the records with their texts to Parquet: seconds, size of the file, peak memory."""
    import pandas as pd

    begun = time.perf_counter()
    records = pd.concat(frames, ignore_index=True)
    with tempfile.TemporaryDirectory() as place:
        file = write_records(records, Path(place, "records.parquet"), with_text=True)
        told = {"export": time.perf_counter() - begun, "MB": file.stat().st_size / 1e6}
    return told | {"answers": len(records), "export GiB": peak()}


def peak() -> float:
    """Peak memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(folder: Path, models: int, n: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "measure", str(folder), str(models), str(n)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def rows(options: Namespace) -> list[Row]:
    """The rows of the table; `options.models` are as many as a study has whose resumption is timed."""
    quick, models = options.quick, getattr(options, "models", 1)
    sizes, n, turns = ((100, 300, 1000), 3, 1) if quick else ((10_000, 100_000, 600_000), 1000, RUNS)
    with tempfile.TemporaryDirectory() as place:
        folders = {size: Path(place, str(size)) for size in sizes}
        run_study(folders[sizes[-1]], models, n)
        for size, folder in folders.items():
            fill(folder, size)
        told: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
        for turn in range(turns):
            for size, folder in folders.items():
                told[size].append(measured(folder, models if size == sizes[-1] and turn == 0 else 0, n))
        stores = {size: Store(folder) for size, folder in folders.items()}
        for turn in range(turns):
            for size, store in stores.items():
                told[size][turn]["append a row"] = append(store, 1000, 10**9 + 1000 * turn)
        for store in stores.values():
            store.close()
    return [*constant(told), *stated(told[sizes[-1]], models)]


def constant(told: dict[int, list[dict[str, float]]]) -> Iterator[Row]:
    """What a row costs the processor in a store, against one in the smallest."""
    least, *larger = told
    for what in ("append a row", "open a row", "read a row"):
        for size in larger:
            seconds, against = ([one[what] for one in told[store]] for store in (size, least))
            note = f"{1e6 * min(seconds):.1f} us of the processor"
            yield Row(f"{what}, store of {size:,}", f"store of {least:,}", seconds, against, CONSTANT, note)


def stated(told: list[dict[str, float]], models: int) -> Iterator[Row]:
    """Seconds and memory of the largest store against what is stated for them."""
    first = told[0]
    opened = [one["open"] for one in told]
    memory = [max(first["resume GiB"], *(one["open GiB"] for one in told))]
    size, answers = f"{first['rows']:,.0f} generations", f"{first.get('answers', 0):,.0f} answers"
    yield Row(f"open {size}, s", "8 s", opened, [OPENS], 1.0)
    yield Row(f"memory of {size}, GiB: opened, and {answers} resumed", "3 GiB", memory, [MEMORY], 1.0)
    note = f"{first['resume processor'] / models:.1f} s of the processor; {first['generated']:.0f} generations made"
    yield Row(f"resume {answers}, models one by one, s each", "30 s", [first["resume"] / models], [RESUMES], 1.0, note)
    note = f"{first['MB']:.0f} MB, peak {first['export GiB']:.2f} GiB"
    yield Row(f"export {answers} with texts to Parquet, s", "30 s", [first["export"]], [RESUMES], None, note)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        sys.stdout.write(json.dumps(measure(sys.argv[2], *map(int, sys.argv[3:]))))
    else:
        parser = ArgumentParser(description=__doc__.partition("\n")[0])
        parser.add_argument("--quick", action="store_true", help="a small size")
        parser.add_argument("--models", type=int, default=1, help="models whose finished run is resumed")
        for row in rows(parser.parse_args()):
            sys.stdout.write(f"{row.what} against {row.against}: ratio {row.ratio:.3f}, good: {row.good} {row.note}\n")
            sys.stdout.write(
                f"    {[f'{one:.3g}' for one in row.seconds]} {[f'{one:.3g}' for one in row.against_seconds]}\n"
            )
