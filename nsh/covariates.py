"""What could explain the gap of a question other than its voices: one row of covariates per question (`voices` §6)."""

from collections.abc import Mapping, Sequence

import pandas as pd

from nsh.cases import Case
from nsh.errors import ParameterError
from nsh.matrix import check_columns, order_voices
from nsh.question_types import question_type
from nsh.retellings import per_case


def covariates(
    cases: Sequence[Case],
    reference: str = "clinical",
    additions: pd.DataFrame | None = None,
    split: Mapping[str, str] | pd.Series | None = None,
) -> pd.DataFrame:
    """Describe every question by what its retellings are like, whatever a model answered.

    Parameters
    ----------
    cases : sequence of Case
    reference : str
        The unmarked voice; all other voices of the cases are marked.
    additions : DataFrame, optional
        An audit of added content: `case`, `voice`, `judge` and `n_relevant`, the clinically relevant items that the
        judge finds in the retelling and not in the original.
    split : mapping or Series, optional
        Case to its MedQA split ("test" or "train"), as `nsh.medqa.medqa_split` gives it.

    Returns
    -------
    DataFrame
        Indexed by ``case``, sorted: ``words`` (mean length of the marked retellings), ``without_age`` (number of
        marked retellings without an age in digits), ``question_verbatim`` (every marked retelling holds the question
        sentence), ``person`` of the reference retelling ("first" or "third"), ``question_type``, ``split`` (missing
        where not given) and, per marked voice, ``superset_<voice>`` (the retelling holds the whole original vignette;
        missing without one). With an audit, per judge ``additions_<judge>_<voice>`` and their sum
        ``additions_<judge>`` over the marked voices, missing where one of them was not audited. The rules of the text
        properties are those of `nsh.retellings`.

    Raises
    ------
    ParameterError
        No case has the reference voice.
    DataError
        The audit lacks a column or holds a retelling twice for one judge.

    References
    ----------
    ``voices`` §6, Figure 3, Appendix D.

    Examples
    --------
    >>> narratives = {"clinical": "Man, 40. Why?", "rural": "I hurt, I do. Why?", "urban": "At 40 years old I hurt."}
    >>> case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives)
    >>> covariates([case])[["words", "without_age"]].values.tolist()
    [[5.5, 1.0]]
    """
    texts = per_case(cases)
    voices = order_voices(texts["voice"].unique(), reference)
    if cases and reference not in voices:
        raise ParameterError(f"reference voice {reference!r} is in no case; the cases hold {', '.join(voices)}")
    is_reference = texts["voice"] == reference
    marked = texts[~is_reference].assign(without_age=~texts["numeric_age"])
    frame = marked.groupby("case").agg({"words": "mean", "without_age": "sum", "question_verbatim": "all"})
    frame["person"] = texts[is_reference].set_index("case")["person"]
    frame["question_type"] = pd.Series({case.id: question_type(case.question) for case in cases}, dtype=object)
    frame["split"] = pd.Series(split, dtype=object)
    supersets = marked.pivot(index="case", columns="voice", values="superset")[list(voices[1:])]
    frame = frame.join(supersets.add_prefix("superset_"))
    return frame if additions is None else frame.join(_additions(additions, voices[1:]))


def _additions(audit: pd.DataFrame, marked: Sequence[str]) -> pd.DataFrame:
    """Relevant additions per case: a column per judge and marked voice, and one per judge with their sum."""
    check_columns(audit, ["n_relevant"], "rows of the audit", once=["case", "voice", "judge"])
    counts = audit.pivot(index="case", columns=["judge", "voice"], values="n_relevant")
    columns = {}
    for judge in sorted(audit["judge"].unique()):
        per_voice = counts[judge].reindex(columns=marked)
        columns |= {f"additions_{judge}_{voice}": per_voice[voice] for voice in marked}
        columns[f"additions_{judge}"] = per_voice.sum(axis=1, skipna=False)
    return pd.DataFrame(columns)
