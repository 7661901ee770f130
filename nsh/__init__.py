"""The executable NarrativeShield papers: cases, conditions, runs, records, statistics and the book made of them.

Research and teaching only; not for clinical use. The public names below are imported when they are first used, so
that `import nsh` is quick and loads no model library.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Case": "nsh.cases",
    "load_cases": "nsh.cases",
    "parse_letter": "nsh.answers",
    "published_letter": "nsh.answers",
    "parse_json": "nsh.json_text",
    "CONDITIONS": "nsh.conditions",
    "Store": "nsh.store",
    "run": "nsh.runner",
    "open_page": "nsh.opening",
    "load_released": "nsh.released",
    "from_patterns": "nsh.patterns",
    "accuracy": "nsh.accuracies",
    "anchoring": "nsh.gaps",
    "mcnemar": "nsh.agreement",
    "kappa": "nsh.agreement",
    "pooled_effect": "nsh.pooled",
    "size_correlation": "nsh.pooled",
    "published": "nsh.printed",
    "compare": "nsh.comparison",
    "table": "nsh.tables",
    "beside": "nsh.tables",
    "callout": "nsh.tables",
    "glue": "nsh.glued",
    "Drawing": "nsh.drawing",
    "Provenance": "nsh.provenance",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'nsh' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
