"""The design of ``sdoh``: how many answers each step makes (Figure 1, Table II), and its three prompts (Table I)."""

import pandas as pd

from nsh.cases import Case
from nsh.conditions import CONDITIONS
from nsh.parts import beside_printed
from nsh.prompts import template
from nsh.sections.appendix_texts import words
from nsh.sections.sdoh import PROMPTS
from nsh.study import Study
from nsh.tables import Block, table


def design_counts(study: Study) -> dict[str, int]:
    """The path from cases to answers in this run, under the ids of ``published("sdoh_text")``."""
    accounts = [voice for case in study.cases for voice in case.narratives]
    counts = {"n_cases": len(study.cases), "n_voices": len({*accounts}), "n_rows": len(accounts)}
    counts |= {"n_prompts": len(study.conditions), "n_models": len(study.models)}
    per_model = len(accounts) * len(study.conditions)
    return counts | {"responses_per_model": per_model, "n_responses": len(study.records)}


def design_table(study: Study) -> Block:
    """The same as a table, and the budget of a reply, beside what is printed."""
    budget = template("zero_shot")["max_new_tokens"]
    ours = design_counts(study) | {"max_new_tokens": min(budget, study.settings.max_new_tokens or budget)}
    ours["quantization_bits"] = study.values["quantization"] or f"none ({study.values['dtype']})"
    return beside_printed(ours, {"this page": ours}, "The design, as printed and on this page", paper="sdoh")


def prompts_table(case: Case, voice: str) -> Block:
    """Table I: the three prompts, and how many words each one sends for a case in a voice."""
    rows = []
    for name, label in PROMPTS.items():
        prompt, call = template(name), next(CONDITIONS[name](case, voice))
        core = prompt["user"].strip().splitlines()[0]
        rows.append([label, core, words(call), call.max_new_tokens, prompt["status"], prompt["note"]])
    heads = ["prompt", "core instruction", "words sent", "new tokens", "wording", "what is ours"]
    return table(pd.DataFrame(rows, columns=heads), f"Table I, and the words sent for case {case.id}, {voice}")
