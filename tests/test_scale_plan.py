"""The plan of a run against the run itself: calls, tokens and their attribution, with an engine that counts words."""

import json
import zlib
from dataclasses import replace
from os.path import commonprefix
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from tiny_model import save_tiny_model, tiny_tokenizer
from typer.testing import CliRunner

from nsh import Store, load_cases
from nsh.asked import asked_study
from nsh.chat import encode
from nsh.conditions import CONDITIONS, Answer
from nsh.declared import find_page, read_data
from nsh.engines import Completion, ScriptedEngine, StoreEngine
from nsh.errors import EngineError, ParameterError
from nsh.jobs import Settings, jobs
from nsh.models import TODAY, known, resolve
from nsh.params import for_page, load_file
from nsh.place import packaged_generations
from nsh.prompts import ask, template
from nsh.runner import run
from nsh.scale import estimate, rates, tokens
from nsh.scale.lengths import ASSUMED, FULL, UNKNOWN, Lengths, label_of, steps
from nsh.scale.memory import bytes_per_token, tokens_within
from nsh.scale.plan import count_calls
from nsh.scale.run_log import logged, runs

ROOT = Path(__file__).resolve().parents[1]
ALL = list(CONDITIONS)
VALUES = {"batch_tokens": 2048, "quantization": None}


def words(messages):
    return sum(len(text.split()) for _, text in messages)


def reply(call):
    """As long as the packaged lengths say, another for every prompt, with a letter and no value of its own."""
    own = "".join(chr(97 + int(digit)) for digit in str(zlib.crc32(repr(call.messages).encode())))
    return f"{own} Answer: {call.letters[0]}" if call.letters else own


class Spy(ScriptedEngine):
    """Keeps every call that it was paid for."""

    def __init__(self):
        super().__init__("scripted", reply)
        self.calls = []

    def generate(self, calls):
        self.calls += calls
        yield from super().generate(calls)


def planned(todo, store):
    return count_calls(todo, ScriptedEngine().identity, store, words, Lengths())


@pytest.fixture
def todo():
    return [job for name in ALL for job in jobs(load_cases("samples", 2), name)]


def test_the_run_makes_as_many_calls_as_planned_and_each_stage_as_often(todo, tmp_path):
    lines, calls = planned(todo, Store(tmp_path / "a"))
    _, tally = run(todo, engine := Spy(), Store(tmp_path / "b"))
    assert lines["calls"].sum() == len(calls) == tally.generated
    made = pd.Series([label_of(call) for call in engine.calls]).value_counts()
    assert calls["stage"].value_counts().to_dict() == made.to_dict()


def test_prompt_tokens_of_prompts_known_whole_are_those_of_the_run(todo, tmp_path):
    lines, calls = planned(todo, Store(tmp_path / "a"))
    run(todo, engine := Spy(), Store(tmp_path / "b"))
    first = [call for call in engine.calls if call.stage in {"rewrite", "extract"}]
    alone = {name for name in ALL if lines.loc[name, "calls"] and not lines.loc[name, "awaiting"]}
    assert {"direct", "cot", "few_shot"} <= alone and "rewrite" not in alone
    for name in alone:
        prompts = {next(job.start()).messages for job in todo if job.name == name}
        tokens_of = sum(map(words, prompts))
        told = lines.loc[name, ["calls", "prompt_tokens", "exact_tokens"]].tolist()
        assert told == [len(prompts), tokens_of, tokens_of]
    assert calls.query("stage in ('rewrite', 'extract')")["tokens"].sum() == sum(words(c.messages) for c in first)


def test_what_prompts_begin_with_alike_is_planned_to_be_read_once(tmp_path):
    """Two conditions that ask about the same narratives, counted in characters: a narrative is read for both."""
    few = load_cases("samples", 2)
    ordered = [job for name in ("cot", "facts_cot") for job in jobs(few, name)]
    lines, _ = planned(ordered, Store(tmp_path))
    texts = [next(job.start()).messages[-1][1] for job in ordered]
    alike = sum(map(len, map(commonprefix, zip(texts[:6], texts[6:], strict=True))))
    assert lines["read_tokens"].sum() / lines["prompt_tokens"].sum() == pytest.approx(
        1 - alike / sum(map(len, texts)), abs=0.02
    )
    held, calls = planned(jobs(few, "rewrite"), Store(tmp_path))
    frame, known = words(ask("rewrite", narrative="").messages), calls.query("stage == 'answer_from'")["tokens"].sum()
    assert held["read_tokens"].sum() >= held["prompt_tokens"].sum() - 5 * frame - known, "a reply to come is read whole"
    alone, _ = planned(ordered[:6], Store(tmp_path))
    assert alone.loc["cot", "read_tokens"] == alone.loc["cot", "prompt_tokens"]


