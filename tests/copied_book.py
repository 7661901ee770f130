"""A copy of what the pages are made from, built with canned answers, in which one thing after another is changed."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import nbformat

from nsh.case_files import QUESTIONS, RETELLINGS
from nsh.declared import pages

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {"models": ["scripted"], "source": "samples.jsonl", "resamples": 50}
WIDGET = "application/vnd.jupyter.widget-view+json"
# Of every page that runs models, the first case in its unmarked voice: the key of each condition's answer, and another
# letter, the right one where it was wrong.
OTHER_LETTERS = """
import json, sys
from nsh.case_files import QUESTIONS, RETELLINGS
from nsh.declared import pages
from nsh.making.study import study_of
from nsh.params import for_page

other = {}
for page in pages().values():
    if "models" in page.parameters:
        study = study_of(page, for_page(page, json.loads(sys.argv[1])))
        case = study.cases[0]
        wrong = next(letter for letter in case.options if letter != case.gold)
        rows = study.records.query("case == @case.id and voice == @study.reference").dropna(subset="letter")
        for keys, letter in zip(rows["keys"], rows["letter"]):
            other[keys[-1]] = wrong if letter == case.gold else case.gold
print(json.dumps(other))
"""


@dataclass(frozen=True)
class Rebuild:
    """What building again did: the pages that ran, those that came out otherwise, and the generations made."""

    ran: frozenset[str]
    changed: frozenset[str]
    made: int


def fabricate_released(folder: Path) -> None:
    """Answers of the seven models to twelve made-up questions, in the layout of the released repository; fewer are
    right in the marked voices, by model."""
    from nsh.released import MODELS, result_file

    for number, model in enumerate(MODELS):
        file = folder / result_file("B1", model)
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for question in range(12):
            right = [(question + 5 * number * step) % 12 < 9 - step * (1 + number % 3) for step in range(3)]
            letters = ["A" if known else "BCD"[(question + step) % 3] for step, known in enumerate(right)]
            answers = {
                voice: {"raw_response": letter, "extracted_answer": letter, "is_correct": letter == "A"}
                for voice, letter in zip(("alpha", "beta", "gamma"), letters, strict=True)
            }
            lines.append({"question_id": f"Q{question}", "correct_answer_idx": "A", "personas_eval": answers})
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def fabricate_cases(folder: Path, word: str) -> None:
    """Twelve made-up questions with their retellings, in the layout of the released repository; every text holds a
    word."""
    questions, retellings = [], []
    for number in range(12):
        told = f"A {40 + number}-year-old man with {word} has had a fever of 38.5°C for 3 days. What is the diagnosis?"
        options = {letter: f"{word} {letter}" for letter in "ABCD"}
        own = {"question": told, "options": options, "answer": options["A"], "answer_idx": "A", "meta_info": "step1"}
        questions.append({"question_id": f"Q{number}"} | own)
        retellings.append(
            {"question_id": f"Q{number}"} | {f"persona_{name}": told for name in ("alpha", "beta", "gamma")}
        )
    for name, rows in {QUESTIONS: questions, RETELLINGS: retellings}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


class Copy:
    """A copy of what the pages are made from, in which things can be changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.values = {**SETTINGS, "released": "off"}
        self.pages: dict[str, list] = {}
        for name in ("nsh", "notebooks", "book"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "_toc.yml", folder)
        shutil.copy(ROOT / "nsh" / "data" / "samples.jsonl", folder)
        fabricate_released(folder / "released")

    def python(self, *arguments: str) -> str:
        """Run a program on the copy; what was printed."""
        paths = {"PYTHONPATH": f"{self.folder}{os.pathsep}{Path(__file__).parent}", "NSH_STORE": "", "NSH_ENGINE": ""}
        environment = {**os.environ, **paths, "OMP_NUM_THREADS": "1"}
        environment.pop("NSH_RELEASED_DIR", None)
        command = [sys.executable, *arguments]
        result = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def build(self, slugs: Collection[str] = ()) -> Rebuild:
        """Bring pages onto the stage, all unless some are named."""
        said = self.python("-m", "warm_pages", json.dumps(self.values), *slugs)
        now = {slug: self.outputs(slug) for slug in slugs or pages()}
        before, self.pages = self.pages, {**self.pages, **now}
        kept = {line.removesuffix(": unchanged") for line in said.splitlines() if line.endswith(": unchanged")}
        changed = frozenset(slug for slug in now if now[slug] != before.get(slug))
        (made,) = re.findall(r"^generations: (\d+) made", said, re.MULTILINE)
        return Rebuild(frozenset(now) - kept, changed, int(made))

    def staged(self, slug: str) -> Path:
        """The executed notebook of a page."""
        return self.folder / "_build" / "stage" / "notebooks" / f"{slug}.ipynb"

    def outputs(self, slug: str) -> list:
        """All that a page shows, without its foot and its widgets, which are named anew in each run."""
        cells = nbformat.read(self.staged(slug), 4).cells
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        shown = [output for output in outputs if "nsh" not in output.get("metadata", {})]
        return [output for output in shown if WIDGET not in output.get("data", {})]

    def change_generations(self) -> None:
        """One letter in one answer of every condition."""
        (file,) = (self.folder / "_store").glob("*.jsonl")
        for key, letter in json.loads(self.python("-c", OTHER_LETTERS, json.dumps(self.values))).items():
            replace_once(file, rf'("{key}", "text": ")[A-Z]', rf"\g<1>{letter}")

    def change_retelling(self) -> None:
        """A digit of the age in the first case (Table 1, and the prompts made from it), and its right answer."""
        replace_once(self.folder / "samples.jsonl", r'\A([^\n]*?"clinical": "[^"]*?)\d(\d-year-old)', r"\1x\2")
        replace_once(self.folder / "samples.jsonl", r'\A([^\n]*?"gold": ")[ABC]"', r'\1D"')

    def change_pattern(self) -> None:
        """One question of two models."""
        counts = self.folder / "nsh" / "data" / "published" / "patterns.csv"
        replace_once(counts, "B1,gemma-3-12b-it,223,38", "B1,gemma-3-12b-it,222,39")
        replace_once(counts, "B1,Llama-3.1-8B-Instruct,173,27", "B1,Llama-3.1-8B-Instruct,172,28")

    def change_declaration(self) -> None:
        """A letter of what the package declares: the licence of a model, the source of a prompt, a printed number."""
        data = self.folder / "nsh" / "data"
        replace_once(data / "models.yaml", r"(licence: \w+)", r"\1x")
        replace_once(data / "prompts" / "rewrite.yaml", r"(source: \w+)", r"\1x")
        replace_once(data / "published" / "facts_text.csv", r"(n_vignettes,.*)1,000", r"\g<1>1,001")

    def change_released(self) -> None:
        """One released answer."""
        from nsh.released import result_file

        file = self.folder / "released" / result_file("B1", "qwen25")
        right = '"raw_response": "A", "extracted_answer": "A", "is_correct": true'
        replace_once(file, re.escape(right), '"raw_response": "B", "extracted_answer": "B", "is_correct": false')


def replace_once(file: Path, pattern: str, replacement: str) -> None:
    """Change one place in a file; fail if it is not there."""
    text, count = re.subn(pattern, replacement, file.read_text(encoding="utf-8"), count=1)
    assert count == 1, f"{file} does not hold {pattern}"
    file.write_text(text, encoding="utf-8")
