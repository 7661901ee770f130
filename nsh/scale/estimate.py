"""The plan of a model's run: what is counted, with memory and time, exact or estimated and from what."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from nsh.batching import plan as batches
from nsh.chat import encode
from nsh.errors import EngineError
from nsh.jobs import Job
from nsh.models import ModelSpec, known, resolve
from nsh.place import packaged_generations, store_folder
from nsh.scale.lengths import Lengths, logged_lengths
from nsh.scale.memory import CPU_TOKENS, bytes_per_token, tokens_within
from nsh.scale.plan import Counted, Messages, count_calls
from nsh.scale.rates import Rates, Work, bytes_of, corrected, gpu_rates, rates_here
from nsh.scale.run_log import runs
from nsh.store import Store
from nsh.study import Study
from nsh.transformers_engine import TOGETHER
from nsh.weights import explained, no_bars, packaged_file

PACKAGED = next(spec.name for spec in known().values() if spec.package)
GIB = 2**30


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What a model's run would cost. `foreign` says why tokens were counted with the packaged model's tokenizer, ""
    where they are its own; weights, cache of a batch (GiB) and seconds are None where not known; `parts` are the
    seconds of each condition."""

    spec: ModelSpec
    identity: Mapping[str, Any]
    counted: Counted
    foreign: str
    weights: float | None
    cache: float | None
    rates: Rates | None
    seconds: float | None
    parts: Mapping[str, float | None]
    prompts: tuple[str, ...]


class Words:
    """Counts words, as the scripted engine does."""

    def __call__(self, messages: Messages) -> int:
        return sum(len(text.split()) for _, text in messages)

    def render(self, messages: Messages) -> str:
        """The turns as they are."""
        return "\n\n".join(f"{role}: {text}" for role, text in messages)


class Tokens:
    """Counts the tokens of a call as the engine gives them to the model, each distinct prompt once."""

    def __init__(self, tokenizer: Any, template: Mapping[str, Any]):
        self.tokenizer, self.template = tokenizer, template
        self.known: dict[Messages, int] = {}

    def __call__(self, messages: Messages) -> int:
        if messages not in self.known:
            self.known[messages] = len(encode(self.tokenizer, messages, self.template).ids)
        return self.known[messages]

    def render(self, messages: Messages) -> str:
        """The text that the model sees, special tokens and all."""
        return self.tokenizer.decode(encode(self.tokenizer, messages, self.template).ids)


def tokenizer_of(spec: ModelSpec) -> Any:
    """A model's tokenizer, without its weights.

    Raises
    ------
    EngineError
        If it is not to be had: no package, no network, no permission.

    Examples
    --------
    >>> tokenizer_of(resolve("SmolLM2-135M-Instruct"))  # doctest: +SKIP
    """
    file = packaged_file(spec) if spec.package else spec.path
    source, extra = file or spec.id, {}
    if file and file.is_file():
        source = file.parent
        extra = {} if (source / "tokenizer.json").is_file() else {"gguf_file": file.name}
    if not file and not _hub_answers():
        extra = {"local_files_only": True}
    with explained(spec), no_bars():
        from transformers import AutoTokenizer

        revision = spec.revision if source == spec.id else None
        return AutoTokenizer.from_pretrained(source, revision=revision, trust_remote_code=False, **extra)


@cache
def _hub_answers() -> bool:
    """Whether the hub can be reached: asked once, since its library tries for half a minute a model."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    try:
        return bool(get_session().head(constants.ENDPOINT, timeout=5))
    except Exception:  # noqa: BLE001 (whatever keeps it from answering)
        return False


def config_of(spec: ModelSpec) -> Any:
    """The text part of a model's configuration where it is on this machine, else None."""
    from transformers import AutoConfig

    file = packaged_file(spec) if spec.package else spec.path
    source = {"gguf_file": file.name} if file and file.is_file() else {}
    try:
        with no_bars():
            place = file.parent if source else file or spec.id
            return AutoConfig.from_pretrained(place, local_files_only=True, **source).get_text_config()
    except Exception:  # noqa: BLE001 (a configuration that cannot be read says nothing)
        return None


