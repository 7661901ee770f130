"""The pages beyond the papers: ranks by every measure, readings of the answers, the guard, and a fabricated voice."""

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from nsh.audits import audit_frame, intermediates
from nsh.guard import strike, unsupported
from nsh.matrix import RUN
from nsh.measures import WORSE
from nsh.printed import numbers
from nsh.runner import Outcome
from nsh.sections.method_figures import series_in_rows
from nsh.study import Study
from nsh.tables import Block, callout, table
from nsh.transcripts import hidden

DSS = {"B1": "facts_table3_b1", "B3": "facts_table6_b3"}
READINGS = {
    ("stored", "wrong"): "as stored",
    ("published_letter", "wrong"): "first letter",
    ("parse_letter", "wrong"): "our parser",
    ("stored", "left out"): "as stored, left out",
    ("published_letter", "left out"): "first letter, left out",
    ("parse_letter", "left out"): "our parser, left out",
}  # "left out": answers without a letter, which otherwise are wrong
COLORS = ("black", "black", "black", "#B5609A", "#B5609A", "#B5609A")
LOOKS = [{"marker": m, "color": c, "markersize": 6} for m, c in zip("osDosD", COLORS, strict=True)]
REGISTER, GENERATION = "FABRICATED neutral, if register", "FABRICATED neutral, if generation"
GUARDED = {"first rewrite": 0, "guarded rewrite": -2}  # the rewrite's place among the completions


def with_printed_dss(measured: pd.DataFrame) -> pd.DataFrame:
    """Add the printed DSS (`facts`, Tables 3 and 6) to the measures of the released models under B1 and B3.

    Examples
    --------
    >>> with_printed_dss(pd.DataFrame({"model": ["BioMistral-7B"], "condition": ["B1"]}))["dss"].tolist()
    [0.6321]
    """
    printed = pd.concat({condition: numbers(name, "dss") for condition, name in DSS.items()}, names=["condition"])
    return measured.merge(printed.rename("dss").reset_index(), "left", on=RUN)


def rank_rows(measured: pd.DataFrame, *, note: str = "") -> Figure:
    """Draw the rank of each model by gap, NAG, NSE and DSS, 1 for the one most affected by the voice.

    Parameters
    ----------
    measured : DataFrame
        As `nsh.measures.measures` gives it, of one condition. A measure that is undefined for a model is left out.
    note : str
        Printed below the figure.

    Examples
    --------
    >>> frame = pd.DataFrame({"model": ["a", "b"], "gap": [0.1, 0.2], "nag": [0.3, 0.2]})
    >>> rank_rows(frame).get_label()
    'Rank by each measure (1 = most affected by the voice). a: gap 2, NAG 1; b: gap 1, NAG 2.'
    """
    names = [name for name in WORSE if name in measured and measured[name].notna().all()]
    worse = measured.set_index("model")[names].astype(float) * pd.Series(WORSE)[names]
    heads = {name: name if name == "gap" else name.upper() for name in names}
    looks = {name: look | {"label": heads[name]} for name, look in zip(names, LOOKS[: len(names)], strict=True)}
    what = "Rank by each measure (1 = most affected by the voice)"
    return series_in_rows(worse.round(12).rank(ascending=False), looks, what, spec="g", note=note)


