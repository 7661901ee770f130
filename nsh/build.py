"""Build the book: generate what its pages lack, run the pages that changed, and turn them into HTML."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir
from pathlib import Path
from typing import Any

from nsh.declared import find_page, pages, parameters
from nsh.errors import BuildError, EngineError, KernelDied, NshError
from nsh.execute import execute, fingerprint, staged_page
from nsh.jobs import changes_calls
from nsh.making.study import study_of
from nsh.models import ModelSpec
from nsh.params import for_page
from nsh.place import packaged_generations, root, store_folder
from nsh.runner import Tally, run
from nsh.scale.run_log import logged
from nsh.store import Store
from nsh.study import Study


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
    """Generate all that the studies need and the store lacks, one model in memory at a time.

    Raises
    ------
    EngineError
        If a model cannot be run; the others are run before it is said.
    """
    plan: dict[str, list[tuple[Study, ModelSpec]]] = {}
    for study in studies:
        for model in study.models:
            way = [study.engine(model).identity, study.values["batch_tokens"]]
            plan.setdefault(json.dumps(way, sort_keys=True), []).append((study, model))
    total, store, failed = Tally(), Store(store_folder(), packaged_generations()), []
    for alike in plan.values():
        study, model = alike[0]
        jobs = [job for other, _ in alike for job in other.jobs]
        try:
            with logged(study.engine(model), model, jobs, study.values, store) as engine:
                total += run(jobs, engine, store)[1]
        except EngineError as error:
            failed.append(f"{model.name}: {error}" if len(plan) > 1 else str(error))
    store.close()
    if failed:
        raise EngineError("\n".join(failed))
    return total


def not_taken(studies: Iterable[Study], values: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each given parameter that changes calls and is not taken by some of the pages that make them."""
    running = [study for study in studies if study.models]
    for name, value in values.items():
        if value == parameters()[name].default:
            continue
        making = [study for study in running if any(changes_calls(name, asked) for asked in study.conditions)]
        if without := [study.slug for study in making if name not in study.values]:
            said = f"not taken by {len(without)} of {len(making)} pages, which run without it: {', '.join(without)}"
            yield f"{name} = {value}: {said}"


def build_pages(
    slugs: Iterable[str],
    values: Mapping[str, Any],
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> None:
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
    for name in ("NSH_STORE", "NSH_CACHE", "NSH_RELEASED_DIR", "NSH_MEDQA_TEST"):  # pages run in another folder
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).absolute())
    with chdir(folder):  # the pages' own paths are the checkout's
        studies = {slug: study_of(find_page(slug), for_page(find_page(slug), values)) for slug in slugs}
        for line in not_taken(studies.values(), values):
            say(line)
        say(str(generate(studies.values())))
        changed = [study for study in studies.values() if not unchanged(folder, study)]
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=spawn, initializer=_store_only) as pool:
            ran = {
                study.slug: pool.submit(execute, study.slug, study.values, folder, study.data_hash) for study in changed
            }
        failures = [failure for future in ran.values() if (failure := _failure(future))]
        if failures:
            raise type(failures[0])("\n".join(map(str, failures)))
    for slug in studies:
        say(f"{slug}: " + (f"ran in {ran[slug].result()[1]:.1f} s" if slug in ran else "unchanged"))


def _store_only() -> None:
    """In a worker: pages run on the store alone."""
    os.environ["NSH_ENGINE"] = "store"


def _failure(future: Future) -> NshError | None:
    """The error that a page ended in, if it did."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return KernelDied("a worker process died while it ran a page, most likely for want of memory; try -j 1")
    if error and not isinstance(error, NshError):
        raise error
    return error


def unchanged(folder: Path, study: Study) -> bool:
    """Whether a page lies on the stage and nothing that it was made from has changed."""
    try:
        note = json.loads(staged_page(folder, study.slug).read_text(encoding="utf-8"))["metadata"]["nsh"]
        return note["fingerprint"] == fingerprint(folder, study.slug, study.values, study.data_hash, note["modules"])
    except (FileNotFoundError, ValueError, KeyError):  # never run, torn, or a module that it used is gone
        return False


def rebuild_html() -> Path | None:
    """Make the HTML of the pages on the stage; None if some page of the book has not been run yet."""
    import nbformat

    from nsh.book import build_html
    from nsh.gate import check_executed
    from nsh.status import write_status

    folder = checkout()
    staged = {slug: staged_page(folder, slug) for slug in pages()}
    if not all(page.is_file() for page in staged.values()):
        return None
    for slug, page in staged.items():
        check_executed(nbformat.read(page, 4), slug)
    return build_html(folder, list(pages()), write_status)
