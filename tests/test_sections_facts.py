"""The pages on `facts` §2 to §4: their numbers against the printed tables, brute force, and plain counts."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters

from nsh import open_page
from nsh.ledger import ledger
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.records import records_frame
from nsh.sections import facts, shield
from nsh.tool_logs import LOG, logged_tools

B2 = "facts_table5_b2"


@pytest.fixture(scope="module")
def real():
    return from_patterns()


@pytest.fixture(scope="module")
def found(real):
    return facts.sources(study_of(fabricated([[1, 0, 0]])), real)


def study_of(records: pd.DataFrame, **values) -> SimpleNamespace:
    """What `own_conditions` and `sources` take of a study, with made-up records."""
    statistics = {"reference": "clinical", "resamples": 20, "seed": 1}
    settings = {"resamples": 20, "seed": 1, "released": "off", **values}
    return SimpleNamespace(
        records=records, statistics=statistics, reference="clinical", slug="some-page", released=None, values=settings
    )


def test_the_tables_have_the_printed_digits(real):
    ours = facts.condition_table(real, "B3", resamples=0)
    compared = facts.against(
        ours, "facts_table6_b3", ["omr", "omr_clinical", "omr_socioeconomic", "omr_cultural", "nag"]
    )
    assert compared["equal"].all()
    assert len(compared) == 7 * 5


def test_counts_say_nothing_of_the_parse_rate(real):
    ours = facts.condition_table(real, "B2", resamples=0)
    assert set(ours.index) == {"Mistral-7B-Instruct-v0.3", "BioMistral-7B"}
    compared = facts.against(ours, B2)
    assert compared.query("column == 'parse_rate_pct'")["equal"].isna().all()
    assert compared.query("column == 'nag'")["equal"].notna().sum() == 2


def test_the_parse_rate_is_the_share_of_replies_with_a_letter():
    records = from_letters([["A", "A", None], ["B", None, None]])  # 3 of 6
    assert facts.condition_table(records, "direct", resamples=0)["parse_rate_pct"].tolist() == [50.0]


def test_a_comparison_without_named_columns_takes_what_both_have():
    ours = pd.DataFrame({"nag": [0.1], "null_p95": [0.03]}, index=["Llama-3.1-8B-Instruct"])
    assert set(facts.against(ours, B2)["column"]) == {"nag"}


def test_headings():
    names = ["kappa_clinical_cultural", "mcnemar_p_a_b", "omr", "omr_cultural", "nag", "dss_below_0.8_pct", "NS"]
    heads = facts.heads(pd.DataFrame({"column": names}))
    said = ["κ, clinical, cultural", "p, a, b", "overall", "cultural", "NAG", "DSS < 0.8, %", "NS"]
    assert list(heads.values()) == said


def test_printed_tables_7_and_8_imply_each_other():
    """Table 7's OMR and NAG, and all 21 p of Table 8, come out with the printed digits."""
    alone = shield.implied()
    for slug, cells in ((facts.NS7, 14), (shield.NS8, 21)):
        compared = facts.against(alone, slug)
        assert len(compared) == cells
        assert compared["equal"].all()


def test_one_p_by_hand():
    """Llama-3.1-8B, clinical against cultural: 0.6500, 0.6130, kappa 0.6160 of 1,000 questions (Tables 7 and 8)."""
    a, b, kappa = 0.65, 0.613, 0.616
    unequal = (1 - kappa) * (a * (1 - b) + b * (1 - a))
    chi = (abs(1000 * (a - b)) - 1) ** 2 / round(1000 * unequal)
    from scipy.stats import chi2

    found = shield.implied().loc["Llama-3.1-8B-Instruct", "mcnemar_p_clinical_cultural"]
    assert found == pytest.approx(chi2.sf(chi, 1), abs=1e-4)


def test_shield_tables_without_and_with_the_authors_files(found):
    alone = shield.shield_tables(found)
    assert facts.against(alone["facts_table2_ns"], "facts_table2_ns")["equal"].all()
    assert facts.against(alone[facts.NS9], facts.NS9, ["tools_per_question"])["equal"].isna().all()
    theirs = pd.DataFrame({"omr": [0.5], "tools_per_question": [9.0]}, index=["m"])
    counted = pd.DataFrame({"tools_per_question": [2.04]}, index=["Llama-3.1-8B-Instruct"])
    found = {"released": {facts.NS9: counted}, "aggregate": {facts.NS7: theirs, facts.NS9: theirs}}
    with_files = shield.shield_tables(found)
    assert with_files[facts.NS7] is theirs
    assert with_files[facts.NS9]["tools_per_question"].to_dict() == {"m": 9.0, "Llama-3.1-8B-Instruct": 2.04}


