"""What became of the accounts before the answer: audits of a run's rewrites and extractions (`voices` §8, H)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nsh.accuracies import OVERALL
from nsh.audits import audit_frame, audit_summary, intermediates
from nsh.cases import Case
from nsh.gaps import anchoring
from nsh.matrix import KEY, order_voices
from nsh.operations import operations
from nsh.printed import number, published
from nsh.recall import fact_recall, recall_penalty
from nsh.sections.methods import PRINTED
from nsh.study import Study
from nsh.tables import Block, format_cell, table

SHOWN = {
    "words": ("words, mean", 1, ".0f"),
    "compression": ("length over the account's, median", 1, ".2f"),
    "invented age": ("invented age, %", 100, ".1f"),
    "put for an approximate age": ("age for an approximate one, %", 100, ".1f"),
    "years off": ("years off, median", 1, ".1f"),
    "invented value": ("invented value, %", 100, ".1f"),
    "invented value in the original": ("of these values, in the original, %", 100, ".1f"),
    "templated negative": ("templated negative, %", 100, ".1f"),
}
PRINTED_RECALL = {"rewrite": "rewrite_recall_{}", "extract": "schema_recall_{}"}


def audited(study: Study, conditions: Sequence[str]) -> pd.DataFrame:
    """Audit every intermediate of a run.

    Parameters
    ----------
    study : Study
    conditions : sequence of str
        Conditions whose first call makes an intermediate, such as `rewrite` and `extract`.

    Returns
    -------
    DataFrame
        As `nsh.audits.audit_frame` returns it, with `recall`, the share of the case's listed facts that the rules of
        `nsh.recall.fact_recall` find in the intermediate (missing where a case lists none), `correct` and `status` of
        the answer. Empty where nothing was run.
    """
    outcomes = [(outcome, model.name) for model in study.models for outcome in study.outcomes(model)]
    wanted = [(outcome, name) for outcome, name in outcomes if outcome.job.condition in conditions]
    rows = [row for outcome, name in wanted for row in intermediates([outcome], name)]
    facts = {case.id: case.meta.get("facts") or [] for case in study.cases}
    found = [fact_recall(facts[row["case"]], row["intermediate"]).recall for row in rows]
    frame = audit_frame(rows).assign(recall=pd.Series(found, dtype=float))
    return frame.merge(study.records[[*KEY, "correct", "status"]], on=list(KEY))


def originals(cases: Sequence[Case]) -> pd.DataFrame:
    """Audit the original vignette of every case as if it were the rewrite of each account.

    It is the vignette that a perfect rewrite would resemble, so what the rules call invented in it is what an account
    leaves out: the room for invention, and the reach of the rules.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> originals(load_cases("samples", 2)).shape[0]
    6
    """
    key = {"model": "the original vignette", "condition": "original"}
    return audit_frame(
        key | {"case": case.id, "voice": voice, "narrative": text, "intermediate": case.original}
        for case in cases
        if case.original is not None
        for voice, text in case.narratives.items()
    )


def invention_table(frame: pd.DataFrame, what: str) -> Block:
    """Show the audits by model, condition and voice."""
    by = ["model", "condition", "voice"]
    found = audit_summary(frame, by).set_index([*by, "measure"])
    values = found["value"].unstack("measure")[[*SHOWN]]
    for name, (_, scale, spec) in SHOWN.items():
        values[name] = [format_cell(scale * value, spec, "n = 0") for value in values[name].astype(float)]
    values = values.rename(columns={name: head for name, (head, _, _) in SHOWN.items()})
    sizes = frame.groupby(by).size()
    values.insert(0, "texts", sizes)
    order = {voice: place for place, voice in enumerate(order_voices(frame["voice"].unique()))}
    values = values.sort_index(level="voice", key=lambda names: names.map(order), sort_remaining=False)
    values = values.sort_index(level=["model", "condition"], kind="stable", sort_remaining=False)
    return table(values, what, numeric=list(values), row_headers=3)


def parse_rates(records: pd.DataFrame) -> pd.DataFrame:
    """Extractions that parse, per cent: models by voices and "overall"; no rows where nothing was extracted."""
    rows = operations(records[records["condition"] == "extract"])
    wide = 100 * rows.pivot(index="model", columns="voice", values="parse_rate")
    return wide.reindex(columns=[name for name in dict.fromkeys(rows["voice"])])


def parse_table(records: pd.DataFrame, voices: Sequence[str]) -> Block:
    """`voices` Table 11: how many extractions parse, by model and voice, above the means that the text prints."""
    printed = printed_voices("extractions_parse_{}_pct", voices)
    printed[OVERALL] = number(published("voices_text").set_index("id").at["extractions_parse_pct", "printed"])
    rows = pd.concat([parse_rates(records), pd.DataFrame([printed], index=["as printed, means"])])
    rows = rows.rename_axis("model").assign(note="")
    return table(rows, "Table 11: extractions that parse, %, by voice", formats=dict.fromkeys(rows, "z.1f"))


def section8(frame: pd.DataFrame, records: pd.DataFrame, reference: str, **resampling: Any) -> dict[str, float]:
    """Numbers of `voices` §8 from the audits of a run's rewrites and from its records.

    Parameters
    ----------
    frame : DataFrame
        As `audited` returns it for `rewrite`.
    records : DataFrame
        Records of `rewrite`.
    reference : str
        The unmarked voice.
    **resampling
        `resamples` and `seed` of `nsh.gaps.anchoring`.
    """
    if frame.empty or records.empty:
        return {}
    marked = frame[frame["voice"] != reference]
    numbers = {f"words_rewrite_{voice}": words for voice, words in frame.groupby("voice")["words"].mean().items()}
    invented = 100 * (frame["n_invented"] > 0).groupby(frame["voice"]).mean()
    numbers |= {f"invented_value_{voice}_pct": share for voice, share in invented.items()}
    totals = audit_summary(marked, ["condition"]).set_index("measure")["value"]
    numbers["invented_age_pct"] = 100 * totals.get("invented age", float("nan"))
    numbers["invented_age_error_years"] = totals.get("years off")
    numbers["invented_matches_original_pct"] = 100 * totals.get("invented value in the original", float("nan"))
    rates = audit_summary(marked, ["model"]).query("measure == 'invention'")["value"]
    numbers |= {"invention_rate_lo_pct": 100 * rates.min(), "invention_rate_hi_pct": 100 * rates.max()}
    left = anchoring(records, reference, **resampling)
    numbers |= {"rewrite_nag_lo": left["nag"].min(), "rewrite_nag_hi": left["nag"].max()}
    numbers["rewrite_nag_above_null_models"] = int((left["nag"] > left["null_p95"]).sum())
    if frame["recall"].notna().any():
        terms = recall_penalty(frame, reference=reference)
        alone, marked_term, recall = terms.to_dict("records")
        numbers |= {"audited_penalty_points": 100 * alone["coef"], "recall_coefficient": recall["coef"]}
        numbers |= {"audited_penalty_recall_points": 100 * marked_term["coef"]}
        numbers |= {"audited_penalty_recall_p": marked_term["p"], "recall_coefficient_p": recall["p"]}
    return numbers


def recall_numbers(frame: pd.DataFrame, records: pd.DataFrame) -> dict[str, float]:
    """Numbers of `voices` §7.3 and Appendix H on recall and parsing, from the audits and records of a run."""
    numbers = {}
    for (condition, voice), recall in frame.groupby(["condition", "voice"])["recall"].mean().items():
        numbers[PRINTED_RECALL.get(condition, "{}").format(voice)] = recall
    schema = frame[frame["condition"] == "extract"]
    if len(schema):
        models = schema.groupby("model")["recall"].mean()
        numbers |= {"schema_recall": schema["recall"].mean(), "schema_recall_lo": models.min()}
        numbers |= {"schema_recall_hi": models.max()}
        known = schema["recall"].dropna()
        numbers["lossless_extractions_pct"] = 100 * (known == 1).mean()
        rates = operations(records[records["condition"] == "extract"]).groupby("voice")["parse_rate"].mean()
        numbers["extractions_parse_pct"] = 100 * rates[OVERALL]
        numbers |= {f"extractions_parse_{voice}_pct": 100 * rate for voice, rate in rates.items() if voice != OVERALL}
    return numbers


def recall_by_voice(frame: pd.DataFrame, cases: Sequence[Case]) -> pd.DataFrame:
    """Mean recall of the listed facts, rows by voices: every model's intermediates, then the accounts themselves.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> recall_by_voice(pd.DataFrame(), load_cases("samples", 2)).index.to_list()
    ['the account itself']
    """
    told = [
        (voice, fact_recall(case.meta["facts"], text).recall)
        for case in cases
        if case.meta.get("facts")
        for voice, text in case.narratives.items()
    ]
    accounts = pd.DataFrame(told, columns=["voice", "recall"]).assign(row="the account itself")
    if len(frame):
        names = frame["condition"].replace(PRINTED) + ", " + frame["model"]
        accounts = pd.concat([frame[["voice", "recall"]].assign(row=names), accounts], ignore_index=True)
    wide = accounts.pivot_table(index="row", columns="voice", values="recall", sort=False, observed=True)
    return wide.reindex(columns=list(order_voices(wide.columns)))


def printed_voices(pattern: str, voices: Sequence[str]) -> dict[str, float]:
    """The printed number of each voice whose id is a pattern with the voice in it.

    Examples
    --------
    >>> printed_voices("schema_recall_{}", ["clinical", "rural"])
    {'clinical': 0.8}
    """
    texts = published("voices_text").set_index("id")["printed"]
    return {voice: number(texts[key]) for voice in voices if (key := pattern.format(voice)) in texts}


def shares_by_voice(frames: Sequence[pd.DataFrame], column: str) -> pd.DataFrame:
    """Per cent of audited texts whose count in a column is above 0: models by voices; no rows for no texts."""
    rows = pd.concat(frames)
    shares = (100 * (rows[column] > 0)).groupby([rows["model"], rows["voice"]], sort=False).mean().unstack()
    return shares.reindex(columns=list(order_voices(shares.columns)))
