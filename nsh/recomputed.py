"""Our own numbers for the ledger: every printed number that the released data hold, under the name of its table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.accuracies import OVERALL, status_rates
from nsh.aggregates import authors_aggregates, missing_aggregates
from nsh.case_files import QUESTIONS
from nsh.cases import Case, load_cases
from nsh.dss import SCORES, dss, dss_summary
from nsh.errors import MissingDataError, NshError
from nsh.explanations import voices_section6
from nsh.facts_tables import facts_table3, facts_table4
from nsh.matrix import tidy
from nsh.medqa import medqa_split
from nsh.models import known
from nsh.patterns import from_patterns
from nsh.place import medqa_test
from nsh.ratings import FACTS, RATINGS, REALISM, facts_ratings, load_ratings
from nsh.records import records_frame
from nsh.released import MODELS, load_released
from nsh.told import told_of_questions, told_of_replies, told_of_retellings
from nsh.tool_logs import logged_tools
from nsh.voices_tables import voices_section5, voices_table1

TABLES = {"B1": "facts_table3_b1", "B2": "facts_table5_b2", "B3": "facts_table6_b3"}
TABLE1 = "voice_table1_retellings"
N_QUESTIONS = 1000  # of every released file
TEXTS = ("voices_text", "voices_claims", "facts_text")
MOST_TOOLS = ("n_calculators", "calculators_max", "drug_lookups_max", "tools_four_lab_once")
DSS_COLUMNS = ("dss", "dss_below_0.8_pct")


def recompute(folder: Path | None, resamples: int = 2000, seed: int = 42) -> dict[str, Any]:
    """Compute all printed numbers that the released data give.

    Parameters
    ----------
    folder : pathlib.Path or None
        The released files. What needs a file that is not there is left out; under a condition without answers,
        accuracies, NAG, kappa and McNemar's p come from the packaged pattern counts. The test split of MedQA is the
        file that $NSH_MEDQA_TEST names, if it is set.
    resamples, seed : int
        Of intervals and null.

    Returns
    -------
    dict
        "released" and "aggregate", as `nsh.ledger.ledger` takes them, and "left out": a list of what could not be
        computed, and why.

    Raises
    ------
    DataError
        If a released file is corrupt.

    Examples
    --------
    >>> sources = recompute(None, resamples=10)
    >>> round(float(sources["released"]["facts_table3_b1"].loc["BioMistral-7B", "nag"]), 4)
    0.064
    """
    left_out: list[str] = []
    options = {"resamples": resamples, "seed": seed}
    records = load_released(folder) if folder else records_frame([])
    counted = from_patterns([condition for condition in TABLES if condition not in set(records["condition"])])
    left_out += _sources(records, counted)
    records = pd.concat([records, counted], ignore_index=True)
    scores, why = stability(records)
    left_out += [f"{why}."] * bool(why)
    tables = answer_tables(records, by_condition(scores), **options)
    first = records[records["condition"] == "B1"]
    sizes = {model.name: model.parameters for model in known().values() if model.parameters is not None}
    texts = {name: {} for name in TEXTS} | {"voices_text": dict(voices_section5(first, sizes, **options))}
    texts["voices_claims"]["nag_intervals_above_zero_models"] = (tables[TABLES["B1"]]["nag_lo"] > 0).sum()
    if folder is None:
        left_out.append("The released files are not on this machine: `nsh data pull` fetches them.")
        return {"released": tables | _series(texts), "aggregate": {}, "left out": left_out}
    if (folder / QUESTIONS).is_file():
        cases = load_cases(folder)
        tables[TABLE1] = voices_table1(cases).pivot(index="property", columns="voice", values="value")
        texts["voices_text"] |= _section6(cases, first, options, left_out) | told_of_retellings(cases)
        texts["facts_text"] |= told_of_questions(cases)
    if (folder / RATINGS).is_file():
        try:
            texts["facts_text"] |= _ratings(folder, tables)
        except MissingDataError as error:
            left_out.append(f"Ratings: {error}.")
    texts["facts_text"] |= told_of_replies(records)
    if len(tools := logged_tools(folder)):
        tables["facts_table9_ns_operations"] = tools
        texts["facts_text"] |= tools[list(MOST_TOOLS)].max().to_dict()
    if absent := missing_aggregates(folder):
        left_out.append(f"{len(absent)} of the authors' aggregate files are not here, the first is {absent[0]}.")
    aggregate = {name: frame.set_index("model") for name, frame in authors_aggregates(folder).items()}
    return {"released": tables | _series(texts), "aggregate": aggregate, "left out": left_out}


def _sources(records: pd.DataFrame, counted: pd.DataFrame) -> list[str]:
    """Which answers the packaged pattern counts stand in for, and which released ones are not all of them."""
    said = [f"{condition}: the packaged pattern counts, no answers." for condition in counted["condition"].unique()]
    for condition, rows in records.groupby("condition"):
        sizes = rows.groupby("model")["case"].nunique()
        if condition == "B1" and len(sizes) < len(MODELS):
            said.append(f"{condition}: answers of {len(sizes)} of {len(MODELS)} models.")
        said += [f"{condition}: {n} questions of {model}." for model, n in sizes.items() if n != N_QUESTIONS]
    return said


def _series(texts: Mapping[str, Mapping[str, float]]) -> dict[str, pd.Series]:
    """Numbers by id, as series."""
    return {name: pd.Series(numbers, dtype=float) for name, numbers in texts.items()}


def _section6(
    cases: Sequence[Case], records: pd.DataFrame, options: Mapping[str, int], left_out: list[str]
) -> dict[str, float]:
    """Numbers of `voices` §6 on the released models, and the sizes of both splits."""
    if (records["source"] == "patterns").any():
        left_out.append("Section 6 of voices: no released answers under B1.")
        return {}
    file = medqa_test()
    if file is None:
        left_out.append("MedQA split: $NSH_MEDQA_TEST does not name the file of the test split.")
    return dict(voices_section6(cases, records, split=medqa_split(cases, file) if file else None, **options))


def _ratings(folder: Path, tables: dict[str, pd.DataFrame]) -> dict[str, float]:
    """What `facts` says of the physicians' ratings, and the two rows of `voices` Table 1 that are theirs."""
    ratings = load_ratings(folder / RATINGS)
    numbers = facts_ratings(ratings)
    means = ratings.groupby(["item", "voice"])["rating"].mean().unstack()
    rated = {"facts_preserved_clinicians_pct": 100 * means.loc[FACTS], "realism_clinicians_1_to_5": means.loc[REALISM]}
    tables[TABLE1] = pd.concat([tables.get(TABLE1), pd.DataFrame(rated).T])
    return dict(numbers)


