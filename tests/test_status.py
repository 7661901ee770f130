"""The state of a build: which pages hold their real run, told from the executed pages."""

import json

import pytest

from nsh import status
from nsh.declared import find_page, pages
from nsh.status import real_run, write_status

SEVEN_B, PACKAGED = "Qwen2.5-7B-Instruct", "SmolLM2-135M-Instruct"


@pytest.mark.parametrize(
    ("slug", "values", "here"),
    [
        ("voices-05-anchoring", {"source": "samples"}, True),
        ("voices-07-mitigation", {"source": "samples", "models": [PACKAGED]}, False),
        ("voices-07-mitigation", {"source": "samples", "models": [SEVEN_B]}, False),
        ("voices-07-mitigation", {"source": "released", "models": [PACKAGED]}, False),
        ("voices-07-mitigation", {"source": "released", "models": [PACKAGED, SEVEN_B]}, True),
        ("voices-06-explanations", {"released": "off"}, False),
    ],
)
def test_what_counts_as_the_real_run(slug, values, here):
    assert real_run(find_page(slug), values) is here


def test_released_files_count_where_they_are(tmp_path):
    (tmp_path / "results").mkdir()
    assert real_run(find_page("voices-06-explanations"), {"released": str(tmp_path)})


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Two executed pages on a stage: one that the packaged counts fill, one that needs a run."""
    chosen = {slug: pages()[slug] for slug in ("voices-05-anchoring", "voices-07-mitigation")}
    monkeypatch.setattr(status, "pages", lambda: chosen)
    (tmp_path / "_build/stage/book").mkdir(parents=True)
    (tmp_path / "_build/stage/notebooks").mkdir()
    for slug, page in chosen.items():
        values = {name: page.default(name) for name in page.parameters} | {"seed": 7, "source": "a|b.jsonl"}
        notebook = {"metadata": {"papermill": {"parameters": values}, "nsh": {"seconds": 2.4}}}
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
