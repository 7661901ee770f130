"""The answers of the papers' models: as released, or as counts where the released files are not on this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.declared import Page
from nsh.errors import DataError, MissingDataError
from nsh.models import known
from nsh.patterns import from_patterns
from nsh.pull import released_dir
from nsh.released import MODELS, load_released, result_file


def real_b1(setting: str, folder: Path | None) -> pd.DataFrame:
    """B1 of the seven released models: their released answers where all are here, else the packaged counts.

    Pattern counts hold, for each model, how many questions were right or wrong in which voices: enough for every
    measure within a model, without the letters and without the link of a question across models.

    Parameters
    ----------
    setting : str
        The parameter `released`: only "auto" and "off" do with the counts.
    folder : pathlib.Path or None
        The folder of the released files.

    Raises
    ------
    MissingDataError
        If files are missing that are asked for.
    DataError
        If the models did not answer the same questions.

    Examples
    --------
    >>> real_b1("off", None)["model"].nunique()
    7
    """
    files = [folder / result_file("B1", key) for key in MODELS] if folder else []
    if not any(file.is_file() for file in files) and setting in ("auto", "off"):
        return from_patterns(["B1"])
    if lacking := [file.name for file in files if not file.is_file()]:
        raise MissingDataError(
            f"{folder} lacks {', '.join(lacking)}: `nsh data pull` fetches it, released=off does without"
        )
    records = load_released(folder, ["B1"])
    questions = records.groupby("model")["case"].agg(frozenset)
    if questions.nunique() > 1:
        counts = ", ".join(f"{model} {len(cases)}" for model, cases in questions.items())
        raise DataError(f"the B1 files in {folder} do not answer the same questions: {counts}")
    return records


def real_run(page: Page, values: Mapping[str, Any]) -> bool:
    """Whether a page's numbers on real models are computed in this build, if it has any.

    Parameters
    ----------
    page : Page
        What they are computed from is its `real`.
    values : mapping
        The page's parameters.

    Raises
    ------
    MissingDataError
        If the released files are asked for and not on this machine.

    Examples
    --------
    >>> from nsh.declared import find_page
    >>> real_run(find_page("voices-05-anchoring"), {}), real_run(find_page("voices-08-costs"), {"source": "samples"})
    (True, False)
    """
    if page.real in ("patterns", "none"):
        return True
    if page.real == "released":
        return released_dir(values.get("released", "off")) is not None
    papers = {name for name, model in known().items() if model.papers}
    return values.get("source") not in (None, "samples") and bool(papers & {*values.get("models", [])})
