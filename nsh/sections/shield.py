"""Tables 2 and 7 to 9 of `facts` without the answers: aggregates, tool logs, and what printed numbers imply."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from nsh.formulas import mcnemar_from_kappa
from nsh.printed import by_voice, number, numbers, published
from nsh.sections.facts import NS7, NS9, aggregates
from nsh.study import Study
from nsh.tool_logs import logged_tools

NS2, NS8 = "facts_table2_ns", "facts_table8_ns_agreement"
N_QUESTIONS = int(number(published("facts_text").set_index("id").at["n_vignettes", "printed"]))


def implied() -> pd.DataFrame:
    """What Tables 7 and 8 imply by themselves, by model: `omr` and `nag` from the OMRs per voice, and McNemar's p from
    two of them and their kappa (`nsh.formulas.mcnemar_from_kappa`).

    Examples
    --------
    >>> implied().loc["Llama-3.1-8B-Instruct", ["nag", "mcnemar_p_clinical_cultural"]].round(4).tolist()
    [0.037, 0.0071]
    """
    voices = by_voice(NS7, "omr").pivot(index="model", columns="voice", values="value")
    clinical, marked = voices["clinical"], voices.drop(columns="clinical")
    frame = pd.DataFrame({"omr": voices.mean(axis=1), "nag": clinical - marked.min(axis=1)})
    for row in by_voice(NS8, "kappa").itertuples():
        pair = (voices.at[row.model, row.voice_a], voices.at[row.model, row.voice_b])
        p = mcnemar_from_kappa(*pair, row.value, N_QUESTIONS)
        frame.loc[row.model, f"mcnemar_p_{row.voice_a}_{row.voice_b}"] = p
    return frame


def shield_tables(found: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Tables 2 and 7 to 9 by slug: the authors' aggregates, else what the printed tables imply of each other; tools
    per question from the logs where they are here.

    Parameters
    ----------
    found : mapping
        As `sources` returns it.
    """
    alone = implied()
    below = numbers(NS8, "dss_below_0.8_pct").rename("dss_below_0.8_pct")
    tables = {NS2: alone[["omr", "nag"]].join(below), NS7: alone, NS8: alone, NS9: alone[[]]} | found["aggregate"]
    counted = found["released"][NS9]["tools_per_question"]
    return tables | {NS9: counted.to_frame().combine_first(tables[NS9])}


def shield_basis(study: Study) -> str:
    """Where the numbers of `shield_tables` come from, in words."""
    own = "the authors' aggregate files" if aggregates(study) else "other printed numbers (the files are not here)"
    return f"{own} and the tool logs" if len(logged_tools(study.released)) else own
