"""The page that retells: its study, its parameters, and what its tables count."""

import pytest

from nsh.declared import find_page
from nsh.engines import ScriptedEngine
from nsh.errors import DataError, ParameterError
from nsh.making.study import RetellingStudy, study_of
from nsh.making.voices import registers
from nsh.params import check, for_page
from nsh.sections.retelling import attempts, register_table, tally
from nsh.study import Study

PAGE = find_page("voices-b-retelling")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The page's study with a scripted model, which echoes: nothing passes the checks."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    return study_of(PAGE, for_page(PAGE, {"models": ["scripted"], "released": "off", "attempts": 2}))


def test_the_page_retells_its_first_cases_in_its_registers(study):
    assert isinstance(study, RetellingStudy) and study.conditions == ["retell"]
    assert [(job.case.id, job.voice) for job in study.jobs] == [
        (case.id, name) for case in study.cases[:2] for name in ("socioeconomic", "neutral")
    ]
    assert type(study_of(find_page("voices-c-example"), {})) is Study


def test_its_records_are_those_of_the_retellings(study):
    records = study.records
    assert records["condition"].tolist() == ["retell"] * 4 and set(records["status"]) == {"gave up"}
    assert set(records["prompts"]) == {"reconstructed"} and records["letter"].isna().all()
    assert set(records["settings"]) == {"at most 256 new tokens"}
    assert study.tally.generated == 8 and len(study.data_hash) == 64


def test_the_tables_of_the_page(study):
    rows = attempts(study.retold)
    assert rows["model"].unique().tolist() == ["scripted"] and rows["attempt"].tolist() == [1, 2] * 4
    assert set(rows["verdict"]) == {"not asked"} and "text" not in rows
    assert rows.loc[rows["voice"] == "neutral", "opening"].unique().tolist() == ["none"]
    counted = tally(rows)
    assert (counted["told"], counted["accepted"], counted["tries"], counted["audits"]) == (4, 0, 8, 0)
    assert counted["failed_checks"] == "forbidden phrase 4, length 8"  # the echoed prompt names what it forbids


def test_without_a_model_there_is_nothing_to_show():
    study = study_of(PAGE, for_page(PAGE, {"models": [], "released": "off"}))
    rows = attempts(study.retold)
    assert rows.empty and tally(rows)["failed_checks"] == "not one" and study.records.empty


def test_every_register_is_in_the_table():
    table = register_table()
    assert table["register"].tolist() == [one.label for one in registers().values()]
    assert table["openings"].tolist() == [0, 5, 5, 0, 0, 5]


def test_the_parameter_takes_names_and_files_and_names_a_wrong_one(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("like: neutral\nname: mine\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert check("registers", ["neutral", "mine.yaml"], "test") == ["neutral", str(tmp_path / "mine.yaml")]
    with pytest.raises(DataError, match="did you mean 'neutral'"):
        check("registers", ["nutral"], "test")
    for wrong in ([], ["neutral", "neutral"]):
        with pytest.raises(ParameterError, match="one register or more"):
            check("registers", wrong, "test")


def test_a_scripted_study_makes_its_calls_with_the_page_s_budget(study):
    calls = [job.settings.apply(next(job.start())) for job in study.jobs]
    assert {(call.stage, call.max_new_tokens, call.temperature) for call in calls} == {("retell", 256, 0.9)}
    assert isinstance(study.engine(study.models[0]), ScriptedEngine)
