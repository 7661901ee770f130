"""Data of one's own: the shapes lead back to the case, and every message of the check is brought out on the page."""

import ast
import inspect
import io
import sys
from pathlib import Path

import pandas as pd
import pytest
from made_cases import make_cases
from test_samples import numbers_lacking

from nsh import case_fields, case_files, case_rows, cases
from nsh.cases import case_hash, check, load_cases
from nsh.opening import open_page
from nsh.sections.own_data import PARQUET, messages, messages_shown, shapes

OWN = Path(__file__).resolve().parents[1] / "book" / "making" / "own.jsonl"
MODULES = (case_fields, case_files, case_rows, cases)
# raised for what no single file brings out: other sources, other readers' files, parameters of a run
ELSEWHERE = {"number", "data_file", "read_hub", "read_released", "load_cases"}


@pytest.fixture
def own():
    return load_cases(OWN)


def test_each_shape_is_read_back_as_the_same_case(own, tmp_path):
    for case in own:
        row = {**shapes(case)}
        assert row[".parquet"] == PARQUET
        for ending in (".jsonl", ".csv"):
            (tmp_path / f"cases{ending}").write_text(row[ending], encoding="utf-8")
        pd.read_csv(io.StringIO(row[".csv"]), dtype=str).to_parquet(tmp_path / "cases.parquet", index=False)
        read = [load_cases(tmp_path / f"cases{ending}") for ending in row]
        assert len({case_hash(found) for found in read}) == 1
        assert (read[0][0].narratives, read[0][0].options, read[0][0].original) == (
            case.narratives,
            case.options,
            case.original,
        )


def test_ten_options_and_five_voices_have_a_shape_too(tmp_path):
    (case,) = make_cases(1, tuple("vwxyz"), "ABCDEFGHIJ")
    (tmp_path / "cases.csv").write_text(shapes(case)[".csv"])
    (read,) = load_cases(tmp_path / "cases.csv")
    assert "".join(read.options) == "ABCDEFGHIJ" and list(read.narratives) == list("vwxyz")


def raised() -> dict[tuple[str, int], str]:
    """Where the modules that read cases raise an error of their own: file and line -> function."""
    found = {}
    for module in MODULES:
        file = inspect.getsourcefile(module)
        for function in ast.parse(Path(file).read_text(encoding="utf-8")).body:
            for node in ast.walk(function):
                if isinstance(node, ast.Raise) and getattr(node.exc, "func", None) and function.name not in ELSEWHERE:
                    found[file, node.lineno] = function.name
    return found


def test_the_page_brings_out_every_message_there_is():
    places, reached = raised(), set()

    def trace(frame, event, argument):
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return trace if frame.f_code.co_filename in {file for file, _ in places} else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = messages()
    finally:
        sys.settrace(before)
    assert len(places) > 20
    assert {f"{Path(file).name}, {line}" for file, line in set(places) - reached} == set()
    assert found["what"].is_unique and found["message"].is_unique
    assert not found["message"].str.contains("Traceback|/tmp|<class").any()
    warned = found[found["message"].str.startswith("warning: ")]
    assert [message.split(": ")[1] for message in warned["message"]] == list(cases.DOUBTS)


def test_a_message_names_place_expectation_and_value():
    told = messages().set_index("what")["message"]
    assert told["letters with a gap"] == (
        "cases.jsonl, line 2, field 'options': expected two to ten options with consecutive letters from A; "
        "found ['A', 'C']"
    )
    named = told[
        [what for what in told.index if not what.startswith(("allowed", "there is", "no rows", "another", "no P"))]
    ]
    assert named.str.match(r"cases\.(jsonl|csv), (line|row|header)").all()


def test_messages_stand_in_the_table_as_code_and_escaped():
    block = messages_shown()
    assert block.html.count("<td><code>") == block.html.count("</code></td>") == len(messages())
    assert "found &#x27;C&#x27;</code>" in block.html and "<bdi>the right letter is none" in block.html


def test_the_cases_of_the_page_are_ours_and_tell_the_same_numbers(own):
    assert check(OWN).splitlines()[:2] == ["cases: 4", "options: ABCDEF in 4"]
    assert list(own[0].narratives) == ["note", "phone", "form"]
    for case in own:
        texts = [*case.narratives.values(), *([case.original] if case.original else [])]
        assert not any(numbers_lacking(one, other) for one in texts for other in texts)
        assert all(text.endswith(case.question) for text in texts)
        assert not any(case.options[case.gold].lower() in text.lower() for text in texts)


def test_the_page_opens_on_its_file_and_on_any_other(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    study = open_page("beyond-own-data", source=str(OWN), models=["scripted"], n_cases=3)
    assert (study.reference, len(study.records), study.chance) == ("note", 9, pytest.approx(1 / 6))
    assert open_page("beyond-own-data", models=[], n_cases=3, source="samples").records.empty
