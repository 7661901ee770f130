"""Appendices A, B and D of `voices`: what can be counted in the cases, and FABRICATED verdicts of judges."""

import json
import zlib
from collections.abc import Sequence
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from nsh.audits import audit_frame, audit_summary
from nsh.cases import Case
from nsh.engines import Call, ScriptedEngine
from nsh.jobs import jobs
from nsh.judgements import judge_agreement, judgements
from nsh.judging import judge_added
from nsh.making.voices import phrases_in, register
from nsh.markers import demographic_markers
from nsh.matrix import order_voices
from nsh.medqa import medqa_split
from nsh.place import medqa_test
from nsh.question_types import question_type
from nsh.retellings import per_case
from nsh.runner import run
from nsh.store import Store

FORBIDDEN = (*register("socioeconomic").forbidden, *register("cultural").forbidden)  # regular expressions
WORDS_OF_OPENING = 3
MOST = 60  # cases that get fabricated verdicts
JUDGES = {"F": 0.55, "P": 0.7, "L": 0.5}  # a fabricated judge's probability to call an item relevant
RELEVANT = "relevant_addition_pct_judge_{}"
UNKNOWN = "not stated"


def case_facts(cases: Sequence[Case]) -> pd.DataFrame:
    """What a case is sampled and described by.

    Returns
    -------
    pandas.DataFrame
        One row per case, indexed by its id: `exam step` (of the released cases), `answer letter`, `question type`
        (`nsh.question_types`) and `MedQA split` (of cases with an exam step), where its test file is on this machine.

    Examples
    --------
    >>> case = Case("1", "What is the most likely diagnosis?", {"A": "x", "B": "y"}, "B", {"clinical": "Pain."})
    >>> case_facts([case]).loc["1"].tolist()
    ['not stated', 'B', 'diagnosis', 'not stated']
    """
    frame = pd.DataFrame(index=[case.id for case in cases])
    frame["exam step"] = [case.meta.get("meta_info") or UNKNOWN for case in cases]
    frame["answer letter"] = [case.gold for case in cases]
    frame["question type"] = [question_type(case.question) for case in cases]
    split = medqa_split(cases, medqa_test()) if medqa_test() else pd.Series(UNKNOWN, frame.index)
    frame["MedQA split"] = split.where(frame["exam step"] != UNKNOWN, UNKNOWN)
    return frame.fillna(UNKNOWN)


def composition(facts: pd.DataFrame) -> pd.DataFrame:
    """Cases per value of each column of `case_facts`: `property`, `value`, `cases`, `share, %`."""
    counts = pd.concat({name: facts[name].value_counts().sort_index() for name in facts}, names=["property", "value"])
    return counts.rename("cases").reset_index().assign(**{"share, %": 100 * counts.to_numpy() / len(facts)})


def extra_words(cases: Sequence[Case]) -> pd.DataFrame:
    """Words of each retelling above those of its original, in per cent: `case`, `voice`, `extra`; none without one."""
    frame = per_case(cases).dropna(subset="original_words")
    return frame.assign(extra=100 * (frame["words"] / frame["original_words"] - 1).astype(float))


def within(extra: pd.DataFrame, reference: str, clinical: float, low: float, high: float) -> pd.DataFrame:
    """Retellings as long as was asked: the reference within ± `clinical` per cent, others `low` to `high` longer."""
    unmarked = extra["voice"] == reference
    lo, hi = np.where(unmarked, -clinical, low), np.where(unmarked, clinical, high)
    kept = extra.assign(kept=extra["extra"].between(lo, hi), longer=extra["extra"] > hi)
    found = kept.groupby("voice").agg(retellings=("kept", "size"), median=("extra", "median"), kept=("kept", "sum"))
    found["longer"] = kept.groupby("voice")["longer"].sum()
    heads = {"median": "median extra words, %", "kept": "as long as asked", "longer": "longer than asked"}
    return (
        found.reindex(list(order_voices(extra["voice"], reference)))
        .rename(columns=heads)
        .rename_axis("voice")
        .reset_index()
    )


def opening_styles(cases: Sequence[Case]) -> pd.DataFrame:
    """The opening that each marked retelling of a sample was assigned; no column where the cases do not say."""
    return pd.DataFrame([case.meta.get("styles") or {} for case in cases]).fillna(UNKNOWN)


