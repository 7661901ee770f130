"""What makes a page run again, and what does not."""

import json
import shutil
from pathlib import Path

import pytest

from nsh import build
from nsh.declared import find_page
from nsh.errors import BuildError, CellError
from nsh.params import for_page
from nsh.study import Study

ROOT = Path(__file__).resolve().parents[1]
SLUG = "voices-03-benchmark"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A checkout with one staged page."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    (tmp_path / "_toc.yml").write_text("format: jb-book\n", encoding="utf-8")
    (tmp_path / "_build" / "stage" / "notebooks").mkdir(parents=True)
    (tmp_path / "_build" / "run").mkdir()
    (tmp_path / "_build" / "stage" / "notebooks" / f"{SLUG}.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def study(**values) -> Study:
    return Study(SLUG, for_page(find_page(SLUG), values))


def note(folder: Path, modules=("nsh", "nsh.cases")) -> None:
    """Note the page as made from what is there now."""
    content = {"fingerprint": build.fingerprint(folder, study(), modules), "modules": list(modules), "seconds": 1.5}
    (folder / "_build" / "run" / f"{SLUG}.json").write_text(json.dumps(content), encoding="utf-8")


def test_an_unchanged_page_is_kept(folder):
    note(folder)
    assert build._kept(folder, study()) == build.PageResult(SLUG, 1.5, kept=True)


def test_another_parameter_or_case_runs_the_page_again(folder):
    note(folder)
    assert build._kept(folder, study(n_cases=3)) is None
    assert build._kept(folder, study(released="off")) is None


def test_a_changed_notebook_runs_its_page_again(folder):
    note(folder)
    file = folder / "notebooks" / f"{SLUG}.ipynb"
    file.write_text(file.read_text(encoding="utf-8").replace("Length", "Lengths"), encoding="utf-8")
    assert build._kept(folder, study()) is None


def test_only_the_code_that_a_page_uses_counts(folder, tmp_path, monkeypatch):
    package = tmp_path / "package"
    shutil.copytree(ROOT / "nsh", package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(build, "PACKAGE", package)
    note(folder)
    (package / "cli.py").write_text("# other\n", encoding="utf-8")
    assert build._kept(folder, study())
    (package / "cases.py").write_text("# other\n", encoding="utf-8")
    assert build._kept(folder, study()) is None


def test_a_deleted_module_runs_the_page_again(folder):
    note(folder)
    file = folder / "_build" / "run" / f"{SLUG}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "modules": ["nsh", "nsh.gone"]}), encoding="utf-8")
    assert build._kept(folder, study()) is None


def test_a_page_missing_from_the_stage_runs_again(folder):
    note(folder)
    (folder / "_build" / "stage" / "notebooks" / f"{SLUG}.ipynb").unlink()
    assert build._kept(folder, study()) is None


def test_a_page_without_provenance_is_refused():
    with pytest.raises(BuildError, match="no provenance"):
        build._modules({"cells": [{"outputs": [{"metadata": {}}]}]})


def test_pages_that_were_never_run_leave_the_html_alone(folder):
    assert build.rebuild_html() is None


@pytest.mark.slow
def test_every_failing_page_is_named_and_none_is_promoted(folder, monkeypatch):
    for slug in (SLUG, "voices-05-anchoring"):
        file = folder / "notebooks" / f"{slug}.ipynb"
        file.write_text(file.read_text(encoding="utf-8").replace("about(study)", "1 / 0"), encoding="utf-8")
    (folder / "_build" / "stage" / "notebooks" / f"{SLUG}.ipynb").unlink()
    monkeypatch.setenv("NSH_STORE", str(folder / "store"))
    with pytest.raises(CellError, match=rf"(?s){SLUG}, cell .*ZeroDivisionError.*voices-05-anchoring, cell"):
        build.build_pages([SLUG, "voices-05-anchoring"], {"models": ["scripted"], "n_cases": 2})
    assert not list((folder / "_build" / "stage" / "notebooks").glob("*.ipynb"))


def test_studies_that_run_alike_share_one_engine(folder, monkeypatch):
    """Three pages over the same prompts pay for each once; another number format pays again."""
    monkeypatch.setenv("NSH_STORE", str(folder / "store"))
    page = find_page("voices-05-anchoring")
    values = for_page(page, {"models": ["scripted"], "n_cases": 2})
    tally = build.generate([Study(page.slug, values), Study(page.slug, values)])
    assert (tally.generated, tally.found, tally.shared) == (6, 0, 6)
