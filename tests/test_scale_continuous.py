"""The library's continuous batching, forced onto a CPU: the texts of the engine's own loop."""

import logging
from dataclasses import replace

import pytest
from tiny_model import save_tiny_model

torch = pytest.importorskip("torch")

from nsh.engines import Call  # noqa: E402
from nsh.models import resolve  # noqa: E402
from nsh.scale import continuous  # noqa: E402
from nsh.transformers_engine import TransformersEngine  # noqa: E402

WORDS = "A 52-year-old man has had a fever, a cough, night sweats and a rash since Monday. Which option is correct?"
LONG = [Call((("user", " ".join(WORDS.split()[: 3 * n + 1])),), 12 + n, "ABCD") for n in range(5)]
SMALL = {
    "num_blocks": 32,
    "page_size": 16,
    "max_batch_tokens": 128,
    "use_cuda_graph": False,
    "use_async_batching": False,
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> TransformersEngine:
    return TransformersEngine(resolve(save_tiny_model(tmp_path_factory.mktemp("tiny"))), "float32")


@pytest.fixture
def forced(monkeypatch):
    """Continuous batching for every call that suits, on any device."""
    monkeypatch.setattr(continuous, "LONG", 12)
    monkeypatch.setattr(continuous, "supported", lambda model: True)
    monkeypatch.setattr(continuous, "OPTIONS", SMALL)


def test_texts_ends_and_counts_are_those_of_the_engine_s_own_loop(engine, monkeypatch, request):
    own = dict(engine.generate(LONG))
    ends = {engine.loaded[1](own[3].text, add_special_tokens=False)["input_ids"][2]}
    monkeypatch.setattr(engine, "ends", ends, raising=False)
    own = dict(engine.generate(LONG))
    request.getfixturevalue("forced")
    done = dict(engine.generate(LONG))
    for n, call in enumerate(LONG):
        assert (done[n].text, done[n].finish) == (own[n].text, own[n].finish)
        assert (done[n].prompt_tokens, done[n].new_tokens) == (own[n].prompt_tokens, own[n].new_tokens)
        assert done[n].stamp["continuous"] is True and "continuous" not in own[n].stamp
        assert {"engine", "device", "versions", "seconds"} <= set(done[n].stamp)
        assert done[n].new_tokens <= call.max_new_tokens
    assert {c.finish for c in own.values()} == {"stop", "length"}


def test_the_model_is_as_before_afterwards_and_the_other_calls_go_the_usual_way(engine, forced):
    mixed = [LONG[0], Call(LONG[1].messages, 3, "ABCD"), Call(LONG[2].messages, 14, "ABCD", answer_only=True)]
    before = engine.loaded[0].config._attn_implementation
    done = dict(engine.generate(mixed))
    assert [("continuous" in done[n].stamp) for n in range(3)] == [True, False, False]
    assert engine.loaded[0].config._attn_implementation == before


def test_what_the_library_gives_up_is_made_by_the_engine(engine, forced, monkeypatch):
    own = [c.text for _, c in sorted(engine.generate(LONG))]
    plain = continuous.complete

    def only_the_first(*given):
        return (found for found in plain(*given) if found[0].index == 0)

    monkeypatch.setattr(continuous, "complete", only_the_first)
    done = dict(engine.generate(LONG))
    assert [done[n].text for n in range(5)] == own
    assert sum("continuous" in c.stamp for c in done.values()) == 1


def test_it_is_never_used_on_a_cpu_by_itself(engine):
    assert not continuous.supported(engine.loaded[0])
    long = [Call(call.messages, continuous.LONG) for call in LONG[:1]]
    assert all("continuous" not in c.stamp for _, c in engine.generate(long))


def test_calls_that_suit():
    long = continuous.LONG
    assert continuous.suits(Call((), long))
    for other in (
        Call((), long - 1),
        Call((), long, "AB", True),
        Call((), long, schema="{}"),
        Call((), long, temperature=1.0),
    ):
        assert not continuous.suits(other)


def test_nothing_is_printed(engine, forced, capfd, caplog):
    with caplog.at_level(logging.WARNING):
        list(engine.generate(LONG[:2]))
    assert capfd.readouterr() == ("", "")


def test_where_the_library_fails_the_engine_s_own_loop_goes_on(engine, forced, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("no kernel for this attention")

    own = {n: done.text for n, done in engine.generate([replace(call, max_new_tokens=11) for call in LONG])}
    monkeypatch.setattr(engine.loaded[0], "continuous_batching_context_manager", broken)
    done = dict(engine.generate(LONG))
    assert all(done[n].text.startswith(own[n]) and "continuous" not in done[n].stamp for n in range(len(LONG)))
    assert "no kernel for this attention" in caplog.text
