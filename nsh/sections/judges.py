"""Judges of added content (`voices` Appendix D): those that a run asked, those of a user's file, and made-up ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from nsh.cases import Case
from nsh.judgements import COLUMNS, judge_agreement, judgements, load_judgements
from nsh.matrix import order_voices, tidy
from nsh.sections.appendix_cases import fabricated_verdicts, relevant_shares
from nsh.study import Study

PRINTED = ("F", "P", "L")  # the paper's judges


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts in the columns of `nsh.judgements.judgements`, and `whose` they are in a word or two."""

    frame: pd.DataFrame
    whose: str

    @property
    def fabricated(self) -> bool:
        """Whether nobody gave them."""
        return self.whose == "FABRICATED"


def real_verdicts(study: Study) -> pd.DataFrame:
    """Verdicts on retellings by every model of the run, and of the file that the page names.

    Verdicts of the file on intermediates (those with a `condition`) are left out.

    Returns
    -------
    pandas.DataFrame
        As `nsh.judgements.judgements` returns it; a reply that could not be read is a row without numbers.
    """
    frames = [judgements(study.outcomes(model), model.name) for model in study.models]
    if study.values["judgements"]:
        loaded = load_judgements(study.values["judgements"])
        frames.append(loaded[loaded["condition"].isna()])
    return tidy([row for frame in frames for row in frame.to_dict("records")], COLUMNS)


def shown(real: pd.DataFrame, cases: Sequence[Case], judges: int = 1) -> Verdicts:
    """The real verdicts where they tell something, else FABRICATED ones on the cases.

    Parameters
    ----------
    real : DataFrame
        As `real_verdicts` returns it.
    cases : sequence of Case
    judges : {1, 2}
        How many judges must have given a verdict that could be read, on the same retelling.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> shown(tidy([], COLUMNS), load_cases("samples", 2)).whose
    'FABRICATED'
    """
    read = real[(real["status"] == "ok") & real["n_relevant"].notna()]
    enough = len(read) > 0 if judges == 1 else (judge_agreement(read)["n"] > 0).any()
    return Verdicts(real, "real") if enough else Verdicts(fabricated_verdicts(cases), "FABRICATED")


def judge_table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """What each judge gave: `asked`, `read` (and its share), what became of the others, mean added and relevant items.

    Examples
    --------
    >>> row = {"case": "1", "voice": "cultural", "judge": "J", "n_added": 3, "n_relevant": 1, "status": "ok"}
    >>> judge_table(tidy([row, row | {"case": "2", "status": "truncated"}], COLUMNS)).to_dict("records")[0]["not read"]
    'truncated 1'
    """
    rows = []
    for judge, given in verdicts.groupby("judge", sort=False):
        read, lost = given[given["status"] == "ok"], given.loc[given["status"] != "ok", "status"].value_counts()
        told = ", ".join(f"{status} {count}" for status, count in lost.items()) or "–"
        means = [float(read[column].mean()) if len(read) else float("nan") for column in ("n_added", "n_relevant")]
        rows.append([judge, len(given), len(read), 100 * len(read) / len(given), told, *means])
    return pd.DataFrame(rows, columns=["judge", "asked", "read", "read, %", "not read", "added", "relevant"])


def share_rows(verdicts: Verdicts) -> pd.DataFrame:
    """Per cent of retellings with a relevant addition, voices in their order; the paper's judges always among them."""
    shares = relevant_shares(verdicts.frame)
    rows = [*dict.fromkeys(verdicts.frame["judge"]), *PRINTED]
    return shares.reindex([*dict.fromkeys(rows)])[list(order_voices(shares.columns))]
