"""The lessons: solutions that give the right numbers, a file of cases that keeps its facts, and short reading."""

import csv
import json
import re
import runpy
import subprocess
import sys
import time
from importlib.resources import files
from itertools import pairwise, product
from math import comb
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml
from test_samples import VOICES, fact_problems

import nsh
from nsh.cases import check, load_cases
from nsh.changes import changes
from nsh.declared import pages
from nsh.engines import Completion
from nsh.jobs import Job
from nsh.opening import open_page
from nsh.params import check as check_parameter

ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / "book" / "workshop"
SOLUTIONS = WORKSHOP / "solutions"
LESSONS = ["workshop-1-measure", "workshop-2-mitigation", "workshop-3-voice"]
PROSE = ["workshop", "workshop-summary", "workshop-ethics", "glossary", "cite", "data-terms", "limits"]
INCLUDED = re.compile(r"\{literalinclude\} (\S+)")
ROLES = re.compile(r"\{glue:text\}`(?:\.\./notebooks/([\w-]+)\.ipynb::)?(\w+)(:s)?`")


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """A store of its own, and the checkout as working folder."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)
    monkeypatch.chdir(ROOT)


def solved(name):
    """What a solution computes."""
    return runpy.run_path(str(SOLUTIONS / f"{name}.py"))


def counts(condition, model):
    """The eight counts of a model, straight from the file: pattern of right and wrong -> questions."""
    with files("nsh").joinpath("data/published/patterns.csv").open(encoding="utf-8", newline="") as stream:
        rows = {(row["condition"], row["model"]): row for row in csv.DictReader(stream)}
    return {bits: int(rows[condition, model]["n" + "".join(bits)]) for bits in product("01", repeat=3)}


def markdown(slug):
    """The prose of a notebook."""
    cells = nbformat.read(ROOT / "notebooks" / f"{slug}.ipynb", 4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_accuracies_by_hand_are_those_of_table_3():
    """`facts` Table 3 prints 0.7290, 0.6180, 0.5780 and NAG 0.1510 for Llama-3.1-8B-Instruct."""
    found = solved("measure_1")
    assert found["accuracy"] == pytest.approx([0.7290, 0.6180, 0.5780])
    assert found["gap"] == pytest.approx(0.7290 - (0.6180 + 0.5780) / 2)
    assert found["nag"] == pytest.approx(0.1510)


def test_the_shuffled_null_is_that_of_a_direct_simulation():
    """Per question with r right answers of three, each way of placing them is as likely: drawn here by choice."""
    found, patterns = solved("measure_2"), counts("B1", "Llama-3.1-8B-Instruct")
    answers = np.array([[int(bit) for bit in bits] for bits, count in patterns.items() for _ in range(count)])
    generator, nags = np.random.default_rng(7), []
    for _ in range(400):
        order = generator.random(answers.shape).argsort(axis=1)
        means = np.take_along_axis(answers, order, axis=1).mean(axis=0)
        nags.append(means[0] - min(means[1:]))
    assert found["null_p95"] == pytest.approx(np.percentile(nags, 95), abs=0.006)
    assert found["nag"] == pytest.approx(0.1510)


def test_mcnemar_by_hand_is_the_binomial_tail():
    patterns = counts("B1", "BioMistral-7B")
    b = sum(count for bits, count in patterns.items() if bits[:2] == ("1", "0"))
    c = sum(count for bits, count in patterns.items() if bits[:2] == ("0", "1"))
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    found = solved("measure_3")
    assert (found["one"]["b"], found["one"]["c"]) == (b, c)
    assert found["p"] == pytest.approx(2 * tail)
    assert found["corrected"] == pytest.approx(min(1, 14 * 2 * tail)) and found["corrected"] > 0.05


def test_the_model_without_a_gap_answers_nothing():
    """`facts` Table 6: BioMistral's B3 has a parse rate of 0.00%."""
    found = solved("measure_4")
    assert found["model"] == "BioMistral-7B"
    assert found["accuracy"].tolist() == [0, 0, 0]
    assert counts("B3", "BioMistral-7B")["0", "0", "0"] == 1000


