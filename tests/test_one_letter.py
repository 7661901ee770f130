"""Done means computed: one changed letter in what a page is made from changes that page, and no other.

All pages are built once from canned answers, and again after each change; what is compared are the outputs of the
executed notebooks, without the foot that says how a page was made.
"""

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
import pytest
from test_book import lay_checkout

from nsh import book
from nsh.declared import pages

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
VOICES, FACTS, BENCHMARK = "voices-05-anchoring", "facts-04-anchoring", "voices-03-benchmark"
LEDGER, SETUP = "ledger", "voices-04-setup"
SETTINGS = {"models": ["scripted"], "source": "samples.jsonl", "resamples": 50}
WIDGET = "application/vnd.jupyter.widget-view+json"
# Rules find no age in the canned letters; a letter changed under every prompt leaves the pairs of prompts alike; a
# judge or a writer is asked for no letter.
NOT_BY_A_LETTER = {"voices-h-audits", "sdoh-05-statistics", "voices-b-retelling", "voices-d-additions"}
# what is changed -> the parameter by which a page takes it
KINDS = {"generation": "models", "retelling": "source", "released answer": "released"}
# Of every page that runs models, the first case in its unmarked voice: the key of each condition's answer, and another
# letter, the right one where it was wrong.
OTHER_LETTERS = """
import json, sys
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
            replace_once(file, rf'("{key}", "text": )"[A-Z]"', rf'\1"{letter}"')

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


def takes(parameter: str) -> set[str]:
    """The pages that take a parameter."""
    return {slug for slug, page in pages().items() if parameter in page.parameters}


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Copy:
    return Copy(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def rebuilds(copy) -> dict[str, Rebuild]:
    """Every kind of change in turn, and what building again did."""
    done = {"everything": copy.build(), "nothing": copy.build()}
    shutil.copy(copy.staged(VOICES), copy.folder / "before.ipynb")
    copy.change_generations()
    done["generation"] = copy.build()
    shutil.copy(copy.staged(VOICES), copy.folder / "after.ipynb")
    copy.change_retelling()
    done["retelling"] = copy.build()
    copy.change_pattern()
    done["pattern count"] = copy.build()
    copy.values["released"] = "released"
    copy.build()
    copy.change_released()
    done["released answer"] = copy.build()
    copy.change_declaration()
    so_far = [done[kind].changed for kind in ("generation", "retelling", "pattern count", "released answer")]
    if rest := set(pages()).difference(*so_far):
        done["declaration"] = copy.build(rest)
    return done


def test_the_first_build_runs_every_page_and_the_next_runs_none(rebuilds):
    assert rebuilds["everything"].ran == rebuilds["everything"].changed == set(pages())
    assert rebuilds["everything"].made > 72  # the packaged cases, directly, and other conditions
    assert rebuilds["nothing"] == Rebuild(frozenset(), frozenset(), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pages_that_take_what_changed_run_and_no_other(rebuilds, kind):
    assert rebuilds[kind].ran == takes(KINDS[kind])


@pytest.mark.parametrize("slug", pages())
def test_a_changed_letter_changes_the_page(rebuilds, slug):
    kinds = {kind for kind in rebuilds if kind != "everything" and slug in rebuilds[kind].changed}
    assert kinds
    assert "generation" in kinds or "models" not in pages()[slug].parameters or slug in NOT_BY_A_LETTER


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("generation", {VOICES, FACTS, SETUP}),
        ("released answer", {VOICES, FACTS, LEDGER}),
        ("pattern count", {VOICES, FACTS, LEDGER}),
    ],
)
def test_what_is_not_shown_changes_nothing(rebuilds, kind, changed):
    assert rebuilds[kind].changed & {VOICES, FACTS, BENCHMARK, LEDGER, SETUP} == changed


def test_a_retelling_changes_its_table_and_its_prompt(rebuilds):
    assert {BENCHMARK, SETUP} <= rebuilds["retelling"].changed


def test_a_changed_letter_is_in_the_html(rebuilds, copy, tmp_path, monkeypatch):
    (tmp_path / "viewers").mkdir()
    monkeypatch.setattr(book.assets, "vendor", lambda root: tmp_path / "viewers")
    folder = tmp_path / "checkout"
    folder.mkdir()
    lay_checkout(folder)
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: book/intro\nchapters:\n  - file: notebooks/{VOICES}\n")
    (folder / "book" / "intro.md").write_text("# Welcome\n\n```{bibliography}\n```\n")
    articles = []
    for name in ("before", "before", "after"):
        for place in (folder / "notebooks", folder / "_build" / "stage" / "notebooks"):
            shutil.copy(copy.folder / f"{name}.ipynb", place / f"{VOICES}.ipynb")
        html = book.build_html(folder, [VOICES]).parent / "notebooks" / f"{VOICES}.html"
        text = html.read_text(encoding="utf-8")
        article = text[text.index("<article") : text.index("</article>")]
        articles.append(re.sub(r'<details class="nsh-provenance">.*?</details>', "", article, flags=re.DOTALL))
    assert articles[0] == articles[1] != articles[2]
