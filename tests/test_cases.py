"""Cases from every source: the same content gives the same cases, and a wrong row is named before anything runs."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from nsh.case_fields import data_file
from nsh.case_rows import case_from_row
from nsh.cases import case_hash, check, load_cases, question_sentence
from nsh.errors import DataError, MissingDataError, ParameterError

VIGNETTE = "A man of 40 has a sore knee. His gait is normal. Which dose is right?"


def nested(case_id="007", **changes) -> dict:
    """A row in the layout of the packaged samples."""
    row = {
        "id": case_id,
        "question": "Which dose is right?",
        "options": {"A": "it's <5 mg", "B": "None"},
        "gold": "B",
        "narratives": {
            "clinical": "A sore knee. Which dose is right?",
            "rural": "My knee is bad. Which dose is right?",
        },
        "original": VIGNETTE,
        "answer": "None",
    }
    return {**row, **changes}


def flat(case_id="007", **changes) -> dict:
    """The same case in the layout of tables."""
    row = nested()
    return {
        "question_id": case_id,
        "question": VIGNETTE,
        "options": str(row["options"]),
        "answer_idx": "B",
        "persona_alpha": row["narratives"]["clinical"],
        "narrative_rural": row["narratives"]["rural"],
        "answer": "None",
        **changes,
    }


def jsonl(path: Path, rows) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(path: Path, rows) -> Path:
    """Write rows as a comma-separated table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def parquet(path: Path, rows) -> Path:
    """Write rows as a Parquet table, through pandas as most users would."""
    pd.DataFrame(rows).to_parquet(path, index=False)
    return path


# ---------------------------------------------------------------- the same cases from every format and layout


@pytest.mark.parametrize("layout", [nested, flat])
@pytest.mark.parametrize(("ending", "write"), [("jsonl", jsonl), ("csv", table), ("parquet", parquet)])
def test_every_format_and_layout_gives_the_same_cases(tmp_path, layout, ending, write):
    rows = [layout("007"), layout("NA")]
    if ending == "csv" and layout is nested:
        rows = [{**row, "options": str(row["options"]), "narratives": json.dumps(row["narratives"])} for row in rows]
    cases = load_cases(write(tmp_path / f"cases.{ending}", rows))
    assert [case.id for case in cases] == ["007", "NA"]
    assert cases[0].options == {"A": "it's <5 mg", "B": "None"}
    assert (cases[0].gold, cases[0].question, cases[0].original) == ("B", "Which dose is right?", VIGNETTE)
    assert list(cases[0].narratives) == ["clinical", "rural"]
    assert cases[0].meta == {"answer": "None"}
    assert case_hash(cases) == case_hash([case_from_row(nested("007"), ""), case_from_row(nested("NA"), "")])


@pytest.mark.parametrize(
    "options",
    [
        "{'A': \"it's <5 mg\", 'B': 'None'}",
        '{"B": "None", "A": "it\'s <5 mg"}',
        {"B": "None", "A": "it's <5 mg"},
    ],
)
def test_options_come_as_object_json_or_python_dict_in_the_order_of_letters(options):
    case = case_from_row(nested(options=options), "here, row 1")
    assert list(case.options.items()) == [("A", "it's <5 mg"), ("B", "None")]


def test_a_number_stands_for_its_text_in_options_and_ids():
    case = case_from_row(nested(7, options={"A": 5, "B": 2.5}, answer=2.5), "here, row 1")
    assert (case.id, case.options) == ("7", {"A": "5", "B": "2.5"})


def test_options_that_would_run_code_are_only_read(tmp_path):
    trap = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()"
    with pytest.raises(DataError, match=r"row 1, field 'options': expected an object, its JSON text or"):
        case_from_row(nested(options=trap), "here, row 1")
    assert not (tmp_path / "ran").exists()


def test_ten_options_and_five_voices_work():
    letters = "ABCDEFGHIJ"
    voices = {f"voice {number}": f"Told in the {number}. way." for number in range(5)}
    options = {letter: f"dose {letter}" for letter in letters}
    case = case_from_row(nested(options=options, gold="J", answer="dose J", narratives=voices), "here, row 1")
    assert (len(case.options), list(case.narratives)) == (10, list(voices))


