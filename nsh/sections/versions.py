"""From version 1 to version 2 of the paper: pairs of printed numbers and claims, and the models that both evaluate."""

import pandas as pd

from nsh.comparison import compare_printed, printed_of
from nsh.declared import read_data
from nsh.facts_tables import facts_section41, facts_table3
from nsh.gaps import anchoring
from nsh.models import known
from nsh.printed import minus, number, numbers
from nsh.sections.method_figures import GAP
from nsh.tables import Block, table

PAPERS = {"first": "facts", "second": "voices"}
SAME, OTHER, APART = "same number", "another number", "not the same quantity"
LOOKS = {"nag": {"label": "NAG", "marker": "o", "color": "black", "markersize": 6}, "gap": GAP}
ONLY = {"first": "version 1 only", "second": "version 2 only"}


def version_pairs() -> pd.DataFrame:
    """What both versions say, from data/versions.yaml: the printed texts looked up, and how they compare.

    Returns
    -------
    DataFrame
        One row per pair: `topic`, `what`, `first` and `second` (ids, or missing), `printed_first`, `printed_second`
        (text, "–" where a version does not say it), `places` (where each stands), `change` (one of "same number",
        "another number", "not the same quantity", "version 1 only", "version 2 only") and `note`. A number that rounds
        to the other is the same.

    Examples
    --------
    >>> pairs = version_pairs().set_index("what")
    >>> pairs.loc["models", ["printed_first", "printed_second", "change"]].tolist()
    ['7', '12', 'another number']
    """
    printed = {side: printed_of(paper) for side, paper in PAPERS.items()}
    rows = []
    for entry in read_data("versions.yaml"):
        sides = [side for side in PAPERS if side in entry]
        row = {"first": None, "second": None, "note": "", **entry}
        row |= {
            f"printed_{side}": printed[side].at[entry[side], "printed"] if side in sides else "–" for side in PAPERS
        }
        row["places"] = "; ".join(f"{PAPERS[side]}: {printed[side].at[entry[side], 'where']}" for side in sides)
        if len(sides) == 2:
            texts = row["printed_first"], row["printed_second"]
            alike = any(compare_printed(number(one), other) for one, other in (texts, texts[::-1]))
            row["change"] = APART if row["note"] else SAME if alike else OTHER
        else:
            row["change"] = ONLY[sides[0]]
        rows.append(row)
    return pd.DataFrame(rows)


def versions_table(pairs: pd.DataFrame, ours: dict[str, float], what: str) -> Block:
    """Show pairs of `version_pairs`; `ours` are numbers of the seven released models by the id of version 1."""
    columns = {"what": "quantity or claim", "printed_first": "version 1", "printed_second": "version 2"}
    shown = pairs.rename(columns=columns)[[*columns.values()]].map(minus)
    own = [ours.get(name) for name in pairs["first"]]
    places = [pairs["printed_first"].iloc[row].partition(".")[2] for row in range(len(pairs))]
    texts = ["–" if value is None else f"{value:.{len(end)}f}" for value, end in zip(own, places, strict=True)]
    shown = shown.assign(**{"from the counts": texts, "compared": pairs["change"], "note": pairs["note"]})
    return table(shown, what, numeric=[*shown.columns[1:4]])


def seven_models(real: pd.DataFrame, **draws: int) -> dict[str, float]:
    """Numbers of version 1 that the answers of its seven models give, by id.

    Parameters
    ----------
    real : DataFrame
        Records of B1 and B3.
    **draws
        As for `nsh.gaps.anchoring`.
    """
    tables = {name: facts_table3(real[real["condition"] == name], **draws) for name in ("B1", "B3")}
    nag, counts = tables["B1"]["nag"], facts_section41(real[real["condition"] == "B1"])
    capable = tables["B3"][tables["B3"]["omr"] > 0]
    before = tables["B1"].reindex(capable.index)
    smaller, no_cost = (capable["nag"] < before["nag"]).sum(), (capable["omr"] >= before["omr"]).sum()
    found = {"n_models": len(nag), "nag_lowest": nag.min(), "nag_highest": nag.max()}
    found["control_after_bonferroni"] = counts["control_corrected"]
    return found | {"b3_smaller_nag": smaller, "b3_no_cost": no_cost}


def shared_gaps(real: pd.DataFrame, **draws: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """NAG and gap under B1 of the models that both versions evaluate, in points; and what is printed of them.

    The printed NAG is that of version 1 (Table 3), the printed gap that of version 2, where its text gives one.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> ours, printed = shared_gaps(from_patterns(["B1"]), resamples=0)
    >>> ours.round(2).loc["Llama-3.2-3B-Instruct"].tolist(), printed.round(2).loc["Llama-3.2-3B-Instruct"].tolist()
    ([13.6, 12.45], [13.6, 14.3])
    """
    both = [name for name, spec in known().items() if {"facts", "voices"} <= set(spec.papers)]
    gaps = anchoring(real[real["condition"] == "B1"], **draws).set_index("model")
    both = [name for name in gaps.index if name in both]
    text = printed_of("voices")["printed"]
    later = pd.Series({name: number(text.get(f"gap_direct_{name}", "")) for name in both})
    printed = pd.DataFrame({"nag": numbers("facts_table3_b1", "nag").reindex(both), "gap": later})
    return 100 * gaps.loc[both, ["nag", "gap"]], 100 * printed
