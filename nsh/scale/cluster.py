"""What a cluster is asked for: the jobs of a parameter file, what each needs, and which of them wait for which.

`workflow/Snakefile` reads it as JSON, since Snakemake runs under a Python of its own:

    python -m nsh.scale.cluster params/paper.yaml --condition direct --condition rewrite
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from hashlib import sha256
from math import ceil, inf
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nsh.cases import Case, case_hash, load_cases
from nsh.declared import pages, parameters
from nsh.errors import NshError, ParameterError
from nsh.jobs import Settings, changes_calls, find_condition, own_files
from nsh.model_list import BYTES, ROOM, weights_gib
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
    when it runs; so do the pages that have cases retold or judged, and those that do not take what the file changes.

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
    usual = {name: parameter.default for name, parameter in parameters().items()}
    run = usual | values
    models: dict[str, None] = {}
    conditions: dict[str, None] = {}
    for page in pages().values():
        own = for_page(page, values)
        asked = own.get("conditions", [own["condition"]] if "condition" in own else [])
        lacking = [name for name in CALLS if name not in own and run[name] != usual[name]]
        asked = [condition for condition in asked if not any(changes_calls(name, condition) for name in lacking)]
        if asked and all(own[name] == run[name] for name in CALLS if name in own):
            models |= dict.fromkeys(own["models"])
            conditions |= dict.fromkeys(asked)
    return list(models), list(conditions)


def waits_for(conditions: Iterable[str], case: Case | None = None) -> dict[str, str | None]:
    """For each condition the one before it that begins with the same call, as all that read an extraction do, or None.

    Side by side, both would pay for that call.

    Examples
    --------
    >>> waits_for(["extract", "direct", "rewrite", "extract_tools"])
    {'extract': None, 'direct': None, 'rewrite': None, 'extract_tools': 'extract'}
    """
    case = case or load_cases("samples", 1)[0]
    last: dict[str, str] = {}
    before: dict[str, str | None] = {}
    for name in conditions:
        call = next(find_condition(name)(case, next(iter(case.narratives))), None)
        first = repr(call and call.request())
        before[name] = last.get(first) if call else None
        last[first] = name
    return before


def resources(spec: ModelSpec, dtype: str, gpu_gib: float = 80.0, gpus: int | None = None) -> dict[str, int]:
    """What one job of a model asks for, by the names that Snakemake has for it.

    Parameters
    ----------
    spec : ModelSpec
    dtype : str
        Number format of the run. A quantized model is given the same room: its weights are loaded before they shrink.
    gpu_gib : float
        Memory of one GPU, in GiB.
    gpus : int, optional
        How many GPUs share the weights, where the run says so.

    Returns
    -------
    dict
        `mem_mb`: memory of the machine in MiB, `ROOM` times the weights and `PROCESS_GIB`. `gpu`: `gpus` where given,
        else how many hold `ROOM` times the weights, and 0 where these take `SMALL_GIB` or less. Unknown weights count
        as `UNKNOWN_GIB`.

    Examples
    --------
    >>> resources(resolve("Qwen2.5-14B-Instruct"), "bfloat16", gpu_gib=24)
    {'mem_mb': 36140, 'gpu': 2}
    """
    weights = UNKNOWN_GIB if (known := weights_gib(spec, BYTES[dtype])) is None else known
    if spec.id.startswith("scripted"):
        weights, gpus = 0.0, 0
    elif gpus is None:
        gpus = 0 if weights <= SMALL_GIB else ceil(weights * ROOM / gpu_gib)
    return {"mem_mb": ceil((weights * ROOM + PROCESS_GIB) * 1024), "gpu": gpus}


def plan(values: Mapping[str, Any], models: list[str], conditions: list[str], gpu_gib: float = 80.0) -> dict[str, Any]:
    """Models, each with what it needs, and conditions, each with the one it waits for; those of the pages where none
    are given, under names that files may have; and a hash of what the generations are made from, by which the workflow
    knows that a finished job is to be run again.

    Raises
    ------
    ParameterError
        If a model or a condition is unknown, none is left, or `gpu_gib` is no size.
    DataError
        If the cases cannot be read.

    Examples
    --------
    >>> plan({"dtype": "float32"}, ["scripted"], ["direct"])["models"]
    {'scripted': {'model': 'scripted', 'mem_mb': 4096, 'gpu': 0}}
    """
    by_page = needed(values)
    named = by_page[0] or (values.get("models", parameters()["models"].default) if conditions else [])
    models = check("models", models, "models") if models else named
    conditions = check("conditions", conditions, "conditions") if conditions else by_page[1]
    dtype = values.get("dtype", parameters()["dtype"].default)
    specs = {model: resolve(model) for model in models}
    sharing = values.get("tensor_parallel", 1) if values.get("engine") == "vllm" else None
    if models and not conditions:
        raise ParameterError("no page asks for a condition in this way: name the conditions that are to be run")
    if conditions and not models:
        raise ParameterError("models = []: conditions are named, and no model that they could be run with")
    if not 1 <= gpu_gib < inf:
        raise ParameterError(f"gpu_gib = {gpu_gib}: expected 1 or more")
    source, n, case = (values.get(name, parameters()[name].default) for name in ("source", "n_cases", "case"))
    cases = load_cases(source, n, case)
    before = waits_for(conditions, cases[0])
    return {
        "models": {
            _file(spec.name): {"model": model, **resources(spec, dtype, gpu_gib, sharing)}
            for model, spec in specs.items()
        },
        "conditions": {
            _file(name): {"condition": name, "after": before[name] and _file(before[name])} for name in conditions
        },
        "made_from": _made_from(values, cases, conditions),
    }


def _made_from(values: Mapping[str, Any], cases: Iterable[Case], conditions: Iterable[str]) -> str:
    """A hash of parameters, cases, conditions of one's own with the prompts beside them, and this package."""
    digest = sha256(json.dumps([dict(values), case_hash(cases)], sort_keys=True).encode())
    files = [path for kind in ("*.py", "*.yaml") for path in Path(__file__).parents[1].rglob(kind)]
    for path in [*sorted(files), *(path for name in conditions for path in own_files(name))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _file(name: str) -> str:
    """A model's or condition's name as that of a file, as no other one has it."""
    return quote(name.rpartition(":")[2], safe="")


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