def test_objects_of_different_size_in_one_parquet_table(tmp_path):
    four = {"A": "one", "B": "two", "C": "three", "D": "four"}
    path = parquet(tmp_path / "cases.parquet", [nested("1"), nested("2", options=four, answer="two")])
    assert ["".join(case.options) for case in load_cases(path)] == ["AB", "ABCD"]


def test_text_survives_as_it_is(tmp_path):
    text = "α-synuclein 5 µg ≥ 3×\u2028next 😀"
    path = tmp_path / "cases.jsonl"
    row = nested(narratives={"clinical": text, "rural": " two  spaces "})
    path.write_text(
        "\ufeff" + json.dumps(row, ensure_ascii=False) + "\r\n\r\n" + json.dumps(nested("2", **row | {"id": "2"}))
    )
    first, second = load_cases(path)
    assert first.narratives == {"clinical": text, "rural": " two  spaces "}  # escaped pairs are joined again
    assert second.narratives == first.narratives


def test_a_table_with_a_byte_order_mark(tmp_path):
    path = table(tmp_path / "cases.csv", [flat()])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_cases(path)[0].id == "007"


def test_voices_take_the_order_of_the_first_case(tmp_path):
    turned = nested("2")
    turned["narratives"] = dict(reversed(turned["narratives"].items()))
    cases = load_cases(jsonl(tmp_path / "cases.jsonl", [nested("1"), turned]))
    assert [list(case.narratives) for case in cases] == [["clinical", "rural"]] * 2


def test_flat_question_is_the_sentence_where_the_original_has_its_own_column_or_there_is_no_vignette():
    with_original = case_from_row(flat(question="Which dose is right?", original=VIGNETTE), "")
    without = case_from_row(flat(question="Which dose is right?"), "")
    assert (with_original.question, with_original.original) == ("Which dose is right?", VIGNETTE)
    assert (without.question, without.original) == ("Which dose is right?", None)


# ---------------------------------------------------------------- a wrong row is named


@pytest.mark.parametrize(
    ("changes", "field", "expected", "value"),
    [
        ({"gold": "C"}, "gold", "one of the options' letters A, B", "'C'"),
        ({"gold": None}, "gold", "a value (column gold or answer_idx or correct_answer_idx)", "None"),
        ({"gold": ["A"]}, "gold", "one of the options' letters", "['A']"),
        ({"answer_idx": "A"}, "answer_idx", "the same as in 'gold', 'B'", "'A'"),
        ({"answer": "it's <5 mg"}, "answer", "the correct option B, or its text 'None'", "<5 mg"),
        ({"answer": "A"}, "answer", "the correct option B, or its text 'None'", "'A'"),
        ({"answer_text": "zzz"}, "answer_text", "the correct option B, or its text 'None'", "'zzz'"),
        ({"options": {"A": "x", "C": "y"}}, "options", "consecutive letters from A", "['A', 'C']"),
        ({"options": {"A": "x"}}, "options", "two to ten options", "['A']"),
        ({"options": dict.fromkeys("ABCDEFGHIJK", "x")}, "options", "two to ten options", "'K'"),
        ({"options": {"A": "x", "B": " "}}, "options, B", "text that is not blank", "' '"),
        ({"options": {"A": "x", "B": True}}, "options, B", "text that is not blank", "True"),
        ({"options": '{"A": "x", "A": "y"}'}, "options", "each key once, but 'A' stands twice", "x"),
        ({"options": '{"A": NaN, "B": "y"}'}, "options, A", "text that is not blank", "nan"),
        ({"options": ["x", "y"]}, "options", "an object", "['x', 'y']"),
        ({"id": " "}, "id", "text that is not blank", "' '"),
        ({"id": 1.0}, "id", "text or a whole number", "1.0"),
        ({"question": ""}, "question", "text that is not blank", "''"),
        ({"original": "  "}, "original", "text that is not blank", "'  '"),
        ({"narratives": {"clinical": "x"}}, "narratives", "two voices or more", "['clinical']"),
        ({"narratives": None}, "narratives", "an object", "None"),
        ({"narratives": {"clinical": "x", "rural": "\n"}}, "narratives, rural", "text that is not blank", "\\n"),
        ({"narratives": {"clinical": "x", " ": "y"}}, "voice", "text that is not blank", "' '"),
        ({"narratives": {"clinical": "x", "overall": "y"}}, "voice", "another name", "'overall'"),
        ({"question": "Half \ud83c a pair?"}, "question", "half of a surrogate pair", "Half"),
    ],
)
def test_a_wrong_field_is_named_with_file_line_and_value(tmp_path, changes, field, expected, value):
    path = jsonl(tmp_path / "cases.jsonl", [nested("1"), nested("2") | changes])
    with pytest.raises(DataError) as error:
        load_cases(path)
    message = str(error.value)
    assert message.startswith(f"{path}, line 2, field {field!r}: expected ")
    assert expected in message
    assert value in message.partition("; found ")[2]
    assert "\n" not in message


