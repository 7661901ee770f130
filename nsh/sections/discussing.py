"""The case that opens `voices` and the limits that close it: one illness in all voices, and what bears on a limit."""

from collections.abc import Sequence

import pandas as pd

from nsh.accuracies import accuracy
from nsh.boxes import boxed
from nsh.cases import Case
from nsh.matrix import order_voices
from nsh.outcomes import case_outcomes
from nsh.patterns import from_patterns
from nsh.retellings import per_case
from nsh.sections.methods import PRINTED, accuracy_levels, answering, printed_means
from nsh.study import Study
from nsh.tables import Block
from nsh.told import WORKED
from nsh.transcripts import hidden

EVERY = "every voice"


def flipping_case(study: Study) -> Case:
    """The first case that a model of the run answers right in the reference voice and wrong in another; else the first.

    Examples
    --------
    >>> from nsh.opening import open_page
    >>> flipping_case(open_page("voices-01-introduction", models=[], n_cases=2)).id
    'NS_001'
    """
    right = study.records.pivot(index=["case", "model"], columns="voice", values="correct").eq(True)
    flips = right.get(study.reference, False) & ~right.all(axis=1)
    flipped = set(right.index[flips].get_level_values("case")) if len(right) else ()
    return next((case for case in study.cases if case.id in flipped), study.cases[0])


def told_case(study: Study) -> Block:
    """One case of the run: its options, and in each voice the retelling and what every model of the run answered.

    Texts are shown of the packaged samples and of a reader's own file; of the papers' cases only ids and letters are.
    """
    case = flipping_case(study)
    shown = hidden(study) is None
    answers = study.records[study.records["case"] == case.id].groupby("voice")
    options = [f"{letter}: {text}" if shown else letter for letter, text in case.options.items()]
    head = f"{case.id}{f'. {case.question}' if shown else ''} Options: {'; '.join(options)}. Right: {case.gold}."
    parts = []
    for voice in order_voices(case.narratives, study.reference):
        rows = answers.get_group(voice).itertuples() if voice in answers.groups else ()
        said = [f"{row.model} answers {row.letter or 'nothing'}, {'right' if row.correct else 'wrong'}" for row in rows]
        summary = f"{voice}: {'; '.join(said) or 'no model was run'}"
        parts.append((summary, "", [("", case.narratives[voice])] * shown))
    return boxed(parts, before=head)


def worked_answers(records: pd.DataFrame) -> str:
    """How many models of some records are right on the worked example of `voices` Appendix C, per voice, in words."""
    rows = records[records["case"] == WORKED]
    if rows.empty:
        return "the answers to that case are not on this machine"
    counts = [f"{part['correct'].sum()} of {len(part)} in the {voice}" for voice, part in rows.groupby("voice")]
    return f"{', '.join(counts)} voice are right"