def retelling_checks(cases: Sequence[Case], reference: str = "clinical") -> pd.DataFrame:
    """Retellings with a property that the prompts forbid or vary, by voice; a row per property, a column per voice.

    Examples
    --------
    >>> told = [("1", "My family insisted. It hurts."), ("2", "My family insisted? No, I came.")]
    >>> cases = [Case(id, "Why?", {"A": "x", "B": "y"}, "A", {"cultural": text}) for id, text in told]
    >>> retelling_checks(cases, "cultural")["cultural"].tolist()[:3]
    [2, 2, 2]
    """
    told = [(voice, text) for case in cases for voice, text in case.narratives.items()]
    frame = per_case(cases)[["voice", "person"]].assign(text=[text for _, text in told])
    words = frame["text"].str.casefold().str.findall(r"\w+").str[:WORDS_OF_OPENING].str.join(" ")
    shared = frame["voice"].str.cat(words, sep=" ").duplicated(keep=False)
    phrases = frame["text"].map(lambda text: bool(phrases_in(text, FORBIDDEN))).astype(bool)
    flags = {"retellings": True, "first three words shared with another case": shared}
    flags |= {"a phrase that the prompts forbid": phrases, "told in the first person": frame["person"] == "first"}
    rows = pd.DataFrame({name: frame.assign(has=has).groupby("voice")["has"].sum() for name, has in flags.items()}).T
    markers = demographic_markers(cases).pivot(index="kind", columns="voice", values="count").drop(index="any")
    rows = pd.concat([rows, markers.rename(index="states: {}".format)])
    return rows[list(order_voices(rows.columns, reference))].astype(int).rename_axis("property").reset_index()


def program_audit(cases: Sequence[Case]) -> pd.DataFrame:
    """What a program finds added by the retellings: `nsh.audits.audit_summary` by voice, against the originals."""
    rows = [
        {"model": "generator", "condition": "retelling", "case": case.id, "voice": voice}
        | {"narrative": case.original, "intermediate": text, "original": case.original}
        for case in cases
        if case.original is not None
        for voice, text in case.narratives.items()
    ]
    return audit_summary(audit_frame(rows), by=("voice",))


def fabricated_verdicts(cases: Sequence[Case], seed: int = 42) -> pd.DataFrame:
    """FABRICATED verdicts of three made-up judges on the first cases, for what is done with verdicts; no finding.

    They go the way of a real judge's: the prompt of `nsh.judging.judge_added`, a reply in JSON, its strict reading.
    Each reply depends on the two texts, the judge and the seed alone.

    Returns
    -------
    pandas.DataFrame
        As `nsh.judgements.judgements`, for the judges F, P and L; empty where no case has an original vignette.
    """
    todo, frames = jobs([case for case in cases if case.original is not None][:MOST], judge_added), []
    with TemporaryDirectory() as folder:
        for judge in JUDGES:
            store = Store(folder)
            engine = ScriptedEngine(f"fabricated {judge}", partial(_verdict, judge=judge, seed=seed))
            frames.append(judgements(run(todo, engine, store)[0], judge))
            store.close()
    return pd.concat(frames, ignore_index=True)


def _verdict(call: Call, judge: str, seed: int) -> str:
    """A made-up reply: the longer the retelling beside the original, the more items; judges share items, not flags."""
    source, _, text = call.messages[-1][1].partition("RETELLING:")
    shared = np.random.default_rng([seed, zlib.crc32(text.encode())])
    items = shared.random(shared.poisson(0.4 + max(len(text.split()) - len(source.split()), 0) / 60))
    noise = np.random.default_rng([seed, zlib.crc32(text.encode()), ord(judge)]).normal(0, 0.15, len(items))
    relevant = items + noise < JUDGES[judge]
    return json.dumps({"added": [{"content": "fabricated", "relevant": bool(flag)} for flag in relevant]})


def relevant_shares(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Per cent of retellings with at least one relevant addition: a row per judge, a column per voice."""
    known = verdicts[verdicts["status"] == "ok"]
    return (100 * (known["n_relevant"] > 0)).astype(float).groupby([known["judge"], known["voice"]]).mean().unstack()


def agreement_numbers(verdicts: pd.DataFrame, reference: str = "clinical") -> dict[str, float]:
    """Numbers of `voices` Appendix D from verdicts, by their ids in ``published("voices_text")``."""
    pairs = judge_agreement(verdicts, "F").query("judge_a == 'F'")
    whole = pairs[pairs["voice"] == "all voices"].set_index("judge_b")
    numbers = {f"judge_agreement_{judge}_pct": 100 * value for judge, value in whole["agreement"].items()}
    numbers |= {
        f"judge_{name}_{judge}": whole.at[judge, name] for judge in whole.index for name in ("kappa", "spearman")
    }
    inside = pairs[(pairs["voice"] != "all voices") & (pairs["judge_b"] == "P")]["kappa"]
    numbers |= {"judge_kappa_P_within_lo": inside.min(), "judge_kappa_P_within_hi": inside.max()}
    marked = verdicts[(verdicts["judge"] == "P") & (verdicts["voice"] != reference)]
    added = marked.groupby("case")["n_relevant"].sum(min_count=marked["voice"].nunique())  # of cases judged in all
    numbers["n_no_addition_judge_P"] = int((added == 0).sum())
    return numbers
