"""Names of models against the papers' own tables, and what identifies a model before it is loaded."""

import csv
import json
import subprocess
import sys
import time
from importlib.resources import files

import pytest

from nsh.errors import ParameterError
from nsh.models import fingerprint, known, resolve


def names_of(paper: str) -> set[str]:
    return {name for name, model in known().items() if paper in model.papers}


def test_the_models_of_facts_are_those_of_its_table_3():
    rows = csv.DictReader(files("nsh").joinpath("data/published/facts_table3_b1.csv").open(encoding="utf-8"))
    assert names_of("facts") == {row["model"] for row in rows}


def test_the_papers_evaluate_as_many_models_as_they_say():
    assert len(names_of("voices")) == 12  # voices, section 4: "Twelve open models in five families"
    assert len({known()[name].family for name in names_of("voices")}) == 5
    assert len(names_of("facts")) == 7  # facts, section 3.1
    assert names_of("sdoh") == {f"Qwen2.5-{size}-Instruct" for size in ("1.5B", "3B", "7B")}  # sdoh, section IV-B


def test_sizes_are_within_the_ranges_that_the_papers_print():
    sizes = {paper: [known()[name].parameters for name in names_of(paper)] for paper in ("voices", "facts")}
    given = [size for size in sizes["voices"] if size]
    assert (min(given), max(given)) == (3, 24)  # voices, abstract: "3B to 24B"
    assert (min(sizes["facts"]), max(sizes["facts"])) == (3, 12)  # facts, Limitations: "3B to 12B"


def test_what_was_not_opened_is_marked_unverified_and_has_no_revision():
    unresolved = {name: model for name, model in known().items() if "revision" not in model.verified}
    assert len(unresolved) == len(known()) - 1
    assert {model.revision for model in unresolved.values()} == {None}
    assert {name for name, model in unresolved.items() if not model.verified} == {
        *("Llama-3.1-8B-Instruct", "medgemma-4b-it", "gemma-3-12b-it")  # no page of theirs was at hand
    }
    facts = {"id", "revision", "quantization", "parameters", "context", "family", "licence", "system_role", "gated"}
    assert {*resolve("SmolLM2-135M-Instruct").verified} == facts


def test_only_known_facts_count_as_verified():
    for model in known().values():
        assert all(getattr(model, fact) is not None for fact in model.verified), model.name


def test_the_revision_of_the_packaged_model_is_its_package():
    model = resolve("SmolLM2-135M-Instruct")
    assert model.revision == "{name} {version} ({file})".format(**model.package)


@pytest.mark.parametrize("given", ["Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"])
def test_name_and_hub_id_are_the_same_model(given):
    assert resolve(given) is known()["Qwen2.5-7B-Instruct"]


def test_any_hub_id_and_any_scripted_name_resolve():
    other = resolve("someone/some-model")
    assert (other.name, other.id) == ("some-model", "someone/some-model")
    assert resolve("scripted-always-b").id == "scripted-always-b"


@pytest.mark.parametrize(
    "given, said",
    [
        ("Qwen2.5-7B", "did you mean 'Qwen2.5-7B-Instruct'"),
        ("BioMistral/BioMistral7B/x", "did you mean 'BioMistral/BioMistral-7B'"),
        ("", "unknown model ''"),
        ("weights/absent.gguf", "there is no such file"),
    ],
)
def test_anything_else_is_refused_by_name(given, said):
    with pytest.raises(ParameterError, match=said):
        resolve(given)


def test_a_folder_is_a_model_only_with_a_config(tmp_path):
    with pytest.raises(ParameterError, match=r"no config\.json"):
        resolve(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert resolve(str(tmp_path)).path == tmp_path


def test_other_weights_in_the_same_place_are_another_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(5 << 20))
    first = resolve(str(tmp_path)).identity()
    weights.write_bytes(bytes((5 << 20) - 1) + b"\1")
    assert resolve(str(tmp_path)).identity() != first
    trained = bytearray(5 << 20)
    trained[2 << 20 : 3 << 20] = b"\1" * (1 << 20)  # a fifth of the weights, its ends alike
    weights.write_bytes(trained)
    assert resolve(str(tmp_path)).identity() != first
    assert fingerprint(weights) != fingerprint(tmp_path / "config.json")


def test_a_copy_of_a_gguf_file_has_the_same_identity(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.gguf").write_bytes(b"GGUF" * 99)
    first, second = (resolve(str(tmp_path / name / "m.gguf")).identity() for name in ("a", "b"))
    assert first == second
    assert first["quantization"] == "as in the GGUF file, dequantized"


def test_dtype_and_template_are_part_of_the_identity():
    model = resolve("Qwen3-8B")
    assert model.identity("float32") != model.identity()
    # voices, section 4: "Qwen3-8B with thinking disabled"
    assert model.identity()["template"] == {"date": "2024-07-26", "enable_thinking": False}
    assert all(json.loads(json.dumps(spec.identity())) == spec.identity() for spec in known().values())


@pytest.mark.timed
def test_resolving_imports_no_model_library_and_takes_milliseconds():
    program = "import sys; from nsh.models import resolve; resolve('Qwen3-8B'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    start = time.perf_counter()
    resolve("SmolLM2-135M-Instruct")
    assert time.perf_counter() - start < 0.1
