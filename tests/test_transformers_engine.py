"""The transformers engine on a tiny random model: same text in any batch, stop rules, memory, limits and quiet logs."""

import json
import logging
import warnings
from dataclasses import replace
from importlib.metadata import version

import pytest
from tiny_model import GEMMA, save_tiny_model

from nsh import decoding, transformers_engine
from nsh.answers import parse_letter
from nsh.cases import load_cases
from nsh.engines import Call
from nsh.errors import EngineError
from nsh.extraction import SCHEMA, read_extraction
from nsh.models import resolve
from nsh.prompts import ask
from nsh.scale.stages import read_shares
from nsh.transformers_engine import TransformersEngine

WORDS = "A 52-year-old man has had a fever, a cough, night sweats and a rash since Monday. Which option is correct?"
PROMPTS = [" ".join(WORDS.split()[-2 * n - 1 :]) for n in range(8)]  # no two begin alike


def calls(budget: int = 16, **options) -> list[Call]:
    return [Call((("user", text),), budget, "ABCD", **options) for text in PROMPTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def engine(folder) -> TransformersEngine:
    return TransformersEngine(resolve(folder), "float32")


def texts(engine: TransformersEngine, some: list[Call]) -> list[str]:
    found = dict(engine.generate(some))
    assert sorted(found) == list(range(len(some)))
    return [found[index].text for index in range(len(some))]


def test_text_is_the_same_alone_and_in_any_batch_in_float32(engine, monkeypatch):
    alone = [text for call in calls() for text in texts(engine, [call])]
    for budget in (1, 150, 100_000):  # batches of 1, of a few, and of all 8, joined or not
        for together in (0, 8192):
            engine.together = together
            engine.batch_tokens = budget
            assert texts(engine, calls()) == alone
    assert len(set(alone)) == 8


def test_batches_stay_within_the_token_budget_and_repeat_exactly(engine):
    engine.batch_tokens = 200
    first, second = ([(i, c.stamp["read_rows"]) for i, c in engine.generate(calls())] for _ in range(2))
    assert first == second
    sizes = first[0][1]
    assert sum(sizes) == 8 and 1 < len(sizes) < 8  # read in several batches, continued together
    longest = max(c.prompt_tokens for _, c in engine.generate(calls()))
    assert sizes[0] * longest <= 200


def test_what_all_prompts_begin_with_is_read_once_where_there_is_enough_of_it(engine):
    plain = texts(engine, calls())
    system = ("system", "Ignore how the patient describes the symptoms and look at the facts only.")
    long = [Call((system, *call.messages), 16, "ABCD") for call in calls()]
    alone = [text for call in long for text in texts(engine, [call])]
    shared = {c.stamp["shared_start"] for _, c in engine.generate(long)}
    assert texts(engine, long) == alone != plain
    assert min(shared) >= 16
    assert {c.stamp["shared_start"] for _, c in engine.generate(long[:1])} == {0}


def test_each_stage_s_common_start_is_read_once_and_texts_are_those_of_one_at_a_time(engine, monkeypatch):
    """Two stages with instructions of their own, one without any, and one of a single call."""
    told = {
        "rewrite": "Rewrite the narrative in plain words and keep all facts. The narrative:",
        "extract": "List what the narrative says about age, sex, laboratory values and drugs. The narrative:",
        "": "",
    }
    mixed = [
        Call((("user", f"{text} {prompt}"),), 6 + 3 * (n % 3), stage=stage)
        for n, prompt in enumerate(PROMPTS[:5])
        for stage, text in told.items()
    ] + [Call((("user", WORDS),), 9, stage="answer")]
    alone = [text for call in mixed for text in texts(engine, [call])]
    read_starts = []
    monkeypatch.setattr(
        decoding, "read", lambda *given, plain=decoding.read: read_starts.append(given) or plain(*given)
    )
    for budget, together in [(200, 8192), (100_000, 8192), (200, 0)]:
        engine.batch_tokens = budget
        engine.together = together
        read_starts.clear()
        done = dict(engine.generate(mixed))
        assert [done[n].text for n in range(len(mixed))] == alone
        assert len([given for given in read_starts if len(given) == 2]) == 2  # one start for each of two stages
    shared = {(call.stage, done[n].stamp["shared_start"] >= 16) for n, call in enumerate(mixed)}
    assert shared == {("rewrite", True), ("extract", True), ("", False), ("answer", False)}


def test_a_narrative_of_several_stages_is_read_once_and_texts_are_those_of_one_at_a_time(engine, monkeypatch):
    """Two stages ask about the same narratives after the same words, a third after others."""
    told = [f"{' '.join(WORDS.split()[n:])} {prompt}" for n, prompt in enumerate(PROMPTS[3:7])]
    asked = {"direct": (WORDS[::-1], "Answer."), "cot": (WORDS[::-1], "Think first."), "debias": (WORDS, "Answer.")}
    mixed = [
        Call((("user", f"{before} {narrative} {after}"),), 5 + 7 * (stage == "cot"), "ABCD", stage=stage)
        for narrative in told
        for stage, (before, after) in asked.items()
    ]
    alone = [text for call in mixed for text in texts(engine, [call])]
    rows = [engine.row(n, call) for n, call in enumerate(mixed)]
    shares, fed = read_shares(rows), []
    monkeypatch.setattr(decoding, "read", lambda *given, plain=decoding.read: fed.extend(given[1]) or plain(*given))
    for budget in (200, 10_000):
        engine.batch_tokens = budget
        fed.clear()
        done = dict(engine.generate(mixed))
        assert [done[n].text for n in range(len(mixed))] == alone
        read, planned = sum(map(len, fed)), sum(shares[row.index] * len(row) for row in rows)
        assert read == pytest.approx(planned) if budget == 10_000 else read >= planned  # a family in two batches, twice
    assert sum(map(len, fed)) < 0.8 * sum(map(len, rows))
    alike = [done[row.index].stamp["shared_start"] / len(row) for row in rows if row.call.stage != "debias"]
    assert min(alike) > 0.5


def test_a_budget_that_is_not_given_is_chosen_once_the_model_is_loaded(folder):
    engine = TransformersEngine(resolve(folder), "float32")
    assert engine.batch_tokens is None
    assert {c.stamp["batch_tokens"] for _, c in engine.generate(calls(1))} == {2048}


def test_bfloat16_products_are_stamped_where_they_are_made_in_float32(folder, monkeypatch):
    import torch

    for native, stamped in [(True, set()), (False, {"float32"})]:
        monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda native=native: native)
        done = dict(TransformersEngine(resolve(folder), "bfloat16").generate(calls(2)))
        assert {c.stamp["products"] for c in done.values() if "products" in c.stamp} == stamped


