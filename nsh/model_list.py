"""The list of the papers' models: what is known of each, what of it was checked, and what this machine can run."""

import textwrap
from importlib.metadata import distributions
from importlib.util import find_spec
from typing import Any

import pandas as pd

from nsh.models import ModelSpec, known
from nsh.scale.memory import machine_bytes
from nsh.tables import Block, table

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
ROOM = 1.2  # memory of a run over that of its weights
SHOWN = {"id": "hub id", "parameters": "billions", "licence": "licence", "gated": "gated", "system_role": "system turn"}


def weights_gib(spec: ModelSpec, byte: float | None = None) -> float | None:
    """Memory of a model's weights, in its recommended number format unless `byte` is given, in GiB; None
    where the size is not known.

    Parameters
    ----------
    spec : ModelSpec
    byte : float, optional
        Bytes of one parameter.

    Examples
    --------
    >>> round(weights_gib(known()["Qwen2.5-7B-Instruct"]), 1)
    13.0
    """
    if spec.parameters is None or spec.effective:
        return None
    return spec.parameters * 1e9 * (byte or BYTES[spec.dtype]) / 2**30


def memory() -> dict[str, float]:
    """Memory of this machine in GiB: "cpu", and "gpu" where PyTorch sees one."""
    found = {"cpu": machine_bytes() / 2**30}
    if find_spec("torch"):
        import torch

        sizes = [torch.cuda.get_device_properties(card).total_memory for card in range(torch.cuda.device_count())]
        found |= {"gpu": sum(sizes) / 2**30} if sizes else {}
    return found


def models_frame() -> pd.DataFrame:
    """Every listed model, a row each; a question mark follows a fact that was not checked."""
    rows = []
    for spec in known().values():
        row: dict[str, Any] = {"model": spec.name, "papers": ", ".join(spec.papers) or "packaged"}
        row |= {heading: _told(spec, fact) for fact, heading in SHOWN.items()}
        size = weights_gib(spec)
        rows.append(row | {"dtype": spec.dtype, "weights, GiB": "not known" if size is None else f"{size:.1f}"})
    return pd.DataFrame(rows)


def models_table() -> Block:
    """The list as a page shows it, the same on every machine."""
    caption = "The models of the papers and the packaged one; ? follows what was not checked"
    return table(models_frame(), caption, numeric=["billions", "weights, GiB"])


def models_lines() -> str:
    """The list as the command line shows it, with what this machine holds and can run."""
    here = memory()
    place = "gpu" if "gpu" in here else "cpu"
    lines = []
    for spec, row in zip(known().values(), models_frame().to_dict("records"), strict=True):
        said = [f"{heading}: {row[heading]}" for heading in ("billions", "dtype", "weights, GiB", "gated", "licence")]
        said.append(f"system turn: {row['system turn']}; revision: {spec.revision or 'not resolved'}")
        here_too = f"weights on this machine: {_held(spec)}; runs here: {_runs(spec, here[place])}"
        lines.append(f"{spec.name} ({row['papers']})  {row['hub id']}")
        lines += [f"    {line}" for line in (*textwrap.wrap("; ".join(said), 90), here_too)]
    sizes = ", ".join(f"{name.upper()} {size:.0f} GiB" for name, size in here.items())
    legend = f"A run is taken to need {ROOM} times the memory of the weights; ? follows what was not checked."
    return "\n".join([*lines, "", f"Memory of this machine: {sizes}.", legend])


def _told(spec: ModelSpec, fact: str) -> str:
    """A fact in words, with a question mark where it was not checked."""
    value = getattr(spec, fact)
    if value is None:
        return "not known"
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value}"
    return text if fact in spec.verified else f"{text} ?"


def _runs(spec: ModelSpec, room: float) -> str:
    """Whether a machine with so many GiB can run a model."""
    size = weights_gib(spec)
    return "not known" if size is None else "yes" if size * ROOM <= room else f"no, needs {size * ROOM:.0f} GiB"


def _held(spec: ModelSpec) -> str:
    """Whether a model's weights are on this machine; no network is used."""
    if spec.package:
        return "yes" if next(iter(distributions(name=spec.package["name"])), None) else "no"
    if not find_spec("huggingface_hub"):
        return "no"
    from huggingface_hub import try_to_load_from_cache

    return "yes" if any(isinstance(try_to_load_from_cache(spec.id, file), str) for file in WEIGHTS) else "no"
