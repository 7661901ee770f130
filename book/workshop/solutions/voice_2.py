"""Lesson 3, exercise 2: a case with a voice of its own, a call from a noisy street, written to a file and checked."""

import json
import tempfile
from pathlib import Path

import nsh
from nsh.cases import check
from nsh.sections.workshop import facts_kept

case = nsh.load_cases("samples", case="NS_008")[0]
call = (
    "Hello? It is loud here, a truck is passing, I will shout the main points. My boy, 5 weeks old. He has vomited "
    "forcefully after every feeding for 6 days. It looks like milk, it has never been green. Then he is hungry again "
    "right away! Change of formula did not help, no. No fever and no diarrhea. 3 wet diapers a day now. 3.4 kg at "
    "birth, weighs 3.6 kg today. Wait, bus. They told me pulse 164/min, soft spot slightly sunken, abdomen not "
    "distended. Potassium 3.1 mEq/L, chloride 88 mEq/L, bicarbonate 33 mEq/L. Which study should be obtained next?"
)
row = {"id": case.id, "question": case.question, "options": dict(case.options), "gold": case.gold}
row |= {"narratives": {"clinical": case.narratives["clinical"], "street": call}, "original": case.original}
file = Path(tempfile.mkdtemp()) / "street.jsonl"
file.write_text(json.dumps(row | {"facts": case.meta["facts"]}) + "\n", encoding="utf-8")
said = check(file)
kept = facts_kept(nsh.load_cases(file))
nsh.table(kept, said.replace("\n", "; "), row_headers=2)