def test_without_files_there_are_no_aggregates_and_no_logs():
    study = study_of(fabricated([[1, 0, 0]]))
    assert facts.aggregates(study) == {}
    assert logged_tools(None).empty
    assert "other printed numbers" in shield.shield_basis(study)


def test_the_logs_count_calls_of_the_full_pipeline(tmp_path: Path):
    file = tmp_path / LOG.format(key="llama31")
    file.parent.mkdir(parents=True)
    line = '{{"model": "llama31", "ablation": "{}", "question_id": "1", "persona": "alpha", "tool": "drug_kb"}}\n'
    file.write_text(line.format("full") * 3 + line.format("none"), encoding="utf-8")
    counted = logged_tools(tmp_path)
    assert counted["tools_per_question"].to_dict() == {"Llama-3.1-8B-Instruct": pytest.approx(3 / 3000)}


def test_claims_of_a_section_come_with_their_status():
    whole = ledger({})
    listed = whole[whole["id"].str.match("facts_(text|claims)/")]
    wanted = listed["where"].str.contains("section 4.2|section 4.4")
    assert facts.section_rows({}, "section 4.2", "section 4.4").equals(listed[wanted].reset_index(drop=True))
    assert 0 < len(facts.section_rows({}, "section 4.2")) < wanted.sum()


def test_dots_tell_ours_and_the_printed():
    ours = {"B1": pd.Series({"m": 0.151})}
    printed = {"B1": pd.Series({"m": 0.150, "k": 0.1}), "NS": pd.Series({"m": 0.037, "k": -0.003})}
    label = facts.condition_dots(ours, printed, "NAG (points)").get_label()
    assert "m: B1 15.1 (printed 15.0), NS" in label
    assert "(printed −0.3)" in label
    as_percent = facts.condition_dots({}, {"NS": pd.Series({"m": 28.5})}, "DSS (%)", percent=True)
    assert "28.5" in as_percent.get_label()


def test_printed_columns_are_those_of_each_condition():
    columns = facts.printed_columns("parse_rate_pct")
    assert list(columns) == ["B2", "B3"]
    assert columns["B2"]["BioMistral-7B"] == 54.07
    assert list(facts.printed_columns("omr")) == ["B1", "B2", "B3", "NS"]


def test_own_tables_say_what_is_undefined_and_what_is_missing():
    records = fabricated([[1, 1, 0], [1, 1, 0]], condition="extract_tools")
    shown = facts.own_conditions(study_of(records), ["direct", "extract_tools"], "Table 7", agreement=True).text
    assert "extract_tools" in shown
    assert "1.000 [" in shown
    assert "undefined" in shown  # kappa where both voices are always right
    assert "nan" not in shown
    lacking = facts.own_conditions(study_of(records_frame([])), ["rewrite"], "Table 7").text
    assert "nsh run some-page -f params/paper.yaml" in lacking


def test_own_tables_by_brute_force():
    records = fabricated([[1, 0, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]])
    frame = facts.condition_table(records, "direct", resamples=0).iloc[0]
    right = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]])
    assert frame["omr"] == pytest.approx(right.mean())
    assert frame["nag"] == pytest.approx(right[:, 0].mean() - right[:, 1:].mean(axis=0).min())


def test_one_changed_letter_changes_the_table():
    records = fabricated([[1, 0, 1], [1, 0, 0]])
    before = facts.own_conditions(study_of(records), ["direct"], "Table 3").text
    changed = records.assign(correct=records["correct"].mask(records.index == 1, True))
    assert facts.own_conditions(study_of(changed), ["direct"], "Table 3").text != before


def test_sources_are_what_the_ledger_takes(found):
    assert set(found) == {"released", "aggregate"}
    assert all(name == "facts_text" or name in PUBLISHED for name in found["released"])
    assert found["released"]["facts_table1_nag"].loc["BioMistral-7B"].round(3).tolist() == [0.064, 0.147, 0.0]


PUBLISHED = {"facts_table1_nag", "facts_table3_b1", "facts_table4_b1_agreement", B2, "facts_table6_b3", facts.NS9}


def test_the_pages_are_declared():
    for slug in ("facts-04-prompting", "facts-04-narrativeshield"):
        assert open_page(slug, models=[], released="off").records.empty
    assert not published(B2).empty
