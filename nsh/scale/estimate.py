"""The plan of a model's run: what is counted, with memory and time, each exact or estimated and from what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import pandas as pd

from nsh.batching import check_length
from nsh.errors import EngineError, ParameterError
from nsh.jobs import Job
from nsh.model_list import BYTES, ROOM, weights_gib
from nsh.models import ModelSpec
from nsh.place import packaged_generations, store_folder
from nsh.scale.lengths import Lengths, steps
from nsh.scale.memory import CPU_TOKENS, bytes_per_token, machine_bytes, together_within, tokens_within
from nsh.scale.plan import count_calls
from nsh.scale.rates import Rates, bytes_of, corrected, gpu_rates, rates_here
from nsh.scale.run_log import runs
from nsh.scale.tokens import PACKAGED, Tokens, config_of, fetched
from nsh.store import Store
from nsh.study import Study


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What a model's run would cost.

    Parameters
    ----------
    model, dtype : str
    lines : pandas.DataFrame
        As `nsh.scale.plan.count_calls` gives it, with `seconds` (nan where not known).
    foreign : str
        Why tokens were counted with the packaged model's tokenizer; empty where they are the model's own.
    weights, cache : float, optional
        GiB of the weights, and of the keys and values of a full batch, where known.
    gpus : int
        GPUs that share the weights; 0 where no GPU is planned with.
    lengths_from : mapping
        From where the lengths of replies are known, and the stages of which they are.
    time_from : str
        From where the rates are known; empty where time is not.
    prompts : tuple of str
        The first two, as the model would see them.
    """

    model: str
    dtype: str | None
    lines: pd.DataFrame
    foreign: str
    weights: float | None
    cache: float | None
    gpus: int
    lengths_from: Mapping[str, list[str]]
    time_from: str
    prompts: tuple[str, ...]

    @property
    def total(self) -> dict[str, float]:
        """All conditions together."""
        return self.lines.sum(skipna=False).to_dict()


class Planner:
    """Plans runs over one store; each tokenizer counts each distinct prompt once.

    Parameters
    ----------
    store : Store
    gpu : str, optional
        A GPU of `data/scale/gpus.yaml`, in the place of this machine.
    """

    def __init__(self, store: Store, gpu: str | None = None):
        if gpu is not None:
            gpu_rates(gpu)  # refused where it is not listed
        self.store, self.gpu, self.runs = store, gpu, runs(store.folder)
        self._counts: dict[str, Tokens] = {}

    def _count(self, spec: ModelSpec) -> tuple[Tokens, str]:
        """What counts a model's tokens, and why it is not its own tokenizer, if it is not."""
        if spec.id.startswith("scripted"):
            return Tokens(), ""
        try:
            if spec.name not in self._counts:
                self._counts[spec.name] = Tokens(fetched("AutoTokenizer", spec), spec.identity()["template"])
            return self._counts[spec.name], ""
        except EngineError as error:
            if spec is PACKAGED:
                raise
            return self._count(PACKAGED)[0], str(error)

    def plan(
        self, spec: ModelSpec, jobs: Sequence[Job], identity: Mapping[str, Any], values: Mapping[str, Any]
    ) -> ModelPlan:
        """Plan a model's run, whose engine has the given identity, with the parameters of the run.

        Raises
        ------
        EngineError
            If a prompt is too long with its budget, or one that `nsh.chat.encode` refuses.
        ParameterError
            If fewer GPUs are to share the weights (`tensor_parallel`) than hold them.
        """
        count, foreign = self._count(spec)
        lengths = Lengths(self.runs, identity["model"], spec is PACKAGED)
        lines, calls = count_calls(jobs, identity, self.store, count, lengths)
        size = None if spec.effective else spec.parameters
        byte = bytes_of(identity["dtype"], values.get("quantization"))
        weights = weights_gib(spec, byte)
        config = config_of(spec)
        if not foreign:
            for row in calls.itertuples():
                check_length(row.condition, row.tokens, row.most_tokens, spec, config)
        rates = self._rates(spec, identity, values)
        gpus = _gpus(spec.name, weights, rates.memory, values) if weights and rates and rates.memory else 0
        free = (gpus * rates.memory if gpus else machine_bytes() / 2**30) - (weights or 0)
        width = int(BYTES.get(identity["dtype"], 4))
        room = max(values["batch_tokens"] or 0, _together(config, width, free, bool(gpus)))
        if config and not _shares(config):
            lines["read_tokens"] = lines["prompt_tokens"]
        lines["seconds"] = float("nan") if len(calls) else 0.0
        if rates and rates.source and len(calls):
            work = {"steps": steps(calls, lengths, room)} | lines.sum().to_dict()
            read, write = rates.seconds(work, size or 1, byte)
            shares = lines[["read_tokens", "new_tokens"]] / [work["read_tokens"], work["new_tokens"]]
            lines["seconds"] = shares @ [read, write]
        stages = dict.fromkeys(calls["stage"]) if len(calls) else ()
        sources = {
            lengths.source(stage): [s for s in stages if lengths.source(s) == lengths.source(stage)] for stage in stages
        }
        cache = config and room * bytes_per_token(config, width) / 2**30
        first = [call.messages for job in jobs[:2] if (call := next(job.start(), None))]
        time_from = rates.source if rates else ""
        if time_from.startswith("assumed") and not config:
            time_from += "; in batches as small as a CPU's, as the model's configuration is not here: likely too long"
        told = (sources, time_from, tuple(map(count.shown, first)))
        return ModelPlan(spec.name, identity["dtype"], lines, foreign, weights, cache or None, gpus, *told)

    def _rates(self, spec: ModelSpec, identity: Mapping[str, Any], values: Mapping[str, Any]) -> Rates | None:
        """Rates for a model, as far as something is known of the model's size or its speed."""
        known_size = spec.parameters and not spec.effective
        if not identity["dtype"]:
            return None
        if self.gpu:
            rates = gpu_rates(self.gpu, identity["dtype"])
        else:
            own = {"engine": values.get("engine", "transformers")} | {n: identity[n] for n in ("model", "dtype")}
            rates = corrected(rates_here(identity["dtype"]), self.runs, own)
        return rates if known_size or "this model" in rates.source else None


