"""The workflow: what it is told to run, that nothing is paid for twice, and that Snakemake can plan it."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from math import ceil
from pathlib import Path

import pytest
import yaml
from made_cases import make_cases

from nsh.conditions import CONDITIONS
from nsh.declared import pages
from nsh.engines import Completion
from nsh.errors import ParameterError
from nsh.jobs import jobs
from nsh.models import known, resolve
from nsh.params import load_file
from nsh.scale.cluster import main, needed, plan, resources, waits_for
from nsh.store import key_of

ROOT = Path(__file__).resolve().parents[1]
SNAKEFILE = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
PROFILES = {path.parent.name: path for path in (ROOT / "workflow" / "profiles").glob("*/config.yaml")}


def test_the_jobs_are_what_the_pages_need_of_the_files_cases():
    """Written out by hand from the pages: every condition of the papers and the two beyond them."""
    models, conditions = needed(load_file(ROOT / "params" / "workshop.yaml"))
    assert models == ["SmolLM2-135M-Instruct"]
    assert sorted(conditions) == sorted(CONDITIONS)
    assert needed(load_file(ROOT / "params" / "released.yaml"))[0] == []
    paper = needed(load_file(ROOT / "params" / "paper.yaml"))
    assert len(paper[0]) == 12 and sorted(paper[1]) == sorted(CONDITIONS)


def test_pages_with_cases_or_ways_of_their_own_are_left_out():
    """Lesson 2 takes six cases and conditions from files; `facts` §3 holds one case's extraction to its schema."""
    assert {"workshop-2-mitigation", "facts-03-architecture"} <= set(pages())
    _, conditions = needed(load_file(ROOT / "params" / "workshop.yaml"))
    assert not any(".py:" in name for name in conditions)
    assert needed({"models": ["scripted"], "n_cases": 6, "max_new_tokens": 256, "shortened_cases": None})[1][-2:] == [
        "book/workshop/mitigation.py:my_mitigation",
        "book/workshop/solutions/mitigation.py:plain_retelling",
    ]


def test_pages_that_do_not_take_what_makes_other_calls_are_left_out():
    """They run without it, so that what a job made with it would be of no use to them. Pages that compare conditions
    take none of the three, and those that take the last two have cases of their own."""
    file = load_file(ROOT / "params" / "workshop.yaml")
    assert needed(file | {"answer_only": True})[1] == ["direct"]
    assert needed(file | {"quantization": "4bit"}) == needed(file | {"structured": True}) == ([], [])
    left_out = {*needed(file)[1]} - {*needed(file | {"two_shot": True, "caps": "released"})[1]}
    assert left_out == {"facts_cot", "extract_tools"}


def walk(name: str, reply: str) -> list[str]:
    """Keys of all calls of a condition on one case, every reply being the same."""
    (job, *_) = jobs(make_cases(1), name)
    steps, keys = job.start(), []
    try:
        call = next(steps)
        while True:
            keys.append(key_of({}, call))
            call = steps.send(Completion(reply))
    except StopIteration:
        return keys


@pytest.mark.parametrize("reply", ["{}", "Answer: B", "A woman with no values."])
def test_conditions_that_share_a_call_wait_for_one_another(reply):
    """By brute force over pairs: of two conditions with a call in common one waits for the other, however far."""
    before = waits_for(CONDITIONS)
    chain = {name: {name} for name in CONDITIONS}
    for name, after in before.items():
        chain[name] |= chain[after] if after else set()
    calls = {name: set(walk(name, reply)) for name in CONDITIONS}
    sharing = [(a, b) for a in CONDITIONS for b in CONDITIONS if a < b and calls[a] & calls[b]]
    assert len(sharing) >= 9  # six pairs of the four that extract, three of the three that rewrite
    assert all(a in chain[b] or b in chain[a] for a, b in sharing)


def test_each_waits_for_the_one_before_it_in_the_list():
    assert waits_for(["story_schema", "direct", "extract", "extract_tools"]) == {
        "story_schema": None,
        "direct": None,
        "extract": "story_schema",
        "extract_tools": "extract",
    }


def test_memory_and_gpus_follow_parameters_and_number_format():
    """1.2 × parameters × bytes of a parameter, and 4 GiB, by hand."""
    seven = resources(resolve("Qwen2.5-7B-Instruct"), "bfloat16")
    assert seven == {"mem_mb": ceil((1.2 * 7e9 * 2 / 2**30 + 4) * 1024), "gpu": 1}
    assert ceil(1.2 * 7e9 * 4 / 2**30 / 16) == 2
    assert resources(resolve("Qwen2.5-7B-Instruct"), "float32", gpu_gib=16)["gpu"] == 2
    assert resources(resolve("SmolLM2-135M-Instruct"), "float32")["gpu"] == 0
    unknown = resources(resolve("someone/some-model"), "bfloat16")
    assert unknown == {"mem_mb": ceil((1.2 * 32 + 4) * 1024), "gpu": 1}
    assert resources(resolve("gemma-4-E4B-it"), "bfloat16") == unknown  # effective parameters only
    sizes = sorted((spec.parameters, spec.name) for spec in known().values() if spec.parameters and not spec.effective)
    room = [resources(known()[name], "bfloat16")["mem_mb"] for _, name in sizes]
    assert all(a <= b for a, b in pairwise(room))


def test_the_plan_is_json_with_names_for_files(capsys):
    file = str(ROOT / "params" / "workshop.yaml")
    main([file, "--model", "scripted/a", "--condition", "extract", "--condition", "direct"])
    made = json.loads(capsys.readouterr().out)
    assert made["models"] == {"scripted%2Fa": {"model": "scripted/a", "mem_mb": 4096, "gpu": 0}}
    assert made["conditions"]["direct"] == {"condition": "direct", "after": None}
    with pytest.raises(ParameterError, match="did you mean 'direct'"):
        plan({}, ["scripted"], ["dircet"])
    with pytest.raises(ParameterError, match="no model that they could be run with"):
        plan({"models": []}, [], ["direct"])


