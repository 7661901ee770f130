"""How fast all conditions run without a model: prompts, store, parsing and records, the scripted engine replying.

The fourteen conditions of the papers over the 1,000 released cases in three voices are 42,000 answers; without these
cases, the samples serve. The canned replies parse, so that the tools have something to look at; every third reasoning
commits to no letter. One run of all is held against fourteen, with an empty store each.
"""

import json
import os
import resource
import tempfile
from argparse import Namespace
from contextlib import closing

from row import Row, interleaved
from store import LABS
from together import PAPERS

from nsh.cases import Case, load_cases
from nsh.engines import Call, ScriptedEngine
from nsh.jobs import jobs
from nsh.records import from_outcomes
from nsh.runner import run
from nsh.store import Store


def reply(call: Call) -> str:
    """A canned reply that depends on the prompt."""
    spot = sum(map(len, dict(call.messages).values()))
    if call.stage == "extract":
        return json.dumps({"age": spot % 90, "sex": "female", "chief_complaint": f"pain {spot}", "labs": LABS})
    if call.stage == "reason" and spot % 3 == 0:
        return f"The findings are mixed ({spot})."
    return f"Answer: {call.letters[spot % len(call.letters)]}" if call.letters else f"A woman of {spot % 90} years."


def rows(options: Namespace) -> list[Row]:
    """One row, with answers, calls and peak memory."""
    cases = load_cases("released" if os.environ.get("NSH_RELEASED_DIR") and not options.quick else "samples")
    ways = {"one": lambda: answered(PAPERS, cases), "each": lambda: [answered([name], cases) for name in PAPERS]}
    seconds, found = interleaved(ways, 1)
    answers, made, shared = found["one"]
    what = f"{answers:,} answers without a model: prompts, store, parsing, records; {len(PAPERS)} conditions in one run"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    note = f"{made:,} calls made, {shared:,} shared; peak of the process {peak:.2f} GiB"
    return [Row(what, "one by one, an empty store each", seconds["one"], seconds["each"], None, note)]


def answered(names: list[str], cases: list[Case]) -> tuple[int, int, int]:
    """Answers, calls made and calls shared, from an empty store."""
    with tempfile.TemporaryDirectory() as folder, closing(Store(folder)) as store:
        todo = [job for name in names for job in jobs(cases, name)]
        outcomes, tally = run(todo, ScriptedEngine(reply=reply), store)
    return len(from_outcomes(outcomes, "scripted")), tally.generated, tally.shared
