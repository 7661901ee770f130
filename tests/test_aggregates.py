"""The authors' aggregates against every cell that `facts` prints, and what a broken file says."""

import pytest

from nsh.aggregates import authors_aggregates, missing_aggregates
from nsh.comparison import compare_printed
from nsh.errors import DataError
from nsh.printed import published

TABLES = [f"facts_table{number}_" for number in range(1, 11)]
PRIMARY = "results/b1_results/b1_results/b1_evaluation_primary.csv"
HEAD = 'Model,N,OMR Overall,OMR Pα Control,OMR Pβ Socioeconomic,OMR Pγ Cultural,"NAG (α−min(β,γ))",Mean DSS,DSS<0.8 (%)'
ROW = 'llama31,8,"0.5 [0.2, 0.8]",0.6,0.5,0.4,-0.2,NaN,25.00%'


@pytest.fixture
def write(tmp_path):
    """Write one file of the authors' layout and return its folder."""

    def written(*lines, name=PRIMARY):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
        return tmp_path

    return written


def test_all_cells_of_tables_1_to_10_are_equal_to_the_printed_digits(released):
    tables = authors_aggregates(released)
    assert [sum(slug.startswith(name) for slug in tables) for name in TABLES] == [1] * 10
    for slug, ours in tables.items():
        printed = published(slug)
        assert ours.columns.tolist() == printed.columns.tolist()
        assert ours["model"].tolist() == printed["model"].tolist()
        for column in printed.columns[1:]:
            assert all(map(compare_printed, ours[column], printed[column])), f"{slug}, {column}"


def test_bias_cases_give_the_28_cells_of_table_10(released):
    """Counts: lines of the authors' files per model, counted with cut, sort and uniq; 1,000 questions each."""
    cells = authors_aggregates(released)["facts_table10_dss"].set_index("model")
    assert cells.notna().to_numpy().sum() == 28
    assert cells.loc["BioMistral-7B"].to_dict() == {"B1": 80.8, "B2": 89.6, "B3": 0, "NS": 19.3}
    assert not missing_aggregates(released)


def test_missing_files_are_left_out_and_named(write):
    folder = write(HEAD, ROW)
    tables = authors_aggregates(folder)
    assert list(tables) == ["facts_table3_b1", "facts_table1_nag"]
    assert tables["facts_table1_nag"].columns.tolist() == ["model", "B1"]
    absent = missing_aggregates(folder)
    assert len(absent) == 12
    assert PRIMARY not in absent
    assert authors_aggregates(folder / "nothing") == {}


def test_numbers_are_read_before_intervals_and_marks(write):
    table = authors_aggregates(write(HEAD, ROW))["facts_table3_b1"]
    row = table.iloc[0]
    assert row["model"] == "Llama-3.1-8B-Instruct"
    assert (row["omr"], row["nag"], row["dss_below_0.8_pct"]) == (0.5, -0.2, 25)
    assert table["dss"].isna().all()


def test_models_come_in_the_order_of_the_papers_and_unknown_ones_last(write):
    rows = [ROW.replace("llama31", model) for model in ("new", "biomistral", "llama32")]
    table = authors_aggregates(write(HEAD, *rows))["facts_table3_b1"]
    assert table["model"].tolist() == ["Llama-3.2-3B-Instruct", "BioMistral-7B", "new"]


def test_bad_cells_and_missing_columns_are_named(write):
    with pytest.raises(DataError, match=r"b1_evaluation_primary\.csv, row 1, field 'OMR Overall': expected a number"):
        authors_aggregates(write(HEAD, ROW.replace("0.5 [0.2, 0.8]", "half")))
    with pytest.raises(DataError, match="field 'OMR Overall': expected a number; found None"):
        authors_aggregates(write(HEAD, ROW.replace('"0.5 [0.2, 0.8]"', "")))
    with pytest.raises(DataError, match=r"row 1, field 'Mean DSS': expected a number; found None"):
        authors_aggregates(write(HEAD.replace("Mean DSS", "DSS"), ROW))
    with pytest.raises(DataError, match="field 'Model'"):
        authors_aggregates(write(HEAD.replace("Model", "Name"), ROW))


def test_a_table_in_two_files_needs_both_for_every_model(write):
    b2 = PRIMARY.replace("b1", "b2")
    folder = write(HEAD, ROW, name=b2)
    assert "facts_table5_b2" not in authors_aggregates(folder)
    write("Model,Parse Rate", "llama32,99.00%", name=b2.replace("primary", "secondary"))
    with pytest.raises(DataError, match=r"b2_evaluation_secondary\.csv, row 1, field 'OMR Overall'"):
        authors_aggregates(folder)


def test_bias_cases_of_a_made_up_file(write):
    folder = write(HEAD, ROW, ROW.replace("llama31", "qwen25"))
    lines = ["model,question_id,dss", "llama31,MQ_1,0.1", "llama31,MQ_2,0.8"]
    write(*lines, name=PRIMARY.replace("primary", "bias_cases"))
    assert authors_aggregates(folder)["facts_table10_dss"]["B1"].tolist() == [25, 0]


def test_a_model_or_a_bias_case_that_comes_twice_is_named(write):
    with pytest.raises(
        DataError, match=r"primary\.csv, row 2, field 'Model': expected each Model once; found 'llama31'"
    ):
        authors_aggregates(write(HEAD, ROW, ROW))
    write(HEAD, ROW)
    lines = ["model,question_id,dss", "llama31,MQ_1,0.1", "llama31,MQ_1,0.1"]
    with pytest.raises(DataError, match=r"bias_cases\.csv, row 2, field 'question_id': expected each model and"):
        authors_aggregates(write(*lines, name=PRIMARY.replace("primary", "bias_cases")))