def test_a_condition_that_is_named_runs_with_the_file_s_models_where_no_page_takes_its_way():
    made = plan({"models": ["scripted"], "quantization": "4bit"}, [], ["direct"])
    assert [*made["models"]] == ["scripted"] and [*made["conditions"]] == ["direct"]


def test_two_models_whose_names_make_one_name_for_a_file_are_two_jobs():
    both = plan({}, ["scripted/a", "scripted_a"], ["direct"])["models"]
    assert {file: job["model"] for file, job in both.items()} == {
        "scripted%2Fa": "scripted/a",
        "scripted_a": "scripted_a",
    }


def test_a_bad_file_ends_with_the_exit_code_of_a_bad_parameter(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["params/none.yaml"])
    assert ended.value.code == 2 and "no parameter file params/none.yaml" in capsys.readouterr().err


def test_the_rules_call_commands_and_options_that_exist():
    from typer.main import get_command

    from nsh.cli import app

    commands = get_command(app).commands
    called = re.findall(r'shell: f"\{CALLED\} (\w+) (.*)"', SNAKEFILE)
    assert [name for name, _ in called] == ["generate", "book", "book"]
    for name, rest in called:
        known_options = {text for option in commands[name].params for text in (*option.opts, *option.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known_options
    asked = set(re.findall(r'"(--[a-z-]+)', SNAKEFILE)) | set(re.findall(r'f"(--[a-z-]+)=', SNAKEFILE))
    command = [sys.executable, "-m", "nsh.scale.cluster", "-h"]
    helped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert asked and all(option in helped for option in asked)


@pytest.mark.parametrize(("asked", "made"), [([], ["pages", "html"]), (["--no-html"], ["pages"])])
def test_pages_are_run_with_or_without_their_html(monkeypatch, asked, made):
    """As the rules `book` and `pages` have it."""
    from typer.testing import CliRunner

    from nsh import build
    from nsh.cli import app

    did = []
    monkeypatch.setattr(build, "build_pages", lambda *given: did.append("pages"))
    monkeypatch.setattr(build, "rebuild_html", lambda: did.append("html"))
    assert CliRunner().invoke(app, ["book", *asked]).exit_code == 0
    assert did == made


def test_both_profiles_let_other_shards_go_on_and_try_again():
    assert set(PROFILES) == {"local", "slurm"}
    for path in PROFILES.values():
        profile = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert profile["keep-going"] is True and profile["retries"] >= 1 and profile["rerun-incomplete"] is True
        assert profile["rerun-triggers"] == ["mtime", "params"]  # the hash of what a job is made from is a param
        assert profile["snakefile"] == "workflow/Snakefile"
    assert yaml.safe_load(PROFILES["slurm"].read_text(encoding="utf-8"))["executor"] == "slurm"


def test_what_a_job_is_made_from(tmp_path):
    """Its hash is another where parameters, cases or a condition of one's own with its prompt are."""
    source = tmp_path / "cases.jsonl"
    shutil.copy(ROOT / "nsh" / "data" / "samples.jsonl", source)
    for name in ("mitigation.py", "plain_retelling.yaml"):
        shutil.copy(ROOT / "book" / "workshop" / "solutions" / name, tmp_path)
    values, conditions = {"source": str(source), "n_cases": 3}, [f"{tmp_path / 'mitigation.py'}:plain_retelling"]

    def made(**others) -> str:
        return plan(values | others, ["scripted"], conditions)["made_from"]

    found = [made(), made(n_cases=2)]
    for file in (source, tmp_path / "mitigation.py", tmp_path / "plain_retelling.yaml"):
        file.write_text(file.read_text(encoding="utf-8").replace("headache", "head pain") + "\n", encoding="utf-8")
        found.append(made())
    assert made() == found[-1] and len(set(found)) == len(found)


def test_vllm_s_gpus_are_those_that_the_run_names():
    values = {"engine": "vllm", "tensor_parallel": 2, "dtype": "bfloat16"}
    assert plan(values, ["Qwen2.5-7B-Instruct"], ["direct"])["models"]["Qwen2.5-7B-Instruct"]["gpu"] == 2
    assert plan(values, ["scripted"], ["direct"])["models"]["scripted"]["gpu"] == 0
    assert plan({"engine": "vllm"}, ["Qwen2.5-7B-Instruct"], ["direct"])["models"]["Qwen2.5-7B-Instruct"]["gpu"] == 1


@pytest.mark.parametrize(
    ("asked", "generate", "others"), [(["conditions=[extract, story_schema]"], 8, None), ([], 4 * len(CONDITIONS), "1")]
)
def test_snakemake_plans_every_job(tmp_path, asked, generate, others):
    """A dry run: 4 shards of the conditions, then pages, then book; of some conditions only the shards."""
    if not find_spec("snakemake"):
        pytest.skip("snakemake is not installed: pip install -c constraints.txt -e '.[cluster]'")
    command = [sys.executable, "-m", "snakemake", "--profile", str(PROFILES["local"].parent), "--dry-run"]
    program = Path(sys.executable).with_name("nsh")
    config = ["shards=4", *asked, f"markers={tmp_path}", f"nsh={program}"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run([*command, "--config", *config], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    counts = dict(re.findall(r"^(\w+) +(\d+)$", result.stdout + result.stderr, re.MULTILINE))
    assert (counts["generate"], counts.get("pages"), counts.get("book")) == (f"{generate}", others, others)
