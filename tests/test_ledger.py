"""The ledger: a fixed list of rows, a check for each, and statuses that follow the numbers."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
import typer

from nsh import ledger as module
from nsh.cli import app
from nsh.conditions import CONDITIONS
from nsh.declared import pages
from nsh.ledger import STATUSES, ledger, ledger_rows
from nsh.printed import decimals, key_columns, published, published_tables
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
    assert all(len(key_columns(name)) == keys[name] for name in tables)
    cells = sum((published(name).iloc[:, keys[name] :] != "").to_numpy().sum() for name in tables)
    assert len(ids) == lines + cells


def test_every_row_has_a_check_and_every_check_a_row():
    checked = {check["rows"] for check in checks()}
    rows = {row.id if row.id in checked else f"{row.file}/{row.column}" for row in ledger_rows()}
    assert checked == rows


def test_checks_are_well_formed():
    known = {*module.JUDGED, *module.SHOWN, *module.SAID}
    for check in checks():
        assert check["basis"] in known
        if check["basis"] in module.SAID:
            assert check["note"] and not check["formula"], check
        if check["basis"] == "published":
            assert check["formula"], check


def test_commands_that_would_generate_are_understood():
    """Each is parsed by the command line itself, without being run, and names conditions that there are."""
    commands = {check["note"] for check in checks() if check["basis"] == "generation"}
    group = typer.main.get_command(app)
    for command in commands:
        program, name, *arguments = shlex.split(command)
        assert program == "nsh"
        context = group.get_command(None, name).make_context(name, arguments)
        assert {"page", "out"} & {key for key, value in context.params.items() if value}
        if "page" in context.params:
            assert context.params["page"] in pages()
        named = re.findall(r"condition[ =](\w+)", command)
        assert set(named) <= {*CONDITIONS}


def test_a_formula_reads_more_than_its_own_number():
    """A check of the printed number against itself or against typed-in numbers could not fail."""
    reads = re.compile(r"(column|cell|text|released|models|sizes|families|grim)\(|\b(omr|acc|kappa|nag|gap|dss)\w*")
    for check in checks():
        if check["basis"] == "published":
            assert reads.search(check["formula"]) or re.search(r"[a-z]+_[a-z]+", check["formula"]), check


def test_grim_is_asked_only_where_it_can_fail():
    """The grid of fractions must be coarser than the printed unit."""
    for check in checks():
        for scale, n in re.findall(r"(100 \* )?grim\(printed(?: / 100)?, (\d+)\)", check["formula"]):
            file, column = check["rows"].split("/")
            unit = min(10 ** -decimals(text) for text in published(file)[column] if text)
            assert (100 if scale else 1) / int(n) > unit, check


def test_without_any_data_the_pattern_counts_stand_in_and_the_rest_says_what_it_needs():
    rows = ledger(recompute(None, resamples=50)).set_index("id")
    assert rows.loc[NAG, "status"] == "equal"
    assert rows.loc["facts_table3_b1/dss/BioMistral-7B", "status"] == "needs released data"
    assert rows.loc["voice_table1_retellings/clinical/relevant_addition_pct_judge_F", "status"] == "not derivable"
    assert set(rows["status"]) < set(STATUSES)


def sources(nag: float) -> dict:
    return {"released": {"facts_table3_b1": pd.DataFrame({"nag": [nag]}, index=["BioMistral-7B"])}, "aggregate": {}}


@pytest.mark.parametrize(("nag", "status"), [(0.064, "equal"), (0.06404, "equal"), (0.0641, "differs")])
def test_a_status_follows_our_number(nag, status):
    row = ledger(sources(nag)).set_index("id").loc[NAG]
    assert row["status"] == status and row["ours"] == nag


def test_a_disagreement_is_not_hidden_by_an_agreement():
    """The printed NAG is consistent with the printed accuracies, whatever ours is: the row still differs."""
    row = ledger(sources(0.07)).set_index("id").loc[NAG]
    assert row["status"] == "differs" and "0.3950" in row["how"]


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
def test_nothing_of_the_full_release_is_missed(full):
    """A misspelt name of ours would look like data that are not here. The MedQA file is asked for by name."""
    lacking = full.index[full["status"] == "needs released data"].tolist()
    assert [row for row in lacking if "split" not in row] == []


@pytest.mark.slow
def test_other_models_and_earlier_runs_are_called_so(full):
    """voices section 7.2 prints the gap of two models that were released in an earlier run: 0.131 and 0.143."""
    row = full.loc["voices_text/gap_direct_Llama-3.2-3B-Instruct"]
    assert row["status"] == "earlier run of the same model" and row["ours"] == pytest.approx(0.1245)
    row = full.loc["voices_text/nag_largest"]
    assert row["status"] == "recomputed on other models" and row["ours"] == pytest.approx(0.151)


@pytest.mark.slow
def test_table_10_from_the_authors_aggregate(full):
    rows = table(full, "facts_table10_dss")
    assert rows["status"].value_counts().to_dict() == {"equal (authors' aggregate)": 16, "equal": 12}


@pytest.mark.slow
def test_tools_per_question(full):
    rows = table(full, "facts_table9_ns_operations", "tools_per_question")
    assert rows["status"].value_counts().to_dict() == {"equal (authors' aggregate)": 4, "equal": 3}
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
