"""Raters' tables: what they hide, what survives a spreadsheet, and what is said of every cell that does not."""

import csv
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from conftest import skip_or_fail
from made_cases import make_cases
from warm_pages import run_notebook, warm

from nsh.cases import load_cases
from nsh.cli import main
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.making import annotate, spreadsheet
from nsh.making.annotate import HEADER, RATED
from nsh.making.returned import collect, write_ratings
from nsh.markers import demographic_markers
from nsh.opening import open_page
from nsh.question_types import question_type
from nsh.ratings import load_ratings
from nsh.sections import facts_dataset, judges

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = load_cases("samples")
WORDS = annotate.described(SAMPLES[0].narratives, {})
FACTS, REGISTER, REALISM = RATED
PERSONA = re.compile(r"persona|\b(p-?)?(alpha|beta|gamma)\b|clinical\b|socioeconomic|cultural|NS_\d", re.IGNORECASE)


@pytest.fixture(params=[".csv", ".xlsx"])
def ending(request) -> str:
    """Each kind of table in turn."""
    if request.param == ".xlsx":
        excel()
    return request.param


def excel():
    """The library for .xlsx files, where it is installed."""
    try:
        import openpyxl
    except ImportError:
        skip_or_fail("openpyxl is not installed (pip install 'narrativeshield-papers[annotate]')")
    return openpyxl


def exported(folder: Path, ending: str = ".csv", n: int = 6, raters=("ann", "bob"), seed: int = 42):
    """Tables and key of the first samples."""
    *tables, _, key = annotate.export(SAMPLES[:n], folder / f"out{ending}", raters, WORDS, seed)
    return tables, key


def cells_of(path: Path) -> list[list]:
    """The cells of a table, read without the package's reader."""
    if path.suffix == ".csv":
        return list(csv.reader(path.open(encoding="utf-8-sig", newline="")))
    return [list(row) for row in excel().load_workbook(path).active.iter_rows(values_only=True)]


def write_cells(path: Path, rows: list[list], delimiter: str = ",", encoding: str = "utf-8") -> None:
    """Save cells as a spreadsheet would."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding=encoding, errors="replace") as file:
            csv.writer(file, delimiter=delimiter).writerows(rows)
        return
    book = excel().Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def fill(path: Path, change=lambda rows: None, **form) -> dict[str, list[int]]:
    """Rate every row by its id, then change the rows as a person or a spreadsheet might; ratings by id."""
    rows = cells_of(path)
    given = {
        row[0]: [int(row[0][1:3], 16) % 2, int(row[0][3:5], 16) % 2, 1 + int(row[0][5:7], 16) % 5] for row in rows[1:]
    }
    for row in rows[1:]:
        row[4:7] = given[row[0]]
    change(rows)
    write_cells(path, rows, **form)
    return given


def test_round_trip_loses_nothing(tmp_path, ending):
    tables, key = exported(tmp_path, ending)
    given = {name: ratings for table in tables for name, ratings in fill(table).items()}
    returned = collect(key, tables[::-1])
    assert returned.problems == []
    frame = load_ratings(write_ratings(returned, tmp_path / "ratings.csv"))
    items = [item for item, _ in RATED.values()]
    expected = {
        (one["case"], one["voice"], item, one["rater"]): rating
        for name, one in json.loads(key.read_text(encoding="utf-8"))["rows"].items()
        for item, rating in zip(items, given[name], strict=True)
    }
    assert len(expected) == 6 * 3 * 3 * 2
    assert frame.set_index(["case", "voice", "item", "rater"])["rating"].to_dict() == expected


def test_a_table_hides_voice_case_and_order(tmp_path, ending):
    """Outside the texts nothing names a voice, a persona or a case, in cells, names of files, or the file's insides."""
    tables, key = exported(tmp_path, ending)
    texts = {case.original for case in SAMPLES[:6]} | {
        text for case in SAMPLES[:6] for text in case.narratives.values()
    }
    rows = cells_of(tables[0])
    assert rows[0] == list(HEADER) and len(rows) == 1 + 18
    for row in rows[1:]:
        assert {row[1], row[2]} <= texts
        assert not any(row[4:])
    outside = " ".join([*rows[0], *(f"{row[0]} {row[3]}" for row in rows[1:]), *(table.name for table in tables)])
    outside += tables[0].with_name("out.guide.txt").read_text(encoding="utf-8").replace("clinical use", "")
    named = PERSONA.findall(outside.replace("every clinical fact", ""))
    assert not named, named
    assert not {case.id for case in SAMPLES} & set(re.findall(r"\w+", outside))
    if ending == ".xlsx":
        book = excel().load_workbook(tables[0])
        described = [*book.sheetnames, book.properties.title, book.properties.description, book.properties.keywords]
        assert not PERSONA.search(" ".join(map(str, described)))
    known = json.loads(key.read_text(encoding="utf-8"))["rows"]
    orders = [[(known[row[0]]["case"], known[row[0]]["voice"]) for row in cells_of(table)[1:]] for table in tables]
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    assert {row[0] for row in rows[1:]}.isdisjoint(row[0] for row in cells_of(tables[1])[1:])


