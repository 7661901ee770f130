"""What a condition asks for, found by walking it: its calls with their prompts and budgets, and what each of them sees.

A condition is walked on a made-up case with canned replies that make it take every step, so that the table of the
conditions comes from their code.
"""

from functools import cache

import pandas as pd

from nsh.cases import Case
from nsh.conditions import CONDITIONS, Condition
from nsh.engines import Call, Completion
from nsh.prompts import template
from nsh.tables import Block, table

CASE = Case("walk", "QUESTION", {"A": "OPTION A", "B": "OPTION B"}, "A", {"voice": "NARRATIVE"})
REPLY = "REPLY, a 47-year-old"  # no letter, no JSON, and an age that the narrative does not state
SEEN = {"narrative": "NARRATIVE", "earlier replies": "REPLY", "question": "QUESTION", "options": "OPTION A"}


@cache
def calls(condition: Condition) -> tuple[Call, ...]:
    """Every call that a condition can make, in order.

    Examples
    --------
    >>> [(call.stage, call.max_new_tokens) for call in calls(CONDITIONS["rewrite"])]
    [('rewrite', 512), ('answer_from', 16)]
    """
    steps, made = condition(CASE, "voice"), []
    try:
        made.append(next(steps))
        while True:
            made.append(steps.send(Completion(REPLY)))
    except StopIteration:
        return tuple(made)


def conditions_table() -> Block:
    """All conditions, a row per call: what it sees, its budget, and what of it the papers print."""
    rows = []
    for name, condition in CONDITIONS.items():
        for number, call in enumerate(calls(condition), start=1):
            prompt, text = template(call.stage), "\n".join(content for _, content in call.messages)
            sees = [what for what, word in SEEN.items() if word in text]
            budget = f"{call.max_new_tokens} ({prompt['budget']})"
            rows.append([name, number, call.stage, ", ".join(sees), budget, prompt["status"], prompt["source"]])
    columns = ["condition", "call", "prompt", "sees", "new tokens", "wording", "source"]
    return table(pd.DataFrame(rows, columns=columns), "The conditions, call by call", row_headers=3)