def condition_table(records: pd.DataFrame, condition: str, reference: str = "clinical", **draws: int) -> pd.DataFrame:
    """`facts` Table 3, 5 or 6 without DSS: `nsh.facts_tables.facts_table3` of one condition, and `parse_rate_pct` (per
    cent; missing for pattern counts).

    Examples
    --------
    >>> condition_table(from_patterns(), "B2", resamples=0).loc["BioMistral-7B", ["omr", "nag"]].round(3).tolist()
    [0.231, 0.147]
    """
    rows = records[records["condition"] == condition]
    rates = status_rates(rows).set_index(["voice", "model"])["ok"]
    return facts_table3(rows, reference, **draws).assign(parse_rate_pct=100 * rates[OVERALL])


def answer_tables(
    records: pd.DataFrame, stable: Mapping[str, pd.DataFrame] | None = None, **draws: int
) -> dict[str, pd.DataFrame]:
    """`facts` Tables 1, 3 to 6 and 10 by slug, as far as there are answers; DSS from `by_condition`, where given."""
    tables = {}
    for condition, name in TABLES.items():
        tables[name] = condition_table(records, condition, **draws)
        if stable:
            tables[name] = tables[name].join(stable.get(condition, pd.DataFrame(columns=list(DSS_COLUMNS))))
    tables["facts_table4_b1_agreement"] = facts_table4(records[records["condition"] == "B1"])
    for name, column in [("facts_table1_nag", "nag")] + [("facts_table10_dss", DSS_COLUMNS[1])] * bool(stable):
        tables[name] = pd.DataFrame({condition: tables[of][column] for condition, of in TABLES.items()})
    return tables


def stability(records: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """DSS per question (`nsh.dss.dss`) of records with texts, and why there is none where the encoder is missing."""
    texts, none = records[records["source"] != "patterns"], tidy([], SCORES)
    try:
        return none if texts.empty else dss(texts), ""
    except NshError as error:
        return none, f"DSS could not be computed: {error}"


def by_condition(scores: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean DSS and the share of questions below 0.8 by model, named as the printed columns; a frame per condition.

    Examples
    --------
    >>> row = {"model": "m", "condition": "B1", "n": 3, "letter_only": True, "empty": False}
    >>> scores = pd.DataFrame([row | {"case": "1", "dss": 0.9}, row | {"case": "2", "dss": 0.5}])
    >>> by_condition(scores)["B1"].loc["m"].tolist()
    [0.7, 50.0]
    """
    summary = dss_summary(scores).rename(columns=dict(zip(("dss", "below_pct"), DSS_COLUMNS, strict=True)))
    return {name: part.set_index("model")[list(DSS_COLUMNS)] for name, part in summary.groupby("condition")}
