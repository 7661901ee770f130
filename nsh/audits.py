"""Deterministic audits of what a model makes of a narrative, a rewrite or an extraction, before it answers from it.

Nothing is judged: a text states an age, a measured value (`nsh.quantities`) or a templated negative, and the narrative
does or does not. A rule that misses a paraphrase in the narrative counts too much as invented, one that misses it in
the intermediate too little; the papers print no rule.

Two ages are told apart: the "explicit numeric age" of a retelling (`voices` Table 1, §6; `nsh.retellings`) stands in
digits, since the paper sets it against one in words; an age that a narrative "does not give" (§8) stands there neither
in digits nor in words, since a rewrite that puts "fifty-three" into digits invents nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any

import pandas as pd

from nsh.accuracies import wilson
from nsh.case_fields import wrong
from nsh.matrix import KEY, check_columns, tidy
from nsh.quantities import TERMS, ages, measurements, unstated
from nsh.runner import Outcome

ROWS = dict.fromkeys(("words", "n_values", "n_invented", "n_negatives"), "int64") | {"n_original": "Int64"}
ROWS |= dict.fromkeys(("compression", "invented_age", "age_off"), "float64") | {"age_approximate": "bool"}
CENTRES = [("years off", "age_off", "median"), ("compression", "compression", "median"), ("words", "words", "mean")]
SUMMARY = {"measure": None, "n": "int64", "value": "float64", "lo": "float64", "hi": "float64", "note": None}


def audit(narrative: str, intermediate: str, original: str | None = None) -> dict[str, Any]:
    """Compare an intermediate with the narrative that it was made from.

    Parameters
    ----------
    narrative, intermediate : str
        What the model was given, and the rewrite or extraction (as text) that it made.
    original : str, optional
        The vignette behind the narrative, to see how far off an invented age is and which values were recalled.

    Returns
    -------
    dict
        `words` of the intermediate (divided at white space); `compression`, these over the words of the narrative.
        `invented_age`: its first numeric age, in years, if it is none of the narrative's, in digits or words. An age
        that the narrative hints at ("in her late forties") is to be kept as given: a number put for it is invented,
        and `age_approximate` says that it lies in the hinted range. `age_off`: years between the invented age and the
        first of the original. `n_values` different measured values; `invented`, those that the narrative does not
        state, `n_invented` of them, of which the original states `n_original` (None without one). `negatives`: names
        of the templated negatives ("no known drug allergies") whose topic the narrative does not touch, `n_negatives`
        of them. A ratio or age that does not exist is nan.

    References
    ----------
    ``voices`` §8 and Appendix H.

    Examples
    --------
    >>> found = audit("My pulse was 88.", "A 45-year-old with pulse 88/min and BP 120/80.", "A 53-year-old, BP 120/80.")
    >>> [found[name] for name in ("invented_age", "age_off", "n_invented", "n_original")]
    [45.0, 8.0, 1, 1]
    """
    texts = (narrative, intermediate, original or "")
    given, stated, true = ([age.low for age in ages(text) if not age.approximate] for text in texts)
    age = stated[0] if stated and stated[0] not in given else nan
    invented, rules = unstated(intermediate, narrative), TERMS["templated_negatives"].items()
    negatives = [n for n, r in rules if _says(intermediate, r["template"]) and not _says(narrative, r["topic"])]
    words, whole = len(intermediate.split()), len(narrative.split())
    found = {"words": words, "compression": words / whole if whole else nan, "invented_age": age}
    found |= {"age_approximate": any(hint.low <= age <= hint.high for hint in ages(narrative))}
    found |= {"age_off": abs(age - next(iter(true), nan)), "n_values": len({*measurements(intermediate)})}
    found |= {"invented": invented, "n_invented": len(invented), "negatives": negatives, "n_negatives": len(negatives)}
    recalled = None if original is None else len({*invented} - {*unstated(intermediate, original)})
    return found | {"n_original": recalled}


def _says(text: str, pattern: str) -> bool:
    """Whether a pattern is found, case ignored."""
    return re.search(pattern, text, re.IGNORECASE) is not None


def intermediates(outcomes: Iterable[Outcome], model: str) -> Iterator[dict[str, Any]]:
    """Rows for `audit_frame` of a run's outcomes.

    Parameters
    ----------
    outcomes : iterable of Outcome
        Under a condition that makes an intermediate: the first completion of each.
    model : str
        Whose run it is.

    Yields
    ------
    dict
        `model`, `condition`, `case`, `voice`, `narrative`, `intermediate` and `original` (or None).

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from nsh.cases import Case
    >>> from nsh.engines import ScriptedEngine
    >>> from nsh.jobs import jobs
    >>> from nsh.runner import run
    >>> from nsh.store import Store
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"cultural": "My knee burns."})
    >>> store = Store(mkdtemp())
    >>> outcomes, _ = run(jobs([case], "rewrite"), ScriptedEngine(reply=lambda call: "Knee pain."), store)
    >>> store.close()
    >>> [row["intermediate"] for row in intermediates(outcomes, "scripted")]
    ['Knee pain.']
    """
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
        One row each: `model`, `condition`, `case`, `voice`, and the numbers that `audit` gives, by its names.

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
            raise wrong(f"row {number}", lacking[0], "a value", None)
        found = audit(row["narrative"], row["intermediate"], row.get("original"))
        made.append({name: row[name] for name in KEY} | found)
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
        with an "invented age", with one "put for an approximate age", an "invented value", an "invention" (age or
        value) and a "templated negative"; the share of `n` invented values that the original states ("invented value
        in the original"); the medians "years off" (of `n` invented ages) and "compression"; the mean number of
        "words". `note` is "n = 0" where `value` is undefined.

    Raises
    ------
    DataError
        A column is missing.

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
    check_columns(frame, (*by, *ROWS), "audits")
    rows = []
    for key, group in frame.groupby(list(by), sort=False, observed=True):
        age, value = group["invented_age"].notna(), group["n_invented"] > 0
        flags = {"invented age": age, "invented value": value, "invention": age | value}
        flags |= {
            "put for an approximate age": group["age_approximate"],
            "templated negative": group["n_negatives"] > 0,
        }
        counts = {name: (has.sum(), len(has)) for name, has in flags.items()}
        known = group.dropna(subset="n_original")
        counts["invented value in the original"] = known["n_original"].sum(), known["n_invented"].sum()
        found = [(name, n, k / n if n else nan, *wilson(k, n)) for name, (k, n) in counts.items()]
        found += [(name, group[column].count(), group[column].agg(how), nan, nan) for name, column, how in CENTRES]
        rows += [(*key, *row, "" if row[1] else "n = 0") for row in found]
    return tidy(rows, dict.fromkeys(by) | SUMMARY)