def test_two_columns_for_one_voice_are_refused():
    with pytest.raises(DataError, match="one column for the voice 'clinical'"):
        case_from_row(flat(narrative_clinical="Again."), "here, row 1")


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(DataError) as error:
        case_from_row(nested(gold="x" * 5000), "here, row 1")
    assert len(str(error.value)) < 250


def test_an_id_that_stands_twice_is_named_with_both_lines(tmp_path):
    path = jsonl(tmp_path / "cases.jsonl", [nested("1"), nested("2"), nested("1")])
    with pytest.raises(DataError, match=r"line 3, field 'id': expected an id that is not in .*line 1; found '1'"):
        load_cases(path)


def test_other_voices_than_the_first_case_are_refused(tmp_path):
    path = jsonl(tmp_path / "cases.jsonl", [nested("1"), nested("2", narratives={"clinical": "x", "urban": "y"})])
    with pytest.raises(
        DataError, match=r"line 2, field 'narratives': expected the voices of the first case, clinical, rural"
    ):
        load_cases(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": "1", "q": "?"}\n', "field 'options': expected a column options; found none of that name (unread: q)"),
        (b"[1, 2]\n", "line 1: expected one JSON object; found '[1, 2]'"),
        (b'{"id": "1", "op', "line 1: expected one JSON object, whole, on this line (Unterminated string"),
        (b'{\n"id": "1"}\n', "line 1: expected one JSON object, whole, on this line ("),
        (b'\n{"id": NaN}\n', "line 2: expected one JSON object, whole, on this line (NaN is not JSON)"),
        (b'{"id": "1", "id": "2"}', "line 1, field 'id': expected each key once; found it twice"),
        (b'{"id": "1",\n"question": "\xe4"}', "line 2: expected UTF-8 text; found byte 0xe4. Save the file as UTF-8"),
        (b"\n \n", "holds no cases"),
    ],
)
def test_lines_that_are_no_rows(tmp_path, content, message):
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        load_cases(path)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,question\n1,a,b\n", "row 1: expected 2 cells, as in the header (a text with a comma stands in quotation"),
        ("id,,gold\n1,a,b\n", "header: expected a name for each column; found an empty one"),
        ("id;question\n1;a\n", "header: expected columns separated by commas; found ';'"),
        ("id\tquestion\n1\ta\n", r"header: expected columns separated by commas; found '\t'"),
        ("id,id\n1,2\n", "header: expected each column once; found 'id' twice"),
        ('id,question\n1,"a\n', "row 1: not a comma-separated row"),
        ("id,question\n", "holds no cases"),
        ("", "holds no cases"),
    ],
)
def test_tables_that_are_none(tmp_path, content, message):
    path = tmp_path / "cases.csv"
    path.write_text(content)
    with pytest.raises(DataError) as error:
        load_cases(path)
    assert message in str(error.value)


def test_a_wrong_row_of_a_table_is_counted_without_the_header_and_blank_lines(tmp_path):
    path = table(tmp_path / "cases.csv", [flat("1"), flat("2", answer_idx="E")])
    path.write_text(path.read_text().replace("\n2,", "\n\n2,"))
    with pytest.raises(DataError, match="row 2, field 'answer_idx'"):
        load_cases(path)


def test_a_file_that_is_no_parquet_table(tmp_path):
    path = tmp_path / "cases.parquet"
    path.write_text("no")
    with pytest.raises(DataError, match="not a Parquet table"):
        load_cases(path)


# ---------------------------------------------------------------- sources and the number of cases


