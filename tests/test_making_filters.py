"""Items and filters: made-up vignettes, the printed numbers of terms, and what passes of the released questions."""

import json
import re
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import skip_or_fail
from test_cli import nsh

from nsh.cases import load_cases
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.making.filters import FILTERS, apply, declared, effect, kept, terms
from nsh.making.items import Item, item_from_row, item_row, items_of, load_items, write_items
from nsh.retellings import fold
from nsh.sections import filtering

OPTIONS = {"A": "Rest", "B": "Splint"}
ROW = {"question": "A 30-year-old man limps. What is the best treatment?", "options": OPTIONS, "answer_idx": "B"}
GOOD = (
    "A 44-year-old potter comes to the clinic with pain in her left wrist that has come and gone for the past two "
    "years, mostly after long days at the wheel. She wears a brace when she can and lets the clay dry when she cannot. "
    "Her hands are otherwise strong, the skin is whole, and the other wrist has never troubled her at all. "
    "What is now the most appropriate next step?"
)


def item(vignette, name="1", gold="A", step="step1"):
    """A made-up item."""
    return Item(name, vignette, "Why?", OPTIONS, gold, step)


def failed(vignette):
    """Names of the filters that a vignette fails."""
    mask = apply([item(vignette)]).loc["1"]
    return list(mask.index[~mask])


def write(path, *rows):
    """A file of made-up rows."""
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


# ---- items


def test_options_behind_the_vignette_are_cut_off_and_the_letter_is_read_from_either_field():
    behind = {"question": ROW["question"] + "\nA) Rest\nB) Splint", "options": OPTIONS, "answer": "B"}
    found = item_from_row({**behind, "answer_text": "Splint", "meta_info": "step2&3"}, "here, row 1")
    assert found.vignette == ROW["question"] and found.question == "What is the best treatment?"
    assert (found.gold, found.step, found.metadata) == ("B", "step2&3", {"answer_text": "Splint"})
    plain = item_from_row({**ROW, "answer": "Splint"}, "here, row 1")
    assert (plain.gold, plain.step, plain.metadata) == ("B", None, {"answer": "Splint"})


def test_an_id_is_kept_or_made_of_the_content():
    assert item_from_row({**ROW, "question_id": 7}, "here").id == "7"
    made = item_from_row(ROW, "here").id
    assert re.fullmatch("medqa-[0-9a-f]{12}", made) and made == item_from_row({**ROW, "fold": 3}, "there").id
    changes = [{"answer_idx": "A"}, {"options": {"A": "Rest", "B": "Cast"}}, {"meta_info": "step1"}]
    assert len({made, *(item_from_row({**ROW, **change}, "here").id for change in changes)}) == 4


def test_a_question_that_stands_twice_is_kept_once_and_an_id_with_two_contents_is_refused(tmp_path):
    assert len(load_items(write(tmp_path / "twice.jsonl", ROW, {**ROW, "answer_idx": "A"}, ROW))) == 2
    clash = write(tmp_path / "clash.jsonl", {**ROW, "id": "1"}, {**ROW, "id": "1", "answer_idx": "A"})
    with pytest.raises(DataError, match=r"clash.jsonl, line 2, field 'id': expected an id that no other question has"):
        load_items(clash)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_idx": "C"}, "field 'answer_idx': expected one of the options' letters A, B; found 'C'"),
        ({"answer": "Rest"}, "field 'answer': expected the correct option B, or its text 'Splint'; found 'Rest'"),
        ({"question": " "}, "field 'question': expected text that is not blank"),
        ({"options": "A or B"}, "field 'options': expected an object"),
        ({"meta_info": 1}, "field 'meta_info': expected text"),
        ({"answer_idx": None}, "field 'gold': expected a value (column gold or answer_idx or correct_answer_idx)"),
    ],
)
def test_a_wrong_field_is_named_with_file_and_line(tmp_path, change, message):
    file = write(tmp_path / "own.jsonl", ROW, {**ROW, **change})
    with pytest.raises(DataError, match="own.jsonl, line 2, " + re.escape(message)):
        load_items(file)


def test_torn_empty_and_missing_files_are_named(tmp_path):
    torn = tmp_path / "torn.jsonl"
    torn.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW)[:40], encoding="utf-8")
    with pytest.raises(DataError, match=r"torn.jsonl, line 2: expected one JSON object"):
        load_items(torn)
    with pytest.raises(DataError, match="holds no questions"):
        load_items(write(tmp_path / "empty.jsonl"))
    with pytest.raises(MissingDataError, match="there is no file"):
        load_items(tmp_path / "none.jsonl")


def test_items_written_are_read_back_and_a_wrong_place_is_refused(tmp_path):
    first = item_from_row({**ROW, "meta_info": "step1", "answer": "Splint", "année": "né"}, "here")
    write_items([first, *load_items("samples")], tmp_path / "out.jsonl")
    assert load_items(tmp_path / "out.jsonl") == [first, *load_items("samples")]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    for wrong in ("out.csv", "no/out.jsonl"):
        with pytest.raises(ParameterError, match=r"expected a file that ends in \.jsonl"):
            write_items([first], tmp_path / wrong)


