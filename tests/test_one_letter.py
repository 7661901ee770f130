"""Done means computed: one changed letter in what a page is made from changes that page, and no other."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("nsh", "notebooks", "book", "_config.yml", "_toc.yml", "package.json", "package-lock.json")
VOICES, FACTS, BENCHMARK = "voices-05-anchoring", "facts-04-anchoring", "voices-03-benchmark"
LEDGER, SETUP = "ledger", "voices-04-setup"
SETUP_RUN = ["--condition", "extract_tools", "-p", "n_cases=1", "-p", "max_new_tokens=256"]
SETTINGS = ["-p", "models=[scripted]", "-p", "source=samples.jsonl", "-p", "resamples=200"]


def fabricate_released(folder: Path) -> None:
    """Answers of the seven models to twelve made-up questions, in the layout of the released repository."""
    from nsh.released import MODELS, result_file

    for number, model in enumerate(MODELS):
        file = folder / result_file("B1", model)
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for question in range(12):
            letters = ["ABCD"[(question + number * step) % 4] for step in range(3)]
            answers = {
                voice: {"raw_response": letter, "extracted_answer": letter, "is_correct": letter == "A"}
                for voice, letter in zip(("alpha", "beta", "gamma"), letters, strict=True)
            }
            lines.append({"question_id": f"Q{question}", "correct_answer_idx": "A", "personas_eval": answers})
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


class Copy:
    """A copy of the checkout in which things can be changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
        if (ROOT / "_build" / "vendor").is_dir():
            shutil.copytree(ROOT / "_build" / "vendor", folder / "_build" / "vendor")
        shutil.copy(ROOT / "nsh" / "data" / "samples.jsonl", folder / "samples.jsonl")
        fabricate_released(folder / "released")

    def nsh(self, *arguments: str) -> str:
        """Run a command of the copy; what was printed."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "NSH_STORE": "", "NSH_ENGINE": ""}
        environment.pop("NSH_RELEASED_DIR", None)
        command = [sys.executable, "-c", "from nsh.cli import main; main()", *arguments]
        result = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def book(self, released: str = "released") -> str:
        """Build the book; what was printed."""
        return self.nsh("book", *SETTINGS, "-p", f"released={released}")

    def rows(self, *run: str) -> list[dict[str, str]]:
        """The records of the run, as the command line writes them."""
        self.nsh("records", "--out", "records.csv", *SETTINGS, *run)
        with (self.folder / "records.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def pages(self) -> dict[str, str]:
        """The article of every page, without the foot that says how the page was made."""
        found = {}
        for slug in (VOICES, FACTS, BENCHMARK, LEDGER, SETUP):
            html = (self.folder / "_build" / "html" / "notebooks" / f"{slug}.html").read_text(encoding="utf-8")
            article = html[html.index("<article") : html.index("</article>")]
            found[slug] = re.sub(r'<details class="nsh-provenance">.*?</details>', "", article, flags=re.DOTALL)
        return found


def changed(copy: Copy, before: dict[str, str], **build: str) -> set[str]:
    """Build again; the pages that came out otherwise."""
    copy.book(**build)
    return {slug for slug, article in copy.pages().items() if article != before[slug]}


def replace_once(file: Path, pattern: str, replacement: str) -> None:
    """Change one place in a file; fail if it is not there."""
    text, count = re.subn(pattern, replacement, file.read_text(encoding="utf-8"), count=1)
    assert count == 1
    file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Copy:
    copy = Copy(tmp_path_factory.mktemp("checkout"))
    said = copy.book()
    assert "generations: 78 made, 0 found in the store" in said  # 72 direct, 3 extractions, 3 reasonings
    return copy


@pytest.mark.slow
def test_nothing_changed_runs_no_page_and_generates_nothing(copy):
    said = copy.book()
    assert "generations: 0 made" in said
    assert [line for line in said.splitlines() if line.endswith("unchanged")] == [
        f"{slug}: unchanged" for slug in (BENCHMARK, SETUP, VOICES, FACTS, LEDGER)
    ]


@pytest.mark.slow
def test_one_letter_of_a_generation(copy):
    before = copy.pages()
    (file,) = (copy.folder / "_store").glob("*.jsonl")
    wrong = next(row for row in copy.rows() if row["letter"] != row["gold"])
    replace_once(file, rf'("{wrong["keys"]}", "text": )"{wrong["letter"]}"', rf'\1"{wrong["gold"]}"')
    assert changed(copy, before) == {VOICES, FACTS}


@pytest.mark.slow
def test_one_letter_of_a_call_of_the_page_that_shows_them(copy):
    before = copy.pages()
    (file,) = (copy.folder / "_store").glob("*.jsonl")
    row = next(row for row in copy.rows(*SETUP_RUN) if row["voice"] == "clinical")
    _, reasoning = row["keys"].split()
    other = "ABCD"[("ABCD".index(row["letter"]) + 1) % 4]
    replace_once(file, rf'("{reasoning}", "text": )"{row["letter"]}"', rf'\1"{other}"')
    assert changed(copy, before) == {SETUP}


@pytest.mark.slow
def test_one_letter_of_a_released_answer(copy):
    from nsh.released import result_file

    before = copy.pages()
    file = copy.folder / "released" / result_file("B1", "qwen25")
    right = '"raw_response": "A", "extracted_answer": "A", "is_correct": true'
    replace_once(file, re.escape(right), '"raw_response": "B", "extracted_answer": "B", "is_correct": false')
    assert changed(copy, before) == {VOICES, FACTS, LEDGER}


@pytest.mark.slow
def test_one_letter_of_a_retelling(copy):
    """The age of one retelling loses its digits: a row of Table 1 changes, and the prompt made from the retelling."""
    before = copy.pages()
    replace_once(copy.folder / "samples.jsonl", r"(\"clinical\": \"An? )\d(\d-year-old)", r"\1x\2")
    assert BENCHMARK in changed(copy, before)


@pytest.mark.slow
def test_one_digit_of_a_pattern_count(copy):
    copy.book(released="off")
    before = copy.pages()
    counts = copy.folder / "nsh" / "data" / "published" / "patterns.csv"
    replace_once(counts, "B1,gemma-3-12b-it,223,38", "B1,gemma-3-12b-it,222,39")
    assert changed(copy, before, released="off") == {VOICES, FACTS, LEDGER}