def test_a_reply_ends_at_its_end_token_or_its_budget(engine, monkeypatch):
    full = dict(engine.generate(calls(16)))
    assert {c.finish for c in full.values()} <= {"stop", "length"}
    assert all(c.new_tokens == 16 for c in full.values() if c.finish == "length")
    short = dict(engine.generate(calls(3)))
    assert [c.new_tokens for c in short.values()] == [3] * 8
    assert all(full[index].text.startswith(short[index].text) for index in range(8))
    ends = {engine.loaded[1](full[0].text, add_special_tokens=False)["input_ids"][1]}
    monkeypatch.setattr(engine, "ends", ends, raising=False)
    assert (dict(engine.generate(calls(16)))[0]).finish == "stop"


def test_an_answer_only_reply_ends_once_its_letter_is_settled(engine, monkeypatch):
    import torch

    spoken = engine.loaded[1]("B: gout. A rash.", add_special_tokens=False)["input_ids"]
    script, plain = iter(spoken), decoding._next
    monkeypatch.setattr(decoding, "_next", lambda *given: torch.full_like(plain(*given), next(script)))
    completion = dict(engine.generate([Call((("user", "Which?"),), 50, "ABCD", answer_only=True)]))[0]
    assert (completion.text, completion.finish) == ("B:", "answer")


def test_a_prompt_over_the_context_is_refused_before_anything_is_generated(engine, monkeypatch):
    monkeypatch.setattr(decoding, "_next", lambda *_: pytest.fail("generated"))
    long = Call((("user", "fever and cough " * 200),), 16)
    with pytest.raises(EngineError, match=r'call 8 \("fever and cough .*exceed the context of .*512'):
        list(engine.generate([*calls(), long]))
    with pytest.raises(EngineError, match="call 0"):
        list(engine.generate([Call((("user", "short"),), 512)]))


