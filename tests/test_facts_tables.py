"""`facts` Tables 3 and 4 and the counts of §4.1, from the packaged counts and from the released answers."""

import pandas as pd
import pytest
from fabricated import fabricated

from nsh.comparison import compare
from nsh.facts_tables import facts_section41, facts_table3, facts_table4
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.released import load_released


@pytest.fixture(scope="module")
def counts():
    return from_patterns(["B1"])


def same_names(frame: pd.DataFrame, table: str) -> dict[str, str]:
    """The columns that a frame and a published table share."""
    return {name: name for name in frame.columns if name in published(table).columns}


def equal_digits(records: pd.DataFrame) -> tuple[int, int]:
    """How many numbers of Tables 3 (without DSS) and 4 have the printed digits."""
    table3, table4 = facts_table3(records, resamples=10), facts_table4(records)
    found3 = compare(table3, "facts_table3_b1", same_names(table3, "facts_table3_b1"))
    found4 = compare(table4, "facts_table4_b1_agreement", same_names(table4, "facts_table4_b1_agreement"))
    return int(found3["equal"].sum()), int(found4["equal"].sum())


def test_the_packaged_counts_give_the_printed_digits(counts):
    assert equal_digits(counts) == (35, 42)


def test_the_released_answers_give_the_printed_digits(released):
    assert equal_digits(load_released(released, ["B1"])) == (35, 42)


def test_section_41_counts_by_the_printed_p_values(counts):
    """From the p values of `facts` Table 4 alone: below 0.05, and below 0.05/21."""
    printed = published("facts_table4_b1_agreement").set_index("model").filter(like="mcnemar").astype(float)
    control = printed.filter(like="clinical")
    assert facts_section41(counts) == {
        "tests": printed.size,
        "control": control.size,
        "control_significant": int((control < 0.05).sum().sum()),
        "control_corrected": int((control < 0.05 / 21).sum().sum()),
        "flipped": int(((printed < 0.05) & (printed >= 0.05 / 21)).sum().sum()),
    }


def test_columns_follow_the_order_of_the_voices(counts):
    assert list(facts_table3(counts, resamples=10))[:4] == ["omr", "omr_clinical", "omr_socioeconomic", "omr_cultural"]


def test_two_voices_of_other_names():
    records = fabricated([[1, 0], [1, 1], [0, 0]], voices=("plain", "rural"))
    assert facts_table3(records, "plain", resamples=10).loc["model", "omr_rural"] == pytest.approx(1 / 3)
    assert list(facts_table4(records, "plain")) == ["kappa_plain_rural", "mcnemar_p_plain_rural"]
