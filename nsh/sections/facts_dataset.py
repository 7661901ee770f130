"""The data set and its human validation (`facts` §2, Appendix I): counts of the texts, and the physicians' ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.cases import Case
from nsh.comparison import printed_of
from nsh.rater_agreement import REALISM
from nsh.ratings import FACTS, RATINGS, REGISTER, facts_ratings, load_ratings
from nsh.study import Study
from nsh.told import told_of_questions, told_of_retellings

VOICES = ("clinical", "socioeconomic", "cultural")
MADE_UP = {"Annotator_1": (5, 4, 3), "Annotator_2": (5, 5, 5), "Annotator_3": (5, 5, 4)}  # realism in the VOICES
POOLED = "all raters"


def told_of(cases: Sequence[Case]) -> dict[str, float]:
    """`nsh.told.told_of_questions`, without what only the released file says, and without the length and the opening of
    the questions where a case does not keep its question.

    Examples
    --------
    >>> told_of([Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})])
    {'n_vignettes': 1, 'n_generations': 1}
    """
    left_out = {"n_partial_failed"} if not any("_generation_status" in case.meta for case in cases) else set()
    left_out |= {"stem_matches", "length_matches", "min_length"} if not all(case.original for case in cases) else set()
    return {name: value for name, value in told_of_questions(cases).items() if name not in left_out}


def fabricated_ratings(questions: int = 10) -> pd.DataFrame:
    """Ratings that nobody gave, in the form of `nsh.ratings.load_ratings`, for a page that has no others.

    Three raters, one of whom gives every retelling the same; the last question is rated one lower in the marked voices.

    Examples
    --------
    >>> len(fabricated_ratings(2))
    54
    """
    rows = []
    for question, (rater, levels) in product(range(1, questions + 1), MADE_UP.items()):
        for voice, level in zip(VOICES, levels, strict=True):
            lower = question == questions and voice != VOICES[0] and len(set(levels)) > 1
            values = {FACTS: 1.0, REGISTER: 1.0, REALISM: float(level - lower)}
            rows += [[f"made up {question}", voice, item, rater, value] for item, value in values.items()]
    return pd.DataFrame(rows, columns=["case", "voice", "item", "rater", "rating"])


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings, `whose` they are in two or three words, and a note where they are not the released ones."""

    ratings: pd.DataFrame
    whose: str
    note: str = ""


def rated(study: Study) -> Rated:
    """The ratings of the page: those of the file that it names, else the released ones, else fabricated ones."""
    if file := study.values["ratings"]:
        note = f"The ratings are those of {Path(file).name}; the printed numbers are of other retellings and raters."
        return Rated(load_ratings(file), "given ratings", note)
    path = study.released / RATINGS if study.released else None
    if path and path.is_file():
        return Rated(load_ratings(path), "released ratings")
    note = "FABRICATED ratings: nobody gave them. The physicians' ratings are not here; `nsh data pull` fetches them."
    return Rated(fabricated_ratings(), "FABRICATED ratings", note)


def sources(study: Study, ratings: pd.DataFrame | None) -> dict[str, Any]:
    """What the ledger takes for `facts` §2: counts of the released cases, and the released ratings, where they are."""
    cases = study.real_cases
    text = dict(facts_ratings(ratings)) if ratings is not None else {}
    found = {"facts_text": pd.Series(text | (told_of_questions(cases) if cases else {}), dtype=float)}
    if cases:
        found["voices_text"] = pd.Series(told_of_retellings(cases), dtype=float)
    return {"released": found}


def listed(place: str, numbers: Mapping[str, float]) -> list[str]:
    """Ids of the numbers and claims of `facts` that stand in a place ("Table 11") and are among `numbers`.

    Examples
    --------
    >>> listed("Table 11", {"alpha_all": 0.1, "kruskal_p": 0.2})
    ['alpha_all']
    """
    where = printed_of("facts")["where"]
    return [name for name in where.index[where.str.contains(place)] if name in numbers]


def realism_means(ratings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean realism (1 to 5) by rater and voice, with a last row over all raters; and the printed pooled means."""
    realism = ratings[ratings["item"] == REALISM]
    wide = realism.pivot_table(index="rater", columns="voice", values="rating", aggfunc="mean")
    wide.loc[POOLED] = realism.groupby("voice")["rating"].mean()
    text = printed_of("facts")["printed"]
    names = [voice for voice in realism["voice"].unique() if f"mean_{voice}" in text.index]
    printed = pd.DataFrame({voice: {POOLED: float(text[f"mean_{voice}"])} for voice in names})
    return wide[list(realism["voice"].unique())], printed
