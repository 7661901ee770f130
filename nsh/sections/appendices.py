"""Appendices C and E to G of `voices`: every condition and model of some records, beside what is printed."""

from collections.abc import Mapping, Sequence

import pandas as pd

from nsh.agreement import mcnemar
from nsh.gaps import anchoring
from nsh.matrix import RUN, order_voices
from nsh.parts import interval
from nsh.sections.methods import PRINTED, printed_means
from nsh.tables import Block, table

PROMPTING = ("direct", "cot", "debias", "cot_debias")  # `voices` §4; its other conditions make an intermediate
ELEVEN = "paper, mean of 11"
LEVELS = ("acc_clinical", "acc_marked", "acc_overall")


def change_grid(rows: pd.DataFrame, measure: str, sizes: Mapping[str, float], *, printed: bool = False) -> pd.DataFrame:
    """One panel of `voices` Figure 6 in points, models (by size, unknown sizes last) by conditions.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `nsh.sections.methods.method_rows` returns it; the first condition is the baseline, whose change is zero.
    measure : {"gap", "overall"}
        Reduction of the gap, or change of the overall accuracy.
    sizes : mapping
        Model to billions of parameters.
    printed : bool
        Whether a last row holds the printed means over 11 models, the gap reduction as a difference of printed gaps.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> from nsh.sections.methods import method_rows
    >>> grid = change_grid(method_rows(from_patterns(["B1", "B3"]), "B1", resamples=0), "gap", {})
    >>> round(float(grid.at["Llama-3.1-8B-Instruct", "B3"]), 2)
    1.05
    """
    sign = -100 if measure == "gap" else 100
    conditions = rows.index.get_level_values("condition").unique()[1:]
    grid = sign * rows[f"delta_{measure}"].unstack("condition").reindex(columns=conditions)
    grid = grid.loc[sorted(grid.index, key=lambda model: (sizes.get(model, float("inf")), model))]
    if printed and not set(conditions).isdisjoint(PRINTED):
        means = printed_means()
        gaps = 100 * (means.at["direct", "gap"] - means["gap"])
        grid.loc[ELEVEN] = (gaps if measure == "gap" else means["delta_acc_points"]).reindex(conditions)
    return grid


def leave_one_out(grid: pd.DataFrame) -> pd.DataFrame:
    """The mean of each column over all models, and over all but each one; rows are named by what is left out.

    Examples
    --------
    >>> leave_one_out(pd.DataFrame({"B3": [1.0, 3.0]}, index=["a", "b"]))["B3"].tolist()
    [2.0, 3.0, 1.0]
    """
    rows = {"no model left out": grid.mean()} | {f"without {name}": grid.drop(name).mean() for name in grid.index}
    return pd.DataFrame(rows).T


def accuracy_table(
    rows: pd.DataFrame, records: pd.DataFrame, conditions: Sequence[str], caption: str, reference: str = "clinical"
) -> Block:
    """`voices` Tables 5 and 6: accuracy per voice, a row per model and condition; below, the means that are printed.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `nsh.sections.methods.method_rows` returns it.
    records : pandas.DataFrame
        What it was made from: answers without a letter are counted.
    conditions : sequence of str
        Those to show.
    caption : str
        Plain text.
    reference : str
        The unmarked voice, whose column is the first.
    """
    shown = rows[rows.index.get_level_values("condition").isin(conditions)]
    names = [name.removeprefix("voice_") for name in shown if name.startswith("voice_")]
    voices = [f"voice_{name}" for name in order_voices(names, reference)]
    frame = shown[["n", *voices, "marked", "overall"]].rename(columns=lambda name: name.removeprefix("voice_"))
    if "pattern" not in set(records["status"]):
        frame["without a letter"] = (records["status"] != "ok").groupby([records[name] for name in RUN]).sum()
    frame, means = frame.reset_index().astype(object), printed_means()
    if names := [name for name in dict.fromkeys(shown.index.get_level_values("condition")) if name in means.index]:
        above = means.loc[names, list(LEVELS)].set_axis(["clinical", "marked", "overall"], axis=1).reset_index()
        frame = pd.concat([frame, above.assign(model=ELEVEN)]).reindex(columns=frame.columns)
    return table(frame.where(frame.notna(), "–"), caption, numeric=frame.columns[2:], row_headers=2)


