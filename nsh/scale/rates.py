"""How fast models run: rates of a stated machine or of a GPU's data sheet, corrected by what earlier runs here took.

The time of a run is that of reading its prompts, one pass over the weights for each step of a batch, and the work on
each new token. All three follow the number of parameters, so rates measured on one model tell of another.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from nsh.declared import nearest, read_data
from nsh.errors import ParameterError
from nsh.model_list import BYTES, ROOM

BYTES_4BIT = 0.5
RUNS = 20  # so many of the newest runs tell how fast this machine is


@dataclass(frozen=True, slots=True)
class Work:
    """What a run does: prompt tokens read, steps of its batches, new tokens."""

    prompt_tokens: float
    steps: float
    new_tokens: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast a machine reads (10^9 operations a second), passes over weights (GB/s) and works on new tokens (10^9
    operations a second); what of that is known, in words; for a GPU, its memory in GiB."""

    read: float
    bandwidth: float
    write: float
    source: str
    memory: float | None = None

    def seconds(self, work: Work, billions: float, byte: float) -> tuple[float, float]:
        """Seconds of reading and of writing for a model of so many parameters, at so many bytes each.

        Examples
        --------
        >>> Rates(100, 10, 100, "made up").seconds(Work(1000, 10, 500), billions=0.5, byte=2)
        (10.0, 6.0)
        """
        reading = 2 * billions * work.prompt_tokens / self.read
        return reading, billions * byte * work.steps / self.bandwidth + 2 * billions * work.new_tokens / self.write


def bytes_of(dtype: str, quantization: str | None) -> float:
    """Bytes of a parameter."""
    return BYTES_4BIT if quantization == "4bit" else BYTES[dtype]


def gpu_rates(name: str) -> Rates:
    """Rates of a GPU from its data sheet, at an assumed efficiency (`data/scale/gpus.yaml`).

    Raises
    ------
    ParameterError
        If the list does not hold the GPU; the nearest name is given.

    Examples
    --------
    >>> round(gpu_rates("A100 80GB").bandwidth)
    1019
    """
    sheet = read_data("scale/gpus.yaml")
    if name not in sheet["gpus"]:
        listed = ", ".join(sheet["gpus"])
        raise ParameterError(f"--gpu {name}: did you mean {nearest(name, sheet['gpus'])!r}? Listed: {listed}")
    gpu, share = sheet["gpus"][name], sheet["assumed"]
    read = gpu["tflops"] * 1000 * share["read"]
    said = (
        f"assumed for one {name}: {share['read']:.0%} of its peak when reading, {share['write']:.0%} of its bandwidth"
    )
    return Rates(read, gpu["bandwidth"] * share["write"], read, f"{said} when writing", gpu["memory"])


@cache
def machine() -> tuple[str, str | None]:
    """This machine in words, the same on another of its kind, and the name of its first GPU, if PyTorch sees one."""
    said = f"{platform.machine()}, {os.cpu_count()} processors"
    if find_spec("torch"):
        import torch

        if cards := torch.cuda.device_count():
            name = torch.cuda.get_device_name(0)
            return f"{said}, {cards} {name}", name
    return said, None


def rates_here(dtype: str) -> Rates | None:
    """Packaged rates for this machine: measured on another CPU, or of its GPU's data sheet; None where that is not
    listed."""
    gpu = machine()[1]
    if gpu:
        listed = read_data("scale/gpus.yaml")["gpus"]
        name = next((name for name in listed if all(part in gpu for part in name.split())), None)
        return gpu_rates(name) if name else None
    packaged = read_data("scale/rates.yaml")
    row = packaged["rates"].get(dtype, packaged["rates"]["bfloat16"])
    return Rates(**row, source=f"measured on another machine ({packaged['machine']})")


def corrected(rates: Rates, runs: Sequence[Mapping[str, Any]], own: Mapping[str, Any], dtype: str) -> Rates:
    """Rates that give the seconds which earlier runs on this machine took.

    Reading and writing are each corrected by one factor, by least squares over the relative errors, drawn towards
    the factor that is best for both.

    Parameters
    ----------
    rates : Rates
        Where nothing has run yet.
    runs : sequence of mapping
        The run log.
    own : mapping
        `model` and `engine` of the run to plan: of the model's own runs where there are any, else of others' of a
        known size.
    dtype : str
        Number format of the run.

    Examples
    --------
    >>> run = {"model": "m", "engine": "e", "dtype": "float32", "machine": machine()[0], "parameters": 1, "byte": 4}
    >>> run |= {"seconds": 40.0, "prompt_tokens": 100, "steps": 100, "new_tokens": 100}
    >>> twice = corrected(Rates(10, 100, 10, "made up"), [run], {"model": "m", "engine": "e"}, "float32")
    >>> round(twice.read / 10, 2), twice.source
    (1.1, '1 run of this model on this machine')
    """
    alike = {"engine": own["engine"], "dtype": dtype, "machine": machine()[0]}
    here = [run for run in runs if run["steps"] and all(run[name] == value for name, value in alike.items())]
    mine = [run for run in here if run["model"] == own["model"]][-RUNS:]
    used = mine or [run for run in here if run["parameters"]][-RUNS:]
    if not used:
        return rates
    reading, writing = _factors(rates, used)
    whose = "this model" if mine else "other models"
    source = f"{len(used)} run{'s' * (len(used) > 1)} of {whose} on this machine"
    return Rates(rates.read / reading, rates.bandwidth / writing, rates.write / writing, source, rates.memory)


def _factors(rates: Rates, runs: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """How many times as long as by the rates the reading and the writing of runs took."""
    import numpy as np

    shares = []
    for run in runs:
        work = Work(run["prompt_tokens"], run["steps"], run["new_tokens"])
        shares.append([part / run["seconds"] for part in rates.seconds(work, run["parameters"] or 1, run["byte"])])
    both = np.array(shares)  # runs x (reading, writing), 1 in a row's sum where the rates are right
    whole = both.sum(1)
    one = whole.sum() / (whole @ whole)
    wanted = np.concatenate([np.ones(len(runs)) - one * whole, np.zeros(2)])
    off = np.linalg.lstsq(np.vstack([both, 0.1 * np.eye(2) / one]), wanted, rcond=None)[0]
    reading, writing = np.clip(one + off, one / 4, one * 4)
    return float(reading), float(writing)


def cards(gib: float, rates: Rates) -> int:
    """How many GPUs hold a model's weights with the room of a run; one without a GPU."""
    return -(-int(gib * ROOM * 1024) // int(rates.memory * 1024)) if rates.memory else 1
