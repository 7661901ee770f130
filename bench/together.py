"""What it saves to run the fourteen conditions of the papers in one run, against one by one with an empty store each.

A call that several conditions make is paid for once, and the calls of all are written together. `--cases` and
`--max-new-tokens` set the size (`--cases 8 --max-new-tokens 0` is all samples at the papers' budgets).
"""

from argparse import Namespace
from contextlib import closing
from tempfile import TemporaryDirectory

from plain import engine_of
from row import Row, interleaved

from nsh.cases import Case, load_cases
from nsh.conditions import CONDITIONS
from nsh.engines import Engine
from nsh.jobs import Settings, jobs
from nsh.runner import run
from nsh.store import Store

BEYOND = ("guarded_rewrite", "rewrite_cot")  # of no paper
PAPERS = [name for name in CONDITIONS if name not in BEYOND]
LIMIT = 0.6


def rows(options: Namespace) -> list[Row]:
    """One row, with the size of the run."""
    n, most = (1, 8) if options.quick else (options.cases, options.max_new_tokens)
    engine, cases, settings = (
        engine_of(options, "float32"),
        load_cases("samples", n),
        Settings(max_new_tokens=most or None),
    )
    ways = {
        "together": lambda: answered(PAPERS, cases, settings, engine),
        "apart": lambda: [answered([name], cases, settings, engine) for name in PAPERS],
    }
    seconds, found = interleaved(ways, 1)
    apart = {name: answer for answers, _ in found["apart"] for name, answer in answers.items()}
    answers, made = found["together"]
    same = sum(answers[key] == apart[key] for key in answers)
    budgets = f"at most {most} new tokens" if most else "the papers' budgets"
    return [
        Row(
            f"{len(PAPERS)} conditions, {len(cases)} sample cases, {budgets}, float32, in one run",
            "one by one, an empty store each",
            seconds["together"],
            seconds["apart"],
            LIMIT,
            f"{made} calls against {sum(calls for _, calls in found['apart'])}; {same} of {len(answers)} answers equal",
        )
    ]


def answered(
    names: list[str], cases: list[Case], settings: Settings, engine: Engine
) -> tuple[dict[tuple[str, str, str], str | None], int]:
    """Letters by condition, case and voice, and the number of calls that were made, from an empty store."""
    with TemporaryDirectory() as folder, closing(Store(folder)) as store:
        outcomes, tally = run([job for name in names for job in jobs(cases, name, settings)], engine, store)
    return {(out.job.name, out.job.case.id, out.job.voice): out.answer.letter for out in outcomes}, tally.generated
