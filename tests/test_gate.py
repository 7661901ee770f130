"""The gate refuses a page with an error, an unexecuted cell, or a blank or undisplayable glued value."""

import nbformat
import pytest

from nsh.errors import CellError
from nsh.gate import check_executed, faults


def page(source="1", count=1, outputs=()):
    cell = nbformat.v4.new_code_cell(source, execution_count=count, outputs=list(outputs))
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Page"), cell])


def glued(text):
    kind = "application/papermill.record/text/plain"
    return nbformat.v4.new_output("display_data", {kind: text}, metadata={"scrapbook": {"name": "nag"}})


def test_a_clean_page_passes():
    assert faults(page(outputs=[glued("'0.151'")])) == []


BLANK = ["", "''", "' '", "nan", "None", "NaT", "<NA>", "inf", "np.float64(0.15)", "'nan'", "'-inf'", "'undefined'"]


@pytest.mark.parametrize("text", BLANK)
def test_blank_glue_is_refused(text):
    with pytest.raises(CellError, match="a-page is refused: cell 2: the glued value 'nag' is blank"):
        check_executed(page(outputs=[glued(text)]), "a-page")


def test_an_error_output_is_refused():
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    assert faults(page(outputs=[error])) == ["cell 2 ended in ValueError: no"]


def test_a_warning_is_refused():
    warned = nbformat.v4.new_output("stream", name="stderr", text="x.py:1: UserWarning: boo\n")
    assert faults(page(outputs=[warned])) == ["cell 2 gave a warning: x.py:1: UserWarning: boo"]


def test_an_unexecuted_cell_is_refused():
    assert faults(page(count=None)) == ["cell 2 was not executed: 1"]


def test_an_empty_cell_needs_no_execution():
    assert faults(page(source=" ", count=None)) == []
