"""How fast models run: rates of a stated machine or of a GPU's data sheet, corrected by what earlier runs here took.

The time of a run is that of reading its prompts, one pass over the weights for each step of a batch, and the work on
each new token. All three follow the number of parameters, so rates measured on one model tell of another. Tokens that
prompts begin with alike are read once (`read_tokens`).
"""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from nsh.declared import nearest, read_data
from nsh.errors import ParameterError
from nsh.model_list import BYTES

RUNS = 20  # so many of the newest runs tell how fast this machine is


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast a machine reads (10^9 operations a second), passes over weights (GB/s) and works on new tokens (10^9
    operations a second); from where that is known, "" where it is not; for a GPU, its memory in GiB."""

    read: float
    bandwidth: float
    write: float
    source: str
    memory: float | None = None

    def seconds(self, work: Mapping[str, float], billions: float, byte: float) -> tuple[float, float]:
        """Seconds of reading and of writing, for a model of so many parameters of so many bytes each.

        Examples
        --------
        >>> work = {"read_tokens": 1000, "steps": 10, "new_tokens": 500}
        >>> Rates(100, 10, 100, "made up").seconds(work, billions=0.5, byte=2)
        (10.0, 6.0)
        """
        writing = byte * work["steps"] / self.bandwidth + 2 * work["new_tokens"] / self.write
        return 2 * billions * work["read_tokens"] / self.read, billions * writing


def bytes_of(dtype: str | None, quantization: str | None) -> float:
    """Bytes of a parameter; of one that is loaded in 4 bit, half a byte.

    Examples
    --------
    >>> bytes_of("bfloat16", None), bytes_of("bfloat16", "4bit")
    (2, 0.5)
    """
    return 0.5 if quantization == "4bit" else BYTES.get(dtype, 0)


def gpu_rates(name: str, dtype: str = "bfloat16") -> Rates:
    """Rates of a GPU from its data sheet, at an assumed efficiency (`data/scale/gpus.yaml`), for a number format; their
    `source` is "" in float32, since the list has no such peak.

    Raises
    ------
    ParameterError
        If the list does not hold the GPU; the nearest name is given.

    Examples
    --------
    >>> gpu_rates("A100 80GB").bandwidth, gpu_rates("A100 80GB", "float32").source
    (1019.5, '')
    """
    sheet = read_data("scale/gpus.yaml")
    if name not in sheet["gpus"]:
        listed = ", ".join(sheet["gpus"])
        raise ParameterError(f"--gpu {name}: did you mean {nearest(name, sheet['gpus'])!r}? Listed are {listed}")
    gpu, share = sheet["gpus"][name], sheet["assumed"]
    read = gpu["tflops"] * 1000 * share["read"]
    said = f"assumed for {name}: {share['read']:.0%} of its peak in reading, {share['write']:.0%} of its bandwidth in"
    source = f"{said} writing" if BYTES[dtype] == BYTES["bfloat16"] else ""
    return Rates(read, gpu["bandwidth"] * share["write"], read, source, gpu["memory"])


def listed_gpu(device: str) -> str | None:
    """The name under which `data/scale/gpus.yaml` lists a device, if it does.

    Examples
    --------
    >>> listed_gpu("NVIDIA A100-SXM4-80GB"), listed_gpu("NVIDIA L40S")
    ('A100 80GB', None)
    """
    words = {*re.split(r"\W+", device)}
    return next((name for name in read_data("scale/gpus.yaml")["gpus"] if words >= {*name.split()}), None)


@cache
def machine() -> tuple[str, str]:
    """This machine in words, with the processors that a run uses, the same on another of its kind; and the name of its
    GPUs, "" without any.

    Examples
    --------
    >>> machine()[0]  # doctest: +SKIP
    'x86_64, 2 processors'
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpu = ""
    if find_spec("torch"):
        import torch

        processors = torch.get_num_threads()  # a job of a cluster may have fewer
        gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    return ", ".join(filter(None, (platform.machine(), f"{processors} processors", gpu))), gpu


def rates_here(dtype: str) -> Rates:
    """What is known of this machine before anything ran on it: the rates of another CPU, or of its GPU's data sheet.

    Where its GPU is not listed they are those of the first that is, without a source and a memory: they only give
    earlier runs something to correct.

    Examples
    --------
    >>> rates_here("float32").memory  # doctest: +SKIP
    """
    if gpu := machine()[1]:
        if name := listed_gpu(gpu):
            return gpu_rates(name, dtype)
        return replace(gpu_rates(next(iter(read_data("scale/gpus.yaml")["gpus"]))), source="", memory=None)
    packaged = read_data("scale/rates.yaml")
    row = packaged["rates"].get(dtype, packaged["rates"]["bfloat16"])
    return Rates(**row, source=f"measured in part, in part assumed, of another, idle machine ({packaged['machine']})")


def corrected(rates: Rates, runs: Sequence[Mapping[str, Any]], own: Mapping[str, Any]) -> Rates:
    """Rates by which the earlier runs on this machine would have taken the seconds that they took.

    Reading and writing are each corrected by one factor: least squares of the relative errors, drawn a little towards
    the factor that is best for both.

    Parameters
    ----------
    rates : Rates
        Those where nothing has run yet.
    runs : sequence of mapping
        The run log.
    own : mapping
        `model`, `engine` and `dtype` of the run to plan. Its model's own runs count where there are any, else those of
        other models of a known size.

    Examples
    --------
    >>> own = {"model": "m", "engine": "transformers", "dtype": "float32"}
    >>> run = own | {"machine": machine()[0], "parameters": 1, "byte": 4, "seconds": 160.0}
    >>> run |= {"read_tokens": 100, "steps": 100, "new_tokens": 100}  # 80 s by these rates
    >>> half = corrected(Rates(10, 10, 10, "made up"), [run], own)
    >>> half.read, half.write, half.source
    (5.0, 5.0, '1 run of this model on this machine')
    """
    alike = {"machine": machine()[0], "engine": own["engine"], "dtype": own["dtype"]}
    here = [run for run in runs if run["seconds"] and all(run[name] == value for name, value in alike.items())]
    mine = [run for run in here if run["model"] == own["model"]][-RUNS:]
    used = mine or [run for run in here if run["parameters"]][-RUNS:]
    if not used:
        return rates
    took = [run["seconds"] for run in used]
    by_rates = [rates.seconds(run, run["parameters"] or 1, run["byte"]) for run in used]
    shares = np.array(by_rates) / np.array(took)[:, None]  # runs x (reading, writing)
    both = shares.sum() / (shares.sum(1) ** 2).sum()
    drawn = 0.1 * np.eye(2) / both
    factors = np.linalg.lstsq(np.vstack([shares, drawn]), [1.0] * len(used) + [0.1, 0.1], rcond=None)[0]
    reading, writing = np.clip(factors, both / 4, both * 4).round(6).tolist()
    source = f"{len(used)} run{'s' * (len(used) > 1)} of {'this model' if mine else 'other models'} on this machine"
    rest = {"bandwidth": rates.bandwidth / writing, "write": rates.write / writing, "source": source}
    return replace(rates, read=rates.read / reading, **rest)