class Planner:
    """Plans runs over one store, one after the other; tokenizers and counts are kept.

    Parameters
    ----------
    store : Store
    gpu : str, optional
        A GPU of `data/scale/gpus.yaml` in the place of this machine.

    Raises
    ------
    ParameterError
        If the GPU is not listed.
    """

    def __init__(self, store: Store, gpu: str | None = None):
        self.store, self.gpu = store, gpu_rates(gpu) if gpu else None
        self.runs = runs(store.folder)
        self._counts: dict[str, Tokens | Words] = {}

    def counter(self, spec: ModelSpec, template: Mapping[str, Any]) -> tuple[Tokens | Words, str]:
        """What counts a model's tokens, and why it is not its own tokenizer, if it is not."""
        if spec.id.startswith("scripted"):
            return Words(), ""
        if spec.name not in self._counts:
            try:
                self._counts[spec.name] = Tokens(tokenizer_of(spec), template)
            except EngineError as error:
                if spec.name == PACKAGED:
                    raise
                packaged = resolve(PACKAGED)
                return self.counter(packaged, packaged.identity()["template"])[0], str(error)
        return self._counts[spec.name], ""

    def plan(
        self, spec: ModelSpec, jobs: Sequence[Job], identity: Mapping[str, Any], values: Mapping[str, Any]
    ) -> ModelPlan:
        """Plan a model's run.

        Parameters
        ----------
        spec : ModelSpec
        jobs : sequence of Job
        identity : mapping
            That of the run's engine.
        values : mapping
            Parameters of the run: `batch_tokens`, `quantization`, `engine`.

        Returns
        -------
        ModelPlan
        """
        count, foreign = self.counter(spec, identity["template"])
        lengths = Lengths(logged_lengths(self.runs, identity["model"]), spec.name == PACKAGED)
        counted = count_calls(jobs, identity, self.store, count, lengths)
        scripted = spec.id.startswith("scripted")
        size = None if spec.effective else spec.parameters
        byte = 0 if scripted else bytes_of(identity["dtype"], values.get("quantization"))
        weights = None if size is None else size * 1e9 * byte / GIB
        config = None if scripted else config_of(spec)
        together = values["batch_tokens"] or self._fitting(config, weights, byte)
        room = max(together, TOGETHER)
        rates, seconds, parts = None, None, dict.fromkeys(counted.lines)
        if not scripted:
            rates = self._rates(identity, values, size)
        if rates:
            work = work_of(counted, together, room)
            reading, writing = rates.seconds(work, size or 1, byte)
            seconds, parts = reading + writing, _parts(counted, reading, writing)
        kept = room * bytes_per_token(config, byte) / GIB if config and byte >= 1 else None
        first = [next(job.start()) for job in jobs[:2]]
        prompts = tuple(count.render(job.settings.apply(call).messages) for job, call in zip(jobs, first, strict=False))
        return ModelPlan(spec, identity, counted, foreign, weights, kept, rates, seconds, parts, prompts)

    def _fitting(self, config: Any, weights: float | None, byte: float) -> int:
        """Tokens of a batch where the run chooses them: what a GPU's free memory takes, else the least."""
        free = int((self.gpu.memory - weights) * GIB) if self.gpu and weights else 0
        return max(CPU_TOKENS, tokens_within(free, config, int(byte))) if config and free > 0 else CPU_TOKENS

    def _rates(self, identity: Mapping[str, Any], values: Mapping[str, Any], size: float | None) -> Rates | None:
        """Rates for a model, as far as something is known of this machine and of its size."""
        if self.gpu:
            return self.gpu if size else None
        rates = rates_here(identity["dtype"])
        own = {"model": identity["model"], "engine": values.get("engine", "transformers")}
        fitted = corrected(rates, self.runs, own, identity["dtype"]) if rates else None
        return fitted if size or (fitted and "this model" in fitted.source) else None


def work_of(counted: Counted, together: int, room: int) -> Work:
    """Tokens and steps of the counted calls: batches are formed as the engine forms them, round by round.

    Parameters
    ----------
    counted : Counted
    together, room : int
        Most tokens read in one batch, and continued together.
    """
    rounds: dict[int, list[int]] = defaultdict(list)
    for number, call in enumerate(counted.noted):
        rounds[call.round].append(number)
    steps = 0.0
    for numbers in rounds.values():
        numbers.sort(key=lambda number: counted.prompts[number], reverse=True)
        lengths = [max(1, round(counted.prompts[number])) for number in numbers]
        start = 0
        while start < len(numbers):
            ahead = lengths[start : start + room // lengths[start] + 1]
            size = sum(batches(ahead, min(together, room), room))
            steps += _steps(counted, numbers[start : start + size])
            start += size
    return Work(sum(counted.prompts), steps, sum(counted.replies))


def _steps(counted: Counted, numbers: Iterable[int]) -> float:
    """Expected steps of a batch: those of its longest reply, which is a whole budget where one reply is cut off."""
    stages = Counter((counted.noted[number].stage, counted.noted[number].budget) for number in numbers)
    longest = 0.0
    for (stage, budget), rows in stages.items():
        none_cut = (1 - counted.lengths.cut(stage)) ** rows
        longest = max(longest, none_cut * counted.lengths.expected(stage, budget) + (1 - none_cut) * budget)
    return longest


def _parts(counted: Counted, reading: float, writing: float) -> dict[str, float]:
    """Seconds of each condition: reading by its prompt tokens, writing by its new ones."""
    total = counted.total
    share = {}
    for name, line in counted.lines.items():
        read, written = line.prompt_tokens / (total.prompt_tokens or 1), line.new_tokens / (total.new_tokens or 1)
        share[name] = reading * read + writing * written
    return share


def plans(study: Study, gpu: str | None = None) -> Iterator[ModelPlan]:
    """Plan the run of each model of a study; nothing is generated, loaded or written.

    Raises
    ------
    ParameterError
        If the GPU is not listed, or as the study's cases do.

    Examples
    --------
    >>> from nsh.asked import asked_study
    >>> next(plans(asked_study(None, ["n_cases=2"], ["scripted"], ["direct"]))).counted.total.calls
    6
    """
    planner, jobs = Planner(Store(store_folder(), packaged_generations()), gpu), study.jobs
    for spec in study.models:
        yield planner.plan(spec, jobs, study.engine(spec).identity, study.values)
