"""How many of a narrative's facts reach an intermediate, and what that explains of the marked-voice penalty."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import pandas as pd

from nsh.errors import DataError
from nsh.matrix import one_condition
from nsh.quantities import TERMS, digits
from nsh.regression import regress

STOP_WORDS = frozenset(TERMS["stop_words"].split())
DENIALS = frozenset(TERMS["denials"].split())


@dataclass(frozen=True, slots=True)
class FactRecall:
    """Facts found in a text: `n` facts, `n_found`, `recall` (proportion; nan for n = 0), names of the `missing`."""

    n: int
    n_found: int
    recall: float
    missing: tuple[str, ...]


def fact_recall(facts: Sequence[Mapping[str, Any]], text: str) -> FactRecall:
    """Find the facts of a packaged sample in a text, by words.

    A fact is found if all numbers and content words of one of its accepted wordings (without any: of its name and
    value) stand in the text, case folded, without plural and verb endings, in any order, within a stretch of twice as
    many content words, and not right after a denial that the wording lacks. Numbers in words are read; words of denial
    all count as "no". Every other paraphrase is missed, so the recall is a lower bound for a text that states nothing
    false; whether a denial a few words away belongs to the fact or to its neighbour is not seen.

    Parameters
    ----------
    facts : sequence of mapping
        Each with `fact`, `value` and, optionally, `accepted` wordings, as in ``case.meta["facts"]`` of the samples.
    text : str

    Returns
    -------
    FactRecall

    Raises
    ------
    DataError
        A fact lacks its name or value.

    Examples
    --------
    >>> facts = [{"fact": "fever", "value": "3 days"}, {"fact": "cough", "value": "denied", "accepted": ["no cough"]}]
    >>> fact_recall(facts, "Fevers lasting three days; denies chest pain.")
    FactRecall(n=2, n_found=1, recall=0.5, missing=('cough',))
    """
    if wrong := [fact for fact in facts if not {"fact", "value"} <= set(fact)]:
        raise DataError(f"fact {wrong[0]!r}: expected a name (fact) and a value")
    stems = _stems(text)
    wordings = [fact.get("accepted") or [f"{fact['fact']} {fact['value']}"] for fact in facts]
    found = [any(_found(_stems(wording), stems) for wording in accepted) for accepted in wordings]
    missing = tuple(fact["fact"] for fact, there in zip(facts, found, strict=True) if not there)
    return FactRecall(len(facts), sum(found), sum(found) / len(facts) if facts else nan, missing)


def _stems(text: str) -> list[str]:
    """Numbers and stems of the content words, in order."""
    words = re.findall(r"\d+(?:[./]\d+)*|[^\W\d_]+(?:['’]t\b)?", digits(text).casefold().replace("’", "'"))
    folded = ["no" if word in DENIALS or word.endswith("n't") else word for word in words if word not in STOP_WORDS]
    return [re.sub(r"(?<=\w{3})(?:ing|ed|es|s|e|ly)$", "", word) for word in folded]


def _found(wanted: Sequence[str], stems: Sequence[str]) -> bool:
    """Whether all wanted stems stand within twice their number of stems, not right after a denial of their own."""
    need = set(wanted)
    starts = (i for i, stem in enumerate(stems) if stem in need and ("no" in need or stems[i - 1 : i] != ["no"]))
    return bool(need) and any(need <= set(stems[i : i + 2 * len(wanted)]) for i in starts)


def recall_penalty(
    frame: pd.DataFrame, controls: Sequence[str] = ("recall",), reference: str = "clinical"
) -> pd.DataFrame:
    """Marked-voice penalty within question and model, without and with control for what reached the intermediate.

    Linear probability model: correct = a · marked + controls + fixed effect of (question, model) + error, standard
    errors clustered by question: `nsh.regression.regress` within the model.

    Parameters
    ----------
    frame : DataFrame
        One row per `model`, `case` and `voice`, of one condition, with `correct` (bool or 0/1) and the controls.
    controls : sequence of str
        Columns: `recall`, or also counts of added items. A row that lacks one is left out of both models.
    reference : str
        The unmarked voice.

    Returns
    -------
    DataFrame
        A row for "marked" alone (`controls` is "none"), then one per term of the model with controls: `term`,
        `coef` (proportion of correct answers per unit of the term), `se`, `lo`, `hi` (95%), `p`, `n` rows, `note`,
        `n_questions` and `n_models`. Questions with a single row in a model carry no information and are left out.

    Raises
    ------
    DataError
        The frame lacks a column, or a model's case occurs twice in one voice.
    ParameterError
        The rows are of several conditions, or none is in the reference voice.

    References
    ----------
    ``voices`` §8.

    Examples
    --------
    >>> frame = pd.DataFrame({"model": "m", "case": list("aabbcc"), "voice": ["clinical", "cultural"] * 3,
    ...                       "correct": [1, 0, 1, 1, 0, 0], "recall": [1, 0.5, 1, 0.9, 1, 0.9]})
    >>> recall_penalty(frame)["coef"].round(2).tolist()
    [-0.33, 0.25, 2.5]
    """
    one_condition(frame if "condition" in frame else frame.assign(condition=""), reference, needs=controls)
    known = frame.dropna(subset=list(controls)).sort_values(["model", "case", "voice"])
    known = known[known.groupby(["model", "case"])["voice"].transform("size") > 1].set_index("case")
    data = known.assign(marked=known["voice"] != reference)
    sets = {"none": [], ", ".join(controls): controls}
    tables = {name: regress(data, "correct", ["marked", *terms], within="model") for name, terms in sets.items()}
    table = pd.concat(tables, names=["controls"]).reset_index("controls").reset_index(drop=True)
    return table.assign(n_questions=known.index.nunique(), n_models=known["model"].nunique())
