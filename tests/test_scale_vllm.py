"""The vLLM engine against a stand-in with vLLM's signatures: texts, limits, order, resuming; and how it is chosen."""

import sys
from collections import Counter
from dataclasses import replace

import fake_vllm
import pytest
from tiny_model import GEMMA, save_tiny_model

from nsh.cases import load_cases
from nsh.engines import Call
from nsh.errors import EngineError
from nsh.jobs import jobs
from nsh.models import resolve
from nsh.runner import run
from nsh.scale.vllm_engine import VllmEngine
from nsh.store import Store
from nsh.study import Study
from nsh.transformers_engine import TransformersEngine

WORDS = "A 52-year-old man has had a fever, a cough, night sweats and a rash since Monday. Which option is correct?"
PROMPTS = [" ".join(WORDS.split()[: 2 * n + 1]) for n in range(8)]


def calls(budget: int = 12, **options) -> list[Call]:
    return [Call((("user", text),), budget, "ABCD", **options) for text in PROMPTS]


def plain(found) -> dict[int, tuple]:
    return {index: (c.text, c.finish, c.prompt_tokens, c.new_tokens) for index, c in found}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def fake(monkeypatch) -> type[fake_vllm.LLMEngine]:
    return fake_vllm.install(monkeypatch)


@pytest.fixture
def engine(folder, fake) -> VllmEngine:
    return VllmEngine(resolve(folder), "float32")


def test_greedy_replies_are_those_of_the_transformers_engine(engine, folder):
    other = TransformersEngine(resolve(folder), "float32")
    system = ("system", "Ignore how the patient describes the symptoms.")
    mixed = [*calls(), *calls(3), *(Call((system, *call.messages), 5, "ABCD") for call in calls()[:2])]
    assert plain(engine.generate(mixed)) == plain(other.generate(mixed))
    assert engine.identity == other.identity


def test_replies_end_at_the_same_end_tokens(engine, folder):
    other = TransformersEngine(resolve(folder), "float32")
    said = dict(other.generate(calls()))[0].text
    ends = {1, other.loaded[1](said, add_special_tokens=False)["input_ids"][1]}
    engine.ends = other.ends = ends
    found = plain(engine.generate(calls()))
    assert found == plain(other.generate(calls())) and found[0][1] == "stop"


def test_a_system_turn_is_folded_alike(fake, tmp_path):
    folder = save_tiny_model(tmp_path, GEMMA)
    both = [Call((("system", "Ignore the voice."), ("user", "Which?")), 4), Call((("user", "Which?"),), 4)]
    found = [dict(kind(resolve(folder), "float32").generate(both)) for kind in (VllmEngine, TransformersEngine)]
    assert plain(found[0].items()) == plain(found[1].items())
    assert {index: c.stamp["system_folded"] for index, c in found[0].items()} == {0: True, 1: False}


def test_each_reply_comes_as_it_is_finished(engine, fake, monkeypatch):
    monkeypatch.setattr(fake, "at_once", 8)
    budgets = [5, 2, 9, 1]
    some = [replace(call, max_new_tokens=budget) for call, budget in zip(calls(), budgets, strict=False)]
    assert [index for index, _ in engine.generate(some)] == [3, 1, 0, 2]


@pytest.mark.parametrize("tokens_a_step", [1, 3])
def test_an_answer_only_reply_is_cut_where_its_letter_is_settled(engine, fake, monkeypatch, tokens_a_step):
    spoken = engine.loaded[1]("B: gout. A rash.", add_special_tokens=False)["input_ids"]
    monkeypatch.setattr(fake, "next", lambda self, request: spoken[len(request.new) % len(spoken)])
    monkeypatch.setattr(fake, "tokens_a_step", tokens_a_step)
    some = [*calls(50, answer_only=True)[:2], *calls(4)[:1]]
    found = dict(engine.generate(some))
    assert [(found[n].text, found[n].finish) for n in (0, 1)] == [("B:", "answer")] * 2
    assert found[0].new_tokens == 2 and found[2].finish == "length"
    assert len(fake.made[0].aborted) == 2 and not fake.made[0].requests