def test_the_words_for_registers_name_no_voice_and_no_group():
    told = annotate.read_data("making/annotation.yaml")["registers"]
    assert not PERSONA.search(" ".join(told.values()))
    groups = demographic_markers([replace(SAMPLES[0], narratives=told)])
    assert groups["count"].sum() == 0
    with pytest.raises(ParameterError, match=r"voice 'rural': expected words .*--register 'rural=.*found 'rural'"):
        annotate.described(["rural"], {})
    with pytest.raises(ParameterError, match="found 'a rural speaker'"):
        annotate.described(["rural"], {"rural": "a rural speaker"})
    with pytest.raises(ParameterError, match="voice 'rural'"):
        annotate.described(["rural"], {"rural": ""})
    with pytest.raises(ParameterError, match=r"voice 'rural': expected .* found 'not as a city speaker'"):
        annotate.described(["rural", "city"], {"rural": "not as a city speaker", "city": "fast words"})
    with pytest.raises(ParameterError, match="voice 'rural'"):
        annotate.described(["rural", "older_speaker"], {"rural": "as an older speaker might"})
    assert annotate.described(["rural"], {"rural": "plain words"}) == {"rural": "plain words"}


def test_the_sample_is_stratified_and_does_not_depend_on_the_order_of_rows():
    """Step by letter where the step is known, else type by letter."""
    steps = [
        replace(case, original="x?", meta={"meta_info": f"step{1 + i % 2}"}) for i, case in enumerate(make_cases(80))
    ]
    drawn = annotate.sample_cases(steps, 20)
    assert {case.id for case in drawn} == {case.id for case in annotate.sample_cases(steps[::-1], 20)}
    strata = pd.Series([(case.meta["meta_info"], case.gold) for case in drawn]).value_counts()
    assert set(strata) == {5} and len(strata) == 4  # 80 cases in 4 strata of 20
    other = annotate.sample_cases(steps, 20, seed=1)
    assert {case.id for case in other} != {case.id for case in drawn}
    by_type = annotate.sample_cases(SAMPLES, 20)
    assert {question_type(case.question) for case in by_type} == {question_type(case.question) for case in SAMPLES}
    with pytest.raises(ParameterError, match="expected a whole number from 1 to 24"):
        annotate.sample_cases(SAMPLES, 25)
    with pytest.raises(ParameterError, match="from 1 to 0"):
        annotate.sample_cases(make_cases(3), 1)


def test_the_same_seed_writes_the_same_tables(tmp_path):
    for name, seed in (("a", 42), ("b", 42), ("c", 1)):
        (tmp_path / name).mkdir()
        exported(tmp_path / name, seed=seed)
    first, second, third = ((tmp_path / name / "out-ann.csv").read_bytes() for name in "abc")
    assert first == second != third


def at(number: int, column: str, value):
    """A change to one cell of a table, the header being row 1."""

    def change(rows):
        rows[number - 1][HEADER.index(column)] = value

    return change


