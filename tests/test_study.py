"""A study: what a page's parameters come to."""

import pytest

from nsh.errors import MissingDataError, ParameterError
from nsh.study import Study, open_page


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
