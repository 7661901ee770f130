"""Parameters: declared once, checked before anything is loaded, told apart from near misses."""

from pathlib import Path

import numpy as np
import pytest

from nsh.declared import find_page, pages, parameters
from nsh.errors import ParameterError
from nsh.params import check, for_page, load_file, parse_assignment

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n_cases=5", 5),
        ("n_cases=null", None),
        ("answer_only=true", True),
        ("models=[a/b, c/d]", ["a/b", "c/d"]),
        ("models=a/b", ["a/b"]),
        ("models=[]", []),
        ("seed=0", 0),
        ("source=samples", "samples"),
    ],
)
def test_text_is_read_by_the_declared_type(text, value):
    assert parse_assignment(text)[1] == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n_itmes=5", "did you mean 'n_cases'"),
        ("n_cases=many", "n_cases = 'many': expected int or null"),
        ("n_cases=010", "n_cases = '010'"),
        ("n_cases=5.0", "n_cases = 5.0"),
        ("n_cases=0", "expected at least 1"),
        ("n_cases=true", "n_cases = True"),
        ("answer_only=1", "answer_only = 1"),
        ("answer_only=yes", "answer_only = 'yes'"),
        ("models=nosuch", "nosuch"),
        ("condition=direkt", "did you mean 'direct'"),
        ("dtype=float23", "expected one of float32"),
        ("source=/no/such/file.csv", "no/such/file.csv"),
        ("seed", "expected name=value"),
        ("models=[a", "expected list"),
        ("models=[\udcff]", "expected list"),  # a byte of a command line that is no text
        ("models=[a/m, b/m]", "named alike"),
        ("models=[scripted, scripted]", "named alike"),
        ("source=", "or a path that exists"),
        ("source=hf:", "or a path that exists"),
        ("source=~nosuch/x.csv", "or a path that exists"),
        ("released=hf:x/y", "or a path that exists"),
    ],
)
def test_bad_values_are_refused_by_name(text, message):
    with pytest.raises(ParameterError, match=message):
        parse_assignment(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("seed: 010", "seed = '010': expected int"),
        ("seed: 0o10", "seed = '0o10'"),
        ("seed: 2024-01-02", "seed = '2024-01-02'"),
        ("seed: 1e3", "seed = 1000.0"),
        ("answer_only: no", "answer_only = 'no': expected bool"),
        ("models: [a/b, no]", "'no'"),
        ("n_itmes: 5", "did you mean 'n_cases'"),
        ("- seed", "expected one `name: value` a line"),
        ("seed: [", "not a YAML file"),
        ("seed: 1\nseed: 2", "'seed' stands twice"),
        ("1: 2", "unknown parameter 1"),
    ],
)
def test_yaml_traps_are_refused(tmp_path, content, message):
    (tmp_path / "x.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(ParameterError, match=message) as caught:
        load_file(tmp_path / "x.yaml")
    assert "x.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("models", ("a/b", "c/d"), ["a/b", "c/d"]),
        ("n_cases", np.int64(5), 5),
        ("answer_only", np.bool_(True), True),
        ("source", ROOT / "README.md", str(ROOT / "README.md")),
    ],
)
def test_python_values_become_plain(name, given, value):
    checked = check(name, given, "test")
    assert checked == value
    assert type(checked) is type(value)


def test_paths_become_absolute(tmp_path, monkeypatch):
    """A page runs in the checkout: a path must mean the same file there."""
    (tmp_path / "mine.jsonl").write_text("")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert check("source", "mine.jsonl", "test") == str(tmp_path / "mine.jsonl")
    assert check("released", ".", "test") == str(tmp_path)
    assert check("models", ["model", "a/b"], "test") == [str(tmp_path / "model"), "a/b"]


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"source: caf\xe9")
    with pytest.raises(ParameterError, match="not a YAML file in UTF-8"):
        load_file(tmp_path / "x.yaml")


def test_a_set_is_refused():
    with pytest.raises(ParameterError, match="models"):
        check("models", {"a/b"}, "test")


def test_an_unknown_page_names_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'voices-05-anchoring'"):
        find_page("voices-5-anchoring")


def test_every_page_takes_declared_parameters_only():
    taken = {name for page in pages().values() for name in page.parameters}
    assert taken == {name for name, parameter in parameters().items() if parameter.kind != "run"}


def test_defaults_pass_their_own_check():
    for name, parameter in parameters().items():
        assert check(name, parameter.default, "declaration") == parameter.default


@pytest.mark.parametrize("file", sorted((ROOT / "params").glob("*.yaml")), ids=lambda file: file.name)
def test_the_ways_of_running_pass(file):
    assert load_file(file)


def test_workshop_is_the_default():
    """But for the six cases of the second lesson, all of which it takes."""
    for name, value in load_file(ROOT / "params" / "workshop.yaml").items():
        taking = [page for page in pages().values() if name in page.parameters]
        assert {page.slug for page in taking if page.default(name) != value} <= {"workshop-2-mitigation"}


def test_a_page_takes_its_own_parameters():
    values = for_page(find_page("voices-03-benchmark"), {"n_cases": 3, "seed": 1})
    assert values == {"source": "samples", "n_cases": 3, "reference": None, "released": "auto"}
