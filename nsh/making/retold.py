"""Many cases retold at once: the jobs, the cases that come of them, and a report on every attempt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from nsh.case_fields import escaped
from nsh.cases import Case
from nsh.engines import Engine
from nsh.errors import DataError, ParameterError
from nsh.jobs import PAPERS_WAY, Job, Settings
from nsh.making.items import Item
from nsh.making.retell import ATTEMPTS, retelling
from nsh.making.retold_files import case_of
from nsh.making.voices import Register
from nsh.matrix import tidy
from nsh.runner import Outcome, run
from nsh.store import Store

REPORT = {"case": None, "voice": None, "attempt": "int64", "opening": None, "words": "int64", "failed": None}
REPORT |= {"why": None, "verdict": None, "missing": None, "status": None, "text": None}


@dataclass(frozen=True, slots=True)
class Retold:
    """What comes of retelling.

    Attributes
    ----------
    cases : list of Case
        Those that were retold in every register, the new retellings beside those that they had. `meta` has by voice
        the opening style of the retelling (`styles`, as in the packaged samples) and the number of `attempts`.
    report : pandas.DataFrame
        One row per case, register and attempt: `case`, `voice`, `attempt` (from 1), `opening`, `words`, `failed` (the
        checks), `why` (what failed them), `verdict` (of the auditor; empty where it was not asked), `missing` (facts
        that it did not find), `status` ("ok", "failed", or in the last row of a case that no attempt told well "gave
        up") and `text`.
    """

    cases: list[Case]
    report: pd.DataFrame

    @property
    def gave_up(self) -> list[str]:
        """Each case and voice that no attempt told well, in words."""
        lost = self.report[self.report["status"] == "gave up"]
        return [
            f"case {row.case}, {row.voice}: gave up after {row.attempt} attempts, the last: {_reason(row)}"
            for row in lost.itertuples()
        ]


def retelling_jobs(
    cases: Iterable[Case],
    registers: Sequence[Register],
    attempts: int = ATTEMPTS,
    settings: Settings = PAPERS_WAY,
    seed: int = 0,
) -> list[Job]:
    """Every case in every register, as jobs for `nsh.run`.

    Parameters
    ----------
    cases : iterable of Case
        With their original vignettes.
    registers : sequence of Register
    attempts, seed
        As in `nsh.making.retell.retelling`.
    settings : Settings
        How the calls are made.

    Returns
    -------
    list of Job
        Case by case, in the order of the registers.

    Raises
    ------
    DataError
        If a case has no original vignette, or would have fewer than two voices in the end.
    ParameterError
        If two registers have the same name, or there is no attempt to be made.

    Examples
    --------
    >>> from nsh.cases import load_cases
    >>> from nsh.making.voices import register
    >>> [job.voice for job in retelling_jobs(load_cases("samples", 2), [register("neutral")])]
    ['neutral', 'neutral']
    """
    names = [register.name for register in registers]
    if len(set(names)) < len(names) or not names or attempts < 1:
        raise ParameterError(f"registers {', '.join(names) or 'none'}, attempts {attempts}: each once, and 1 or more")
    conditions, jobs = [retelling(register, attempts, seed) for register in registers], []
    for case in cases:
        if case.original is None:
            raise DataError(f"case {case.id} has no original vignette to retell")
        if len({*names, *case.narratives}) < 2:
            raise DataError(f"case {case.id} would be told in {names[0]} alone; cases have two voices or more")
        jobs += [Job(condition, case, name, settings) for condition, name in zip(conditions, names, strict=True)]
    return jobs


def retell_all(
    cases: Iterable[Case | Item],
    registers: Sequence[Register],
    engine: Engine,
    store: Store,
    attempts: int = ATTEMPTS,
    seed: int = 0,
) -> Retold:
    """Retell cases in registers, many at once; what the store holds already is not generated again.

    Parameters
    ----------
    cases : iterable of Case or Item
        With their original vignettes.
    registers : sequence of Register
        As `nsh.making.voices.register` reads them.
    engine : Engine
        Writes and audits; `nsh.making.retell.Audited` does so with two models.
    store : Store
    attempts, seed
        As in `nsh.making.retell.retelling`.

    Returns
    -------
    Retold
        The cases that were told well in every register, a report with a row per attempt, and who was given up.

    Raises
    ------
    DataError, ParameterError
        As `retelling_jobs`.
    EngineError
        If a model cannot be loaded or a prompt does not fit.

    Examples
    --------
    >>> import tempfile
    >>> from nsh.cases import load_cases
    >>> from nsh.engines import ScriptedEngine
    >>> from nsh.making.voices import register
    >>> engine, store = ScriptedEngine(reply=lambda call: "I cough."), Store(tempfile.mkdtemp())
    >>> retold = retell_all(load_cases("samples", 1), [register("cultural")], engine, store, attempts=2)
    >>> retold.report["status"].tolist(), retold.report["failed"][0]
    (['failed', 'gave up'], 'length; value; question; person')
    """
    cases = [case if isinstance(case, Case) else case_of(case) for case in cases]
    return retold(run(retelling_jobs(cases, registers, attempts, seed=seed), engine, store)[0])


def retold(outcomes: Sequence[Outcome]) -> Retold:
    """The cases and the report of jobs that have run."""
    made: dict[str, Case] = {}
    for outcome in outcomes:
        case, voice, answer = made.setdefault(outcome.job.case.id, outcome.job.case), outcome.job.voice, outcome.answer
        if answer.status == "ok":
            told = {"styles": answer.attempts[-1].opening, "attempts": len(answer.attempts)}
            meta = {name: {**(case.meta.get(name) or {}), voice: value} for name, value in told.items()}
            narratives = {**case.narratives, voice: answer.text}
            made[case.id] = replace(case, narratives=narratives, meta={**case.meta, **meta})
    lost = {outcome.job.case.id for outcome in outcomes if outcome.answer.status != "ok"}
    rows = [row for outcome in outcomes for row in _rows(outcome)]
    return Retold([case for case in made.values() if case.id not in lost], tidy(rows, REPORT))


def _rows(outcome: Outcome) -> list[dict]:
    """One row per attempt; half of a surrogate pair, which no column of text can hold, stands as its escape."""
    rows = [
        {"case": outcome.job.case.id, "voice": outcome.job.voice, "attempt": number, "opening": attempt.opening}
        | {"words": len(attempt.text.split()), "failed": "; ".join(attempt.failed), "verdict": attempt.verdict}
        | {"why": "; ".join(f"{name}: {what}" for name, what in attempt.failed.items())}
        | {"missing": "; ".join(attempt.missing), "status": "failed", "text": attempt.text}
        for number, attempt in enumerate(outcome.answer.attempts, start=1)
    ]
    rows[-1]["status"] = outcome.answer.status
    return [{name: escaped(v) if isinstance(v, str) else v for name, v in row.items()} for row in rows]


def _reason(row) -> str:
    """Why an attempt did not pass."""
    return row.why or f"auditor: {row.verdict}" + f" ({row.missing})" * bool(row.missing)
