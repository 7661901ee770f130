"""The state of a build: which pages hold their real run, told from the executed pages."""

import json

import pytest

from nsh import status
from nsh.declared import pages
from nsh.status import write_status


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Two executed pages on a stage: one that the packaged counts fill, one that needs a run."""
    chosen = {slug: pages()[slug] for slug in ("voices-05-anchoring", "voices-07-mitigation")}
    monkeypatch.setattr(status, "pages", lambda: chosen)
    (tmp_path / "_build/stage/book").mkdir(parents=True)
    (tmp_path / "_build/stage/notebooks").mkdir()
    for slug, page in chosen.items():
        values = {name: page.default(name) for name in page.parameters} | {"seed": 7, "source": "a|b.jsonl"}
        notebook = {
            "metadata": {"papermill": {"parameters": values}, "nsh": {"seconds": 2.4, "real": page.real == "patterns"}}
        }
        (tmp_path / f"_build/stage/notebooks/{slug}.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def test_pages_parameters_and_seconds_are_listed_and_missing_runs_counted(checkout):
    write_status(checkout)
    told = (checkout / "_build/stage/book/_pages.md").read_text(encoding="utf-8")
    made, _, *table = told.splitlines()
    assert made.startswith("2 pages, 5 seconds of running pages; Python 3.")
    assert table[2].startswith(
        "| [Anchoring is universal](../notebooks/voices-05-anchoring.ipynb) | packaged counts: in"
    )
    assert table[2].endswith('| `source "a\\|b.jsonl", seed 7` | 2.4 |')
    assert "| a run of the papers' models: **not run** |" in table[3]
    missing = (checkout / "_build/stage/book/_missing.md").read_text(encoding="utf-8")
    assert missing.startswith(
        "In this build 1 of its 2 computed pages hold their numbers on real models; the real run of 1"
    )
