"""The ledger: a fixed list of rows, a check for each, and statuses that follow the numbers."""

import csv
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from nsh import ledger as module
from nsh.ledger import STATUSES, ledger, ledger_rows
from nsh.printed import published, published_tables
from nsh.recomputed import recompute

CHECKS = Path(module.__file__).parent / "data" / "ledger" / "checks.csv"
NAG = "facts_table3_b1/nag/BioMistral-7B"


def checks():
    with CHECKS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_printed_cell_and_line_is_a_row_once():
    ids = [row.id for row in ledger_rows()]
    assert len(ids) == len(set(ids))
    listed = [name for name in published_tables() if name.endswith(("_text", "_claims"))]
    lines = sum(len(published(name)) for name in listed)
    tables = [name for name in published_tables() if name not in listed and name != "patterns"]
    keys = {name: 2 if re.match("sdoh_table", name) else 1 for name in tables}
    cells = sum((published(name).iloc[:, keys[name] :] != "").to_numpy().sum() for name in tables)
    assert len(ids) == lines + cells


def test_every_row_has_a_check_and_every_check_a_row():
    rows = {f"{row.file}/{row.column}" for row in ledger_rows()}
    assert {check["rows"] for check in checks()} == rows


def test_checks_are_well_formed():
    known = {*module.JUDGED, *module.SHOWN, *module.SAID}
    for check in checks():
        assert check["basis"] in known
        if check["basis"] in module.SAID:
            assert check["note"] and not check["formula"], check
        if check["basis"] == "published":
            assert check["formula"], check
        if check["basis"] == "generation":
            assert "nsh " in check["note"], check


def test_every_row_has_a_status_without_any_data():
    rows = ledger(recompute(None, resamples=50))
    assert set(rows["status"]) <= set(STATUSES)
    assert rows.set_index("id").loc[NAG, "status"] == "equal"


def sources(nag: float) -> dict:
    return {"released": {"facts_table3_b1": pd.DataFrame({"nag": [nag]}, index=["BioMistral-7B"])}, "aggregate": {}}


@pytest.mark.parametrize(("nag", "status"), [(0.064, "equal"), (0.06404, "equal"), (0.0641, "differs")])
def test_a_status_follows_our_number(nag, status):
    row = ledger(sources(nag)).set_index("id").loc[NAG]
    assert row["status"] == status and row["ours"] == nag


def test_a_disagreement_is_not_hidden_by_an_agreement():
    """The printed NAG is consistent with the printed accuracies, whatever ours is: the row still differs."""
    row = ledger(sources(0.07)).set_index("id").loc[NAG]
    assert row["status"] == "differs" and "omr_clinical" in row["how"]


def test_a_frame_of_ours_may_lack_rows_and_columns():
    rows = ledger({"released": {"facts_table3_b1": pd.DataFrame({"nag": [float("nan")]}, index=["BioMistral-7B"])}})
    assert rows.set_index("id").loc[NAG, "status"] == "consistent"


def test_mcnemar_p_values_of_sdoh_follow_from_their_counts():
    """Table V: exact p of the printed discordant counts, checked here against SciPy's binomial test."""
    from scipy.stats import binomtest

    rows = ledger({}).set_index("id")
    for line in published("sdoh_table5_scale_mcnemar").to_dict("records"):
        row = rows.loc[f"sdoh_table5_scale_mcnemar/p_value/{line['comparison']}/{line['prompt']}"]
        b, c = int(line["a_correct_b_wrong"]), int(line["a_wrong_b_correct"])
        assert row["status"] == "consistent"
        assert row["ours"] == pytest.approx(binomtest(b, b + c).pvalue)


@pytest.fixture(scope="module")
def full(released):
    """The ledger of the released files as they are."""
    return ledger(recompute(released, resamples=200)).set_index("id")


def table(full, name, *columns):
    ids = [i for i in full.index if i.startswith(f"{name}/") and (not columns or i.split("/")[1] in columns)]
    return full.loc[ids]


@pytest.mark.slow
def test_all_that_is_released_is_equal_to_the_printed_digits(full):
    """facts Tables 3 and 4 (seven models), 6 (four), 5 (one), and the cells of Table 10 that these cover."""
    four = ["Llama-3.1-8B-Instruct", "Qwen2.5-7B-Instruct", "gemma-3-12b-it", "BioMistral-7B"]
    whole = pd.concat([table(full, "facts_table3_b1"), table(full, "facts_table4_b1_agreement")])
    assert len(whole) == 49 + 42 and set(whole["status"]) == {"equal"}
    six = table(full, "facts_table6_b3")
    six = six[six.index.str.split("/").str[2].isin(four)]
    five = table(full, "facts_table5_b2")
    five = five[five.index.str.endswith("/BioMistral-7B")]
    ten = table(full, "facts_table10_dss")
    ten = ten[ten.index.str.contains("/B1/") | ten.index.isin([f"facts_table10_dss/B3/{m}" for m in four])]
    assert len(six) == 28 and len(five) == 7 and len(ten) == 11
    assert set(six["status"]) | set(five["status"]) | set(ten["status"]) == {"equal"}


@pytest.mark.slow
def test_table_10_from_the_authors_aggregate(full):
    rows = table(full, "facts_table10_dss")
    assert len(rows) == 28 and set(rows["status"]) <= {"equal", "equal (authors' aggregate)"}


@pytest.mark.slow
def test_tools_per_question(full):
    rows = table(full, "facts_table9_ns_operations", "tools_per_question")
    assert set(rows["status"]) <= {"equal", "equal (authors' aggregate)"}
    assert rows.loc["facts_table9_ns_operations/tools_per_question/Llama-3.1-8B-Instruct", "status"] == "equal"


@pytest.mark.slow
def test_one_changed_letter_of_a_released_answer_turns_its_rows_to_differs(full, released, tmp_path):
    """A wrong answer of BioMistral in the clinical voice is made right, with its response."""
    from nsh.released import result_file

    copy = tmp_path / "released"
    shutil.copytree(released, copy)
    file = copy / result_file("B1", "biomistral")
    file.chmod(0o644)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wrong = next(line for line in lines if line["personas_eval"]["alpha"]["is_correct"] is False)
    gold = wrong["correct_answer_idx"]
    wrong["personas_eval"]["alpha"] |= {"raw_response": gold, "extracted_answer": gold, "is_correct": True}
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    again = ledger(recompute(copy, resamples=200)).set_index("id")
    for column in ("omr_clinical", "nag"):
        row = f"facts_table3_b1/{column}/BioMistral-7B"
        assert full.loc[row, "status"] == "equal" and again.loc[row, "status"] == "differs"
    changed = again.index[(again["status"] == "differs") & (full["status"] != "differs")]
    assert all("BioMistral" in row or row.startswith(("facts_text", "facts_claims")) for row in changed)
