"""One case through NarrativeShield (`facts` §3): what each step hands on, and what the router's settings change."""

from collections.abc import Mapping, Sequence

import pandas as pd

from nsh.decision_support.router import ToolResult, route
from nsh.declared import parameters
from nsh.extraction import Extracted, Extraction, read_extraction
from nsh.runner import Outcome
from nsh.study import Study
from nsh.tables import Block, table
from nsh.transcripts import hidden, transcript

STEPS = {"extract": "Agent 1 writes", "reason": "Agent 2 writes", "fallback": "Agent 3 writes"}
NARRATIVE, TOOLS = "the account", "the tools add"


def extracted(outcome: Outcome | None) -> Extracted:
    """What Agent 1 made of the account; nothing where there is no outcome, or its condition does not extract."""
    for step in transcript(outcome) if outcome else []:
        if step.call.stage == "extract":
            return read_extraction(step.completion.text, step.completion.finish)
    return Extracted("none", None, "")


def stated(facts: Extraction | None) -> dict[str, str]:
    """The fields of an extraction that state something, as text; vital signs and laboratory values one by one.

    Examples
    --------
    >>> stated(Extraction(age=61, vitals={"hr": 104}, symptoms_absent=["fever", "cough"]))
    {'age': '61', 'symptoms absent': 'fever; cough', 'vitals: hr': '104'}
    """
    found = {}
    for name, value in (facts.model_dump() if facts else {}).items():
        entries = {f"{name}: {key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}
        for key, entry in entries.items():
            if isinstance(entry, list):
                entry = "; ".join(
                    " ".join(map(str, part.values())) if isinstance(part, dict) else part for part in entry
                )
            if entry not in (None, "", "unknown"):
                found[key.replace("_", " ")] = str(entry)
    return found


def extraction_table(study: Study, read: Extracted, what: str) -> Block:
    """The stated fields of an extraction and those whose value had the wrong type, where texts may be shown."""
    if instead := hidden(study):
        return instead
    rows = [*stated(read.facts).items(), *((name, "set aside: wrong type") for name in read.set_aside)]
    return table(pd.DataFrame(rows or [["nothing", read.status]], columns=["field", "as extracted"]), what)


def router_grid(
    facts: Extraction | None, question: str, options: Mapping[str, str]
) -> dict[tuple[str, str], tuple[ToolResult, ...]]:
    """What the router calls for one extraction under every pair of `scoring` and `caps`."""
    grid = [(scoring, caps) for scoring in parameters()["scoring"].choices for caps in parameters()["caps"].choices]
    return {setting: route(facts, question, options, *setting) for setting in grid}


def router_table(
    grid: Mapping[tuple[str, str], Sequence[ToolResult]], what: str, instead: Block | None = None
) -> Block:
    """Every tool call of `router_grid`, a row each, with the first line of its result; a setting may have none. Given
    what stands `instead` of texts (`nsh.transcripts.hidden`), the tools' names alone."""
    rows = []
    for (scoring, caps), results in grid.items():
        shown = [(result.tool, result.input, result.text.partition("\n")[0]) for result in results]
        shown = shown or [("no tool", "–", "–")]
        rows += [[scoring, caps, number, *cells] for number, cells in enumerate(shown, start=bool(results))]
    frame = pd.DataFrame(rows, columns=["scoring", "caps", "call", "tool", "asked", "what Agent 2 is shown"])
    return table(frame[frame.columns[:4]] if instead else frame, what, row_headers=2)


def settings_differ(grid: Mapping[tuple[str, str], Sequence[ToolResult]]) -> int:
    """How many different sets of tool results the settings come to.

    Examples
    --------
    >>> settings_differ(router_grid(None, "What is the diagnosis?", {"A": "Gout"}))
    1
    """
    return len({tuple(results) for results in grid.values()})


def step_words(study: Study) -> pd.DataFrame:
    """How many words each step of the pipeline hands on in the first model: rows steps, columns voices, means over the
    cases; no rows where no model was run."""
    rows = []
    for outcome in study.outcomes(study.models[0]) if study.models else []:
        job, steps = outcome.job, transcript(outcome)
        texts = {NARRATIVE: job.case.narratives[job.voice]}
        texts |= {STEPS.get(step.call.stage, step.call.stage): step.completion.text for step in steps}
        if outcome.answer.tools is not None:
            read = extracted(outcome)
            settings = study.values["scoring"], study.values["caps"]
            results = route(read.facts, job.case.question, job.case.options, *settings)
            texts[TOOLS] = " ".join(result.text for result in results)
        rows += [[step, job.voice, len(text.split())] for step, text in texts.items()]
    frame = pd.DataFrame(rows, columns=["step", "voice", "words"])
    order = [name for name in (NARRATIVE, STEPS["extract"], TOOLS, *frame["step"]) if name in set(frame["step"])]
    wide = frame.pivot_table(index="step", columns="voice", values="words", aggfunc="mean")
    return wide.loc[list(dict.fromkeys(order)), list(dict.fromkeys(frame["voice"]))]