ONE_CELL = {
    "a 6 on a scale of 5": (REALISM, 6, "expected one of 1,2,3,4,5; found '6'"),
    "a 0 on a scale from 1": (REALISM, 0, "expected one of 1,2,3,4,5; found '0'"),
    "a missing rating": (REALISM, None, "expected one of 1,2,3,4,5; found ''"),
    "white space": (REGISTER, "  ", "expected one of 0,1; found ''"),
    "a date": (REALISM, "2024-05-01", "expected one of 1,2,3,4,5; found '2024-05-01'"),
    "a date in words": (REALISM, "1-May", "expected one of 1,2,3,4,5; found '1-May'"),
    "a half": (REALISM, 3.5, "expected one of 1,2,3,4,5; found '3.5'"),
    "a word": (FACTS, "yes", "expected one of 0,1; found 'yes'"),
    "another word": (FACTS, "no", "expected one of 0,1; found 'no'"),
    "two": (REGISTER, 2, "expected one of 0,1; found '2'"),
    "TRUE": (FACTS, True, "expected one of 0,1; found 'True'"),
    "a changed id": ("id", "r00000000000", "expected an id of the key; found 'r00000000000'"),
    "no id": ("id", None, "expected an id of the key; found ''"),
    "a changed text": ("retelling", "Another text.", "expected the text exported with this id; found 'Another text.'"),
    "a changed original": (
        "original vignette",
        "It hurts",
        "expected the text exported with this id; found 'It hurts'",
    ),
}


@pytest.mark.parametrize("fault", ONE_CELL)
def test_a_wrong_cell_is_named_and_the_rest_is_kept(tmp_path, ending, fault):
    column, value, message = ONE_CELL[fault]
    (table,), key = exported(tmp_path, ending, n=2, raters=["ann"])
    fill(table, at(4, column, value))
    returned = collect(key, [table])
    assert returned.problems[0] == f"{table}, row 4, field {column!r}: {message}"
    assert len(returned.problems) == (2 if column == "id" else 1)  # the row of the id that is gone is missing
    with pytest.raises(DataError, match=rf"(?s){re.escape(message)}.*\n(1 problem|2 problems), nothing written"):
        write_ratings(returned, tmp_path / "ratings.csv")
    assert not (tmp_path / "ratings.csv").exists()
    kept = load_ratings(write_ratings(returned, tmp_path / "ratings.csv", partial=True))
    assert len(kept) == 18 - (1 if column in RATED else 3)


def test_a_spreadsheet_that_made_dates_of_a_column_is_named_cell_by_cell(tmp_path):
    excel()
    import datetime

    (table,), key = exported(tmp_path, ".xlsx", n=1, raters=["ann"])

    def dates(rows):
        for row in rows[1:]:
            row[HEADER.index(REALISM)] = datetime.datetime(2024, 5, 1)

    fill(table, dates)
    problems = collect(key, [table]).problems
    assert len(problems) == 3 and all(f"field {REALISM!r}" in problem for problem in problems)
    assert all("found '2024-05-01 00:00:00'" in problem for problem in problems)


def test_all_problems_stand_in_one_message(tmp_path, ending):
    (table,), key = exported(tmp_path, ending, n=2, raters=["ann"])

    def faults(rows):
        rows.append(list(rows[1]))
        at(3, REALISM, 6)(rows)
        at(4, FACTS, "yes")(rows)
        at(5, "comment", "-cmd()")(rows)

    fill(table, faults)
    with pytest.raises(DataError) as error:
        write_ratings(collect(key, [table]), tmp_path / "ratings.csv")
    first, second, third, fourth, last = str(error.value).splitlines()
    assert "row 2, field 'id': expected each row once, not in" in first and f"{table}, row 8" in first
    assert "row 3" in second and "row 4" in third and "row 8, field 'id'" in fourth
    assert last == "4 problems, nothing written; --partial writes the rest"
    rows = cells_of(write_ratings(collect(key, [table]), tmp_path / "ratings.csv", partial=True))
    assert "'-cmd()" in {cell for row in rows for cell in row}
    assert len(load_ratings(tmp_path / "ratings.csv")) == 18 - 3 - 1 - 1


