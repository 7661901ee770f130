"""Build the book: generate what its pages lack, run the pages that changed, and turn them into HTML."""

import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsh.declared import find_page, pages
from nsh.errors import BuildError, NshError
from nsh.execute import execute
from nsh.models import ModelSpec
from nsh.params import for_page
from nsh.place import root, store_folder
from nsh.runner import Tally, run
from nsh.store import Store
from nsh.study import Study

PACKAGE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PageResult:
    """A page on the stage: how long its notebook ran, and whether an earlier run could be kept."""

    slug: str
    seconds: float
    kept: bool


def checkout() -> Path:
    """The checkout, which building pages needs.

    Raises
    ------
    BuildError
        If the current folder is not in one.
    """
    folder = root()
    if not (folder / "notebooks").is_dir():
        raise BuildError(f"{folder} holds no notebooks: run this inside a checkout of the book")
    return folder


def generate(studies: Iterable[Study]) -> Tally:
    """Generate all that the studies need and the store lacks, one model in memory at a time."""
    plan: dict[str, list[tuple[Study, ModelSpec]]] = {}
    for study in studies:
        for model in study.models:
            way = [study.engine(model).identity, study.values["batch_tokens"], study.values["answer_only"]]
            plan.setdefault(json.dumps(way, sort_keys=True), []).append((study, model))
    total = Tally()
    for alike in plan.values():
        study, model = alike[0]
        store = Store(store_folder())
        todo = [job for other, _ in alike for job in other.jobs]
        total += run(todo, study.engine(model), store, study.values["answer_only"])[1]
        store.close()
    return total


def build_pages(
    slugs: Iterable[str],
    values: Mapping[str, Any],
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[PageResult]:
    """Bring pages onto the stage, running only those whose notebook, parameters, data, code or generations changed.

    Parameters
    ----------
    slugs : iterable of str
        The pages.
    values : mapping
        Checked parameters; each page takes those that it declares.
    workers : int, optional
        Pages run at once (the number of processors unless given).
    say : callable
        Takes each line of progress.

    Raises
    ------
    NshError
        What the first failing page raised, with the messages of all failing pages.
    """
    folder = checkout()
    studies = {slug: Study(slug, for_page(find_page(slug), values)) for slug in slugs}
    say(str(generate(studies.values())))
    kept = {slug: _kept(folder, study) for slug, study in studies.items()}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=spawn, initializer=_store_only) as pool:
        futures = {s: pool.submit(execute, s, studies[s].values, folder) for s, old in kept.items() if not old}
        results = [kept[slug] or _finished(futures[slug], folder, studies[slug]) for slug in studies]
    failures = [result for result in results if isinstance(result, NshError)]
    if failures:
        raise type(failures[0])("\n".join(str(failure) for failure in failures))
    for result in results:
        say(f"{result.slug}: " + ("unchanged" if result.kept else f"ran in {result.seconds:.1f} s"))
    return results


def _store_only() -> None:
    """In a worker: pages run on the store alone."""
    os.environ["NSH_ENGINE"] = "store"


def _finished(future: Future, folder: Path, study: Study) -> PageResult | NshError:
    """Note what a page was made from, so that an unchanged page is not run again; or the error that it ended in."""
    try:
        staged, seconds = future.result()
    except NshError as error:
        return error
    modules = _modules(json.loads(staged.read_text(encoding="utf-8")))
    note = {"fingerprint": fingerprint(folder, study, modules), "modules": modules, "seconds": seconds}
    _note_file(folder, study.slug).write_text(json.dumps(note, indent=1), encoding="utf-8")
    return PageResult(study.slug, seconds, kept=False)


def _kept(folder: Path, study: Study) -> PageResult | None:
    """The earlier run of a page, if nothing that it was made from has changed."""
    file = _note_file(folder, study.slug)
    if not (file.is_file() and (folder / "_build" / "stage" / "notebooks" / f"{study.slug}.ipynb").is_file()):
        return None
    note = json.loads(file.read_text(encoding="utf-8"))
    try:
        same = note["fingerprint"] == fingerprint(folder, study, note["modules"])
    except FileNotFoundError:  # a module that the page used is gone
        return None
    return PageResult(study.slug, note["seconds"], kept=True) if same else None


def _note_file(folder: Path, slug: str) -> Path:
    return folder / "_build" / "run" / f"{slug}.json"


def _modules(notebook: dict[str, Any]) -> list[str]:
    """The modules of this package that an executed page used, as its provenance cell says."""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", []))
    found = [o["metadata"]["nsh"]["modules"] for o in outputs if "nsh" in o.get("metadata", {})]
    if not found:
        raise BuildError("a page has no provenance at its foot: its last cell must be `nsh.Provenance(study)`")
    return found[-1]


def fingerprint(folder: Path, study: Study, modules: Iterable[str]) -> str:
    """SHA-256 of all that a page is made from: notebook, parameters, cases, answers, code and packaged data."""
    sources = [PACKAGE.joinpath(*name.split(".")[1:]) for name in modules]
    files = [path / "__init__.py" if path.is_dir() else path.with_suffix(".py") for path in sources]
    files += sorted(path for path in (PACKAGE / "data").rglob("*") if path.is_file())
    digest = hashlib.sha256(json.dumps([study.values, study.data_hash], sort_keys=True).encode())
    for file in [folder / "notebooks" / f"{study.slug}.ipynb", *files]:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def build_book(
    values: Mapping[str, Any],
    only: Iterable[str] = (),
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Path | None:
    """Build the whole book, or run only some pages anew and rebuild the HTML.

    Returns
    -------
    pathlib.Path
        The first page of the HTML; None where pages left out have never been run.

    Raises
    ------
    NshError
        As `build_pages` does, and `BuildError` if the HTML cannot be built.
    """
    build_pages(only or pages(), values, workers, say)
    return rebuild_html()


def rebuild_html() -> Path | None:
    """Make the HTML of the pages on the stage; None if some page of the book has not been run yet."""
    from nsh.book import build_html

    folder = checkout()
    if not all((folder / "_build" / "stage" / "notebooks" / f"{slug}.ipynb").is_file() for slug in pages()):
        return None
    return build_html(folder, list(pages()))