def test_out_of_memory_halves_the_batch_and_says_so(engine, monkeypatch, caplog):
    expected, tried, plain = texts(engine, calls()), [], decoding._next

    def small_memory(model, cache, ids, *rest):
        tried.append(len(ids))
        if len(ids) > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return plain(model, cache, ids, *rest)

    monkeypatch.setattr(decoding, "_next", small_memory)
    with caplog.at_level(logging.WARNING, "nsh"):
        found = dict(engine.generate(calls()))
    assert [found[index].text for index in range(8)] == expected
    assert max(tried) == 8 and max(c.stamp["batch_rows"] for c in found.values()) <= 3
    assert "out of memory with 8 rows" in caplog.text


def test_rows_finished_before_memory_ran_out_are_kept(engine, monkeypatch):
    steps, plain = [], decoding._next

    def fails_late(model, cache, ids, *rest):
        steps.append(len(ids))
        if len(steps) == 4:
            raise MemoryError("out of memory")
        return plain(model, cache, ids, *rest)

    monkeypatch.setattr(decoding, "_next", fails_late)
    mixed = [Call((("user", text),), 2 + 6 * (n % 2), "ABCD") for n, text in enumerate(PROMPTS)]
    arrived = [index for index, _ in engine.generate(mixed)]
    assert sorted(arrived) == list(range(8)) and set(arrived[:4]) == {0, 2, 4, 6}


