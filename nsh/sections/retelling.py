"""Appendix B of `voices`, on the page: the registers as the data files have them, and the attempts of a run."""

from collections.abc import Mapping

import pandas as pd

from nsh.making.retold import REPORT, Retold
from nsh.making.voices import registers

SHOWN = ["case", "voice", "attempt", "opening", "words", "failed", "verdict", "status"]


def register_table() -> pd.DataFrame:
    """The packaged registers, a row each: how they are drawn, what is asked and forbidden, and how much of it is ours.

    Examples
    --------
    >>> register_table().set_index("register").loc["cultural", ["temperature", "words", "told in"]].tolist()
    ['0.90', '1.10 to 1.25', 'first person']
    """
    rows = [
        {"register": one.label, "temperature": f"{one.temperature:.2f}", "words": "{:.2f} to {:.2f}".format(*one.words)}
        | {"told in": f"{one.person} person" if one.person else "any person", "openings": len(one.openings)}
        | {"phrases forbidden": len(one.forbidden), "wording": one.status, "source": one.source}
        for one in registers().values()
    ]
    return pd.DataFrame(rows)


def attempts(retold: Mapping[str, Retold]) -> pd.DataFrame:
    """The reports of several models, a row per attempt, without the texts; nothing is left blank.

    Examples
    --------
    >>> list(attempts({}))[:3]
    ['model', 'case', 'voice']
    """
    frames = [made.report.assign(model=model) for model, made in retold.items()]
    frame = pd.concat([pd.DataFrame(columns=["model", *REPORT]), *frames])[["model", *SHOWN]]
    blank = {"opening": "none", "failed": "none", "verdict": "not asked"}
    return frame.replace({name: {"": word} for name, word in blank.items()}).reset_index(drop=True)


def tally(rows: pd.DataFrame) -> dict[str, str | int]:
    """What `attempts` comes to, for the prose: retellings, accepted ones, attempts, audits asked for, failed checks."""
    checks = rows["failed"].str.split("; ").explode()
    counts = checks[checks != "none"].value_counts(sort=False).sort_index()
    return {
        "told": len(rows[["model", "case", "voice"]].drop_duplicates()),
        "accepted": int((rows["status"] == "ok").sum()),
        "tries": len(rows),
        "audits": int((rows["verdict"] != "not asked").sum()),
        "failed_checks": ", ".join(f"{name} {count}" for name, count in counts.items()) or "not one",
    }
