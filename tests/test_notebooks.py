"""The notebooks as they are committed: short cells, prose between, declared parameters, no outputs, no functions."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

from nsh.declared import pages, parameters

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
PAGES = list(pages())
TYPES = {
    "str": "str",
    "str or null": "str",
    "int": "int",
    "int or null": "int",
    "float": "float",
    "bool": "bool",
    "list[str]": "list",
}


def read(slug):
    return nbformat.read(NOTEBOOKS / f"{slug}.ipynb", 4)


def code_cells(slug):
    return [cell for cell in read(slug).cells if cell.cell_type == "code"]


def test_every_declared_page_has_a_notebook_and_no_other_exists():
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(PAGES)


@pytest.mark.parametrize("slug", PAGES)
def test_a_notebook_is_valid_and_portable(slug):
    notebook = read(slug)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", cell.id) for cell in notebook.cells)


@pytest.mark.parametrize("slug", PAGES)
def test_no_outputs_no_functions_few_short_cells(slug):
    cells = code_cells(slug)
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    assert len(cells) <= 15
    for cell in cells:
        assert not any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in ast.walk(ast.parse(cell.source)))
        assert len(cell.source.splitlines()) <= 10 or "parameters" in cell.metadata.tags


@pytest.mark.parametrize("slug", PAGES)
def test_prose_stands_between_code_cells(slug):
    """Apart from the imports before the page is opened, and hidden cells that glue numbers or make the foot."""
    cells = [c for c in read(slug).cells if not {"remove-cell", "remove-input"} & set(c.metadata.get("tags", []))]
    bare = [b.source for a, b in pairwise(cells) if a.cell_type == b.cell_type == "code"]
    assert all("open_page" in source or source.startswith("import nsh") for source in bare)


@pytest.mark.parametrize("slug", PAGES)
def test_the_parameters_cell_is_the_declaration(slug):
    (cell,) = [cell for cell in code_cells(slug) if "parameters" in cell.metadata.get("tags", [])]
    found = {node.target.id: node for node in ast.parse(cell.source).body}
    assert list(found) == list(pages()[slug].parameters)
    for name, node in found.items():
        assert ast.literal_eval(node.value) == pages()[slug].default(name)
        assert node.annotation.id == TYPES[parameters()[name].type]


@pytest.mark.parametrize("slug", PAGES)
def test_every_parameter_is_passed_on(slug):
    code = "\n".join(cell.source for cell in code_cells(slug))
    assert f'nsh.open_page("{slug}"' in code
    assert all(f"{name}={name}" in code or f'"{name}": {name}' in code for name in pages()[slug].parameters)


@pytest.mark.parametrize("slug", PAGES)
def test_figures_have_captions_and_names(slug):
    drawn = [c for c in code_cells(slug) if "Drawing(" in c.source or "figure" in c.metadata.get("mystnb", {})]
    assert drawn
    for cell in drawn:
        assert len(cell.metadata.mystnb.figure.caption) > 40
        assert cell.metadata.mystnb.figure.name.startswith("fig-")


@pytest.mark.parametrize("slug", PAGES)
def test_a_page_ends_in_its_provenance(slug):
    assert code_cells(slug)[-1].source == "nsh.Provenance(study)"