def test_a_letter_that_never_settles_uses_up_its_budget(engine, folder):
    other = TransformersEngine(resolve(folder), "float32")
    some = calls(8, answer_only=True)
    assert plain(engine.generate(some)) == plain(other.generate(some))


def test_what_vllm_is_told(folder, fake):
    engine = VllmEngine(resolve(folder), "bfloat16", tensor_parallel=2)
    (_, completion), *_ = engine.generate(calls(2)[:1])
    arguments, request = fake.made[0].args, fake.made[0].seen[0]
    assert (arguments.dtype, arguments.tensor_parallel_size, arguments.enable_prefix_caching) == ("bfloat16", 2, True)
    assert arguments.max_model_len is None and arguments.data_parallel_size == 1
    assert request.prompt.count(0) == 1  # one start token
    assert (request.params.temperature, request.params.max_tokens, request.params.stop_token_ids) == (0.0, 2, [1])
    assert completion.stamp["engine"] == "vllm" and completion.stamp["untested"] is True
    assert completion.stamp["tensor_parallel"] == 2 and completion.stamp["versions"].startswith("vllm 0.33.0, torch ")
    assert {"device", "seconds", "chat_template", "commit"} <= set(completion.stamp)


def test_a_known_context_is_the_longest_that_vllm_makes_room_for(folder, fake):
    engine = VllmEngine(replace(resolve(folder), context=100), "float32")
    list(engine.generate(calls(2)[:1]))
    assert fake.made[0].args.max_model_len == 100


def test_a_call_that_draws_is_refused_since_its_text_would_be_another_under_the_same_key(engine, fake):
    with pytest.raises(EngineError, match=r"temperature 0\.9 .*engine=transformers"):
        list(engine.generate([*calls(6)[:1], replace(calls(6)[1], temperature=0.9)]))
    assert not fake.made


def test_a_prompt_over_the_context_is_refused_before_vllm_is_loaded(engine, fake):
    long = Call((("user", "fever and cough " * 200),), 16)
    with pytest.raises(EngineError, match=r'call 8 \("fever and cough .*exceed the context of .*512'):
        list(engine.generate([*calls(), long]))
    assert fake.made == []


def test_a_schema_is_refused_with_the_engine_that_keeps_to_it(engine, fake):
    held = Call((("user", "Which?"),), 40, stage="extract", schema='{"type":"array"}')
    with pytest.raises(EngineError, match=r'schema of "extract" .*engine=transformers'):
        list(engine.generate([*calls(), held]))
    assert fake.made == []


def test_four_bit_weights_are_refused(folder):
    with pytest.raises(EngineError, match=r"quantization = '4bit'.*engine=transformers"):
        VllmEngine(resolve(folder), "float32", quantization="4bit")


def test_without_the_package_one_sentence_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    engine = VllmEngine(resolve(folder), "float32")
    assert list(engine.generate([])) == []
    with pytest.raises(
        EngineError, match=r'in an environment of its own: pip install "narrativeshield-papers\[vllm\]"$'
    ):
        list(engine.generate(calls()))


def test_a_model_that_vllm_cannot_load_is_named(engine, fake, monkeypatch):
    def refuses(self, arguments):
        raise ValueError("No available memory for the cache blocks.\nTry a smaller one.")

    monkeypatch.setattr(fake, "__init__", refuses)
    with pytest.raises(EngineError, match=r"could not be loaded: No available memory for the cache blocks\.$"):
        list(engine.generate(calls()))


def test_a_reply_that_vllm_gives_up_is_an_error_and_the_others_are_let_go(engine, fake, monkeypatch):
    monkeypatch.setattr(fake, "advance", lambda self, request: "abort")
    with pytest.raises(EngineError, match=r'call 0 \("A ...\"\): vLLM gave the reply up \(abort\)'):
        list(engine.generate(calls()))
    assert not fake.made[0].requests


