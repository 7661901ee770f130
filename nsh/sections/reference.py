"""The reference pages: the declared measures, the prompts of all conditions, the models against this machine."""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from nsh.accuracies import accuracy
from nsh.agreement import kappa, mcnemar
from nsh.boxes import boxed
from nsh.cases import Case
from nsh.conditions import CONDITIONS
from nsh.declared import read_data
from nsh.drawing import GRAY, entry, finish, hollow, look, rows_of, styled
from nsh.gaps import anchoring
from nsh.model_list import ROOM, weights_gib
from nsh.models import known
from nsh.outcomes import case_outcomes
from nsh.overview import calls
from nsh.pooled import pooled_effect
from nsh.printed import published
from nsh.prompts import TURNS, template
from nsh.sections.appendix_texts import words
from nsh.tables import NO_MATH, Block, format_cell, table
from nsh.voices import styles_of

TYPESET = "tex2jax_process mathjax_process"  # MathJax leaves all other outputs alone


def measured(records: pd.DataFrame, resamples: int = 2000, seed: int = 0) -> dict[str, pd.Series]:
    """What the statistics say of one model under one condition: the first row of each table, by its name.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> records = from_patterns(["B1"]).query("model == 'BioMistral-7B'")
    >>> print(f"{measured(records, resamples=10)['anchoring']['nag']:.3f}")
    0.064
    """
    frames = {
        "accuracy": accuracy(records).query("voice == 'overall'"),
        "anchoring": anchoring(records, resamples=resamples, seed=seed),
        "outcomes": case_outcomes(records, resamples=0),
        "kappa": kappa(records, "correct"),
        "mcnemar": mcnemar(records),
        "pooled": pd.DataFrame({"points": [pooled_effect(records).effect]}),
    }
    return {name: frame.iloc[0] for name, frame in frames.items()}


def measures_table(records: pd.DataFrame, **resampling: int) -> Block:
    """Every declared measure with its formula, on one model, beside what is printed for that model under B1."""
    found, rows = measured(records, **resampling), []
    model = records["model"].iloc[0]
    for measure in read_data("measures.yaml")["measures"]:
        slug, _, column = measure.get("printed", "").partition(".")
        printed = published(slug).set_index("model").at[model, column] if slug else "–"
        value = _value(measure, found)
        told = (measure["unit"], rf"\({measure['formula']}\)", measure["function"], measure["where"])
        rows.append([measure["name"], value, printed, *told])
    columns = ["measure", "computed", "as printed", "unit", "formula", "function", "defined in"]
    caption = f"The measures, computed on {model} under direct prompting (B1 of facts) from the packaged counts"
    shown = table(pd.DataFrame(rows, columns=columns), caption, numeric=["computed", "as printed"])
    return Block(shown.html.replace(NO_MATH, TYPESET), shown.text)


def _value(measure: dict[str, Any], found: dict[str, pd.Series]) -> str:
    """A measure as text, two numbers as an interval, or what it needs."""
    if "needs" in measure:
        return f"needs {measure['needs']}"
    places = measure["value"] if isinstance(measure["value"], list) else [measure["value"]]
    names = [place.split(".") for place in places]
    texts = [format_cell(found[name][column], measure.get("spec")) for name, column in names]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def pitfalls_table() -> Block:
    """What each measure says, and how it misleads."""
    rows = pd.DataFrame(read_data("measures.yaml")["measures"])[["name", "says", "pitfall"]]
    return table(rows.rename(columns={"name": "measure"}), "What each measure says, and how it can mislead")


@cache
def prompt_names() -> tuple[str, ...]:
    """The prompt files that the conditions use, in the order of their calls, each once.

    Examples
    --------
    >>> prompt_names()[:2]
    ('direct', 'cot')
    """
    return tuple(dict.fromkeys(call.stage for condition in CONDITIONS.values() for call in calls(condition)))


def prompts_shown() -> Block:
    """Every prompt file as it is, with its source, whose words it has, and its budget of new tokens."""
    parts = []
    for name in prompt_names():
        prompt = template(name)
        note = f" ({prompt['note']})" if "note" in prompt else ""
        budget = f"at most {prompt['max_new_tokens']} new tokens, {prompt['budget']}"
        remark = f"{prompt['status']}{note}; source: {prompt['source']}; {budget}"
        parts.append((name, remark, [(turn, prompt[turn]) for turn in TURNS if turn in prompt]))
    return boxed(parts, opened=False)


def first_words(case: Case) -> pd.DataFrame:
    """Words of the first call of every condition on a case: `condition`, `prompt` (its file), `voice`, `words`."""
    rows = []
    for name, condition in CONDITIONS.items():
        for voice in case.narratives:
            call = next(condition(case, voice))
            rows.append([name, Path(call.stage).stem, voice, words(call)])
    return pd.DataFrame(rows, columns=["condition", "prompt", "voice", "words"])


@styled
def prompt_lengths(words: pd.DataFrame) -> Figure:
    """Draw how many words the first call of each condition sends in each voice, from a frame of `first_words`."""
    styles = styles_of(words["voice"])
    wide = words.pivot(index="condition", columns="voice", values="words").loc[words["condition"].unique()]
    figure, axes = rows_of(list(wide.index), 0.3)
    for voice, style in styles.items():
        axes.plot(wide[voice], range(len(wide)), linestyle="none", **look(style))
    axes.set_xlim(left=0)
    told = {name: ", ".join(f"{voice} {row[voice]}" for voice in styles) for name, row in wide.iterrows()}
    entries = [entry(style.label, **look(style)) for style in styles.values()]
    return finish(figure, entries, "", "Words of the first call", told)


@styled
def memory_rows(memory: dict[str, float]) -> Figure:
    """Draw what the weights of each model need, and what this machine has.

    Parameters
    ----------
    memory : dict
        GiB by kind of memory, as `nsh.model_list.memory` gives it; the largest is drawn.
    """
    sizes = {spec.name: weights_gib(spec) for spec in known().values()}
    figure, axes = rows_of(list(sizes), 0.3)
    place = "gpu" if "gpu" in memory else "cpu"
    values = [size or float("nan") for size in sizes.values()]
    axes.semilogx(values, range(len(sizes)), "o", color="black")
    axes.semilogx([ROOM * value for value in values], range(len(sizes)), linestyle="none", **hollow())
    room = axes.axvline(memory[place], color=GRAY, linestyle="--", label=f"this machine ({place.upper()})")
    axes.xaxis.set_major_formatter("{x:g}")
    entries = [entry("weights", marker="o", color="black"), entry(f"with room to run ({ROOM} times)", **hollow()), room]
    told = {name: "not known" if size is None else f"{size:.1f}" for name, size in sizes.items()}
    note = f"{memory[place]:.0f} GiB on the machine that built this page. No mark: the size is not known."
    return finish(figure, entries, note, "Memory (GiB, logarithmic axis)", told)
