"""Deterministic audits of what a model makes of a narrative, a rewrite or an extraction, before it answers from it.

Nothing is judged: a text states an age, a measured value (`nsh.quantities`) or a templated negative, and the narrative
does or does not. A rule that misses a paraphrase in the narrative counts too much as invented, one that misses it in
the intermediate too little; the papers print no rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

import pandas as pd

from nsh.accuracies import wilson
from nsh.errors import DataError
from nsh.matrix import KEY, tidy
from nsh.quantities import TERMS, Measurement, ages, measurements, unstated
from nsh.runner import Outcome

ROWS = {"words": "int64", "compression": "float64", "invented_age": "float64", "age_off": "float64"}
ROWS |= {"n_values": "int64", "n_invented": "int64", "n_original": "Int64", "n_negatives": "int64"}
CENTRES = [("years off", "age_off", "median"), ("compression", "compression", "median"), ("words", "words", "mean")]
SUMMARY = {"measure": None, "n": "int64", "value": "float64", "lo": "float64", "hi": "float64", "note": None}


@dataclass(frozen=True, slots=True)
class Audit:
    """What an intermediate states that its narrative does not.

    Attributes
    ----------
    words : int
        Words of the intermediate, divided at white space.
    compression : float
        Its words over those of the narrative; nan where the narrative has none.
    invented_age : float or None
        The first numeric age of the intermediate, in years, if it is none of the narrative's, in digits or words. An
        age that the narrative only hints at ("in her late forties") is not given.
    age_off : float or None
        Years between the invented age and the first of the original vignette.
    n_values : int
        Different measured values in the intermediate.
    invented : tuple of Measurement
        Those that the narrative does not state.
    n_original : int or None
        Invented values that the original vignette states; None without one.
    negatives : tuple of str
        Templated negatives ("no known drug allergies") whose topic the narrative does not touch, by name.
    """

    words: int
    compression: float
    invented_age: float | None
    age_off: float | None
    n_values: int
    invented: tuple[Measurement, ...]
    n_original: int | None
    negatives: tuple[str, ...]


def audit(narrative: str, intermediate: str, original: str | None = None) -> Audit:
    """Compare an intermediate with the narrative that it was made from.

    Parameters
    ----------
    narrative, intermediate : str
        What the model was given, and the rewrite or extraction (as text) that it made.
    original : str, optional
        The vignette behind the narrative, to see how far off an invented age is and which values were recalled.

    Returns
    -------
    Audit

    References
    ----------
    ``voices`` §8 and Appendix H.

    Examples
    --------
    >>> found = audit("My pulse was 88.", "A 45-year-old with pulse 88/min and BP 120/80.", "A 53-year-old, BP 120/80.")
    >>> found.invented_age, found.age_off, [value.value for value in found.invented], found.n_original
    (45.0, 8.0, ['120/80'], 1)
    """
    texts = (narrative, intermediate, original or "")
    given, stated, true = ([age.low for age in ages(text) if not age.approximate] for text in texts)
    age = stated[0] if stated and stated[0] not in given else None
    invented = tuple(unstated(intermediate, narrative))
    recalled = set(invented) - set(unstated(intermediate, original or ""))
    rules = TERMS["templated_negatives"].items()
    words, whole = len(intermediate.split()), len(narrative.split())
    return Audit(
        words=words,
        compression=words / whole if whole else nan,
        invented_age=age,
        age_off=abs(age - true[0]) if age is not None and true else None,
        n_values=len(set(measurements(intermediate))),
        invented=invented,
        n_original=None if original is None else len(recalled),
        negatives=tuple(n for n, r in rules if _says(intermediate, r["template"]) and not _says(narrative, r["topic"])),
    )


def _says(text: str, pattern: str) -> bool:
    """Whether a pattern is found, case ignored."""
    return re.search(pattern, text, re.IGNORECASE) is not None


def intermediates(outcomes: Iterable[Outcome], model: str) -> Iterator[dict[str, Any]]:
    """Rows for `audit_frame` of a run's outcomes: the intermediate is the first completion of each."""
    for outcome in outcomes:
        case, voice = outcome.job.case, outcome.job.voice
        row = {"model": model, "condition": outcome.job.condition, "case": case.id, "voice": voice}
        texts = {"narrative": case.narratives[voice], "intermediate": outcome.completions[0].text}
        yield row | texts | {"original": case.original}