def _shares(config: Any) -> bool:
    """Whether every layer attends to all places, without which the engine shares no start (`nsh.decoding.joinable`)."""
    kinds = getattr(config, "layer_types", None)
    windows = (getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size"))
    return {*kinds} == {"full_attention"} if kinds else not any(windows)


def _gpus(model: str, weights: float, memory: float, values: Mapping[str, Any]) -> int:
    """How many GPUs of so many GiB share the weights: as many as hold them, or with vLLM as many as the run names."""
    gpus = ceil(weights * ROOM / memory)
    if values.get("engine") != "vllm":
        return gpus
    if (sharing := values["tensor_parallel"]) < gpus:
        raise ParameterError(f"tensor_parallel = {sharing}: {model} takes {gpus} such GPUs")
    return sharing


def _together(config: Any, width: int, free: float, on_gpus: bool) -> int:
    """Tokens of the rows that the engine continues together (`nsh.scale.memory.together`), with so many GiB beside the
    weights on GPUs or on this machine's CPU."""
    if not config:
        return CPU_TOKENS
    beside = int(free * 2**30)
    return tokens_within(beside, config, width) if on_gpus else max(CPU_TOKENS, together_within(beside, config, width))


def plans(study: Study, gpu: str | None = None) -> Iterator[ModelPlan]:
    """Plan the run of each model of a study; nothing is generated, no model loaded and nothing written.

    Raises
    ------
    ParameterError
        If the GPU is not listed, or as the study's cases and `Planner.plan` do.
    EngineError
        As `Planner.plan` does.

    Examples
    --------
    >>> from nsh.asked import asked_study
    >>> next(plans(asked_study(None, ["n_cases=2"], ["scripted"], ["direct"]))).total["answers"]
    6.0
    """
    planner, jobs = Planner(Store(store_folder(), packaged_generations()), gpu), study.jobs
    for spec in study.models:
        yield planner.plan(spec, jobs, study.engine(spec).identity, study.values)