def test_the_reduction_by_hand_is_that_of_changes():
    found = solved("mitigation_3")
    row = changes(found["study"].records, "direct", resamples=0).iloc[0]
    assert found["reduction"] == pytest.approx(row["gap_reduction"])


def test_recovered_and_broken_by_hand_are_counted_one_by_one():
    found = solved("mitigation_4")
    answers = found["study"].records.set_index(["condition", "case", "voice"])["correct"].to_dict()
    victims = recovered = broken = 0
    for case, voice in product({case for _, case, _ in answers}, ("socioeconomic", "cultural")):
        before, after = answers["direct", case, voice], answers["rewrite", case, voice]
        victim = answers["direct", case, "clinical"] and not before
        victims, recovered, broken = victims + victim, recovered + (victim and after), broken + (before and not after)
    assert (found["recovered"], found["broken"]) == (recovered, broken)
    assert found["victims"].to_numpy().sum() == victims


@pytest.mark.parametrize("name", ["mitigation.py:my_mitigation", "solutions/mitigation.py:facts_first"])
def test_one_call_sends_the_whole_story_and_reads_the_letter(name):
    case = load_cases("samples", 1)[0]
    steps = Job(f"book/workshop/{name}", case, "cultural").start()
    call = next(steps)
    assert case.narratives["cultural"] in call.messages[-1][1] and call.letters == "ABCD"
    with pytest.raises(StopIteration) as ended:
        steps.send(Completion("C"))
    assert ended.value.value.letter == "C"


def test_the_plain_retelling_answers_without_the_story():
    case = load_cases("samples", 1)[0]
    steps = Job("book/workshop/solutions/mitigation.py:plain_retelling", case, "cultural").start()
    first = next(steps)
    second = steps.send(Completion("Her head hurts."))
    assert case.narratives["cultural"] in first.messages[-1][1] and not first.letters
    sent = "".join(text for _, text in second.messages)
    assert "PLAIN RETELLING:\nHer head hurts." in sent and case.question in sent
    assert case.narratives["cultural"][:60] not in sent


def test_a_changed_number_is_seen_by_the_facts():
    kept = solved("voice_1")["kept"]
    assert kept.loc["message", "missing"] == "sedimentation rate"
    assert kept.loc["message", "invented"] == "49 mm/h"
    assert kept.loc["clinical", "missing"] == kept.loc["clinical", "invented"] == "–"


def test_the_street_call_is_a_sound_case():
    found = solved("voice_2")
    assert found["said"].splitlines()[0] == "cases: 1" and "warning" not in found["said"]
    kept = found["kept"].set_index("voice")
    assert kept.at["street", "found"] == len(found["case"].meta["facts"]) and kept.at["street", "invented"] == "–"
    numbers = [set(re.findall(r"\d+(?:\.\d+)?", text)) for text in (found["call"], found["case"].original)]
    assert numbers[0] == numbers[1]


def test_six_flips_are_not_enough():
    """2 · (1/2)^n: 1/32 for six; 14 · 2 · (1/2)^n falls below 0.05 at n = 10."""
    found = solved("voice_3")
    assert found["six"] == pytest.approx(2 / 2**6)
    assert found["needed"] == next(n for n in range(1, 30) if 14 * 2 / 2**n < 0.05) == 10


def test_every_solution_is_shown_and_every_shown_file_exists():
    shown = {name for slug in LESSONS for name in INCLUDED.findall(markdown(slug))}
    assert {Path(name).name for name in shown} == {path.name for path in SOLUTIONS.glob("*.*")}
    assert all((ROOT / "notebooks" / name).is_file() for name in shown)