def nag_table(records: pd.DataFrame, caption: str, **statistics: int | str) -> Block:
    """`voices` Tables 7 and 8: NAG with its 95% interval, the null, and whether the interval excludes zero."""
    rows = anchoring(records, **statistics)
    rows["NAG [95% interval]"] = [interval(*values) for values in rows[["nag", "nag_lo", "nag_hi"]].to_numpy()]
    excluded = (rows["nag_lo"] > 0).map({True: "yes", False: "no"})
    rows["above zero"] = excluded.where(rows["nag_lo"].notna(), "undefined")
    rows = rows.rename(columns={"null_p95": "null, 95th percentile", "worst_voice": "worst voice"})
    shown = [*RUN, "n", "NAG [95% interval]", "above zero", "null, 95th percentile", "worst voice", "note"]
    return table(rows[shown], caption, numeric=["NAG [95% interval]"], row_headers=2)


def rewrite_table(rows: pd.DataFrame, caption: str, method: str = "rewrite") -> Block:
    """`voices` Table 4: a method against the first condition of the rows, per model; below, the printed means."""
    before, means, lines = rows.index.get_level_values("condition")[0], printed_means(), []
    for model, row in rows[rows.index.get_level_values("condition") == method].droplevel("condition").iterrows():
        ends = [row[f"gap_reduction{end}"] for end in ("", "_lo", "_hi")]
        moved = [row[f"delta_accuracy{end}"] for end in ("", "_lo", "_hi")]
        points = [interval(*(100 * value for value in values), ".1f") for values in (ends, moved)]
        first = rows.loc[(model, before)]
        lines.append([model, row["n"], first["gap"], row["gap"], *points, first["kappa"], row["kappa"], row["note"]])
    if {before, method} <= set(PRINTED):
        first, row = means.loc[before], means.loc[method]
        points = [f"{value:.1f}" for value in (100 * (first["gap"] - row["gap"]), row["delta_acc_points"])]
        lines.append([ELEVEN, "–", first["gap"], row["gap"], *points, first["kappa"], row["kappa"], ""])
    gaps, kappas = ([f"{name}, {condition}" for condition in (before, method)] for name in ("gap", "κ"))
    heads = ["model", "n", *gaps, "gap reduction, points", "accuracy change, points", *kappas, "note"]
    return table(pd.DataFrame(lines, columns=heads), caption, numeric=heads[1:-1])


def pair_table(records: pd.DataFrame, caption: str, reference: str = "clinical") -> Block:
    """`voices` Table 10: McNemar's test of every pair of voices, and whether it is significant in its model."""
    tests = mcnemar(records, reference)
    tests["kept"] = tests["significant_model"].map({True: "yes", False: "no"})
    labels = {"model": "model", "voice_a": "voice a", "voice_b": "voice b", "n": "n", "b": "a only", "c": "b only"}
    labels |= {"p_chi2": "p", "p_exact": "p, exact", "kept": "significant in its model", "note": "note"}
    formats = dict.fromkeys(("p_chi2", "p_exact"), ".1e")
    return table(tests[list(labels)], caption, formats=formats, labels=labels, row_headers=3)


def answer_counts(records: pd.DataFrame, letters: Sequence[str]) -> pd.DataFrame:
    """`voices` Table 3: how many models choose each letter for one case.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one case.
    letters : sequence of str
        The letters of its options.

    Returns
    -------
    pandas.DataFrame
        A row per "condition, voice", a column per letter and "no letter"; counts of models.

    Examples
    --------
    >>> from nsh.records import records_frame
    >>> key = {"condition": "B1", "case": "1", "voice": "cultural", "correct": False}
    >>> answers = records_frame([{**key, "model": "a", "letter": "B"}, {**key, "model": "b"}])
    >>> answer_counts(answers, "AB").values.tolist()
    [[0, 1, 1]]
    """
    row = records["condition"] + ", " + records["voice"]
    counts = pd.crosstab(row, records["letter"].fillna("no letter"))
    return counts.reindex(index=list(dict.fromkeys(row)), columns=[*letters, "no letter"], fill_value=0)
