"""What makes a page run again, and what does not."""

import shutil
from pathlib import Path

import nbformat
import pytest

from nsh import build, execute
from nsh.declared import find_page
from nsh.engines import ScriptedEngine
from nsh.errors import CellError, EngineError
from nsh.params import for_page
from nsh.store import Store
from nsh.study import Study

ROOT = Path(__file__).resolve().parents[1]
SLUG = "voices-03-benchmark"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A checkout with one staged page."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    (tmp_path / "_toc.yml").write_text("format: jb-book\n", encoding="utf-8")
    (tmp_path / "_build" / "stage" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def study(**values) -> Study:
    return Study(SLUG, for_page(find_page(SLUG), values))


def stage(folder: Path, modules=("nsh", "nsh.cases"), **values) -> None:
    """Put the page on the stage as made from what is there now."""
    now = study(**values)
    made_from = execute.fingerprint(folder, SLUG, now.values, now.data_hash, modules)
    note = {"fingerprint": made_from, "modules": list(modules), "seconds": 1.5}
    page = nbformat.v4.new_notebook(metadata={"nsh": note})
    nbformat.write(page, execute.staged_page(folder, SLUG))


def test_an_unchanged_page_is_kept(folder):
    stage(folder)
    assert build.unchanged(folder, study())


def test_another_parameter_or_case_runs_the_page_again(folder):
    stage(folder)
    assert not build.unchanged(folder, study(n_cases=3))
    assert not build.unchanged(folder, study(released="off"))


def test_a_changed_notebook_runs_its_page_again(folder):
    stage(folder)
    file = folder / "notebooks" / f"{SLUG}.ipynb"
    file.write_text(file.read_text(encoding="utf-8").replace("Length", "Lengths"), encoding="utf-8")
    assert not build.unchanged(folder, study())


def test_only_the_code_that_a_page_uses_counts(folder, tmp_path, monkeypatch):
    package = tmp_path / "package"
    shutil.copytree(ROOT / "nsh", package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(execute, "PACKAGE", package)
    stage(folder)
    (package / "cli.py").write_text("# other\n", encoding="utf-8")
    assert build.unchanged(folder, study())
    (package / "cases.py").write_text("# other\n", encoding="utf-8")
    assert not build.unchanged(folder, study())


def test_a_deleted_module_runs_the_page_again(folder):
    stage(folder)
    page = execute.staged_page(folder, SLUG)
    page.write_text(page.read_text(encoding="utf-8").replace("nsh.cases", "nsh.gone"), encoding="utf-8")
    assert not build.unchanged(folder, study())


@pytest.mark.parametrize("content", ["", "{", "{}", '{"metadata": {}}'])
def test_a_torn_or_foreign_staged_page_runs_again(folder, content):
    execute.staged_page(folder, SLUG).write_text(content, encoding="utf-8")
    assert not build.unchanged(folder, study())


def test_a_page_staged_with_other_parameters_runs_again(folder):
    """As after a build that was killed: what lies on the stage says itself what it was made from."""
    stage(folder, n_cases=4)
    assert not build.unchanged(folder, study(n_cases=2))
    assert build.unchanged(folder, study(n_cases=4))


def test_a_page_missing_from_the_stage_runs_again(folder):
    stage(folder)
    execute.staged_page(folder, SLUG).unlink()
    assert not build.unchanged(folder, study())


def test_a_page_without_provenance_is_refused():
    with pytest.raises(CellError, match="no provenance"):
        execute.provenance_of(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]))


def test_pages_that_were_never_run_leave_the_html_alone(folder):
    assert build.rebuild_html() is None


@pytest.mark.slow
def test_every_failing_page_is_named_and_none_is_promoted(folder, monkeypatch):
    for slug in (SLUG, "voices-05-anchoring"):
        file = folder / "notebooks" / f"{slug}.ipynb"
        file.write_text(file.read_text(encoding="utf-8").replace("about(study)", "1 / 0"), encoding="utf-8")
    monkeypatch.setenv("NSH_STORE", str(folder / "store"))
    with pytest.raises(CellError, match=rf"(?s){SLUG}, cell .*ZeroDivisionError.*voices-05-anchoring, cell"):
        build.build_pages([SLUG, "voices-05-anchoring"], {"models": ["scripted"], "n_cases": 2})
    assert not list((folder / "_build" / "stage" / "notebooks").glob("*.ipynb"))


def test_what_pages_do_not_take_of_a_run_is_said():
    """`voices-05-anchoring` takes `answer_only`, `voices-04-setup` all; §7 calls tools; one page runs no model."""
    values = {"models": ["scripted"], "answer_only": True, "quantization": "4bit", "caps": "released", "n_cases": 3}
    slugs = ("voices-05-anchoring", "voices-07-machinery", "voices-04-setup", "voices-a-filtering")
    studies = [Study(slug, for_page(find_page(slug), values)) for slug in slugs]
    assert list(build.not_taken(studies, values)) == [
        "answer_only = True: not taken by 1 of 3 pages, which run without it: voices-07-machinery",
        "quantization = 4bit: not taken by 2 of 3 pages, which run without it: "
        "voices-05-anchoring, voices-07-machinery",
        "caps = released: not taken by 1 of 2 pages, which run without it: voices-07-machinery",
    ]
    assert not list(build.not_taken(studies, {"quantization": None, "answer_only": False, "models": ["scripted"]}))


def test_studies_that_run_alike_share_one_engine(folder, monkeypatch):
    """Three pages over the same prompts pay for each once; another number format pays again."""
    monkeypatch.setenv("NSH_STORE", str(folder / "store"))
    page = find_page("voices-05-anchoring")
    values = for_page(page, {"models": ["scripted"], "n_cases": 2})
    tally = build.generate([Study(page.slug, values), Study(page.slug, values)])
    assert (tally.generated, tally.found, tally.shared) == (6, 0, 6)


def test_a_model_that_cannot_be_run_leaves_the_others(folder, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(folder / "store"))
    page = find_page("voices-05-anchoring")
    values = for_page(page, {"models": ["scripted/broken", "scripted"], "n_cases": 2})

    def generate(engine, calls, plain=ScriptedEngine.generate):
        if "broken" in engine.identity["model"]:
            raise EngineError("no weights")
        yield from plain(engine, calls)

    monkeypatch.setattr(ScriptedEngine, "generate", generate)
    with pytest.raises(EngineError, match=r"^scripted/broken: no weights$"):
        build.generate([Study(page.slug, values)])
    assert len(Store(folder / "store")) == 6
