"""Drawn tokens: their distribution, the same text in any batch, another seed another text, keys of old calls."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tiny_model import save_tiny_model

from nsh.engines import Call
from nsh.errors import EngineError
from nsh.models import resolve
from nsh.store import key_of
from nsh.token_sampling import Sampler
from nsh.transformers_engine import TransformersEngine

IDENTITY = {"model": "m", "revision": "1", "dtype": "float32", "quantization": None, "template": {}}
OLD = Call((("user", "Which?"),), 16)
OLD_KEY = "f19ed9b042627f96e1bd8e748185167f696deffc5b9c980ee7fcc215a19c5edb"
PROMPTS = [
    "A man.",
    "A 52-year-old man has had a fever and a cough.",
    "Which option?",
    "A woman of thirty is tired today.",
]


def calls(**options) -> list[Call]:
    return [Call((("user", text),), 24, **options) for text in PROMPTS]


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> TransformersEngine:
    return TransformersEngine(resolve(save_tiny_model(tmp_path_factory.mktemp("tiny"))), "float32")


def texts(engine: TransformersEngine, some: list[Call]) -> list[str]:
    found = dict(engine.generate(some))
    return [found[index].text for index in range(len(some))]


@pytest.mark.parametrize("temperature", [0.25, 0.9, 2.0])
def test_tokens_come_as_often_as_softmax_says(temperature):
    """Four scores, 4,000 draws: each share within four standard errors of exp(s / T) over their sum."""
    scores = [0.3, -1.2, 1.1, 0.0]
    sampler = Sampler(replace(OLD, temperature=temperature))
    counts = Counter(sampler.next(scores) for _ in range(4000))
    weights = [math.exp(score / temperature) for score in scores]
    for token, weight in enumerate(weights):
        share = weight / sum(weights)
        assert abs(counts[token] / 4000 - share) < 4 * math.sqrt(share * (1 - share) / 4000)


def test_a_token_that_cannot_come_never_comes():
    sampler = Sampler(replace(OLD, temperature=0.9))
    assert {sampler.next([-math.inf, 0.0, -math.inf]) for _ in range(200)} == {1}


@pytest.mark.parametrize("temperature", [0.25, 0.9])
def test_scores_that_differ_in_their_last_digits_give_the_same_tokens(temperature):
    """A vocabulary of 50,000 with scores like a language model's: few likely tokens and a long tail."""
    generator = np.random.default_rng(3)
    samplers = [Sampler(replace(OLD, temperature=temperature)) for _ in range(2)]
    for _ in range(300):
        scores = generator.normal(0, 3, 50_000)
        noisy = scores + generator.normal(0, 1e-5, 50_000)
        assert samplers[0].next(scores) == samplers[1].next(noisy)


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(EngineError, match="no number"):
        Sampler(replace(OLD, temperature=0.9)).next([0.0, math.nan, 1.0])


@pytest.mark.parametrize("temperature", [0.25, 0.9])
def test_a_drawn_text_is_the_same_alone_and_in_a_batch_of_four(engine, temperature):
    drawn = calls(temperature=temperature, seed=3)
    assert texts(engine, drawn) == [text for call in drawn for text in texts(engine, [call])]
    assert texts(engine, drawn) == texts(engine, drawn)


def test_drawn_and_greedy_rows_stand_side_by_side(engine):
    greedy, drawn = calls(), calls(temperature=0.9)
    mixed = [greedy[0], drawn[1], greedy[2], drawn[3]]
    alone = [text for call in mixed for text in texts(engine, [call])]
    assert texts(engine, mixed) == alone
    assert [alone[0], alone[2]] == [texts(engine, greedy)[n] for n in (0, 2)]


def test_another_seed_gives_another_text_and_temperature_zero_takes_no_notice(engine):
    assert len({tuple(texts(engine, calls(temperature=0.9, seed=seed))) for seed in range(4)}) == 4
    assert texts(engine, calls(seed=7)) == texts(engine, calls())
    assert texts(engine, calls(temperature=0.9)) != texts(engine, calls())


def test_a_call_that_is_not_drawn_keeps_its_key_and_a_drawn_one_has_its_own():
    """The key was made by the version before calls had a temperature."""
    assert key_of(IDENTITY, OLD) == key_of(IDENTITY, replace(OLD, seed=5)) == OLD_KEY
    drawn = [replace(OLD, temperature=t, seed=s) for t in (0.25, 0.9) for s in (0, 1)]
    assert len({key_of(IDENTITY, call) for call in [OLD, *drawn]}) == 5


def test_a_schema_and_a_temperature_together_are_refused_before_anything_is_generated(engine):
    both = Call((("user", "Facts?"),), 50, schema='{"type": "array"}', temperature=0.9)
    with pytest.raises(EngineError, match="cannot be drawn; expected temperature 0, or no schema"):
        next(iter(engine.generate([OLD, both])))