def test_the_packaged_samples_load_and_have_the_voices_of_the_papers():
    cases = load_cases()
    assert len(cases) > 1
    assert list(cases[0].narratives) == ["clinical", "socioeconomic", "cultural"]
    assert check("samples").startswith(f"cases: {len(cases)}\n")


def test_unknown_and_missing_sources(tmp_path):
    with pytest.raises(
        ParameterError, match=r"'sample': expected samples, released, hf:ORGANIZATION/DATASET, or a file"
    ):
        load_cases("sample")
    with pytest.raises(MissingDataError, match=f"there is no file {tmp_path / 'cases.csv'}"):
        load_cases(tmp_path / "cases.csv")


def test_a_case_that_is_not_there_and_the_nearest_that_is(tmp_path):
    path = jsonl(tmp_path / "cases.jsonl", [nested("knee-1"), nested("hip-1")])
    assert [case.id for case in load_cases(path, case="hip-1")] == ["hip-1"]
    with pytest.raises(ParameterError, match=r"case = 'kne-1': .* has none of that id; did you mean 'knee-1'\?"):
        load_cases(path, case="kne-1")


def test_readers_that_take_files_alone_name_what_they_take(tmp_path):
    with pytest.raises(MissingDataError, match=f"there is no file {tmp_path / 'cases.csv'}"):
        data_file(tmp_path / "cases.csv")
    (tmp_path / "cases.txt").touch()
    with pytest.raises(ParameterError, match=r"expected a file that ends in \.jsonl, \.csv, \.parquet"):
        data_file(tmp_path / "cases.txt")


def test_n_cases_keeps_the_first_and_says_how_many_there_are(tmp_path):
    path = jsonl(tmp_path / "cases.jsonl", [nested(str(number)) for number in range(3)])
    assert [case.id for case in load_cases(path, n_cases=2)] == ["0", "1"]
    assert len(load_cases(path, n_cases=3)) == 3
    for wrong in (0, -1, 4, True, "2", 2.0):
        with pytest.raises(ParameterError, match="expected a whole number from 1 to 3, the cases in "):
            load_cases(path, n_cases=wrong)


def test_the_hash_changes_with_content_and_order_only():
    first, second = case_from_row(nested("1"), ""), case_from_row(nested("2"), "")
    other = case_from_row(nested("1", narratives={"clinical": "x", "rural": "y"}), "")
    assert case_hash([first, second]) == case_hash([case_from_row(dict(reversed(nested("1").items())), ""), second])
    assert len({case_hash(cases) for cases in ([first, second], [second, first], [first], [other, second])}) == 4


def test_check_counts_and_warns(tmp_path):
    doubtful = nested("2", options={"A": "x", "B": "x"}, answer="x", question="Name it.", original=None)
    doubtful["narratives"] = dict.fromkeys(("clinical", "rural"), "Three words here")
    lines = check(jsonl(tmp_path / "cases.jsonl", [nested("1"), doubtful])).splitlines()
    assert lines == [
        "cases: 2",
        "options: AB in 2",
        "mean words: clinical 5, rural 6",  # (7 + 3) / 2 = 5 and (8 + 3) / 2 = 5.5 by hand
        "warning: two voices with the same text: 1 of 2 cases, first 2",
        "warning: two options with the same text: 1 of 2 cases, first 2",
        "warning: no question mark at the end of the question sentence: 1 of 2 cases, first 2",
        "warning: no original vignette: 1 of 2 cases, first 2",
    ]


# ---------------------------------------------------------------- the question sentence


@pytest.mark.parametrize(
    ("vignette", "sentence"),
    [
        (VIGNETTE, "Which dose is right?"),
        ('"He asks, ""Will I die?"" What is next?"', "What is next?"),
        ('He says, "I am tired." What is next?', "What is next?"),
        ("Na+ 135.5 mEq/L\nWhich one is it?\nCr 1.0 mg/dL", "Which one is it?"),
        ("It lasts 10 minutes.What is next?", "What is next?"),
        ("She is seen by Dr. Who. Is the dose vs. 5.5 mg right?", "Is the dose vs. 5.5 mg right?"),
        ("Is it St. Anthony's fire?", "Is it St. Anthony's fire?"),
        ("He is well. Which of the following would suggest it:", "Which of the following would suggest it:"),
    ],
)
def test_question_sentence(vignette, sentence):
    assert question_sentence(vignette) == sentence


