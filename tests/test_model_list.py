"""The list of models: every fact with whether it was checked, memory by arithmetic, and what this machine can run."""

import re

import pytest

from nsh.model_list import _held, memory, models_frame, models_lines, models_table, weights_gib
from nsh.models import known


def test_every_model_of_the_three_papers_and_the_packaged_one_is_listed():
    assert len(models_frame()) == len(known()) == 17
    assert models_frame()["model"].tolist() == list(known())


def test_what_was_not_checked_has_a_question_mark():
    frame = models_frame().set_index("model")
    assert frame.loc["SmolLM2-135M-Instruct", "licence"] == "Apache-2.0"
    assert frame.loc["Mistral-Small-24B-Instruct-2501", ["billions", "gated"]].tolist() == ["24", "not known"]
    assert frame.loc["medgemma-4b-it", ["hub id", "billions"]].tolist() == ["google/medgemma-4b-it ?", "4 ?"]
    others = frame.drop(index="SmolLM2-135M-Instruct")
    for column, fact in {"hub id": "id", "billions": "parameters", "licence": "licence", "gated": "gated"}.items():
        checked = others[~others[column].str.fullmatch(r".* \?|not known")]
        assert set(checked.index) == {name for name in others.index if fact in known()[name].verified}, column


@pytest.mark.parametrize(
    ("name", "gib"), [("Qwen2.5-7B-Instruct", 7e9 * 2 / 1024**3), ("SmolLM2-135M-Instruct", 0.503)]
)
def test_memory_is_parameters_times_bytes(name, gib):
    assert weights_gib(known()[name]) == pytest.approx(gib, rel=1e-3)


def test_an_unknown_size_is_not_guessed():
    assert weights_gib(known()["Phi-4-mini-instruct"]) is None
    assert models_frame().set_index("model").loc["Phi-4-mini-instruct", "weights, GiB"] == "not known"


def test_what_runs_here_depends_on_the_memory(monkeypatch):
    monkeypatch.setattr("nsh.model_list.memory", lambda: {"cpu": 8.0})
    lines = models_lines()
    assert re.search(r"(?s)Qwen2\.5-3B-Instruct \(sdoh\).{0,400}runs here: yes\n", lines)
    assert re.search(r"(?s)Mistral-Small-24B-Instruct-2501 \(voices\).{0,400}runs here: no, needs 54 GiB\n", lines)
    assert max(map(len, lines.splitlines())) <= 100
    assert "CPU 8 GiB" in lines


def test_a_model_is_on_this_machine_once_its_weights_are(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    cache = tmp_path / "models--BioMistral--BioMistral-7B"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text("a" * 40)
    (snapshot := cache / "snapshots" / ("a" * 40)).mkdir(parents=True)
    for file, held in {"config.json": "no", "pytorch_model.bin": "yes"}.items():
        (snapshot / file).write_text("{}")
        assert _held(known()["BioMistral-7B"]) == held


def test_memory_of_this_machine_is_found():
    assert memory()["cpu"] > 1


def test_the_page_shows_nothing_of_the_machine():
    assert "runs here" not in models_table().text and "on this machine" not in models_table().text


def test_only_qwen3_has_a_thinking_switch_and_it_is_off():
    assert {name: spec.template for name, spec in known().items() if spec.template} == {
        "Qwen3-8B": {"enable_thinking": False}
    }