def test_each_exercise_has_a_hint_and_a_folded_solution():
    for slug in LESSONS:
        exercises = markdown(slug).split("### Exercise ")[1:]
        assert len(exercises) >= 3
        for text in exercises:
            folded = re.findall(r":::\{admonition\} (Hint|Solution)\n:class: dropdown\n", text)
            assert folded == ["Hint", "Solution"]


def test_the_first_lesson_reads_in_1500_words():
    assert len(markdown(LESSONS[0]).split()) < 1500


def test_the_lesson_cases_keep_the_facts_of_the_samples():
    rows = [json.loads(line) for line in (WORKSHOP / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    samples = {case.id: case for case in load_cases("samples")}
    for row in rows:
        message = row["narratives"].pop("message")
        sample = samples[row["id"]]
        assert row["narratives"] == dict(sample.narratives) and row["original"] == sample.original
        assert [fact["value"] for fact in row["facts"]] == [fact["value"] for fact in sample.meta["facts"]]
        assert fact_problems(row | {"narratives": {**row["narratives"], "message": message}}) == []
        assert row["options"][row["gold"]].lower() not in message.lower()
    assert check(WORKSHOP / "cases.jsonl").splitlines()[0] == "cases: 6"
    assert tuple(load_cases(WORKSHOP / "cases.jsonl")[0].narratives) == (*VOICES, "message")


def test_the_defaults_of_the_lessons_are_valid_parameters():
    for slug in LESSONS:
        for name in pages()[slug].parameters:
            default = pages()[slug].default(name)
            assert type(check_parameter(name, default, slug)) is type(default)


def test_the_lessons_open_on_their_own_files():
    study = open_page(LESSONS[1], **{**pages()[LESSONS[1]].defaults, "models": ["scripted"], "n_cases": 2})
    names = ["direct", "rewrite", "my_mitigation", "plain_retelling"]
    assert study.records["condition"].unique().tolist() == names
    voice = open_page(LESSONS[2], **{**pages()[LESSONS[2]].defaults, "models": ["scripted"]})
    assert set(voice.records["voice"]) == {*VOICES, "message"}


def test_glued_names_of_the_slides_are_glued_by_the_lesson():
    text = (ROOT / "book" / "workshop-summary.md").read_text(encoding="utf-8")
    cells = nbformat.read(ROOT / "notebooks" / "workshop-1-measure.ipynb", 4).cells
    code = "\n".join(cell.source for cell in cells if "nsh.glue" in cell.source)
    glued = set(re.findall(r"(\w+)=", code))
    roles = ROLES.findall(text)
    assert len(roles) > 8
    for slug, name, form in roles:
        assert (slug, form) == ("workshop-1-measure", ":s")  # without a format it would not be found across pages
        assert name in glued


@pytest.mark.parametrize("page", PROSE)
def test_links_of_the_prose_lead_somewhere(page):
    text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path = (ROOT / "book" / target).resolve().relative_to(ROOT)
        assert f"file: {path.with_suffix('')}\n" in toc


def test_the_plan_fills_ninety_minutes_without_a_hole():
    text = (ROOT / "book" / "workshop.md").read_text(encoding="utf-8")
    slots = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+)–(\d+) \|", text, re.MULTILINE)]
    assert slots[0][0] == 0 and slots[-1][1] == 90
    assert all(before[1] == after[0] for before, after in pairwise(slots))


def test_the_citation_is_that_of_the_citation_file():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    text = (ROOT / "book" / "cite.md").read_text(encoding="utf-8")
    assert f"title   = {{{citation['title']}}}" in text and f"version = {{{citation['version']}}}" in text
    assert citation["authors"][0]["name"].lower() in text.lower() and citation["version"] == nsh.__version__


@pytest.mark.slow
def test_the_first_lesson_runs_in_three_minutes(tmp_path):
    command = [sys.executable, "-m", "papermill", "notebooks/workshop-1-measure.ipynb", str(tmp_path / "out.ipynb")]
    started = time.monotonic()
    subprocess.run([*command, "--no-progress-bar"], check=True, capture_output=True)
    assert time.monotonic() - started < 180
