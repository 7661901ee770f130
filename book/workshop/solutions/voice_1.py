"""Lesson 3, exercise 1: one number of a message is changed, and the facts are checked again."""

from dataclasses import replace

import nsh
from nsh.sections.workshop import facts_kept, located

case = nsh.load_cases(located("book/workshop/cases.jsonl"))[0]
changed = case.narratives["message"].replace("94 mm/h", "49 mm/h")
broken = replace(case, narratives={"clinical": case.narratives["clinical"], "message": changed})
kept = facts_kept([broken]).set_index("voice")
nsh.table(kept[["facts", "found", "missing", "invented"]], "One number changed in the message")
