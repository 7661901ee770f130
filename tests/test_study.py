"""A study: what a page's parameters come to."""

import json
import shutil

import pytest

from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.opening import open_page
from nsh.records import write_records
from nsh.released import result_file
from nsh.study import Study


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def scripted(**values) -> Study:
    return open_page("voices-05-anchoring", models=["scripted"], released="off", **values)


def test_a_run_has_a_record_for_every_voice_of_every_case(store):
    study = scripted(n_cases=3)
    assert study.records.groupby(["case", "voice"]).size().tolist() == [1] * 9
    assert set(study.records["source"]) == {"scripted"}
    assert (study.tally.generated, study.tally.found) == (9, 0)
    assert scripted(n_cases=3).records.equals(study.records)


def test_conditions_other_than_direct_take_fewer_cases_and_say_so(store):
    study = scripted(n_cases=5)
    study.values |= {"shortened_cases": 2, "condition": "cot", "max_new_tokens": 64}
    assert study.shortened("cot") == "shortened: 2 of 5 cases"
    assert len(study.jobs) == 6
    assert set(study.records["settings"]) == {"shortened: 2 of 5 cases; at most 64 new tokens"}
    short = scripted(n_cases=5)
    short.values |= {"shortened_cases": 2}
    assert (len(short.jobs), short.shortened("direct"), set(short.records["settings"])) == (15, "", {""})


def test_one_case_is_taken_by_its_id(store):
    study = open_page("voices-04-setup", models=["scripted"], case="NS_005")
    assert [case.id for case in study.cases] == ["NS_005"]
    with pytest.raises(ParameterError, match="did you mean 'NS_005'"):
        _ = open_page("voices-04-setup", case="NS_05").cases


def test_no_models_are_no_records(store):
    study = open_page("voices-05-anchoring", models=[], released="off")
    assert study.records.empty
    assert not store.exists()


def test_without_released_files_the_papers_models_come_from_the_pattern_counts(store):
    study = scripted()
    assert study.real_source == "packaged pattern counts"
    assert study.real.groupby("model").size().tolist() == [3000] * 7
    assert study.real_cases == []


def test_with_released_files_they_come_from_the_answers(released):
    study = open_page("voices-05-anchoring", models=[], released=str(released))
    assert study.real_source == "released per-question answers"
    assert len(study.real) == 21000
    assert len(study.real_cases) == 1000


def test_the_data_hash_changes_with_one_letter(store):
    before = scripted(n_cases=2).data_hash
    assert scripted(n_cases=2).data_hash == before
    (file,) = store.glob("*.jsonl")
    text = file.read_text(encoding="utf-8")
    old = text[text.index('"text": "') + 9]
    file.write_text(text.replace(f'"text": "{old}"', f'"text": "{"A" if old != "A" else "B"}"', 1), encoding="utf-8")
    assert scripted(n_cases=2).data_hash != before


def test_chance_is_the_mean_of_one_over_the_number_of_options(store):
    assert scripted().chance == 0.25


def test_a_page_on_the_store_alone_says_what_is_missing(store, monkeypatch):
    monkeypatch.setenv("NSH_ENGINE", "store")
    monkeypatch.setenv("NSH_PACKAGED", "off")
    with pytest.raises(MissingDataError, match="3 generations of"):
        _ = open_page("voices-05-anchoring", n_cases=1).records


@pytest.mark.parametrize(
    ("values", "message"),
    [({"n_itmes": 5}, "did you mean 'n_cases'"), ({"seed": "1"}, "expected int"), ({"n_cases": 25}, "24")],
)
def test_bad_parameters_are_refused(store, values, message):
    with pytest.raises(ParameterError, match=message):
        _ = open_page("voices-05-anchoring", **values).cases


def test_sizes_are_known_for_the_papers_models(store):
    sizes = scripted().sizes
    assert sizes["gemma-3-12b-it"] == 12
    assert {name for name in scripted().real["model"]} <= set(sizes)


def test_released_answers_that_are_not_all_there_are_refused(released, tmp_path):
    """A model that silently drops out would make every “seven” on the page wrong."""
    shutil.copytree(released / "results" / "b1_results", tmp_path / "results" / "b1_results")
    page = {"models": [], "released": str(tmp_path)}
    file = tmp_path / result_file("B1", "biomistral")
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:500]), encoding="utf-8")
    with pytest.raises(DataError, match="BioMistral-7B 500"):
        _ = open_page("voices-05-anchoring", **page).real
    file.unlink()
    with pytest.raises(MissingDataError, match=r"lacks results_B1_biomistral\.jsonl"):
        _ = open_page("voices-05-anchoring", **page).real


def test_any_text_can_be_hashed_and_exported(store, tmp_path):
    study = scripted(n_cases=1)
    study.records.loc[0, "text"] = "Answer: A \ud83c"
    assert len(study.data_hash) == 64
    write_records(study.records, tmp_path / "r.csv", with_text=True)
    write_records(study.records, tmp_path / "r.parquet", with_text=True)


def test_the_reference_voice_is_clinical_or_the_first_or_named(store, tmp_path):
    row = {"question": "Why?", "options": {"A": "x", "B": "y"}, "gold": "A"}
    told = [{**row, "id": str(n), "narratives": {"rural": f"r{n} Why?", "urban": f"u{n} Why?"}} for n in range(3)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    source = {"source": str(tmp_path / "c.jsonl")}
    assert scripted().reference == "clinical"
    assert scripted(**source).reference == "rural"
    assert scripted(**source, reference="urban").reference == "urban"
    with pytest.raises(ParameterError, match="rural, urban"):
        _ = scripted(reference="clinical", **source).reference
