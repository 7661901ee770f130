"""How fast all conditions run without a model: prompts, store, parsing and records, the scripted engine replying.

The fourteen conditions of the papers over the 1,000 released cases in three voices are 42,000 answers. The canned
replies parse, so that the tools have something to look at; every third reasoning commits to no letter.

    NSH_RELEASED_DIR=... python bench/conditions.py
"""

import json
import resource
import sys
import tempfile
import time

from nsh.cases import load_cases
from nsh.conditions import CONDITIONS
from nsh.engines import Call, ScriptedEngine
from nsh.jobs import jobs
from nsh.records import from_outcomes
from nsh.runner import run
from nsh.store import Store

BEYOND = ("guarded_rewrite", "rewrite_cot")
LABS = [{"name": "sodium", "value": 128, "unit": "mEq/L"}, {"name": "hemoglobin", "value": 9.1, "unit": "g/dL"}]


def reply(call: Call) -> str:
    """A canned reply that depends on the prompt."""
    spot = sum(map(len, dict(call.messages).values()))
    if call.stage == "extract":
        return json.dumps({"age": spot % 90, "sex": "female", "chief_complaint": f"pain {spot}", "labs": LABS})
    if call.stage == "reason" and spot % 3 == 0:
        return f"The findings are mixed ({spot})."
    return f"Answer: {call.letters[spot % len(call.letters)]}" if call.letters else f"A woman of {spot % 90} years."


def main() -> None:
    """Run the conditions and print answers, calls, seconds and peak memory."""
    cases = load_cases("released")
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        todo = [job for name in CONDITIONS if name not in BEYOND for job in jobs(cases, name)]
        outcomes, tally = run(todo, ScriptedEngine(reply=reply), store)
        store.close()
        records = from_outcomes(outcomes, "scripted")
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    calls = f"{tally.generated:,} calls made, {tally.shared:,} shared"
    sys.stdout.write(f"{len(records):,} answers, {calls}: {seconds:.1f} s, peak {peak:.2f} GiB\n")


if __name__ == "__main__":
    main()