def test_a_run_that_stops_leaves_nothing_behind_in_vllm(engine, fake):
    whole = plain(engine.generate(calls()))
    stream = engine.generate(calls())
    next(stream)
    stream.close()
    assert not fake.made[0].requests and len(fake.made[0].aborted) == 7
    assert plain(engine.generate(calls())) == whole


def test_a_run_goes_on_from_the_store(engine, folder, tmp_path, monkeypatch):
    """Stopped at its third generation by a full disk; each is made once in all, and the other engine finds them."""
    wanted = jobs(load_cases("samples", 1), "rewrite")
    todo = [replace(job, settings=replace(job.settings, max_new_tokens=6)) for job in wanted]
    engine.spec = replace(engine.spec, context=4096)
    made, put = [], Store.put

    def full(self, key, *rest):
        if len(made) == 2:
            made.append("stopped")
            raise OSError("no room")
        made.append(key)
        put(self, key, *rest)

    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(OSError, match="no room"):
        run(todo, engine, Store(tmp_path / "store"))
    outcomes, tally = run(todo, engine, Store(tmp_path / "store"))
    assert (tally.generated, tally.found) == (4, 2) and max(Counter(made).values()) == 1
    again, tally = run(todo, TransformersEngine(engine.spec, "float32"), Store(tmp_path / "store"))
    assert tally.generated == 0 and [o.answer for o in again] == [o.answer for o in outcomes]


def test_a_study_takes_the_engine_that_is_asked_for(folder, monkeypatch):
    values = {"models": [folder], "dtype": "float32", "batch_tokens": 2048, "quantization": None}
    spec = resolve(folder)
    assert type(Study("x", values).engine(spec)) is TransformersEngine
    engine = Study("x", {**values, "engine": "vllm", "tensor_parallel": 2}).engine(spec)
    assert (type(engine), engine.tensor_parallel) == (VllmEngine, 2)
    assert engine.identity == Study("x", values).engine(spec).identity
    monkeypatch.setenv("NSH_ENGINE", "store")
    assert type(Study("x", {**values, "engine": "vllm"}).engine(spec)).__name__ == "StoreEngine"


def test_the_command_line_takes_the_engine_and_no_page_does(fake, folder, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from nsh.cli import app

    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("NSH_PACKAGED", "off")
    given = ["-p", f"models=[{save_tiny_model(tmp_path / 'model', context=4096)}]", "-p", "n_cases=1"]
    given += ["-p", "engine=vllm", "-p", "max_new_tokens=16"]
    result = CliRunner().invoke(app, ["generate", *given])
    assert result.exit_code == 0 and "3 made, 0 found" in result.output
    assert fake.made[0].args.tensor_parallel_size == 1
    refused = CliRunner().invoke(app, ["run", "voices-05-anchoring", "-p", "engine=vllm"])
    assert "unknown parameter 'engine'" in str(refused.exception)


def test_the_packaged_answers_can_be_made_again_by_vllm(fake, monkeypatch):
    """Its letters beside those of the transformers engine; a page whose replies are held to a schema is left out."""
    from typer.testing import CliRunner

    from nsh.cli import app

    seen = []
    monkeypatch.setattr("nsh.verify.verify", lambda studies, share, seed: seen.append(list(studies)) or "7 of 7")
    assert CliRunner().invoke(app, ["verify", "--engine", "vllm"]).output == "7 of 7\n"
    assert CliRunner().invoke(app, ["verify"]).output == "7 of 7\n"
    engines = [{type(study.engine(study.models[0])) for study in studies} for studies in seen]
    assert engines == [{VllmEngine}, {TransformersEngine}]
    assert "facts-03-architecture" in {study.slug for study in seen[1]} - {study.slug for study in seen[0]}
    refused = CliRunner().invoke(app, ["verify", "--engine", "vlm"])
    assert "--engine: engine = 'vlm': expected one of transformers, vllm" in str(refused.exception)