@pytest.mark.parametrize(
    "form", [{"delimiter": ";"}, {"delimiter": "\t"}, {"encoding": "utf-8-sig"}, {"encoding": "cp1252"}]
)
def test_what_a_spreadsheet_makes_of_a_csv_file_is_read(tmp_path, form):
    cases = [replace(SAMPLES[0], original="Fièvre à 39 °C; toux. Why?")]
    (table, _, key) = annotate.export(cases, tmp_path / "x.csv", ["ann"], WORDS)

    def floats(rows):
        rows[:] = [[f"{cell}.0" if cell in (0, 1, 2, 3, 4, 5) else cell for cell in row] for row in rows]
        rows.insert(2, [""] * len(HEADER))

    given = fill(table, floats, **form)
    returned = collect(key, [table])
    assert returned.problems == []
    assert sorted(cells[f"{RATED[REALISM][0]}__ann"] for cells in returned.rows.values()) == sorted(
        str(ratings[2]) for ratings in given.values()
    )


def test_letters_that_an_encoding_lost_are_a_changed_text(tmp_path):
    cases = [replace(SAMPLES[0], original="β-blocker, 5 µg. Why?")]
    (table, _, key) = annotate.export(cases, tmp_path / "x.csv", ["ann"], WORDS)
    fill(table, encoding="cp1252")
    assert all("field 'original vignette': expected the text" in problem for problem in collect(key, [table]).problems)


def test_columns_may_be_moved_and_added_but_none_may_go(tmp_path, ending):
    (table,), key = exported(tmp_path, ending, n=1, raters=["ann"])

    def moved(rows):
        rows[:] = [[*row[::-1], "a note" if number else "mine"] for number, row in enumerate(rows)]

    fill(table, moved)
    returned = collect(key, [table])
    assert returned.problems == []
    assert all(cells["comment_ann"].endswith("mine: a note") for cells in returned.rows.values())
    write_cells(table, [row[1:] for row in cells_of(table)])
    with pytest.raises(DataError, match="row 1: expected the column 'comment' once; found"):
        collect(key, [table])


def test_a_voice_that_the_cases_do_not_have_is_named_with_the_nearest():
    with pytest.raises(ParameterError, match="no such voice; did you mean 'cultural'"):
        annotate.described(["clinical", "cultural"], {"cultral": "warm words"})


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_damaged_spreadsheet_is_named(tmp_path, cut):
    (table,), key = exported(tmp_path, ".xlsx", n=1, raters=["ann"])
    whole = bytearray(table.read_bytes())
    place = int(cut * len(whole))
    whole[place : place + 40] = bytes(40)
    table.write_bytes(bytes(whole))
    try:
        problems = collect(key, [table]).problems  # a part that is not read may be the damaged one
        assert all(str(table) in problem or "did not come back" in problem for problem in problems)
    except DataError as error:
        assert str(table) in str(error)


def test_a_quotation_mark_without_its_pair_and_an_empty_key_are_named(tmp_path):
    (table,), key = exported(tmp_path, n=1, raters=["ann"])
    table.write_text(table.read_text(encoding="utf-8-sig") + '"' + "x" * 140_000, encoding="utf-8")
    with pytest.raises(DataError, match="quotation mark"):
        collect(key, [table])
    key.write_text('{"rows": {}}', encoding="utf-8")
    with pytest.raises(DataError, match="not a key"):
        collect(key, [table])


def test_a_cell_without_a_heading_and_a_rater_who_sent_nothing_are_named(tmp_path):
    tables, key = exported(tmp_path, n=1)
    fill(tables[0], lambda rows: rows[1].append("lost?"))
    first, second = collect(key, tables[:1]).problems
    assert first.endswith("row 2, field '': expected no cell without a heading; found 'lost?'")
    assert re.fullmatch(r"rater bob: 3 rows did not come back: r\w{11}, r\w{11}, r\w{11}", second)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "＝"])
