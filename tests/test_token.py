"""A hub token of the user's environment gets into nothing that is kept or shown."""

import logging
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from made_cases import make_cases
from test_execute import write_page
from typer.testing import CliRunner

from nsh import cli
from nsh.case_files import read_hub
from nsh.engines import ScriptedEngine
from nsh.errors import TOKEN_NAMES, CellError, EngineError, MissingDataError, NshError, without_tokens
from nsh.execute import execute
from nsh.jobs import jobs
from nsh.models import ModelSpec
from nsh.opening import open_page
from nsh.provenance import Provenance
from nsh.records import write_records
from nsh.runner import run
from nsh.store import Store
from nsh.weights import explained

HUB = "hf_" + "QwErTyUiOp" * 3  # the form of a hub token; made up
OTHER = "s3cret/of-an-own.hub=="  # a token of another form, as a hub of one's own may give


@pytest.fixture(params=[(name, token) for name in TOKEN_NAMES for token in (HUB, OTHER)], ids=lambda pair: pair[0])
def token(request, monkeypatch):
    """A token in one of the variables that the hub's library reads."""
    for name in TOKEN_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(*request.param)
    return request.param[1]


@pytest.fixture
def one(monkeypatch):
    """The token of the variable that most users set."""
    monkeypatch.setenv("HF_TOKEN", HUB)
    return HUB


def shown(error: BaseException) -> str:
    """All that Python shows of an error, its causes included."""
    return "".join(traceback.format_exception(error))


def refusal(token: str) -> str:
    """What a hub may say."""
    return f"401 Client Error for https://huggingface.co/api/x (Request header: Bearer {token})"


def test_any_error_made_on_purpose_is_without_the_token(token):
    error = NshError(refusal(token))
    assert token not in f"{error} {error!r} {error.args}" and "Bearer [token]" in str(error)


def test_a_token_that_is_kept_in_a_file_is_known_by_its_form(monkeypatch):
    for name in TOKEN_NAMES:
        monkeypatch.delenv(name, raising=False)
    assert without_tokens(f"'{HUB}', {HUB}.") == "'[token]', [token]."
    assert without_tokens("the function hf_hub_download, the variable HF_TOKEN") == (
        "the function hf_hub_download, the variable HF_TOKEN"
    )


@pytest.mark.parametrize("short", ["", " ", "1", "true"])
def test_a_value_that_is_no_token_strikes_nothing_out(monkeypatch, short):
    monkeypatch.setenv("HF_TOKEN", short)
    assert without_tokens("1 case is true") == "1 case is true"


@pytest.mark.parametrize("kind", [OSError, ValueError, ConnectionError])
def test_a_hub_that_repeats_the_token_in_its_refusal(token, monkeypatch, kind):
    def load_dataset(*_, **__):
        raise kind(refusal(token)) from RuntimeError(refusal(token))

    datasets = SimpleNamespace(load_dataset=load_dataset)
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "datasets.exceptions", SimpleNamespace(DatasetsError=LookupError))
    with pytest.raises(MissingDataError) as error:
        read_hub("hf:org/name")
    assert token not in shown(error.value) and "hf:org/name" in str(error.value)


@pytest.mark.parametrize("said", ["{}", "gated repo: {}", "quantization {}", "\n{}"])
def test_a_model_that_cannot_be_loaded(token, said):
    with pytest.raises(EngineError) as error, explained(ModelSpec("m", "org/m", "1")):
        try:
            raise RuntimeError(said.format(refusal(token)))
        except RuntimeError as cause:
            raise OSError(said.format(refusal(token))) from cause
    assert token not in shown(error.value) and "org/m could not be loaded" in str(error.value)


def test_the_command_line_says_it_without_the_token(one, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["nsh", "data", "check", f"{one}.csv"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = "".join(capsys.readouterr())
    assert ended.value.code == 3 and one not in said and "[token].csv" in said
    assert one not in CliRunner().invoke(cli.app, ["--help"]).output


def kept(folder: Path) -> str:
    """All that lies in a folder, as text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


class Talkative(ScriptedEngine):
    """An engine whose stamp holds the token, as a library's description of itself may."""

    def generate(self, calls):
        for index, completion in super().generate(calls):
            yield index, replace(completion, stamp=completion.stamp | {"versions": refusal(os.environ["HF_TOKEN"])})


def test_store_records_provenance_and_log_hold_no_token(one, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("nsh.study.ScriptedEngine", Talkative)
    with caplog.at_level(logging.DEBUG):
        study = open_page("beyond-own-data", source="samples", n_cases=2, models=["scripted"], resamples=20)
        for ending in ("csv", "html"):
            write_records(study.records, tmp_path / f"answers.{ending}", True, study.cases)
        foot = Provenance(study)
    assert one not in kept(tmp_path) + caplog.text + repr(foot) + str(foot._repr_mimebundle_())
    assert one not in str(study.values) + str(study.stamps)
    assert "Bearer [token]" in str(study.stamps) and "Bearer [token]" in kept(tmp_path / "store")


def test_what_a_run_stamps_beside_a_text_is_not_the_environment(one, tmp_path):
    outcomes, _ = run(jobs(make_cases(2), "rewrite"), ScriptedEngine(), Store(tmp_path / "plain"))
    assert one not in kept(tmp_path / "plain") + str(outcomes)
    told, _ = run(jobs(make_cases(2), "rewrite"), Talkative(), Store(tmp_path / "told"))
    assert one in str(told)  # what the engine said, in memory alone
    assert one not in kept(tmp_path / "told") and "Bearer [token]" in kept(tmp_path / "told")


LEAKS = """
import os, sys, types
from nsh.cases import load_cases

def load_dataset(*_, **__):
    raise OSError("Bearer " + os.environ["HF_TOKEN"])

sys.modules["datasets"] = types.SimpleNamespace(load_dataset=load_dataset)
sys.modules["datasets.exceptions"] = types.SimpleNamespace(DatasetsError=LookupError)
print("Warning of a library: ", os.environ["HF_TOKEN"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("last", ["load_cases('hf:org/name')", "load_dataset()"], ids=["our error", "a library's"])
def test_an_executed_notebook_that_fails_holds_no_token(one, tmp_path, last):
    write_page(tmp_path, LEAKS, last)
    with pytest.raises(CellError) as error:
        execute("p", {"n": 1}, tmp_path, "hash")
    assert one not in shown(error.value) + kept(tmp_path / "_build")
    assert "[token]" in kept(tmp_path / "_build")


@pytest.mark.slow
def test_a_page_that_a_library_wrote_the_token_on_is_promoted_without_it(one, tmp_path):
    """The promoted notebook, its metadata included, is all that the HTML of a page is made from."""
    write_page(tmp_path, LEAKS)
    staged, _ = execute("p", {"n": 1}, tmp_path, "hash")
    assert one not in kept(tmp_path / "_build")
    notebook = nbformat.read(staged, 4)
    assert notebook.metadata.papermill.parameters == {"n": 1} and "HF_TOKEN" not in str(notebook.metadata)
    assert "Warning of a library:  [token]" in str(notebook.cells)