def test_the_items_of_cases_are_those_of_their_file(tmp_path):
    cases = load_cases("samples")
    assert [(i.id, i.vignette, i.question, i.gold) for i in items_of(cases)] == [
        (i.id, i.vignette, i.question, i.gold) for i in load_items("samples")
    ]
    assert not {"narratives", "original", "options"} & set(load_items("samples")[0].metadata)
    retold = {**item_row(load_items("samples")[0]), "narratives": dict(cases[0].narratives)}
    assert load_cases(write(tmp_path / "cases.jsonl", retold))[0].original == cases[0].original


# ---- filters


def test_as_many_terms_as_the_papers_count():
    # `voices` Appendix A: 49, 21, 24, 27; `facts` Appendix A: 25 + 6 + 12 + 6 signal terms, 6 + 12 + 6 target phrases
    lists = {name: terms(name)["term"] for name in FILTERS}
    assert {name: len(found) for name, found in lists.items() if len(found)} == {
        "signal": 49,
        "excluded": 21,
        "target": 24,
        "richness": 27,
    }
    assert all(found.is_unique for found in lists.values())
    assert terms("signal")["category"].value_counts().to_dict() == {
        "symptoms": 25,
        "presentation": 6,
        "vitals and labs": 12,
        "examination": 6,
    }
    assert terms("target")["category"].value_counts().to_dict() == {"treatment": 12, "diagnosis": 6, "investigation": 6}
    assert terms("excluded")["category"].nunique() == 4


def test_the_printed_terms_are_those_of_the_paper():
    # `facts` Appendix A, Filters 3 to 6
    printed = {
        "signal": "pain fever cough dyspnea nausea syncope presents_to emergency_department admitted blood_pressure "
        "hemoglobin creatinine mmHg palpation auscultation tenderness murmur edema jaundice",
        "excluded": "most_likely_mechanism pathogenesis which_enzyme which_receptor which_gene histological "
        "biopsy_shows",
        "target": "most_likely_diagnosis most_likely_cause most_likely_etiology best_treatment which_medication "
        "most_appropriate_next_step best_initial_test most_appropriate_test confirm_the_diagnosis",
        "richness": "she_states he_reports the_patient_denies history_of for_the_past worsening mother_reports",
    }
    for name, words in printed.items():
        found = terms(name).query("status == 'printed'")["term"]
        assert sorted(found) == sorted(word.replace("_", " ") for word in words.split())
    assert set(pd.concat([terms(name)["status"] for name in FILTERS])) == {"printed", "reconstructed"}
    assert declared()["length"]["least"] == 300


def test_a_vignette_of_ours_passes_all_six_and_fails_the_one_that_is_taken_from_it():
    assert failed(GOOD) == []
    assert failed("Once, a" + GOOD[1:]) == ["stem"]
    assert failed(GOOD.replace("pain", "trouble").replace("comes to", "is in")) == ["signal"]
    assert failed(GOOD.replace("next step", "next step given the most\n likely MECHANISM")) == ["excluded"]
    assert failed(GOOD.replace("What is now the most appropriate next step?", "Why?" + " " * 60)) == ["target"]
    assert failed(GOOD.replace("for the past", "for about")) == ["richness"]


def test_length_is_counted_in_characters_from_300():
    head, tail = GOOD[:120], " What is the most likely diagnosis?"
    exact = head + "x" * (300 - len(head + tail)) + tail
    assert len(exact) == 300 and failed(exact) == [] and failed(exact.replace("xx", "x", 1)) == ["length"]


@pytest.mark.parametrize(
    ("opening", "holds"),
    [
        ("A 23-year-old woman", True),
        ("An 8-month-old boy", True),
        ("A 3 week old girl", True),
        ("A 5day-old boy", True),
        ("A  70-year old man", True),
        ("a 23-year-old woman", False),
        ("A young woman", False),
        ("The 23-year-old woman", False),
        ("A 23-hour-old girl", False),
        (" A 23-year-old woman", False),
    ],
)
def test_openings(opening, holds):
    # by the expression of `voices` Appendix A: ^(A|An)\s+\d+[\-\s]?(year|month|week|day)[\-\s]?old
    assert ("stem" not in failed(opening)) is holds


def test_a_term_begins_a_word_and_case_and_line_breaks_do_not_count():
    assert "signal" not in failed("BLOOD\n  pressure") and "signal" not in failed("painful")
    assert "signal" in failed("Spain") and "signal" not in failed("(fever)")
    assert "richness" in failed("prehistory of it") and "richness" not in failed("History\tof gout")


