"""A model's tokenizer and configuration without its weights, and the tokens of prompts."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from nsh.chat import encode
from nsh.errors import EngineError
from nsh.models import ModelSpec, known
from nsh.progress import no_bars
from nsh.weights import explained, pinned_source

PACKAGED = next(spec for spec in known().values() if spec.package)


class Tokens:
    """Counts the tokens of a call as the engine gives them to the model, each distinct prompt once; without a
    tokenizer, words, as the scripted engine does."""

    def __init__(self, tokenizer: Any = None, template: Mapping[str, Any] | None = None):
        self.tokenizer, self.template = tokenizer, template
        self.known: dict[tuple[tuple[str, str], ...], int] = {}

    def __call__(self, messages: tuple[tuple[str, str], ...]) -> int:
        if messages not in self.known:
            ids = (
                encode(self.tokenizer, messages, self.template).ids if self.tokenizer else self.shown(messages).split()
            )
            self.known[messages] = len(ids)
        return self.known[messages]

    def shown(self, messages: tuple[tuple[str, str], ...]) -> str:
        """The text that the model sees, special tokens and all."""
        if self.tokenizer:
            return self.tokenizer.decode(encode(self.tokenizer, messages, self.template).ids)
        return "\n\n".join(text for _, text in messages)


def fetched(kind: str, spec: ModelSpec) -> Any:
    """A model's tokenizer or configuration (`AutoTokenizer`, `AutoConfig`), without its weights.

    The packaged model's file is converted once, as for a run.

    Raises
    ------
    EngineError
        If it is not to be had: no package, no network, no permission.

    Examples
    --------
    >>> fetched("AutoConfig", PACKAGED).num_hidden_layers  # doctest: +SKIP
    30
    """
    if spec.path and spec.path.is_file():
        source, held = spec.path.parent, {"trust_remote_code": False}
        if kind != "AutoTokenizer" or not (source / "tokenizer.json").is_file():
            held["gguf_file"] = spec.path.name
    else:
        source, held = pinned_source(spec)
    with explained(spec), no_bars():
        import transformers

        if source == spec.id:
            held["local_files_only"] = not _hub_answers()
        return getattr(transformers, kind).from_pretrained(source, **held)


@cache
def _hub_answers() -> bool:
    """Whether the hub can be reached: asked once, since its own library tries for half a minute a model."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    try:
        return bool(get_session().head(constants.ENDPOINT, timeout=5))
    except Exception:  # noqa: BLE001 (whatever keeps it from answering)
        return False


def config_of(spec: ModelSpec) -> Any:
    """The text part of a model's configuration; None where it is not to be had.

    Examples
    --------
    >>> config_of(ModelSpec("scripted", "scripted"))
    """
    try:
        return None if spec.id.startswith("scripted") else fetched("AutoConfig", spec).get_text_config()
    except EngineError:
        return None