def more_errors(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """Share of wrong answers in the reference voice and in the marked voices, per model and on average.

    Returns
    -------
    DataFrame
        `model`, `reference` and `marked` (per cent wrong; marked is the mean of the marked voices) and `more` (by how
        many per cent the second exceeds the first; missing where the first is 0). The last row is the mean over
        models, whose `more` is that of the mean rates, as in `voices` §5.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> more_errors(from_patterns(["B1"])).round(1).tail(1)["more"].tolist()
    [22.8]
    """
    rates = accuracy_levels(records, reference)[["reference", "marked"]].droplevel("condition")
    rates = 100 * (1 - pd.concat([rates, rates.mean().to_frame("mean").T]))
    more = 100 * (rates["marked"] / rates["reference"].where(rates["reference"] > 0) - 1)
    return rates.assign(more=more).rename_axis("model").reset_index()


def mean_levels(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """Accuracy in the reference and the marked voices by condition: means over the models that are right somewhere in
    each."""
    return accuracy_levels(answering(records), reference).groupby("condition")[["reference", "marked"]].mean()


def levelling(levels: pd.DataFrame) -> pd.DataFrame:
    """Where a smaller gap comes from: what each condition changes in either accuracy, against the first row.

    Parameters
    ----------
    levels : DataFrame
        Indexed by condition, the baseline first: `reference` and `marked` accuracy (proportions).

    Returns
    -------
    DataFrame
        Per other condition: change of the `reference`, of the `marked` accuracy and of the `gap` (points), and `how`.

    Examples
    --------
    >>> levels = pd.DataFrame({"reference": [0.6, 0.5], "marked": [0.5, 0.5]}, index=["B1", "B3"])
    >>> levelling(levels)["how"].tolist()
    ['the unmarked voice falls']
    """
    change = 100 * (levels - levels.iloc[0]).iloc[1:].round(6)
    change["gap"] = change["reference"] - change["marked"]
    up, down = change["marked"] > 0, change["reference"] < 0
    words = {(True, False): "marked voices gain more", (False, True): "the unmarked voice falls"}
    words[True, True] = "marked voices gain, the unmarked falls"
    how = [
        words[rises, falls] if gap < 0 else "no smaller gap"
        for rises, falls, gap in zip(up, down, change["gap"], strict=True)
    ]
    return change.assign(how=how).rename_axis("condition").reset_index()


def levelling_rows() -> pd.DataFrame:
    """`levelling` of Table 2 as printed, then of the first version's instruction (B3) from the packaged counts."""
    counted = levelling(mean_levels(from_patterns(["B1", "B3"]))).assign(condition="B3 of the first version, counted")
    levels = printed_means()[["acc_clinical", "acc_marked"]].rename(PRINTED)
    levels = levels.set_axis(["reference", "marked"], axis=1)
    return pd.concat([levelling(levels), counted], ignore_index=True)


def every_voice(records: pd.DataFrame, reference: str = "clinical", **resampling: int) -> pd.DataFrame:
    """Accuracy as a benchmark with one telling sees it, and the share of cases that are right in every telling.

    Parameters
    ----------
    records : DataFrame
        Records of one condition.
    reference : str
        The voice of the benchmark with one telling.
    **resampling
        `resamples` and `seed` of `nsh.outcomes.case_outcomes`.

    Returns
    -------
    DataFrame
        Two rows per model: `model`, `voice` (the reference, then "every voice"), `accuracy`, `lo`, `hi` (proportions;
        Wilson interval, then bootstrap over cases).

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> every_voice(from_patterns(["B1"]), resamples=0)["accuracy"].head(1).tolist()
    [0.729]
    """
    one = accuracy(records).query("voice == @reference")
    columns = {"correct_cc": "accuracy", "correct_cc_lo": "lo", "correct_cc_hi": "hi"}
    every = case_outcomes(records, **resampling)[["model", *columns]].rename(columns=columns).assign(voice=EVERY)
    return pd.concat([one[["model", "voice", "accuracy", "lo", "hi"]], every], ignore_index=True)


def one_telling(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """What one telling does not show, per model: `one`, `every` (proportions), `lost` (per cent of the cases right in
    the reference voice that are wrong in another) and the ranks of the model by either accuracy, 1 the highest."""
    frame = every_voice(records, reference, resamples=0)
    wide = frame.pivot(index="model", columns="voice", values="accuracy")[[reference, EVERY]].set_axis(
        ["one", "every"], axis=1
    )
    lost = 100 * (1 - wide["every"] / wide["one"].where(wide["one"] > 0))
    ranks = wide.rank(ascending=False, method="min").astype("Int64").add_prefix("rank_")
    return wide.assign(lost=lost).join(ranks).sort_values("rank_one", kind="stable").reset_index()


def bundle(cases: Sequence[Case], reference: str = "clinical") -> pd.DataFrame:
    """What else differs between the voices, counted from the texts: a row per property, a column per voice."""
    rows = per_case(cases)
    rows = rows.assign(numeric_age=100 * rows["numeric_age"], first=100 * (rows["person"] == "first"))
    means = rows.groupby("voice")[["words", "numeric_age", "first"]].mean().T
    names = ["mean length (words)", "age in digits (%)", "told in the first person (%)"]
    voices = list(order_voices(means.columns, reference))
    return means[voices].set_axis(names).rename_axis("property").rename_axis(columns=None).reset_index()
