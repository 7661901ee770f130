"""Is a difference more than chance? Tables V and VI of ``sdoh``, and the same tests on a run and on real models."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from nsh.changes import changes
from nsh.comparison import compare_printed
from nsh.discordance import mcnemar_between, mcnemar_exact
from nsh.matrix import RUN
from nsh.models import ModelSpec
from nsh.outcomes import case_outcomes
from nsh.parts import interval
from nsh.printed import number, published
from nsh.sections.sdoh import PROMPTS, printed_outcomes, printed_records, prompt_name
from nsh.tables import MARKS, Block, callout, table


def table5() -> pd.DataFrame:
    """Table V with the exact p of its own counts: ``p`` and ``equal`` (to the printed digits), and ``points``.

    ``points`` is the accuracy of the larger model less that of the smaller, from the counts of 900 answers, and
    ``table3_points`` the same from Table III.

    Examples
    --------
    >>> table5()["equal"].all().item()
    True
    """
    frame = published("sdoh_table5_scale_mcnemar")
    b, c = (frame[column].map(number).astype(int) for column in ("a_correct_b_wrong", "a_wrong_b_correct"))
    accuracy = printed_outcomes().set_index(RUN)["accuracy"]
    sizes = frame["comparison"].str.split(" vs ", expand=True).radd("Qwen2.5-").add("-Instruct")
    first, second = (accuracy.loc[list(zip(sizes[side], frame["prompt"], strict=True))].to_numpy() for side in (0, 1))
    frame = frame.assign(b=b, c=c, p=mcnemar_exact(b, c), points=100 * (c - b) / _answers())
    equal = [compare_printed(p, printed) for p, printed in zip(frame["p"], frame["p_value"], strict=True)]
    return frame.assign(table3_points=100 * (second - first), equal=equal)


def table6() -> pd.DataFrame:
    """Table VI with what its p says: the discordant counts whose exact p has the printed digits.

    ``difference`` is the number of right answers under bias-aware less that under zero-shot prompting, of 900 each
    (Table III); ``b`` and ``c``, right in the first or second only, are the fewest that give p; ``n_pairs`` counts all.

    Examples
    --------
    >>> table6()[["difference", "b", "c", "n_pairs"]].values.tolist()
    [[13, 47, 60, 1], [-2, 23, 21, 1], [-1, 1, 0, 450]]
    """
    answers, rows = _answers(), []
    right = (answers * printed_outcomes().set_index(RUN)["accuracy"]).round().astype(int).unstack()
    for row in published("sdoh_table6_prompt_mcnemar").to_dict("records"):
        difference = int(right.at[row["model"], "bias_aware"] - right.at[row["model"], "zero_shot"])
        fewer = np.arange((answers - abs(difference)) // 2 + 1)
        reached = mcnemar_exact(fewer, fewer + abs(difference))
        found = [int(n) for n, p in zip(fewer, reached, strict=True) if compare_printed(p, row["p_value"])]
        least = found[0] if found else np.nan
        counts = {"b": least + max(-difference, 0), "c": least + max(difference, 0), "n_pairs": len(found)}
        rows.append(row | {"difference": difference} | counts)
    return pd.DataFrame(rows)


def _answers() -> int:
    """Answers of one model under one prompt."""
    return int(number(published("sdoh_text").set_index("id").at["n_rows", "printed"]))


def half_widths(resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Half-widths (points) of the 95% intervals of Table III: as printed, over answers, over cases.

    The last two come from `printed_records`. Columns ``accuracy_printed``, ``accuracy_answers``, ``accuracy_cases``,
    ``cc_printed`` and ``cc_cases``, one row per model and prompt.

    Examples
    --------
    >>> half_widths().filter(like="accuracy").mean().round(1).tolist()
    [3.2, 3.2, 4.4]
    """
    sources = printed_outcomes(), case_outcomes(printed_records(), resamples, seed)
    printed, ours = (frame.set_index(RUN) for frame in sources)
    ends = {"accuracy_printed": (printed, "accuracy_rows"), "accuracy_answers": (ours, "accuracy_rows")}
    ends |= {"accuracy_cases": (ours, "accuracy"), "cc_printed": (printed, "cc"), "cc_cases": (ours, "cc")}
    widths = {name: 50 * (frame[f"{of}_hi"] - frame[f"{of}_lo"]) for name, (frame, of) in ends.items()}
    return pd.DataFrame(widths).reindex(printed.index).reset_index()


def size_pairs(models: Iterable[ModelSpec]) -> list[tuple[str, str]]:
    """Names of the models of one family that are next in size, the smaller first; those of unknown size left out.

    Examples
    --------
    >>> from nsh.models import known
    >>> size_pairs(model for model in known().values() if "sdoh" in model.papers)[0]
    ('Qwen2.5-1.5B-Instruct', 'Qwen2.5-3B-Instruct')
    """
    sized = [model for model in models if model.parameters is not None]
    ordered = sorted(sized, key=lambda model: (model.family or "", model.parameters))
    return [(a.name, b.name) for a, b in pairwise(ordered) if a.family == b.family and a.parameters < b.parameters]