def test_a_row_that_does_not_fit_alone_is_an_error(engine, monkeypatch):
    def no_memory(*_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(decoding, "_next", no_memory)
    with pytest.raises(EngineError, match="does not fit into memory alone"):
        list(engine.generate(calls()))


def test_other_errors_are_not_taken_for_lack_of_memory(engine, monkeypatch):
    def broken(*_):
        raise RuntimeError("shape mismatch")

    monkeypatch.setattr(decoding, "_next", broken)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        list(engine.generate(calls()))


def test_no_warning_though_padding_is_the_end_token_and_the_model_asks_for_sampling(tmp_path, caplog, capfd):
    folder = save_tiny_model(tmp_path, do_sample=True, temperature=0.6, top_p=0.9, top_k=50)
    capfd.readouterr()
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        engine = TransformersEngine(resolve(folder), "float32")
        assert texts(engine, calls()) == texts(engine, calls())
    assert caplog.text == "" and capfd.readouterr() == ("", "")


def test_folding_is_stamped(tmp_path):
    engine = TransformersEngine(resolve(save_tiny_model(tmp_path, GEMMA)), "float32")
    both = [Call((("system", "Ignore the voice."), ("user", "Which?")), 4), Call((("user", "Which?"),), 4)]
    folded = {index: c.stamp["system_folded"] for index, c in engine.generate(both)}
    assert folded == {0: True, 1: False}


def test_the_run_is_stamped_and_the_identity_is_known_before_loading(engine):
    assert engine.identity == resolve(engine.spec.path.as_posix()).identity("float32")
    assert list(engine.generate([])) == []
    assert "loaded" not in vars(engine)
    (_, completion), *_ = engine.generate(calls(2)[:1])
    assert {"engine", "device", "versions", "batch_rows", "batch_tokens", "seconds"} <= set(completion.stamp)
    assert completion.stamp["chat_template"] is True
    assert completion.prompt_tokens > 0 and completion.new_tokens == 2


def test_an_engine_module_needs_no_torch_to_be_imported():
    assert "torch" not in vars(transformers_engine)


@pytest.fixture
def roomy(tmp_path) -> TransformersEngine:
    """A base model, without a chat template, whose context holds a record in single letters."""
    pytest.importorskip("llguidance")
    return TransformersEngine(resolve(save_tiny_model(tmp_path, None, context=1024)), "float32")


def test_replies_under_a_schema_are_whole_and_the_free_ones_beside_them_unchanged(roomy, monkeypatch):
    jsonschema = pytest.importorskip("jsonschema")
    free, engine = calls(), roomy
    words = '{"type":"array","items":{"type":"string"}}'
    budgets = {0: (3, words), 1: (40, words), 2: (420, SCHEMA)}
    held = [replace(free[n], max_new_tokens=budget, schema=schema) for n, (budget, schema) in budgets.items()]
    alone = [text for call in [*free, *held] for text in texts(engine, [call])]
    mixed = [*free[:4], *held, *free[4:]]
    for budget, together in [(150, 8192), (100_000, 8192), (150, 0)]:
        engine.batch_tokens = budget
        engine.together = together
        done = dict(engine.generate(mixed))
        assert [done[n].text for n in [*range(4), *range(7, 11), *range(4, 7)]] == alone
    for n, call in enumerate(mixed):
        assert ("structured" in done[n].stamp) is bool(call.schema)
        if call.schema:
            jsonschema.validate(json.loads(done[n].text), json.loads(call.schema))
            assert done[n].finish == "stop" and done[n].new_tokens <= call.max_new_tokens
            assert done[n].stamp["structured"] == f"llguidance {version('llguidance')}"
    assert done[5].stamp["forced_tokens"] > 0  # random weights never come to an end by themselves


def test_a_held_row_begins_anew_after_memory_ran_out(roomy, monkeypatch):
    held = [Call((("user", text),), 30, schema='{"type":"array","items":{"type":"string"}}') for text in PROMPTS[:4]]
    expected, steps, plain = texts(roomy, held), [], decoding._next

    def fails_once(*given):
        steps.append(1)
        if len(steps) == 9:
            raise MemoryError("out of memory")
        return plain(*given)

    monkeypatch.setattr(decoding, "_next", fails_once)
    assert texts(roomy, held) == expected


def test_a_budget_below_the_shortest_reply_is_refused_before_anything_is_generated(roomy, monkeypatch):
    monkeypatch.setattr(decoding, "_next", lambda *_: pytest.fail("generated"))
    small = Call((("user", "Which?"),), 100, stage="extract", schema=SCHEMA)
    with pytest.raises(EngineError, match=r'max_new_tokens is 100, but .*"extract" takes 408 tokens'):
        list(roomy.generate([*calls(), small]))


@pytest.mark.slow
def test_the_packaged_model_extracts_whole_records():
    pytest.importorskip("llguidance")
    jsonschema = pytest.importorskip("jsonschema")
    engine = TransformersEngine(resolve("SmolLM2-135M-Instruct"), "float32")
    text = f"List the facts of this narrative as JSON: {WORDS}"
    held = [Call((("user", text),), budget, stage="extract", schema=SCHEMA) for budget in (170, 220)]
    done = dict(engine.generate(held))
    for n, call in enumerate(held):
        jsonschema.validate(json.loads(done[n].text), json.loads(SCHEMA))
        assert done[n].finish == "stop" and done[n].new_tokens <= call.max_new_tokens
        assert read_extraction(done[n].text).status == "ok"


@pytest.mark.slow
def test_the_packaged_model_says_the_same_alone_and_in_any_batch():
    """float32; prompts of different lengths, one by one and all together, full and only to the letter."""
    cases = load_cases("samples", 2)
    asked = [ask("direct", case, narrative=text) for case in cases for text in case.narratives.values()]
    prompts = [replace(call, max_new_tokens=24) for call in asked]
    engine = TransformersEngine(resolve("SmolLM2-135M-Instruct"), "float32")
    alone = {n: dict(engine.generate([prompt]))[0] for n, prompt in enumerate(prompts)}
    together = dict(engine.generate(prompts))
    assert {done.stamp["batch_rows"] for done in alone.values()} == {1}
    assert {done.stamp["batch_rows"] for done in together.values()} == {6}
    assert [alone[n].text for n in range(6)] == [together[n].text for n in range(6)]

    short = dict(engine.generate([replace(call, answer_only=True) for call in prompts]))
    letters = [[parse_letter(done[n].text).letter for n in range(6)] for done in (together, short)]
    assert letters[0] == letters[1]
    assert sum(done.new_tokens for done in short.values()) < sum(done.new_tokens for done in together.values())
