"""Build the book: generate what its pages lack, run the pages that changed, and turn them into HTML."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsh.declared import find_page, pages
from nsh.errors import BuildError, KernelDied, NshError
from nsh.execute import execute, fingerprint, staged_page
from nsh.models import ModelSpec
from nsh.params import for_page
from nsh.place import root, store_folder
from nsh.runner import Tally, run
from nsh.store import Store
from nsh.study import Study


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
    for name in ("NSH_STORE", "NSH_CACHE", "NSH_RELEASED_DIR"):  # pages run in another folder
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).absolute())
    studies = {slug: Study(slug, for_page(find_page(slug), values)) for slug in slugs}
    say(str(generate(studies.values())))
    kept = {slug: _kept(folder, study) for slug, study in studies.items()}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=spawn, initializer=_store_only) as pool:
        running = [study for slug, study in studies.items() if not kept[slug]]
        futures = {s.slug: pool.submit(execute, s.slug, s.values, folder, s.data_hash) for s in running}
        results = [kept[slug] or _finished(futures[slug]) for slug in studies]
    failures = [result for result in results if isinstance(result, NshError)]
    if failures:
        raise type(failures[0])("\n".join(str(failure) for failure in failures))
    for result in results:
        say(f"{result.slug}: " + ("unchanged" if result.kept else f"ran in {result.seconds:.1f} s"))
    return results


def _store_only() -> None:
    """In a worker: pages run on the store alone."""
    os.environ["NSH_ENGINE"] = "store"


def _finished(future: Future) -> PageResult | NshError:
    """What became of a page that was run, or the error that it ended in."""
    try:
        staged, seconds = future.result()
    except NshError as error:
        return error
    except BrokenProcessPool:
        return KernelDied("a worker process died while it ran a page, most likely for want of memory; try -j 1")
    return PageResult(staged.stem, seconds, kept=False)


def _kept(folder: Path, study: Study) -> PageResult | None:
    """The earlier run of a page, if nothing that it was made from has changed."""
    try:
        note = json.loads(staged_page(folder, study.slug).read_text(encoding="utf-8"))["metadata"]["nsh"]
        made_from = fingerprint(folder, study.slug, study.values, study.data_hash, note["modules"])
    except (FileNotFoundError, ValueError, KeyError):  # never run, torn, or a module that it used is gone
        return None
    return PageResult(study.slug, note["seconds"], kept=True) if note["fingerprint"] == made_from else None


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
    import nbformat

    from nsh.book import build_html
    from nsh.gate import check_executed

    folder = checkout()
    staged = {slug: staged_page(folder, slug) for slug in pages()}
    if not all(page.is_file() for page in staged.values()):
        return None
    for slug, page in staged.items():
        check_executed(nbformat.read(page, 4), slug)
    return build_html(folder, list(pages()))