def paired_tests(
    records: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    along: str = "condition",
    reference: str = "clinical",
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """McNemar's exact test of pairs of conditions within each model, or of models within each condition.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice; the same case id is the same question.
    pairs : sequence of (str, str)
        The first and second of each comparison. A pair that is not in the records is left out.
    along : {"condition", "model"}
        What is compared.
    reference, resamples, seed
        As for `nsh.changes.changes`.

    Returns
    -------
    DataFrame
        One row per comparison: ``within``, ``first``, ``second``; ``n`` answers, ``b`` and ``c``, ``p`` (exact); the
        accuracy of the second less that of the first, ``points``, with two 95% intervals: ``rows_lo``, ``rows_hi``
        (normal approximation, answers as independent) and ``cases_lo``, ``cases_hi`` (bootstrap of cases); ``note``.

    References
    ----------
    ``sdoh`` Tables V and VI. The interval over answers is Wald's for paired proportions.
    """
    within, rows = RUN[RUN[0] == along], []
    for name, group in records.groupby(within, sort=False):
        for pair in pairs:
            first, second = (group[group[along] == one] for one in pair)
            if first.empty or second.empty:
                continue
            test = mcnemar_between(first, second)
            both = pd.concat([first, second]).assign(condition=lambda frame: frame[along], model=name)
            over = changes(both, pair[0], reference, resamples, seed).iloc[0]
            mean = (test.c - test.b) / test.n if test.n else np.nan
            half = 1.96 * ((test.b + test.c) / test.n - mean**2) ** 0.5 / test.n**0.5 if test.n else np.nan
            row = {"within": name, "first": pair[0], "second": pair[1], "n": test.n, "b": test.b, "c": test.c}
            row |= {"p": test.p_exact, "points": 100 * mean, "rows_lo": 100 * (mean - half)}
            row |= {"rows_hi": 100 * (mean + half), "cases_lo": 100 * over["delta_accuracy_lo"]}
            rows.append(row | {"cases_hi": 100 * over["delta_accuracy_hi"], "note": test.note})
    return pd.DataFrame(rows)


def all_tests(
    records: pd.DataFrame, models: Iterable[ModelSpec], prompts: Sequence[tuple[str, str]], **draws
) -> pd.DataFrame:
    """`paired_tests` of the models of the records by size, then of pairs of prompts, where they share answers.

    The packaged counts share none: they do not say which question is which.
    """
    sizes = size_pairs(model for model in models if model.name in set(records["model"]))
    found = [paired_tests(records, sizes, "model", **draws), paired_tests(records, prompts, **draws)]
    tests = pd.concat(found, ignore_index=True)
    return tests if tests.empty else tests[tests["n"] > 0]


def differences_table(tests: pd.DataFrame, caption: str) -> Block:
    """Show `all_tests`; a box where nothing can be compared."""
    if tests.empty:
        text = "Nothing to test here: it takes two prompts, or two sizes of one family, on the same questions. For the "
        return callout(f"{text}released models, `nsh data pull` fetches the answers that say so.", code=True)
    ends = {"95% over answers": ["points", "rows_lo", "rows_hi"], "95% over cases": ["points", "cases_lo", "cases_hi"]}
    shown = tests[["within", "first", "second", "n", "b", "c"]].replace(PROMPTS)
    shown["p"] = [_p(p) for p in tests["p"]]
    for head, columns in ends.items():
        shown[f"Δ accuracy, points [{head}]"] = [interval(*row, ".2f") for row in tests[columns].to_numpy()]
    labels = {"n": "answers", "b": "first only", "c": "second only", "p": "exact p"}
    return table(shown, caption, labels=labels, numeric=shown.columns[6:], row_headers=3)


def table5_table() -> Block:
    """Table V: its counts, the exact p that they give beside the printed one, and the difference of accuracies."""
    rows = table5()
    rows["exact p"] = [f"{_p(p)} {MARKS[equal][0]}" for p, equal in zip(rows["p"], rows["equal"], strict=True)]
    heads = {"b": "first only", "c": "second only", "p_value": "p as printed", "exact p": "exact p from the counts"}
    heads |= {"points": "Δ accuracy from the counts, points", "table3_points": "from Table III, points"}
    rows["prompt"] = rows["prompt"].map(prompt_name)
    caption = "Table V: right in the first or second model only, of 900 answers; ✓ equal to the printed digits"
    formats = {"points": "+.2f", "table3_points": "+.2f"}
    shown = rows[["comparison", "prompt", *heads]]
    return table(shown, caption, labels=heads, formats=formats, numeric=["p_value", "exact p"], row_headers=2)


def table6_table() -> Block:
    """Table VI: the printed p, and the discordant counts behind it."""
    rows = table6()
    found = zip(rows["b"], rows["c"], rows["n_pairs"], strict=True)
    rows["counts"] = [f"{b} and {c}" if n == 1 else f"{n:,} pairs give it" for b, c, n in found]
    heads = {"p_value": "p as printed", "difference": "bias-aware right answers less zero-shot ones"}
    heads |= {"counts": "right under zero-shot only, under bias-aware only"}
    caption = "Table VI: zero-shot against bias-aware, and the discordant counts that give the printed p"
    shown = rows[["model", *heads]]
    return table(shown, caption, labels=heads, formats={"difference": "+d"}, numeric=["p_value", "counts"])


def _p(p: float) -> str:
    """An exact p with six decimals as the paper prints it, or as a power of ten."""
    if np.isnan(p):
        return "undefined"
    return f"{p:.6f}" if p >= 1e-6 else f"{p:.1e}" if p > 1e-300 else "<1e-300"