def test_no_cell_is_run_as_a_formula_and_the_text_is_still_recognized(tmp_path, ending, start):
    told = dict.fromkeys(SAMPLES[0].narratives, f"{start}HYPERLINK(1) Why?")
    (table, _, key) = annotate.export([replace(SAMPLES[0], narratives=told)], tmp_path / f"x{ending}", ["ann"], WORDS)
    if ending == ".csv":
        assert all(row[2].startswith("'") for row in cells_of(table)[1:])
    else:
        cells = [cell for row in excel().load_workbook(table).active.iter_rows() for cell in row]
        assert {cell.data_type for cell in cells if cell.value is not None} == {"s"}
        assert {cell.number_format for cell in cells} == {"@"}
    if ending == ".csv":  # the test's own writer would make a formula of it
        fill(table)
        assert collect(key, [table]).problems == []
    else:
        assert not any("retelling" in problem for problem in collect(key, [table]).problems)


def test_what_no_spreadsheet_holds_is_refused(tmp_path):
    for text in ("x" * 32767, "a\x07b"):
        with pytest.raises(DataError, match="a spreadsheet cannot hold the text"):
            spreadsheet.write_sheet(tmp_path / "x.csv", [[text]])
    spreadsheet.write_sheet(tmp_path / "x.csv", [["x" * 32766, "a\nb"]])


def test_nothing_is_written_over_and_names_are_checked(tmp_path):
    tables, key = exported(tmp_path)
    with pytest.raises(ParameterError, match=r"out-ann\.csv is there already"):
        exported(tmp_path)
    fill(tables[0])
    with pytest.raises(ParameterError, match=r"out-ann\.csv: expected a new file that ends in \.csv"):
        write_ratings(collect(key, tables[:1]), tables[0], partial=True)
    for raters in (["a", "a"], ["a__b"], ["a b"], []):
        with pytest.raises(ParameterError, match="expected names such as rater_1, each once"):
            exported(tmp_path, raters=raters)
    with pytest.raises(ParameterError, match=r"x\.ods: expected a file that ends in \.csv or \.xlsx"):
        annotate.export(SAMPLES[:1], tmp_path / "x.ods", ["a"], WORDS)
    with pytest.raises(DataError, match="case 000 has no original vignette"):
        annotate.export(make_cases(1), tmp_path / "y.csv", ["a"], WORDS)


def test_files_that_are_none_are_named(tmp_path):
    tables, key = exported(tmp_path)
    with pytest.raises(MissingDataError, match="there is no key"):
        collect(tmp_path / "no.json", tables)
    with pytest.raises(MissingDataError, match="there is no file"):
        collect(key, [tmp_path / "no.csv"])
    (tmp_path / "bad.json").write_text('{"rows": {"r1": {}}}')
    with pytest.raises(DataError, match=r"bad\.json: not a key"):
        collect(tmp_path / "bad.json", tables)
    with pytest.raises(MissingDataError, match=r"(?s)rater bob.*no valid rating"):
        write_ratings(collect(key, []), tmp_path / "r.csv", partial=True)
    excel()
    (tmp_path / "bad.xlsx").write_text("no zip")
    with pytest.raises(DataError, match=r"bad\.xlsx: not an \.xlsx file"):
        collect(key, [tmp_path / "bad.xlsx"])


def test_without_openpyxl_the_message_says_how_to_have_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDataError, match=r"narrativeshield-papers\[annotate\]"):
        exported(tmp_path, ".xlsx")