def audit_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Audit many intermediates.

    Parameters
    ----------
    rows : iterable of mapping
        Each with `model`, `condition`, `case`, `voice`, `narrative`, `intermediate` and, optionally, `original`.

    Returns
    -------
    DataFrame
        One row each: `model`, `condition`, `case`, `voice`; `words`, `compression` (ratio), `invented_age` and
        `age_off` (years; missing where no age is invented, or the original's is unknown), `n_values`, `n_original`,
        as in `Audit`; `n_invented` values and `n_negatives`.

    Raises
    ------
    DataError
        A row lacks a field.

    Examples
    --------
    >>> row = dict(model="m", condition="rewrite", case="1", voice="cultural", narrative="At 45, I ache.")
    >>> audit_frame([row | {"intermediate": "A 45-year-old with pulse 88."}])["n_invented"].tolist()
    [1]
    """
    made = []
    for number, row in enumerate(rows, start=1):
        if lacking := [name for name in (*KEY, "narrative", "intermediate") if row.get(name) is None]:
            raise DataError(f"row {number}, field {lacking[0]!r}: expected a value; found none")
        found = audit(row["narrative"], row["intermediate"], row.get("original"))
        counts = {"n_invented": len(found.invented), "n_negatives": len(found.negatives)}
        made.append({name: row[name] for name in KEY} | asdict(found) | counts)
    return tidy(made, dict.fromkeys(KEY) | ROWS)


def audit_summary(frame: pd.DataFrame, by: Sequence[str] = ("condition", "voice")) -> pd.DataFrame:
    """Summarize audits per condition and voice, or by other columns.

    Parameters
    ----------
    frame : DataFrame
        As `audit_frame` returns it.
    by : sequence of str
        Its columns to group by; ``("model",)`` on the marked voices gives the invention rates per model.

    Returns
    -------
    DataFrame
        Per group one row per `measure`: the shares (proportions, with `lo` and `hi`, 95% Wilson) of `n` intermediates
        with an "invented age", an "invented value", an "invention" (either) and a "templated negative"; the share of
        `n` invented values that the original states ("invented value in the original"); the medians "years off" (of
        `n` invented ages) and "compression"; the mean number of "words". `note` is "n = 0" where `value` is undefined.

    References
    ----------
    ``voices`` §8. The interval takes intermediates as independent.

    Examples
    --------
    >>> row = dict(model="m", condition="rewrite", case="1", voice="cultural", narrative="At 45, I ache.")
    >>> table = audit_summary(audit_frame([row | {"intermediate": "A 45-year-old with pulse 88."}]))
    >>> table.set_index("measure")["value"].loc[["invented age", "invented value"]].tolist()
    [0.0, 1.0]
    """
    rows = []
    for key, group in frame.groupby(list(by), sort=False, observed=True):
        age, value = group["invented_age"].notna(), group["n_invented"] > 0
        flags = {"invented age": age, "invented value": value, "invention": age | value}
        flags |= {"templated negative": group["n_negatives"] > 0}
        counts = {name: (has.sum(), len(has)) for name, has in flags.items()}
        known = group.dropna(subset="n_original")
        counts["invented value in the original"] = known["n_original"].sum(), known["n_invented"].sum()
        found = [(name, n, k / n if n else nan, *wilson(k, n)) for name, (k, n) in counts.items()]
        found += [(name, group[column].count(), group[column].agg(how), nan, nan) for name, column, how in CENTRES]
        rows += [(*key, *row, "" if row[1] else "n = 0") for row in found]
    return tidy(rows, dict.fromkeys(by) | SUMMARY)