def test_a_prompt_that_holds_a_reply_is_counted_with_its_expected_length(tmp_path):
    """By hand: the answering prompt without the vignette, and a rewrite: 238 tokens, of 18 at most 256 each, and for
    the 16 that were cut off the 256 more of the paper's budget."""
    todo = jobs(load_cases("samples", 1), "rewrite")
    lines, calls = planned(todo, Store(tmp_path))
    rewriting = sum(words(next(job.start()).messages) for job in todo)
    steps = todo[0].start()
    next(steps)
    answering = words(steps.send(Completion("")).messages)
    expected = rewriting + 3 * (answering + 4286 / 18 + 256 * 16 / 18)
    assert lines.loc["rewrite", "prompt_tokens"] == pytest.approx(expected)
    assert lines.loc["rewrite", ["calls", "awaiting", "exact_tokens"]].tolist() == [6, 3, rewriting]
    assert lines.loc["rewrite", "most_tokens"] == 3 * 512 + 3 * 16
    assert calls["new_tokens"].sum() == pytest.approx(3 * (4286 / 18 + 256 * 16 / 18) + 3 * 386 / 43)


def corrected(call):
    """A reply that makes a condition go on as long as it can: an age that nothing states, and no letter."""
    return f"A 47-year-old. {zlib.crc32(repr(call.messages).encode())}"


@pytest.mark.parametrize("settings", [Settings(), Settings(max_new_tokens=32)])
def test_no_run_takes_more_than_at_most_so_many(settings, tmp_path):
    """The real runner with replies that need correcting, or that hold no letter."""
    todo = [job for name in ALL for job in jobs(load_cases("samples", 2), name, settings)]
    lines, _ = planned(todo, Store(tmp_path / "a"))
    engine = Spy()
    engine.reply = corrected
    run(todo, engine, Store(tmp_path / "b"))
    assert lines["calls"].sum() < len(engine.calls) <= lines[["calls", "more"]].sum(axis=None)
    most = sum(call.max_new_tokens for call in engine.calls)
    assert sum(lines.loc[name, "most_tokens"] for name in ALL) >= most
    lines, _ = planned([job for job in todo if job.name == "guarded_rewrite"], Store(tmp_path / "c"))
    budgets = [template(stage)["max_new_tokens"] for stage in ("rewrite", "rewrite_again", "answer_from")]
    assert lines["most_tokens"].sum() == 6 * sum(min(n, settings.max_new_tokens or n) for n in budgets)


def test_what_the_store_holds_is_not_paid_for_again(tmp_path):
    cases = load_cases("samples", 4)
    store = Store(tmp_path)
    done = [job for name in ("extract", "direct") for job in jobs(cases[:2], name)]
    run(done, Spy(), store)
    todo = [job for name in ("direct", "extract_reason", "extract") for job in jobs(cases, name)]
    lines, _ = planned(todo, store)
    _, tally = run(todo, engine := Spy(), store)
    assert lines["found"].tolist() == [6, 6, 6]
    assert lines["calls"].tolist() == [6, 6 + 12, 6]  # the extraction of the other cases is the first condition's
    assert (lines["calls"].sum(), lines["found"].sum()) == (tally.generated, tally.found)
    known_whole = [call for call in engine.calls if call.stage != "reason" and call.stage != "answer_from"]
    known_whole += [call for call in engine.calls if call.stage == "reason"][:6]
    assert lines["exact_tokens"].sum() == sum(words(call.messages) for call in known_whole)


def test_after_the_run_nothing_is_left_to_pay(todo, tmp_path):
    store = Store(tmp_path)
    _, tally = run(todo, Spy(), store)
    lines, calls = planned(todo, store)
    assert len(calls) == 0 and not lines[["calls", "awaiting", "more", "new_tokens"]].any(axis=None)
    assert lines["found"].sum() == tally.generated


def test_a_call_that_conditions_share_counts_for_the_first(tmp_path):
    cases = load_cases("samples", 2)
    for names, expected in ((["extract", "story_schema"], [12, 6]), (["story_schema", "extract"], [12, 6])):
        lines, _ = planned([job for name in names for job in jobs(cases, name)], Store(tmp_path))
        assert lines["calls"].to_dict() == dict(zip(names, expected, strict=True))