def wide_readings(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """`nsh.sensitivity.sensitivity` with one row per model and measure, and one column per reading."""
    part = frame[frame["measure"].isin(measures)]
    wide = part.pivot(index=["model", "measure"], columns=["parser", "unparsed"], values="value")
    rows = part[["model", "measure"]].drop_duplicates().itertuples(index=False, name=None)
    return wide.loc[list(rows), list(READINGS)].set_axis(list(READINGS.values()), axis=1)


def largest_change(frame: pd.DataFrame | None, measure: str) -> dict[str, str | float]:
    """Where a measure moves most: `model`, `reading`, the value as `stored` and under that reading; in words
    if nowhere.

    Examples
    --------
    >>> largest_change(None, "nag")["model"]
    'no model'
    """
    part = None if frame is None else frame[(frame["measure"] == measure) & frame["change"].notna()]
    if part is None or part.empty:
        return {"model": "no model", "reading": "any", "stored": "no value", "value": "no value"}
    row = part.loc[part["change"].abs().idxmax()]
    found = {"reading": READINGS[row["parser"], row["unparsed"]], "stored": row["value"] - row["change"]}
    return found | {"model": row["model"], "value": row["value"]}


def reading_rows(frame: pd.DataFrame, measure: str = "nag", *, note: str = "") -> Figure:
    """Draw a measure (a proportion, in points) of each model under every reading."""
    wide = wide_readings(frame, [measure]).droplevel("measure")
    looks = {name: look | {"label": name} for name, look in zip(wide, LOOKS, strict=True)}
    return series_in_rows(100 * wide, looks, f"{measure.upper()} (percentage points)", note=note)


def _guarded(study: Study) -> Iterator[tuple[str, str, Outcome]]:
    """Model, narrative and outcome of every answer of the run under guarded_rewrite."""
    for model in study.models:
        for outcome in study.outcomes(model):
            if outcome.job.condition == "guarded_rewrite":
                yield model.name, outcome.job.case.narratives[outcome.job.voice], outcome


def guard_counts(study: Study) -> pd.DataFrame:
    """Values that the narrative does not state, in the first rewrite and in the one after the corrective call.

    Columns `model`, `case`, `voice`, `first`, `second` (counts; equal where no correction was asked for).
    """
    rows = []
    for model, narrative, outcome in _guarded(study):
        counts = [len(unsupported(narrative, outcome.completions[place].text)) for place in GUARDED.values()]
        rows.append([model, outcome.job.case.id, outcome.job.voice, *counts])
    return pd.DataFrame(rows, columns=["model", "case", "voice", "first", "second"])


def guard_audits(study: Study) -> pd.DataFrame:
    """`nsh.audits.audit_frame` of the rewrite before the guard, and of what the answering call saw after it."""
    rows = []
    for model, narrative, outcome in _guarded(study):
        (row,) = intermediates([outcome], model)
        after = strike(narrative, outcome.completions[GUARDED["guarded rewrite"]].text)
        texts = zip(GUARDED, (row["intermediate"], after), strict=True)
        rows += [row | {"condition": stage, "intermediate": text} for stage, text in texts]
    return audit_frame(rows)


def guard_example(study: Study) -> Block:
    """The rewrite of the run with most unsupported values, these values, and the rewrite with them struck out."""
    found = [(narrative, outcome, outcome.completions[0].text) for _, narrative, outcome in _guarded(study)]
    if not found:
        return callout("No rewrite to show: no model was run under guarded_rewrite.")
    if instead := hidden(study):
        return instead
    narrative, outcome, rewrite = max(found, key=lambda one: len(unsupported(one[0], one[2])))
    rows = {"case and voice": f"{outcome.job.case.id}, {outcome.job.voice}", "narrative": narrative, "rewrite": rewrite}
    rows |= {"values not in the narrative": "; ".join(unsupported(narrative, rewrite)) or "none"}
    rows |= {"rewrite, struck out": strike(narrative, rewrite), "calls made": str(len(outcome.stages))}
    frame = pd.DataFrame(rows.items(), columns=["what", "text"], dtype=object)  # Arrow holds no half surrogate pair
    return table(frame, "One rewrite under the guard")


def guard_rows(counts: pd.DataFrame, *, note: str = "") -> Figure:
    """Draw the mean number of values that the narrative does not state, per rewrite and voice.

    Examples
    --------
    >>> guard_rows(pd.DataFrame({"voice": ["cultural"] * 2, "first": [3, 2], "second": [1, 0]})).get_label()
    'Values per rewrite that the narrative does not state. cultural: first rewrite 2.50, second rewrite 0.50.'
    """
    means = counts.groupby("voice", sort=False)[["first", "second"]].mean()
    looks = {name: LOOKS[3 * place] | {"label": f"{name} rewrite"} for place, name in enumerate(means)}
    return series_in_rows(means, looks, "Values per rewrite that the narrative does not state", spec=".2f", note=note)


def fabricated_voice(
    records: pd.DataFrame, voice: str, reference: str = "clinical", seed: int = 0, kept: float = 0.8
) -> pd.DataFrame:
    """FABRICATED answers in one more voice, made from real right/wrong answers under a hypothesis.

    `REGISTER` takes the answer in the reference voice of the same case, any other name (`GENERATION`) that in a marked
    voice, drawn for each case. One case in five (1 − `kept`) takes the answer of another case of the model instead, so
    that the voice is no copy; its expected accuracy is that of the voices it is made from.

    Returns
    -------
    DataFrame
        Records of that voice alone, `source` "fabricated", to be put beside the real ones.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> made = fabricated_voice(from_patterns(["B1"]), REGISTER, seed=1)
    >>> len(made), made["source"].unique().tolist()
    (7000, ['fabricated'])
    """
    made = []
    for (model, condition), group in records.groupby(RUN, sort=False):
        wide = group.pivot(index="case", columns="voice", values="correct").dropna().astype(bool)
        generator = np.random.default_rng([seed, zlib.crc32(f"{model} {condition} {voice}".encode())])
        marked = wide.drop(columns=reference).to_numpy()
        drawn = marked[np.arange(len(wide)), generator.integers(marked.shape[1], size=len(wide))]
        source = wide[reference].to_numpy() if voice == REGISTER else drawn
        answers = np.where(generator.random(len(wide)) < kept, source, generator.permutation(source))
        right = pd.Series(answers, wide.index)
        rows = group[(group["voice"] == reference) & group["case"].isin(wide.index)]
        text = dict.fromkeys(("letter", "text"))
        correct = right.loc[rows["case"]].to_numpy()
        made.append(rows.assign(voice=voice, correct=correct, status="pattern", source="fabricated", **text))
    return pd.concat(made, ignore_index=True)
