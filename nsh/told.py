"""What the papers tell of the released texts in running text: counts of questions, retellings and replies by id."""

import re
from collections.abc import Sequence

import pandas as pd

from nsh.cases import Case
from nsh.making.filters import declared
from nsh.markers import demographic_markers
from nsh.retellings import describe_retellings, per_case

WORKED = "MQ_0153"  # the example of `voices` Appendix C


def told_of_retellings(cases: Sequence[Case]) -> dict[str, float]:
    """What `voices` says of the retellings themselves."""
    frame = per_case(cases)
    described = describe_retellings(cases).set_index(["property", "voice"])
    marked = frame[frame["voice"] != "clinical"]
    worked = frame[(frame["case"] == WORKED) & (frame["voice"] == "socioeconomic")]
    markers = demographic_markers(cases).groupby("kind")["count"].sum()
    return {
        "n_cases": len(cases),
        "n_voices": frame["voice"].nunique(),
        "n_retellings": len(frame),
        "words_original": described.at[("length", "original"), "value"],
        "n_superset_questions": described.at[("superset", "any"), "count"],
        "question_verbatim_socioeconomic_pct": described.at[("question_verbatim", "socioeconomic"), "value"],
        "question_verbatim_cultural_pct": described.at[("question_verbatim", "cultural"), "value"],
        "marked_first_person": (marked["person"] == "first").sum(),
        "worked_superset_case": worked["superset"].any(),
        **{f"retellings with {kind}": count for kind, count in markers.items()},
    }


def told_of_questions(cases: Sequence[Case]) -> dict[str, float]:
    """What `facts` §2.1 and `voices` Appendix A say of the questions."""
    vignettes, filters = [case.original or "" for case in cases], declared()
    return {
        "n_vignettes": len(cases),
        "n_partial_failed": sum(case.meta.get("_generation_status") != "SUCCESS" for case in cases),
        "n_generations": sum(len(case.narratives) for case in cases),
        "stem_matches": sum(re.match(filters["stem"]["pattern"], text) is not None for text in vignettes),
        "length_matches": sum(len(text) >= filters["length"]["least"] for text in vignettes),
        "min_length": min(map(len, vignettes)),
    }


def told_of_replies(records: pd.DataFrame) -> dict[str, float]:
    """Share of BioMistral's replies under B3 that are empty, or hold something (`facts` §4.4)."""
    texts = records.query("model == 'BioMistral-7B' and condition == 'B3'")["text"].dropna()
    empty = (texts.str.strip() == "").mean()
    return {"b3_biomistral_empty": empty, "b3_biomistral_reasoning": 1 - empty}