def test_the_effect_is_that_of_counting_by_hand():
    """Every pattern of passing and failing three filters, against loops over the rows."""
    rows = [*product([True, False], repeat=3), (True, False, True), (True, True, True)]
    mask = pd.DataFrame(rows, columns=list("abc"))
    for place, name in enumerate("abc"):
        found = effect(mask).loc[name]
        assert found["alone"] == sum(not row[place] for row in rows)
        assert found["in_order"] == sum(not row[place] and all(row[:place]) for row in rows)
        assert found["left"] == sum(all(row[: place + 1]) for row in rows)
        assert found["only"] == sum(not row[place] and sum(row) == 2 for row in rows)


def test_no_questions_give_an_empty_mask_and_zeros():
    mask = apply([])
    assert list(mask) == list(FILTERS) and mask.empty
    assert effect(mask).to_numpy().sum() == 0
    items = [item("Why?", "1"), item(GOOD, "2")]
    assert [one.id for one in kept(items, apply(items))] == ["2"]


def test_the_command_prints_the_effect_and_writes_what_passes(tmp_path):
    rows = [
        {"id": str(n), "question": text, **{k: ROW[k] for k in ("options", "answer_idx")}}
        for n, text in enumerate([GOOD, GOOD.replace("pain", "trouble").replace("comes to", "is in"), GOOD.lower()])
    ]
    file = write(tmp_path / "own.jsonl", *rows)
    done = nsh("data", "filter", file, "--out", tmp_path / "kept.jsonl")
    assert done.returncode == 0, done.stderr
    assert "1 of 3 questions pass all six" in done.stdout and re.search(r"signal +1 +1 +1 +1\n", done.stdout)
    assert [one.id for one in load_items(tmp_path / "kept.jsonl")] == ["0"]
    again = nsh("data", "filter", tmp_path / "none.jsonl", "--out", tmp_path / "x.jsonl")
    assert again.returncode == 3 and "there is no file" in again.stderr and "Traceback" not in again.stderr


# ---- the released questions and MedQA's test split


@pytest.fixture(scope="module")
def medqa_test(released):
    """The questions of MedQA's test split beside the released files."""
    path = released.parent / "medqa" / "test.jsonl"
    if not path.is_file():
        skip_or_fail(f"no MedQA test split at {path}")
    return load_items(path)


def test_almost_all_released_questions_pass(released):
    # all 1,000 passed the papers' filters; the counts are those in the note of filters.yaml
    mask = apply(load_items(released))
    assert len(mask) == 1000 and mask.all(axis=1).mean() >= 0.99
    assert (~mask).sum().to_dict() == {"stem": 0, "length": 0, "signal": 2, "excluded": 0, "target": 5, "richness": 2}


def test_as_many_of_the_test_split_pass_as_the_released_share_lets_expect(released, medqa_test):
    # 139 of 1,000 drawn from 2,921 are of the test split (`voices` Appendix A): about 406 of 1,273, 31.9%
    passing = {fold(one.vignette) for one in kept(medqa_test, apply(medqa_test))}
    assert 0.28 <= len(passing) / len(medqa_test) <= 0.36 and len(passing) == 386
    drawn = {fold(one.vignette) for one in load_items(released)} & {fold(one.vignette) for one in medqa_test}
    assert len(drawn) == 139 and len(drawn & passing) == 137


# ---- the page


def test_the_page_takes_questions_from_where_they_are(tmp_path, monkeypatch):
    study = SimpleNamespace(cases=load_cases("samples"), real_cases=[])
    monkeypatch.delenv("NSH_MEDQA_TEST", raising=False)
    assert {name: len(items) for name, items in filtering.pools(study).items()} == {"this run": 24}
    study.cases, study.real_cases = [replace(study.cases[0], original=None)], study.cases[:3]
    monkeypatch.setenv("NSH_MEDQA_TEST", str(write(tmp_path / "test.jsonl", ROW)))
    sizes = {name: len(items) for name, items in filtering.pools(study).items()}
    assert sizes == {"this run": 0, "released questions": 3, "MedQA test split": 1}


def test_the_page_lists_terms_effects_and_what_fails():
    lists = filtering.term_lists()
    assert lists.groupby("filter")["terms"].sum().sort_values().tolist() == [21, 24, 27, 49]
    assert lists["printed"].str.count(",").add(lists["printed"] != "none").sum() == 19 + 7 + 9 + 7  # in `facts`
    items = [item(GOOD, "1"), item("Once, a" + GOOD[1:], "2"), item(GOOD.lower(), "3")]
    assert filtering.effects({"ours": items, "none": []})["alone"].tolist() == [2, 0, 0, 0, 0, 0] + [0] * 6
    assert filtering.not_passing(items)["ids"].tolist() == ["2, 3", *["none"] * 5]


def test_the_page_draws_the_printed_fraction():
    # 1,000 of 2,921: 10 of 30, in shares of 20/3 and 10/3
    items = [item(GOOD, str(n), step="step1" if n % 3 else "step2&3") for n in range(30)]
    table = filtering.drawn_of(items)
    assert table[["pool", "drawn"]].values.tolist() == [[20, 6], [10, 3]] and table["sample"].sum() == 10
    assert filtering.drawn_of(items[:1])["sample"].tolist() == [1] and filtering.drawn_of([]).empty
