"""Where things are on this machine: the checkout, the store, the caches."""

import os
from pathlib import Path


def root() -> Path:
    """The checkout that holds the current folder (it has a `_toc.yml`), else the current folder itself."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "_toc.yml").is_file()), here)


def short(text: str) -> str:
    """A text with the paths of the checkout as they are in it."""
    return text.replace(f"{root()}{os.sep}", "")


def store_folder() -> Path:
    """The folder of generations: $NSH_STORE, else `_store` in the checkout."""
    return Path(os.environ.get("NSH_STORE") or root() / "_store").expanduser()


def packaged_generations() -> Path | None:
    """The folder of the generations that the book brings with it; None where $NSH_PACKAGED is `off`."""
    packaged = Path(__file__).parent / "data" / "generations"
    return None if os.environ.get("NSH_PACKAGED") == "off" else packaged


def cache_folder() -> Path:
    """The folder of what can be fetched or converted again: $NSH_CACHE, else `nsh` in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("NSH_CACHE") or Path(base) / "nsh").expanduser()


def medqa_test() -> Path | None:
    """The file of MedQA's test split that $NSH_MEDQA_TEST names, if it does."""
    named = os.environ.get("NSH_MEDQA_TEST")
    return Path(named).expanduser() if named else None
