"""Running a notebook: checked before, gated after, promoted only on success."""

import nbformat
import pytest

from nsh.errors import CellError, KernelDied, ParameterError
from nsh.execute import check_source, execute

FOOT = (
    "from IPython.display import display; display({'text/plain': ''}, raw=True, metadata={'nsh': {'modules': ['nsh']}})"
)


def write_page(folder, *cells, tagged=True):
    (folder / "notebooks").mkdir(exist_ok=True)
    first = nbformat.v4.new_code_cell("n: int = 1", metadata={"tags": ["parameters"]} if tagged else {})
    foot = nbformat.v4.new_code_cell(FOOT)
    notebook = nbformat.v4.new_notebook(
        cells=[first, *map(nbformat.v4.new_code_cell, cells), foot],
        metadata={"kernelspec": {"name": "conda-env-somebody", "display_name": "x", "language": "python"}},
    )
    nbformat.write(notebook, folder / "notebooks" / "p.ipynb")


@pytest.mark.slow
def test_a_page_runs_and_its_parameter_cells_are_folded(tmp_path):
    """The kernel is python3 whatever the notebook names."""
    write_page(tmp_path, "print(n + 1)")
    staged, seconds = execute("p", {"n": 41}, tmp_path, "hash")
    cells = nbformat.read(staged, 4).cells
    assert staged == tmp_path / "_build" / "stage" / "notebooks" / "p.ipynb"
    assert cells[2].outputs[0].text == "42\n"
    assert ["hide-input" in cell.metadata.get("tags", []) for cell in cells] == [True, True, False, False]
    assert cells[1].metadata["mystnb"]["code_prompt_show"] == "Show the parameters of this run"
    assert seconds > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("1 / 0", CellError, "page p, cell 3: ZeroDivisionError: division by zero"),
        ("import os; os.kill(os.getpid(), 9)", KernelDied, "for want of memory"),
    ],
)
def test_a_failing_page_is_not_promoted(tmp_path, source, error, message):
    write_page(tmp_path, source, "print('after')")
    with pytest.raises(error, match=message):
        execute("p", {"n": 1}, tmp_path, "hash")
    assert not (tmp_path / "_build" / "stage").exists()


def test_a_notebook_without_a_parameters_cell_is_refused(tmp_path):
    write_page(tmp_path, tagged=False)
    with pytest.raises(ParameterError, match="no cell tagged `parameters`"):
        check_source(tmp_path / "notebooks" / "p.ipynb", {"n": 1})


def test_a_parameter_that_the_notebook_does_not_take_is_refused(tmp_path):
    write_page(tmp_path)
    with pytest.raises(ParameterError, match="does not take m"):
        check_source(tmp_path / "notebooks" / "p.ipynb", {"m": 1})


def test_a_missing_notebook_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"no notebook .*p\.ipynb"):
        check_source(tmp_path / "notebooks" / "p.ipynb", {})
