"""The packaged right/wrong counts of the released answers, expanded into records: real results without any text."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from nsh.errors import ParameterError
from nsh.printed import published
from nsh.records import records_frame
from nsh.voices import known_voices


def from_patterns(conditions: Sequence[str] | None = None) -> pd.DataFrame:
    """Records expanded from the counts in ``data/published/patterns.csv``.

    A pattern says in which voices a model answered a question correctly; its count says how many of the 1,000
    questions went so (``n101``: clinical and cultural right, socioeconomic wrong). That is enough for accuracy, gap,
    NAG, kappa on correctness, McNemar and all resampling within a model and condition.

    The counts do not say *which* questions they are, so nothing links a question of one model or condition to that of
    another: every case id names its model and condition (``B1/BioMistral-7B/0001``), and what needs the link (the
    interval of the pooled effect, transitions between conditions) cannot be had from them. They hold no letters.

    Parameters
    ----------
    conditions : sequence of {"B1", "B2", "B3"}, optional
        Conditions of ``facts`` to expand, all by default. B2 holds only the two models whose patterns are known.

    Returns
    -------
    DataFrame
        Records, 3,000 rows per model and condition, with ``status`` "pattern" and ``source`` "patterns".

    Raises
    ------
    ParameterError
        A condition is not one of B1, B2, B3.

    References
    ----------
    Counted by us over the released answers of ``facts`` (Tables 3, 5 and 6).

    Examples
    --------
    >>> records = from_patterns(["B1"])
    >>> len(records), int(records["correct"].sum())
    (21000, 11729)
    """
    counts = published("patterns")
    known = counts["condition"].unique().tolist()
    conditions = known if conditions is None else conditions
    unknown = sorted(set(conditions) - set(known))
    if unknown:
        raise ParameterError(f"condition {unknown[0]!r} has no pattern counts; known are {', '.join(known)}")
    chosen = counts[counts["condition"].isin(conditions)].to_dict("records")
    return records_frame(record for row in chosen for record in _expand(row))


def _expand(row: Mapping[str, str]) -> Iterator[dict]:
    """Records of one model and condition, pattern by pattern."""
    voices = [voice.name for voice in known_voices()]
    patterns = [name[1:] for name in row if name.startswith("n") for _ in range(int(row[name]))]
    for number, pattern in enumerate(patterns, start=1):
        case = f"{row['condition']}/{row['model']}/{number:04d}"
        for voice, digit in zip(voices, pattern, strict=True):
            key = {"model": row["model"], "condition": row["condition"], "case": case, "voice": voice}
            yield {**key, "status": "pattern", "correct": digit == "1", "source": "patterns"}
