"""Prompt files: sources, statuses, budgets, and how fields are put in."""

from importlib.resources import files

import pytest

from nsh.declared import read_data
from nsh.errors import DataError
from nsh.prompts import STATUSES, ask, support, template, worst_status

HEAD = "source: ours\nstatus: verbatim\nbudget: reconstructed\nmax_new_tokens: 5"
NAMES = sorted(file.name.removesuffix(".yaml") for file in files("nsh").joinpath("data/prompts").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_names_source_status_and_budget(name):
    prompt = template(name)
    assert prompt["source"].startswith(("voices, ", "facts, ", "sdoh, ", "ours; beyond the papers"))
    assert prompt["status"] in STATUSES and prompt["budget"] in ("printed", "reconstructed") and prompt["note"]
    assert prompt["user"] == prompt["user"].rstrip() + "\n"


def test_printed_budgets_are_those_of_the_papers():
    """`voices` Appendix I prints 512, 600 and 16 of the two-call pipelines, §4 128 and 1280; `sdoh` Table I 120."""
    budgets = {template(name)["max_new_tokens"] for name in NAMES if template(name)["budget"] == "printed"}
    assert budgets == {128, 1280, 512, 600, 16, 120}


def test_the_worst_status_of_a_chain_counts():
    assert worst_status(["direct"]) == "verbatim"
    assert worst_status(["extract", "answer_from"]) == "partly reconstructed"
    assert worst_status(["extract", "reason"]) == "reconstructed"
    assert worst_status([]) == worst_status(["direct", ""]) == "reconstructed"


def test_fields_are_put_in_once():
    call = ask("rewrite", narrative="{narrative} {options}")
    assert call.messages[1][1] == "PATIENT NARRATIVE:\n{narrative} {options}\n\nWrite the clinical vignette."
    assert (call.letters, call.stage, call.schema) == ("", "rewrite", "")


def test_the_two_examples_are_our_own_and_answered():
    """They are not among the samples, and each has one right letter among its options."""
    examples = read_data("examples.yaml")["examples"]
    assert len(examples) == 2
    for example in examples:
        assert example["letter"] in example["options"] and len(example["options"]) == 4
        assert example["narrative"].endswith("?") and example["explanation"].endswith(".")


def test_support_is_empty_without_results():
    assert support([]) == ""
    assert support(["a", "b"]).endswith(":\n- a\n- b\n\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user: hi\nmax_new_tokens: 5", "status None"),
        ("user: hi\nstatus: verbatim\nmax_new_tokens: 0", "a whole number above 0"),
        ("user: hi\nstatus: verbatim\nmax_new_tokens: true", "a whole number above 0"),
        ("status: verbatim\nmax_new_tokens: 5", "expected user"),
        ("- a list", "not a YAML mapping"),
        ("user: {narrative\nstatus: x", "not a YAML mapping"),
        ("user_of: nosuch\nstatus: verbatim\nmax_new_tokens: 5", "no prompt file nosuch"),
        (f"user: '{{story}}'\n{HEAD}", "mine.yaml: the field {story} is unknown"),
        (f"user: hi\ntemprature: 1\n{HEAD}", "unknown: temprature"),
        ("user: hi\nstatus: verbatim\nmax_new_tokens: 5", "lacking: budget, source"),
        ("user: hi\nstatus: verbatim\nmax_new_tokens: lots", "max_new_tokens 'lots'"),
    ],
)
def test_a_wrong_prompt_file_is_named(tmp_path, text, message):
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        ask(file, narrative="x")
    assert message in str(error.value)


def test_an_unknown_prompt_names_the_nearest():
    with pytest.raises(DataError, match="did you mean 'direct'"):
        template("dirct")
