"""What a cluster is asked for: the jobs of a parameter file, what each needs, and which of them wait for which.

`workflow/Snakefile` reads it as JSON, since Snakemake runs under a Python of its own:

    python -m nsh.scale.cluster params/paper.yaml --condition direct --condition rewrite
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

from nsh.cases import load_cases
from nsh.declared import pages, parameters
from nsh.errors import NshError
from nsh.jobs import Settings, find_condition
from nsh.model_list import ROOM, weights_gib
from nsh.models import ModelSpec, resolve
from nsh.params import check, for_page, load_file

# the parameters that make a page's calls others than those of the run; more of a condition's cases are no other calls
CALLS = ("source", "case", "n_cases", "dtype", "quantization", "shortened_cases", *Settings.__slots__)
UNKNOWN_GIB = 32.0  # weights of a model whose size is not known: those of 8 billion parameters in float32, rounded up
PROCESS_GIB = 4.0  # libraries, cases and store
SMALL_GIB = 2.0  # weights up to here are run on the processor


def needed(values: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The models and the conditions that pages run over the cases of a parameter file, each once.

    A page that is given other cases than the file's, or makes its calls in another way, makes its few calls itself,
    when it runs; so do the pages that have cases retold or judged.

    Parameters
    ----------
    values : mapping
        Checked parameters, as `nsh.params.load_file` gives them.

    Examples
    --------
    >>> models, conditions = needed({"models": ["scripted"], "max_new_tokens": 64, "shortened_cases": 2})
    >>> models, conditions[:3]
    (['scripted'], ['direct', 'rewrite', 'cot'])
    """
    run = {name: parameter.default for name, parameter in parameters().items()} | values
    models: dict[str, None] = {}
    conditions: dict[str, None] = {}
    for page in pages().values():
        own = for_page(page, values)
        asked = own.get("conditions", [own["condition"]] if "condition" in own else [])
        if asked and all(own[name] == run[name] for name in CALLS if name in own):
            models |= dict.fromkeys(own["models"])
            conditions |= dict.fromkeys(asked)
    return list(models), list(conditions)


def waits_for(conditions: Iterable[str]) -> dict[str, str | None]:
    """For each condition the one before it that begins with the same call, as all that read an extraction do, or None.

    Side by side, both would pay for that call.

    Examples
    --------
    >>> waits_for(["extract", "direct", "rewrite", "extract_tools"])
    {'extract': None, 'direct': None, 'rewrite': None, 'extract_tools': 'extract'}
    """
    case = load_cases("samples", 1)[0]
    last: dict[str, str] = {}
    before: dict[str, str | None] = {}
    for name in conditions:
        call = next(find_condition(name)(case, next(iter(case.narratives))), None)
        first = repr(call and call.request())
        before[name] = last.get(first) if call else None
        last[first] = name
    return before


def resources(spec: ModelSpec, dtype: str, gpu_gib: float = 80.0) -> dict[str, int]:
    """What one job of a model asks for, by the names that Snakemake has for it.

    Parameters
    ----------
    spec : ModelSpec
    dtype : str
        Number format of the run. A quantized model is given the same room: its weights are loaded before they shrink.
    gpu_gib : float
        Memory of one GPU, in GiB.

    Returns
    -------
    dict
        `mem_mb`: memory of the machine in MiB, `ROOM` times the weights and `PROCESS_GIB`. `gpu`: how many GPUs hold
        `ROOM` times the weights; 0 where the weights take `SMALL_GIB` or less. Unknown weights count as `UNKNOWN_GIB`.

    Examples
    --------
    >>> resources(resolve("Qwen2.5-14B-Instruct"), "bfloat16", gpu_gib=24)
    {'mem_mb': 36140, 'gpu': 2}
    """
    weights = UNKNOWN_GIB if (known := weights_gib(replace(spec, dtype=dtype))) is None else known
    weights = 0.0 if spec.id.startswith("scripted") else weights
    gpus = 0 if weights <= SMALL_GIB else ceil(weights * ROOM / gpu_gib)
    return {"mem_mb": ceil((weights * ROOM + PROCESS_GIB) * 1024), "gpu": gpus}


def plan(values: Mapping[str, Any], models: list[str], conditions: list[str], gpu_gib: float = 80.0) -> dict[str, Any]:
    """Models, each with what it needs, and conditions, each with the one it waits for; those of the pages where none
    are given. `file` is a name that a file may have.

    Raises
    ------
    ParameterError
        If a model or a condition is unknown.

    Examples
    --------
    >>> plan({"dtype": "float32"}, ["scripted"], ["direct"])["models"]
    {'scripted': {'model': 'scripted', 'mem_mb': 4096, 'gpu': 0}}
    """
    by_page = needed(values)
    models = check("models", models, "models") if models else by_page[0]
    conditions = check("conditions", conditions, "conditions") if conditions else by_page[1]
    dtype = values.get("dtype", parameters()["dtype"].default)
    specs = {model: resolve(model) for model in models}
    before = waits_for(conditions)
    return {
        "models": {
            _file(spec.name): {"model": model, **resources(spec, dtype, gpu_gib)} for model, spec in specs.items()
        },
        "conditions": {
            _file(name): {"condition": name, "after": before[name] and _file(before[name])} for name in conditions
        },
    }


def _file(name: str) -> str:
    """A model's or condition's name as that of a file."""
    return name.rpartition(":")[2].replace("/", "_")


def main(arguments: list[str]) -> None:
    """Print the plan of a parameter file as JSON."""
    parser = ArgumentParser(description="What a cluster is asked for, as JSON.")
    parser.add_argument("file")
    for name in ("--model", "--condition"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--gpu-gib", type=float, default=80.0)
    asked = parser.parse_args(arguments)
    try:
        values = load_file(asked.file)
        sys.stdout.write(json.dumps(plan(values, asked.model, asked.condition, asked.gpu_gib), indent=1) + "\n")
    except NshError as error:
        parser.exit(error.exit_code, f"error: {error}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