# ---------------------------------------------------------------- the released data set


def test_released_cases(released, monkeypatch):
    monkeypatch.setenv("NSH_RELEASED_DIR", str(released))
    cases = load_cases("released")
    assert len(cases) == 1000  # `voices` section 3
    assert list(cases[0].narratives) == ["clinical", "socioeconomic", "cultural"]
    assert {"".join(case.options) for case in cases} == {"ABCD"}
    assert all(case.original and case.question in case.original for case in cases)
    assert len([case.id for case in cases if not case.question.endswith("?")]) == 3  # they end in a colon


def test_a_released_question_without_retelling_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_RELEASED_DIR", str(tmp_path))
    (tmp_path / "dataset").mkdir()
    question = {key: flat()[key] for key in ("question_id", "question", "options", "answer_idx")}
    jsonl(tmp_path / "dataset/medqa_1000_filtered.jsonl", [question, question | {"question_id": "8"}])
    retelling = {"question_id": "007", "persona_alpha": "One.", "persona_beta": "Two.", "persona_gamma": "Three."}
    jsonl(tmp_path / "dataset/.persona_cache_v2.jsonl", [retelling])
    with pytest.raises(DataError, match=r"line 2, field 'question_id': .*persona_cache_v2.jsonl; found '8'"):
        load_cases("released")


# ---------------------------------------------------------------- the hub


@pytest.fixture
def hub_folder(tmp_path, monkeypatch):
    """A data set as it lies on the hub: a card and Parquet files, options as the text of a Python dict."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "set@home"
    (folder / "data").mkdir(parents=True)
    rows = []
    for number in range(3):
        row = flat(f"00{number}", persona_gamma="My grandmother looked at my knee.", meta_info="step1")
        row["persona_beta"] = row.pop("narrative_rural")
        rows.append(row)
    pd.DataFrame(rows).to_parquet(folder / "data/train-00000-of-00001.parquet", index=False)
    card = "configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*\n"
    (folder / "README.md").write_text(f"---\n{card}---\n# Made up\n")
    return folder


def test_hub_rows_are_those_of_the_file(hub_folder):
    cases = load_cases(f"hf:{hub_folder}")
    assert [case.id for case in cases] == ["000", "001", "002"]
    assert list(cases[0].narratives) == ["clinical", "cultural", "socioeconomic"]
    assert cases[0].meta == {"answer": "None", "meta_info": "step1"}
    assert case_hash(cases) == case_hash(load_cases(hub_folder / "data/train-00000-of-00001.parquet"))


def test_a_wrong_row_of_the_hub_is_named(hub_folder):
    path = hub_folder / "data/train-00000-of-00001.parquet"
    rows = pd.read_parquet(path)
    rows.loc[1, "options"] = "{'A': 'x'}"
    rows.to_parquet(path, index=False)
    with pytest.raises(DataError, match=r"set@home, split train, row 2, field 'options': expected two to ten options"):
        load_cases(f"hf:{hub_folder}")


def test_without_the_hub_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingDataError, match=r"pip install 'narrativeshield-papers\[hub\]'"):
        load_cases("hf:org/name")


HUB = """
import sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import os

class Hub(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[1]))
        self.send_header("X-Error-Code", sys.argv[2])
        self.send_header("X-Error-Message", "Access to dataset org/name is restricted.")
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_HEAD = do_GET
    def log_message(self, *args): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
from nsh.cases import load_cases
from nsh.errors import MissingDataError
try:
    load_cases("hf:org/name@main")
except MissingDataError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        ("403", "GatedRepo", "gated. Accept its terms at https://huggingface.co/datasets/org/name, then set HF_TOKEN"),
        ("404", "RepoNotFound", "doesn't exist on the Hub or cannot be accessed"),
        (
            "500",
            "offline",
            "the hub cannot be reached and the data set is not in the local cache. Go online once, or save",
        ),
    ],
)
def test_a_hub_that_says_no(tmp_path, status, code, message):
    pytest.importorskip("datasets")
    environment = {"PATH": "", "HF_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    environment["HF_HUB_OFFLINE"] = str(int(code == "offline"))
    command = [sys.executable, "-c", HUB, status, code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert message in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
