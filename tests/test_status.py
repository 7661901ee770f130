"""The state of a build: which pages hold their real run, told from the executed pages."""

import json

import pytest

from nsh import status
from nsh.declared import pages
from nsh.scale.run_log import FIELDS
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


def test_the_status_page_shows_runs_beside_their_plans_newest_first(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    (tmp_path / "store" / "runs").mkdir(parents=True)
    estimate = {"calls": 6, "prompt_tokens": 1200, "new_tokens": 90.4, "seconds": 8.0}
    truth = {
        "model": "org/m|x",
        "dtype": "float32",
        "calls": 6,
        "prompt_tokens": 1200,
        "new_tokens": 113,
        "seconds": 10.0,
    }
    truth = dict.fromkeys(FIELDS, 0) | truth
    rows = [
        truth
        | {"estimate": estimate, "stages": {"direct": {}}, "begun": f"2026-01-{day:02}T10:00", "finished": day < 12}
        for day in range(1, 13)
    ]
    rows.append(rows[0] | {"estimate": None, "begun": "2026-02-01T10:00"})
    (tmp_path / "store" / "runs" / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    write_status(checkout)
    told = (checkout / "_build/stage/book/_speed.md").read_text(encoding="utf-8")
    table = [line.split(" | ") for line in told.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 10 * 4 and "2026-01-03" not in told
    assert table[2] == ["| m/x, float32, direct; 2026-02-01T10:00", "calls", "not known", "6", " |"]
    assert table[6][0] == "| m/x, float32, direct; 2026-01-12T10:00; **not finished**"
    assert [row[1:] for row in table[10:14]] == [
        ["calls", "6", "6", "1.00 |"],
        ["prompt tokens", "1,200", "1,200", "1.00 |"],
        ["new tokens", "90", "113", "0.80 |"],
        ["seconds", "8", "10", "0.80 |"],
    ]


def test_the_status_page_shows_the_benchmarks_with_their_machine(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    row = {"what": "full replies", "against": "pipeline", "seconds": [1.0, 9.0, 2.0], "against_seconds": [4.0]}
    made = {
        "machine": {"cores": 2, "gpu": None, "versions": {"torch": "2.13"}},
        "rows": [row | {"limit": 0.6, "note": "", "date": "2026-11-30 18:00"}],
    }
    (checkout / "_build" / "bench.json").write_text(json.dumps(made), encoding="utf-8")
    write_status(checkout)
    told = (checkout / "_build/stage/book/_speed.md").read_text(encoding="utf-8")
    assert "| full replies (3 runs, 2026-11-30 18:00) | pipeline | 2 | 4 | 0.50 | 0.60 |" in told
    assert "The machine, of the newest row: cores 2; torch 2.13." in told and "`nsh generate` logs each" in told


def test_without_runs_and_benchmarks_a_sentence_says_what_makes_them(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    write_status(checkout)
    told = (checkout / "_build/stage/book/_speed.md").read_text(encoding="utf-8")
    assert "`nsh generate` logs each" in told and "`make bench`" in told and "|" not in told