def test_the_commands(tmp_path, monkeypatch, capsys):
    def nsh(*arguments):
        monkeypatch.setattr(sys, "argv", ["nsh", "annotate", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=end.value.code, stdout=out, stderr=err)

    monkeypatch.chdir(tmp_path)
    made = nsh("export", "samples", "--n", 2, "--out", "t.csv", "--raters", "ann, bob", "--register", "cultural=images")
    assert made.returncode == 0, made.stderr
    assert "For you alone: t.key.json" in made.stdout and "images" in (tmp_path / "t-bob.csv").read_text("utf-8")
    fill(tmp_path / "t-ann.csv", at(3, REALISM, 6))
    fill(tmp_path / "t-bob.csv")
    refused = nsh("import", "t.key.json", "t-ann.csv", "t-bob.csv", "--out", "r.csv")
    assert refused.returncode == 3 and "found '6'" in refused.stderr and "Traceback" not in refused.stderr
    partial = nsh("import", "t.key.json", "t-ann.csv", "t-bob.csv", "--out", "r.csv", "--partial")
    assert partial.returncode == 0 and "found '6'" in partial.stdout
    assert len(load_ratings(tmp_path / "r.csv")) == 2 * 3 * 3 * 2 - 1


def test_a_voice_whose_name_has_a_space_keeps_it(tmp_path):
    (tmp_path / "r.csv").write_text("question_id,persona,x__r1\n1,older speaker,5\n1,alpha (pα) — high,4\n", "utf-8")
    assert load_ratings(tmp_path / "r.csv")["voice"].tolist() == ["older speaker", "clinical"]


def run_page(slug: str, folder: Path, **values) -> dict[str, str]:
    """Run a page in a fork; the text of its outputs by cell."""
    source, out = folder / f"{slug}.ipynb", folder / "out.ipynb"
    source.write_bytes((ROOT / "notebooks" / f"{slug}.ipynb").read_bytes())
    environment = {"NSH_STORE": str(folder / "store"), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    process = warm().Process(target=run_notebook, args=(source, out, values, environment))
    process.start()
    process.join()
    cells = nbformat.read(out, 4).cells
    shown = {
        cell.id: [o["data"].get("text/plain", "") for o in cell.get("outputs", []) if "data" in o] for cell in cells
    }
    return {name: "\n".join(texts) for name, texts in shown.items()}


@pytest.mark.slow
def test_the_page_of_ratings_runs_on_what_came_back(tmp_path):
    tables, key = exported(tmp_path)
    for table in tables:
        fill(table)
    ratings = write_ratings(collect(key, tables), tmp_path / "ratings.csv")
    shown = run_page("facts-02-dataset", tmp_path, n_cases=6, released="off", ratings=str(ratings))
    assert "The ratings are those of ratings.csv" in shown["dataset-08"]
    means = (
        load_ratings(ratings).query("item == 'narrative_realism_likert'").groupby(["rater", "voice"])["rating"].mean()
    )
    assert f"ann: clinical {means['ann', 'clinical']:.2f}" in shown["dataset-10"]
    assert "FABRICATED" not in "".join(shown.values())
    assert "given ratings" in shown["dataset-12"]


def test_the_page_takes_only_a_file_that_exists_and_runs_again_when_it_changes(tmp_path):
    with pytest.raises(ParameterError, match=r"ratings = '/no\.csv': expected the path of a file that exists"):
        open_page("facts-02-dataset", ratings="/no.csv")
    tables, key = exported(tmp_path)
    fill(tables[0])
    file = write_ratings(collect(key, tables[:1]), tmp_path / "r.csv", partial=True)
    study = open_page("facts-02-dataset", released="off", ratings=str(file))
    assert facts_dataset.rated(study).whose == "given ratings" and facts_dataset.rated(study).note
    before = study.data_hash
    file.write_text(file.read_text().replace("1", "0"))
    assert open_page("facts-02-dataset", released="off", ratings=str(file)).data_hash != before


VERDICTS = "case,voice,judge,n_added,n_relevant,condition\n" + "".join(
    f"{case},{voice},{judge},{case + shift},{max(case + shift - 1, 0)},\n"
    for judge, shift in (("X", 0), ("Y", 1), ("Z", 0))
    for case in range(3)
    for voice in ("clinical", "cultural")
)


def judging_page(tmp_path, monkeypatch, reply: str, **values):
    """The study of the judges' page, its model answering every call alike."""
    from nsh import study as module
    from nsh.engines import ScriptedEngine

    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(module, "ScriptedEngine", lambda model: ScriptedEngine(model, lambda call: reply))
    return open_page("voices-d-additions", models=["scripted"], n_cases=3, released="off", **values)


def test_a_run_asks_its_models_to_judge_and_generates_beforehand(tmp_path, monkeypatch):
    from nsh import build

    study = judging_page(tmp_path, monkeypatch, '{"added": [{"content": "x", "relevant": true}]}', shortened_cases=2)
    assert study.conditions == ["judge_added"] and len(study.jobs) == 2 * 3
    assert build.generate([study]).generated == 6 and build.generate([study]).generated == 0
    real = judges.real_verdicts(study)
    assert real[["judge", "n_added", "n_relevant"]].drop_duplicates().values.tolist() == [["scripted", 1, 1]]
    assert not judges.shown(real, study.cases).fabricated
    assert judges.shown(real, study.cases, judges=2).fabricated
    assert judges.judge_table(real).loc[0].tolist() == ["scripted", 6, 6, 100.0, "–", 1.0, 1.0]
    assert judges.share_rows(judges.shown(real, study.cases)).loc["scripted"].tolist() == [100.0] * 3
    assert study.records["settings"].unique().tolist() == ["shortened: 2 of 3 cases; at most 256 new tokens"]


def test_a_reply_that_is_no_list_is_counted_and_made_up_verdicts_stand_in_marked(tmp_path, monkeypatch):
    study = judging_page(tmp_path, monkeypatch, "Nothing was added.")
    real = judges.real_verdicts(study)
    assert judges.judge_table(real).loc[0, ["asked", "read", "not read"]].tolist() == [9, 0, "unparsed 9"]
    shown = judges.shown(real, study.cases)
    assert shown.fabricated and shown.whose == "FABRICATED" and set(shown.frame["judge"]) == set("FPL")
    assert list(judges.share_rows(shown).index) == ["F", "P", "L"]


def test_verdicts_of_a_file_count_beside_those_of_the_run_for_any_number_of_judges(tmp_path, monkeypatch):
    file = tmp_path / "verdicts.csv"
    file.write_text(VERDICTS + "9,clinical,X,5,5,rewrite\n")
    study = judging_page(tmp_path, monkeypatch, "No.", judgements=str(file))
    real = judges.real_verdicts(study)
    assert set(real["judge"]) == {"scripted", "X", "Y", "Z"} and "9" not in set(real["case"])
    compared = judges.shown(real, study.cases, judges=2)
    assert not compared.fabricated
    table = judges.judge_agreement(compared.frame).query("voice == 'all voices'").set_index(["judge_a", "judge_b"])
    assert len(table) == 3 and (table["n"] == 6).all()
    assert table.at[("X", "Z"), "kappa"] == 1
    assert table.at[("X", "Y"), "agreement"] == pytest.approx(4 / 6)  # relevant: X 0 0 1, Y 0 1 2 in either voice
    assert table.at[("X", "Y"), "spearman"] == pytest.approx(
        pd.Series([0, 0, 1]).corr(pd.Series([0, 1, 2]), "spearman")
    )
    before = study.data_hash
    file.write_text(VERDICTS)
    assert judging_page(tmp_path, monkeypatch, "No.", judgements=str(file)).data_hash != before


def test_no_page_of_answers_takes_the_audit_and_cases_without_an_original_are_passed_over(tmp_path):
    with pytest.raises(ParameterError, match="no condition 'judge_added'"):
        open_page("voices-05-anchoring", condition="judge_added")
    rows = [
        {"id": case.id, "question": case.question, "options": case.options, "gold": case.gold}
        | {"narratives": case.narratives, "original": case.original if number else None}
        for number, case in enumerate(SAMPLES[:2])
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    study = open_page("voices-d-additions", models=["scripted"], source=str(tmp_path / "cases.jsonl"))
    assert {job.case.id for job in study.jobs} == {SAMPLES[1].id}