def test_calls_that_may_follow_are_those_that_a_condition_can_make(tmp_path):
    """One letter asked for once more, one rewrite corrected, for each of six answers; a condition of one's own is not
    known."""
    cases = load_cases("samples", 2)
    lines, _ = planned(
        [j for n in ("extract_tools", "guarded_rewrite", "cot") for j in jobs(cases, n)], Store(tmp_path)
    )
    assert lines["more"].tolist() == [6, 6, 0]
    run_as = {"reply": lambda call: "no letter, a 47-year-old"}
    for name in ("extract_tools", "guarded_rewrite"):
        _, tally = run(jobs(cases, name), ScriptedEngine(**run_as), Store(tmp_path / name))
        assert tally.generated <= lines.loc[name, ["calls", "more"]].sum()

    lines, _ = planned([j for n in ("extract_reason", "extract_tools") for j in jobs(cases, n)], Store(tmp_path))
    assert lines[["calls", "more"]].values.tolist() == [[12, 0], [3, 9]], "tools that the question asks for"

    def own(case, voice):
        return (yield from CONDITIONS["direct"](case, voice))

    assert planned(jobs(cases, own), Store(tmp_path))[0]["more"].isna().all()


def test_a_plan_writes_nothing(todo, tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    result = CliRunner().invoke(app(), ["plan", "--model", "scripted", "--condition", "all", "-p", "n_cases=2"])
    assert result.exit_code == 0, result.output
    assert list(tmp_path.iterdir()) == []


def app():
    from nsh.cli import app

    return app


def test_packaged_lengths_are_those_of_the_packaged_generations():
    """Each call of the workshop's run once, by stage."""
    study = asked_study(ROOT / "params" / "workshop.yaml", None, None, ["all"])
    found = run(
        study.jobs, StoreEngine(resolve("SmolLM2-135M-Instruct").identity()), Store("none", packaged_generations())
    )
    replies = {
        key: (stage, completion)
        for outcome in found[0]
        for key, stage, completion in zip(outcome.keys, outcome.stages, outcome.completions, strict=True)
    }
    rows = pd.DataFrame(
        [(s, c.new_tokens, c.finish == "length") for s, c in replies.values()], columns=["s", "n", "cut"]
    )
    told = rows.groupby("s").agg(calls=("n", "size"), new_tokens=("n", "sum"), cut=("cut", "sum"))
    packaged = pd.DataFrame(read_data("scale/rates.yaml")["lengths"]).T
    assert told.to_dict("index") == packaged[["calls", "new_tokens", "cut"]].to_dict("index")
    most = load_file(ROOT / "params" / "workshop.yaml")["max_new_tokens"]
    assert (packaged["budget"] <= packaged["calls"] * most).all()


def test_lengths_come_from_the_store_then_the_log_then_the_packaged_model():
    logged = {"model": "m", "stages": {"direct": {"calls": 10, "new_tokens": 200, "budget": 1280, "cut": 5}}}
    lengths = Lengths([logged, logged | {"model": "other"}], "m")
    assert (lengths.expected("direct", 128), lengths.source("direct")) == (20, "earlier runs")
    assert lengths.expected("direct", 64) == 20, "replies that end by themselves do not shrink with their budget"
    assert lengths.cut("direct") == 0.5
    for _ in range(8):
        lengths.add_found("direct", Completion("B", new_tokens=3))
    assert (lengths.expected("direct", 128), lengths.source("direct")) == (3, "the store")
    assert lengths.expected("direct", 2) == 2, "never more than the budget"
    assert (lengths.expected("cot", 1000), lengths.source("cot")) == (
        pytest.approx(2433 / 18 + (1000 - 256) * 4 / 18),
        ASSUMED,
    )
    assert lengths.source("cot (answer only)") == FULL and lengths.expected("cot (answer only)", 1000) > 2433 / 18
    assert (lengths.expected("mine", 24), lengths.source("mine"), lengths.cut("mine")) == (24, UNKNOWN, 1)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny", context=8192)


def study_of(model, *conditions, n_cases=1):
    return asked_study(None, [f"n_cases={n_cases}", "max_new_tokens=16"], [model], list(conditions))


def test_tokens_are_those_that_the_model_is_given(tiny, tmp_path, monkeypatch):
    """One by one with the tokenizer of the folder."""
    from transformers import AutoTokenizer

    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    study = study_of(tiny, "direct")
    (plan,) = estimate.plans(study)
    tokenizer, template = AutoTokenizer.from_pretrained(tiny), study.models[0].template | {"date": "2024-07-26"}
    prompts = [next(job.start()).messages for job in study.jobs]
    given = [encode(tokenizer, messages, template).ids for messages in prompts]
    assert plan.total["exact_tokens"] == plan.total["prompt_tokens"] == sum(map(len, given))
    assert plan.prompts == tuple(map(tokenizer.decode, given[:2])) and plan.foreign == ""
    assert plan.weights is None and plan.total["seconds"] != plan.total["seconds"], "its size is not known"
    assert plan.cache == pytest.approx(65_536 * 2 * 2 * 2 * 16 * 4 / 2**30)  # keys, values; layers, heads, width, bytes


def test_a_tokenizer_that_is_not_to_be_had_is_said_and_the_packaged_one_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    arguments = ["--condition", "direct", "-p", "n_cases=1", "-p", "dtype=bfloat16"]
    here = ["plan", "--model", "SmolLM2-135M-Instruct", "--model", "nobody/no-model", "--model", "Qwen2.5-7B-Instruct"]
    result = CliRunner().invoke(app(), [*here, *arguments, "--gpu", "H100"])
    assert result.exit_code == 0, result.output
    own, none, qwen = result.output.split("\n\n")[:3]
    assert "tokens ~" not in own and "tokens ~: counted with the packaged model's tokenizer" in none
    assert "size unknown" in none and "not known, as the size" in none and "size unknown" not in qwen
    assert "weights ~13.0 GiB" in qwen and "likely too long" in qwen and "1 GPU" in qwen
    assert own.splitlines()[-3].split()[5] == qwen.splitlines()[-3].split()[5]
    assert "GPU-hours (`voices` spent about 1,113" in result.output
    assert "; without no-model, whose time is not known" in result.output
    assert "<|im_start|>assistant" in result.output
    models = json.loads(CliRunner().invoke(app(), [*here, *arguments, "--json"]).stdout)["models"]
    exact = [(bool(one["foreign"]), one["lines"]["direct"]["exact_tokens"] > 0) for one in models]
    assert exact == [(False, True), (True, False), (True, False)]


def test_a_prompt_is_tokenized_once_for_all_models_that_share_a_tokenizer(tmp_path, monkeypatch):
    counted = []
    monkeypatch.setattr(tokens, "encode", lambda *a, of=encode: counted.append(a[1]) or of(*a))
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    planner = estimate.Planner(Store(tmp_path))
    todo = jobs(load_cases("samples", 2), "direct")
    for name in ("SmolLM2-135M-Instruct", "Qwen3-8B", "gemma-3-12b-it"):
        planner.plan(resolve(name), todo, resolve(name).identity(), VALUES)
    shown = 3 * 2
    assert len(counted) == 6 + shown


def test_without_the_packaged_tokenizer_the_plan_ends_in_a_sentence(tmp_path, monkeypatch):
    def gone(kind, spec):
        raise EngineError(f"{spec.name} is gone")

    monkeypatch.setattr(estimate, "fetched", gone)
    with pytest.raises(EngineError, match="SmolLM2-135M-Instruct is gone"):
        estimate.Planner(Store(tmp_path)).plan(resolve("Qwen3-8B"), [], resolve("Qwen3-8B").identity(), VALUES)


def test_effective_parameters_are_no_size(tmp_path, monkeypatch):
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    spec = known()["gemma-4-E4B-it"]
    todo = jobs(load_cases("samples", 1), "direct")
    plan = estimate.Planner(Store(tmp_path), "H100").plan(spec, todo, spec.identity(), VALUES)
    assert plan.weights is None and plan.gpus == 0 and plan.time_from == ""
    known_size = replace(spec, effective=False)
    plan = estimate.Planner(Store(tmp_path), "L4").plan(known_size, todo, spec.identity(), VALUES)
    assert plan.weights == pytest.approx(4e9 * 2 / 2**30) and plan.gpus == 1


def test_an_unlisted_gpu_is_refused_with_the_nearest(tmp_path):
    for name, near in (("H10", "H100"), ("A100", "A100 80GB"), ("", "A100 80GB")):
        with pytest.raises(ParameterError, match=f"--gpu {name}: did you mean '{near}'"):
            estimate.Planner(Store(tmp_path), name)


def test_a_prompt_that_does_not_fit_is_refused_as_the_engine_refuses_it(tmp_path, monkeypatch):
    """A context that holds a prompt and 15 of 16 new tokens, and one that holds all."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    tokenizer = tiny_tokenizer()
    calls = [next(job.start()) for job in jobs(load_cases("samples", 1), "direct")]
    longest = max(len(encode(tokenizer, call.messages, {"date": TODAY}).ids) for call in calls)
    short = save_tiny_model(tmp_path / "short", context=longest + 15)
    with pytest.raises(EngineError, match=f"direct: {longest} prompt tokens and 16 new ones exceed the context"):
        list(estimate.plans(study_of(short, "direct")))
    (plan,) = estimate.plans(study_of(save_tiny_model(tmp_path / "enough", context=longest + 16), "direct"))
    assert plan.total["calls"] == 3


def test_a_finished_run_takes_no_time(tmp_path, monkeypatch):
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    spec, todo, engine = known()["Qwen3-8B"], jobs(load_cases("samples", 1), "direct"), ScriptedEngine()
    engine.identity = spec.identity()
    run(todo, engine, Store(tmp_path))
    plan = estimate.Planner(Store(tmp_path)).plan(spec, todo, spec.identity(), VALUES)
    assert (plan.total["calls"], plan.total["found"], plan.total["seconds"]) == (0, 3, 0.0)


def test_a_gpu_s_time_in_float32_is_known_from_its_runs_alone(tmp_path, monkeypatch):
    """Its sheet gives the peak in 16 bits only."""
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    spec, todo = known()["Qwen3-8B"], jobs(load_cases("samples", 1), "direct")
    half, whole = (
        estimate.Planner(Store(tmp_path), "H100").plan(spec, todo, spec.identity(dtype), VALUES)
        for dtype in ("bfloat16", "float32")
    )
    assert half.total["seconds"] > 0 and half.time_from and half.gpus == whole.gpus == 1
    assert whole.total["seconds"] != whole.total["seconds"] and not whole.time_from
    ran = {"machine": "x", "engine": "transformers", "model": spec.identity()["model"], "dtype": "float32", "byte": 4}
    ran |= {"parameters": 8.2, "seconds": 9.0, "read_tokens": 1000, "steps": 10, "new_tokens": 100, "stages": {}}
    for gpu in ("NVIDIA H100 80GB HBM3", "Unheard Of"):
        monkeypatch.setattr(rates, "machine", lambda gpu=gpu: ("x", gpu))
        planner = estimate.Planner(Store(tmp_path))
        assert not planner.plan(spec, todo, spec.identity("float32"), VALUES).time_from
        planner.runs = [ran]
        told = planner.plan(spec, todo, spec.identity("float32"), VALUES).time_from
        assert told == "1 run of this model on this machine"


@pytest.mark.parametrize(
    ("config", "shares"),
    [
        ({}, True),
        ({"sliding_window": None, "layer_types": None}, True),
        ({"layer_types": ["full_attention"] * 2}, True),
        ({"layer_types": ["full_attention", "sliding_attention"]}, False),
        ({"sliding_window": 4096}, False),
        ({"attention_chunk_size": 8192}, False),
    ],
)
def test_a_model_with_windows_is_planned_to_read_every_prompt_whole(config, shares):
    assert estimate._shares(SimpleNamespace(**config)) is shares


def test_a_model_that_is_shared_by_too_few_gpus_is_refused(tmp_path, monkeypatch):
    """14 billion parameters of 2 bytes, with room 31.3 GiB, take two L4."""
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    spec, todo = known()["Qwen2.5-14B-Instruct"], jobs(load_cases("samples", 1), "direct")
    planner, way = estimate.Planner(Store(tmp_path), "L4"), VALUES | {"engine": "vllm"}
    with pytest.raises(ParameterError, match=r"tensor_parallel = 1: .* takes 2 such GPUs"):
        planner.plan(spec, todo, spec.identity(), way | {"tensor_parallel": 1})
    assert planner.plan(spec, todo, spec.identity(), way | {"tensor_parallel": 4}).gpus == 4


def test_json_holds_what_the_text_says(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    asked = ["plan", "-f", str(ROOT / "params/workshop.yaml"), "--model", "scripted", "--json"]
    result = CliRunner().invoke(app(), [*asked, "--condition", "direct", "--condition", "extract_tools"])
    told = json.loads(result.stdout)
    assert told["shortened"] == {"extract_tools": "shortened: 6 of 24 cases"}
    (model,) = told["models"]
    line = model["lines"]["extract_tools"]
    assert (line["answers"], line["calls"], line["awaiting"], line["more"]) == (18, 36, 18, 18)
    assert line["seconds"] is None and model["lines"]["direct"]["exact_tokens"] > 0


def test_steps_are_those_of_each_batchs_longest_reply():
    """Two rounds; of the first, two batches of two rows, each as long as its expected longest reply."""
    lengths = Lengths()
    lengths.found["a"] = {"calls": 10, "new_tokens": 50, "budget": 0, "cut": 5}
    lengths.found["b"] = {"calls": 10, "new_tokens": 80, "budget": 0, "cut": 0}
    rows = [(1, "a", 20, 100), (1, "a", 20, 100), (1, "b", 20, 60), (1, "b", 20, 60), (2, "b", 20, 10)]
    calls = pd.DataFrame(rows, columns=["round", "stage", "most_tokens", "prompt_tokens"])
    assert steps(calls, lengths, 200) == pytest.approx(0.25 * 5 + 0.75 * 20 + 8 + 8)


def test_a_page_s_own_parameters_are_enough_for_a_plan(tmp_path):
    """Few pages take `quantization`."""
    values = for_page(find_page("voices-05-anchoring"), {"models": ["scripted"]})
    spec, todo = resolve("scripted"), jobs(load_cases("samples", 2), "direct")
    assert "quantization" not in values
    plan = estimate.Planner(Store(tmp_path)).plan(spec, todo, ScriptedEngine().identity, values)
    assert plan.total["calls"] == len(todo) == 6


def test_a_model_larger_than_one_gpu_is_planned_on_several_with_what_they_leave_free(tmp_path, monkeypatch):
    """14 billion parameters of 2 bytes are 26.1 GiB, with room 31.3: two L4 of 24 GiB, of which 21.9 are free."""
    monkeypatch.setattr(tokens, "_hub_answers", lambda: False)
    monkeypatch.setattr(estimate, "config_of", lambda spec: SMALL)
    spec, todo = known()["Qwen2.5-14B-Instruct"], jobs(load_cases("samples", 1), "direct")
    plan = estimate.Planner(Store(tmp_path), "L4").plan(spec, todo, spec.identity(), VALUES | {"batch_tokens": None})
    free = 2 * 24 * 2**30 - 14e9 * 2
    assert plan.gpus == 2
    assert plan.cache * 2**30 == tokens_within(int(free), SMALL, 2) * bytes_per_token(SMALL, 2)


SMALL = SimpleNamespace(
    num_hidden_layers=2, num_attention_heads=4, hidden_size=64, vocab_size=100, num_key_value_heads=None
)


def picky(case, voice):
    """Takes a number and nothing else."""
    reply = yield ask("direct", case, narrative=case.narratives[voice])
    return Answer("A", "ok", str(int(reply.text)))


def stubborn(case, voice):
    """Asks until the reply is a number."""
    number = 0
    while not (reply := (yield ask("direct", case, narrative=f"{number}"))).text.isdigit():
        number += 1
    return Answer("A", "ok", reply.text)


def silent(case, voice):
    """Answers without a call."""
    return Answer("A", "ok", "")
    yield


@pytest.mark.parametrize("condition, said", [(picky, "invalid literal"), (stubborn, "more than 40 calls")])
def test_a_condition_that_cannot_take_a_placeholder_is_refused_in_a_sentence_and_its_run_goes_on(
    condition, said, tmp_path
):
    todo, engine = jobs(load_cases("samples", 1), condition), ScriptedEngine(reply=lambda call: "7")
    with pytest.raises(ParameterError, match=said):
        planned(todo, Store(tmp_path))
    with logged(engine, resolve("scripted"), todo, VALUES, store := Store(tmp_path)) as watched:
        assert run(todo, watched, store)[1].generated
    assert [row["estimate"] for row in runs(tmp_path)] == [None]


def test_a_condition_without_a_call_costs_nothing(tmp_path):
    spec, todo = resolve("scripted"), jobs(load_cases("samples", 1), silent)
    plan = estimate.Planner(Store(tmp_path)).plan(spec, todo, ScriptedEngine().identity, VALUES)
    assert (plan.total["calls"], plan.prompts) == (0, ())
