"""The tables and counts of `facts` from records, under the names that `nsh.printed` uses."""

import pandas as pd

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import kappa, mcnemar
from nsh.gaps import anchoring


def facts_table3(records: pd.DataFrame, reference: str = "clinical", **resampling: int) -> pd.DataFrame:
    """`facts` Table 3 without its DSS columns: OMR over all answers and per voice, and NAG, as proportions.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    reference : str
        The unmarked voice.
    **resampling
        `resamples`, `permutations` and `seed` of `nsh.gaps.anchoring`, which also gives the intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by model: `omr`, `omr_<voice>`, `nag`, `nag_lo`, `nag_hi`, `null_p95`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> facts_table3(from_patterns(["B1"])).loc["BioMistral-7B", "nag"].round(4)
    np.float64(0.064)
    """
    scores = accuracy(records)
    wide = scores.pivot(index="model", columns="voice", values="accuracy")
    voices = [OVERALL, *dict.fromkeys(scores["voice"][scores["voice"] != OVERALL])]
    names = {voice: "omr" if voice == OVERALL else f"omr_{voice}" for voice in voices}
    gaps = anchoring(records, reference, **resampling).set_index("model")
    return wide[voices].rename(columns=names).join(gaps[["nag", "nag_lo", "nag_hi", "null_p95"]]).loc[gaps.index]


def facts_table4(records: pd.DataFrame, reference: str = "clinical") -> pd.DataFrame:
    """`facts` Table 4: kappa on right and wrong, and McNemar's p (chi-square, corrected for continuity, not for the
    number of tests), for every pair of voices.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    reference : str
        The unmarked voice.

    Returns
    -------
    pandas.DataFrame
        Indexed by model: `kappa_<voice>_<voice>` and `mcnemar_p_<voice>_<voice>`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> facts_table4(from_patterns(["B1"])).shape
    (7, 6)
    """
    parts = []
    for frame, value, name in (
        (kappa(records, "correct", reference), "kappa", "kappa"),
        (mcnemar(records, reference), "p_chi2", "mcnemar_p"),
    ):
        pair = name + "_" + frame["voice_a"] + "_" + frame["voice_b"]
        parts.append(
            frame.assign(pair=pair).pivot(index="model", columns="pair", values=value)[list(dict.fromkeys(pair))]
        )
    return pd.concat(parts, axis=1).loc[list(dict.fromkeys(records["model"]))]


def facts_section41(records: pd.DataFrame, reference: str = "clinical") -> dict[str, int]:
    """The counts of McNemar tests in `facts` §4.1 and its footnote.

    Parameters
    ----------
    records : pandas.DataFrame
        Records of one condition.
    reference : str
        The unmarked voice; its pairs are the control pairs.

    Returns
    -------
    dict of str to int
        `tests` and `control` (their number), `control_significant` (uncorrected), `control_corrected` (after
        Bonferroni over all tests) and `flipped` (significant before but not after).

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> facts_section41(from_patterns(["B1"]))
    {'tests': 21, 'control': 14, 'control_significant': 14, 'control_corrected': 13, 'flipped': 2}
    """
    tests = mcnemar(records, reference)
    control = tests[tests["voice_a"] == reference]
    return {
        "tests": len(tests),
        "control": len(control),
        "control_significant": int(control["significant"].sum()),
        "control_corrected": int(control["significant_all"].sum()),
        "flipped": int((tests["significant"] & ~tests["significant_all"]).sum()),
    }
