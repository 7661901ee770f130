"""The reference pages and the parts of the lessons: declared measures, prompts, models, files shown as they are."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from fabricated import fabricated
from made_cases import make_cases

from nsh.conditions import CONDITIONS
from nsh.declared import read_data
from nsh.opening import open_page
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.sections import reference, workshop

ROOT = Path(__file__).resolve().parents[1]
MEASURES = read_data("measures.yaml")["measures"]
MODEL = "Llama-3.1-8B-Instruct"


@pytest.fixture(scope="module")
def records():
    return from_patterns(["B1"]).query("model == @MODEL")


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure["name"])
def test_a_measure_names_a_function_and_its_value_or_what_it_needs(measure):
    module, _, function = measure["function"].rpartition(".")
    assert callable(getattr(import_module(module), function))
    assert ("value" in measure) != ("needs" in measure)
    assert measure["formula"].count("{") == measure["formula"].count("}")
    assert {"name", "formula", "unit", "where", "says", "pitfall"} <= set(measure)


def test_values_are_those_of_tables_3_and_4(records):
    """`facts` prints 0.6417, 0.1510 and kappa 0.4327 for this model; 447 of 1,000 are right three times."""
    lines = str(reference.measures_table(records, resamples=20, seed=1)).splitlines()
    row = {measure["name"]: line for measure, line in zip(MEASURES, lines[1:], strict=True)}
    assert re.search(r"0\.642\s+0\.6417", row["accuracy (OMR)"])
    assert re.search(r"0\.151\s+0\.1510", row["NAG"])
    assert re.search(r"0\.433\s+0\.4327", row["kappa on right and wrong"])
    assert re.search(r"0\.0000\s+0\.0000", row["McNemar's test"])
    assert "0.447" in row["correct CC"] and "−13.1" in row["pooled effect"]
    assert "0.8727" in row["DSS"] and "needs full replies" in row["DSS"]


def test_one_changed_answer_changes_the_table():
    answers = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
    before = reference.measured(fabricated(answers, model=MODEL), resamples=5)
    after = reference.measured(fabricated([[1, 0, 1], *answers[1:]], model=MODEL), resamples=5)
    assert before["anchoring"]["gap"] == pytest.approx(0.75 - (0.5 + 0.5) / 2)
    assert after["anchoring"]["gap"] == pytest.approx(0.75 - (0.5 + 0.75) / 2)


def test_formulas_are_typeset_and_other_tables_are_not(records):
    html = reference.measures_table(records, resamples=5).html
    assert "tex2jax_process" in html and "tex2jax_ignore" not in html and html.count(r"\(") == len(MEASURES)
    assert "tex2jax_ignore" in reference.pitfalls_table().html


def test_printed_values_of_the_measures_exist():
    for measure in MEASURES:
        if "printed" in measure:
            slug, column = measure["printed"].split(".")
            assert published(slug).set_index("model").at[MODEL, column]


def test_every_prompt_file_is_shown_with_whose_words_it_has():
    text, folder = str(reference.prompts_shown()), ROOT / "nsh" / "data" / "prompts"
    unused = {"facts_cot_two_shot", "judge_added", "judge_intermediate"}  # of a parameter, and of the judges
    unused |= {"retell", "audit"}  # on the page on retelling
    assert set(reference.prompt_names()) == {path.stem for path in folder.glob("*.yaml")} - unused
    assert "verbatim" in text and "Which of the following is the correct option?" in text
    assert "<script>" not in reference.prompts_shown().html


def test_first_calls_carry_the_story():
    case = make_cases(1)[0]
    words = reference.first_words(case).set_index(["condition", "voice"])["words"]
    longer = reference.first_words(replace(case, narratives={**case.narratives, "cultural": "more words " * 20}))
    assert len(words) == 3 * len(CONDITIONS)
    added = longer.set_index(["condition", "voice"])["words"] - words
    assert set(added.xs("clinical", level="voice")) == {0}
    assert set(added.xs("cultural", level="voice")) == {40 - len(case.narratives["cultural"].split())}


def test_figures_tell_their_values():
    words = reference.first_words(make_cases(1)[0])
    direct = words.query("condition == 'direct' and voice == 'cultural'")["words"].iloc[0]
    assert f"cultural {direct};" in reference.prompt_lengths(words).get_label()
    label = reference.memory_rows({"cpu": 16.0}).get_label()
    assert "Qwen2.5-7B-Instruct: 13.0" in label and "16 GiB" in label


def test_files_are_found_from_the_notebooks_folder(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    found = workshop.located("book/workshop/mitigation.py:my_mitigation")
    assert found == f"{ROOT}/book/workshop/mitigation.py:my_mitigation"
    assert workshop.located("hf:a/b") == "hf:a/b" and workshop.located("samples") == "samples"


def test_a_file_is_shown_literally(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("user: <b>$x$</b>\n", encoding="utf-8")
    block = workshop.file_shown("mine.yaml")
    assert "user: &lt;b&gt;$x$&lt;/b&gt;" in block.html and "tex2jax_ignore" in block.html
    with pytest.raises(OSError, match=r"nothing\.yaml"):
        workshop.file_shown("nothing.yaml")


def test_the_calls_of_a_condition_are_walked():
    text = str(workshop.calls_shown("rewrite"))
    assert "Call 1: rewrite\nat most 512 new tokens" in text and "NARRATIVE" in text.split("Call 2")[0]
    assert "NARRATIVE" not in text.split("Call 2")[1].replace("PATIENT NARRATIVE", "")


def test_accuracy_by_condition_has_a_row_each(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("NSH_RELEASED_DIR", raising=False)
    values = {"n_cases": 2, "conditions": ["direct", "cot"], "resamples": 5}
    study = open_page("voices-07-mitigation", models=["scripted"], **values)
    label = workshop.accuracy_by_condition(study).figure.get_label()
    assert "direct, scripted: clinical" in label and "cot, scripted: clinical" in label and "FABRICATED" in label
    assert workshop.accuracy_by_condition(open_page("voices-07-mitigation", models=[], **values)) is None


def test_facts_are_counted_in_each_voice():
    facts = [{"fact": "fever", "value": "3 days"}, {"fact": "cough", "value": "denied", "accepted": ["no cough"]}]
    told = {"plain": "Fever for 3 days, no cough.", "short": "Fever, 3 days. Pulse 120/min."}
    case = replace(make_cases(1)[0], narratives=told, original=told["plain"], meta={"facts": facts})
    rows = workshop.facts_kept([case]).set_index("voice")
    assert rows["found"].tolist() == [2, 1] and rows.at["short", "missing"] == "cough"
    assert rows.at["short", "invented"] == "120 /min" and rows["words"].tolist() == [6, 5]
