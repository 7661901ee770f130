"""The command line: what it prints, and the exit code of each kind of error."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]


def nsh(*arguments, cwd=ROOT, **environment):
    import os

    command = [sys.executable, "-c", "from nsh.cli import main; main()", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        check=False,
    )


@pytest.mark.timed
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "voices-05-anchoring", "-p", "n_itmes=5"], "did you mean 'n_cases'"),
        (["run", "voices-05-anchoring", "-p", "n_cases=many"], "n_cases = 'many'"),
        (["run", "voices-05-anchoring", "-p", "models=nosuch"], "nosuch"),
        (["run", "voices-03-benchmark", "-p", "models=[]"], "unknown parameter 'models'"),
        (["run", "voices-05-anchorage"], "did you mean 'voices-05-anchoring'"),
        (["book", "-f", "no.yaml"], "no parameter file no.yaml"),
        (["book", "--only", "voices-05"], "no page 'voices-05'"),
        (["generate", "--model", "nosuch"], "nosuch"),
        (["ledger", "--paper", "fact"], "one of voices, facts, sdoh is expected"),
        (["ledger", "-p", "n_cases=3"], "unknown parameter 'n_cases'"),
        (["generate", "--condition", "direkt"], "did you mean 'direct'"),
        (["generate", "-p", "voice=cultural"], "unknown parameter 'voice'"),
        (["plan", "-p", "n_cases=1", "-p", "n_cases=2"], "-p n_cases is given twice"),
        (["generate", "-p", "condition=cot", "-p", "conditions=[direct]"], "name those to be run by --condition"),
        (["plan", "--gpu", "", "--model", "scripted"], "did you mean"),
    ],
)
def test_a_bad_parameter_stops_at_once_with_code_2(arguments, message):
    started = time.monotonic()
    result = nsh(*arguments)
    assert time.monotonic() - started < 5, "loaded something heavy; the stated second is measured in the closing checks"
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_octal_looking_number_in_a_file_is_refused(tmp_path):
    (tmp_path / "x.yaml").write_text("seed: 010\n", encoding="utf-8")
    result = nsh("run", "voices-05-anchoring", "-f", tmp_path / "x.yaml")
    assert result.returncode == 2
    assert "seed = '010': expected int" in result.stderr


def test_checking_parameters_imports_no_heavy_library():
    program = "import sys; from nsh.params import parse_assignment as p"
    program += "; p('models=[Qwen/Qwen2.5-7B-Instruct]'); p('condition=direct')"
    program += "; print([m for m in ('torch', 'transformers', 'pandas', 'scipy', 'matplotlib') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_help_says_whose_and_lists_the_exit_codes():
    result = nsh("--help")
    assert "not for clinical use" in " ".join(result.stdout.split())
    assert "5 kernel died" in " ".join(result.stdout.split())


def test_pages_are_listed_with_their_parameters():
    result = nsh("pages")
    assert result.returncode == 0
    assert "facts-04-anchoring: Narrative anchoring under direct prompting (paper facts, section 4.1)" in result.stdout
    assert "n_cases: int or null = null" in result.stdout
    of_runs = result.stdout.split("only generate, records and plan:")[1]
    assert "engine: str = transformers; one of transformers, vllm" in of_runs and "n_cases" not in of_runs


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_generate_then_records(tmp_path, ending):
    store = {"NSH_STORE": str(tmp_path / "store")}
    first = nsh("generate", "--model", "scripted", "--condition", "rewrite", "-p", "n_cases=2", cwd=tmp_path, **store)
    assert "generations: 12 made, 0 found in the store" in first.stdout, first.stderr
    out = tmp_path / f"records.{ending}"
    result = nsh(
        "records",
        "--out",
        out,
        "--model",
        "scripted",
        "--condition",
        "rewrite",
        "-p",
        "n_cases=2",
        cwd=tmp_path,
        **store,
    )
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    assert len(table) == 6
    assert "text" not in table


def test_all_conditions_are_generated_and_the_next_run_makes_no_call(tmp_path):
    """Every condition by its own prompt; then `extract_tools` alone finds all that it needs."""
    store = {"NSH_STORE": str(tmp_path / "store")}
    common = ["--model", "scripted", "-p", "n_cases=3", "-p", "shortened_cases=2"]
    first = nsh("generate", *common, "--condition", "all", cwd=tmp_path, **store)
    assert first.returncode == 0, first.stderr
    assert "extract_tools: shortened: 2 of 3 cases" in first.stdout and "direct: shortened" not in first.stdout
    second = nsh("generate", *common, "--condition", "narrativeshield", cwd=tmp_path, **store)
    assert "generations: 0 made" in second.stdout, second.stderr
    out = tmp_path / "all.parquet"
    nsh("records", "--out", out, *common, "--condition", "all", cwd=tmp_path, **store)
    counts = pd.read_parquet(out)["condition"].value_counts()
    assert len(counts) == 16 and counts["direct"] == 9 and counts["extract_tools"] == 6


def test_records_write_over_nothing_that_the_run_reads(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("case", encoding="utf-8")
    result = nsh("records", "--model", "scripted", "-p", f"source={own}", "--out", own, NSH_STORE=tmp_path / "store")
    assert result.returncode == 2 and "the run reads this file" in result.stderr
    assert own.read_text(encoding="utf-8") == "case"
    (tmp_path / "dir.csv").mkdir()
    result = nsh("records", "--model", "scripted", "--out", tmp_path / "dir.csv", NSH_STORE=tmp_path / "store")
    assert result.returncode == 2 and "--out" in result.stderr and not (tmp_path / "store").exists()


def test_a_condition_from_outside_the_package(tmp_path):
    """One function and one prompt file are all that a new condition needs."""
    from test_jobs import OUTSIDE, PROMPT

    (tmp_path / "whisper.yaml").write_text(PROMPT, encoding="utf-8")
    (tmp_path / "mine.py").write_text(OUTSIDE, encoding="utf-8")
    store = {"NSH_STORE": str(tmp_path / "store")}
    common = ["--model", "scripted", "--condition", "mine.py:whisper", "-p", "n_cases=2"]
    made = nsh("generate", *common, cwd=tmp_path, **store)
    assert "generations: 6 made" in made.stdout, made.stderr
    out = tmp_path / "whisper.csv"
    result = nsh("records", "--out", out, *common, cwd=tmp_path, **store)
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(out)
    assert set(table["condition"]) == {"whisper"} and set(table["prompts"]) == {"reconstructed"}


def test_missing_data_is_code_3(tmp_path):
    result = nsh(
        "generate", "-p", "source=released", "--model", "scripted", NSH_RELEASED_DIR="", NSH_CACHE=str(tmp_path)
    )
    assert result.returncode == 3
    assert "nsh data pull" in result.stderr


def test_a_file_of_cases_is_checked(tmp_path):
    (tmp_path / "bad.csv").write_text("id,question\n007,Why?\n", encoding="utf-8")
    result = nsh("data", "check", tmp_path / "bad.csv")
    assert result.returncode == 3
    assert "bad.csv" in result.stderr


def test_data_status_without_data(tmp_path):
    result = nsh("data", "status", NSH_RELEASED_DIR="", NSH_CACHE=str(tmp_path))
    assert result.returncode == 0
    assert "nsh data pull" in result.stdout


def test_building_outside_a_checkout_is_code_6(tmp_path):
    result = nsh("book", cwd=tmp_path)
    assert result.returncode == 6
    assert "inside a checkout" in result.stderr


def test_the_ledger_as_objects():
    """The keys that a program may count on; without released files the pattern counts stand in."""
    result = nsh("ledger", "--json", "--paper", "facts", "-p", "released=off", "-p", "resamples=20")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert len(rows) > 500 and {row["paper"] for row in rows} == {"facts"}
    assert all({"id", "paper", "where", "printed", "ours", "status"} <= set(row) for row in rows)
    row = next(row for row in rows if row["id"] == "facts_table3_b1/nag/BioMistral-7B")
    assert (row["printed"], row["status"]) == ("0.0640", "equal") and round(row["ours"], 4) == 0.064
    assert any(row["ours"] is None for row in rows)


def test_the_ledger_in_lines():
    result = nsh("ledger", "--paper", "sdoh", "-p", "released=off", "-p", "resamples=20")
    assert result.returncode == 0, result.stderr
    assert "sdoh_table5_scale_mcnemar/p_value/1.5B vs 3B/few_shot" in result.stdout
    assert "consistent" in result.stdout
