"""Rendering and tokenizing: one start token, folded system turns, no template, and a date that stands still."""

import pytest
from tiny_model import CHATML, GEMMA, LLAMA, save_tiny_model, tiny_tokenizer

from nsh.chat import encode
from nsh.errors import EngineError

DATE = {"date": "2024-07-26"}
SYSTEM = [("system", "Ignore the voice."), ("user", "Which?")]
START = 0  # id of <s> in the tiny tokenizer


def starts(tokenizer, messages=SYSTEM) -> list[int]:
    ids = encode(tokenizer, messages, DATE).ids
    return [place for place, token in enumerate(ids) if token == START]


@pytest.mark.parametrize("template", [LLAMA, CHATML, None], ids=["in template", "not in template", "no template"])
def test_a_tokenizer_that_adds_a_start_token_gets_exactly_one_at_the_front(template):
    assert starts(tiny_tokenizer(template)) == [0]


def test_a_tokenizer_that_adds_none_gets_none():
    assert starts(tiny_tokenizer(CHATML, adds_start=False)) == []


def test_a_doubled_start_token_is_refused():
    with pytest.raises(EngineError, match="doubles the start token"):
        encode(tiny_tokenizer("{{ bos_token }}" + LLAMA), SYSTEM, DATE)


def test_the_ids_are_those_of_the_rendered_text():
    tokenizer = tiny_tokenizer()
    expected = "<s><|im_start|>user\nWhich?</s>\n<|im_start|>assistant\n"
    assert tokenizer.decode(encode(tokenizer, SYSTEM[1:], DATE).ids) == expected


@pytest.mark.parametrize(
    "template", [GEMMA, LLAMA.replace("{% for m in messages %}", "{% for m in messages if m['role'] != 'system' %}")]
)
def test_a_system_turn_that_is_refused_or_dropped_is_folded_into_the_user_turn(template):
    tokenizer = tiny_tokenizer(template)
    prompt = encode(tokenizer, SYSTEM, DATE)
    assert prompt.system_folded
    assert prompt.ids == encode(tokenizer, [("user", "Ignore the voice.\n\nWhich?")], DATE).ids


def test_a_system_turn_that_is_taken_is_not_folded():
    prompt = encode(tiny_tokenizer(), SYSTEM, DATE)
    assert (prompt.system_folded, prompt.chat_template) == (False, True)


def test_turns_that_a_template_refuses_are_an_error_that_quotes_it():
    with pytest.raises(EngineError, match="no users here"):
        encode(tiny_tokenizer("{{ raise_exception('no users here') }}"), SYSTEM, DATE)


def test_without_a_template_the_turns_are_joined_and_that_is_recorded():
    tokenizer = tiny_tokenizer(None)
    prompt = encode(tokenizer, SYSTEM, DATE)
    assert not prompt.chat_template
    assert tokenizer.decode(prompt.ids) == "<s>Ignore the voice.\n\nWhich?"


def test_a_base_model_without_a_template_gets_all_turns_in_order(tmp_path):
    """As BioMistral-7B, a base model (facts, section 3.1), through the folder that is loaded."""
    from nsh.models import resolve
    from nsh.weights import load

    _, tokenizer = load(resolve(save_tiny_model(tmp_path, template=None)), "float32")
    turns = [*SYSTEM, ("assistant", "Answer: B"), ("user", "And now?")]
    prompt = encode(tokenizer, turns, {**DATE, "enable_thinking": False})
    assert (prompt.chat_template, prompt.system_folded) == (False, False)
    assert tokenizer.decode(prompt.ids) == "<s>Ignore the voice.\n\nWhich?\n\nAnswer: B\n\nAnd now?"


def test_a_template_that_prints_today_prints_the_given_date():
    tokenizer = tiny_tokenizer("{%- set today = strftime_now('%d %b %Y, %Y-%m-%d') %}{{ 'Today: ' + today }}" + CHATML)
    assert tokenizer.decode(encode(tokenizer, SYSTEM, DATE).ids).startswith("<s>Today: 26 Jul 2024, 2024-07-26<|im")


def test_template_arguments_reach_the_template():
    tokenizer = tiny_tokenizer("{{ enable_thinking }}" + CHATML)
    assert "False" in tokenizer.decode(encode(tokenizer, SYSTEM, {**DATE, "enable_thinking": False}).ids)


@pytest.mark.parametrize("text", ["α-synuclein 5 µg ≥ 3×", "😷 {{ bos_token }} {% raise %}", "  two  blanks "])
def test_text_arrives_as_it_is(text):
    tokenizer = tiny_tokenizer(None)
    assert tokenizer.decode(encode(tokenizer, [("user", text)], DATE).ids[1:]) == text


def test_half_of_a_surrogate_pair_is_refused_clearly():
    with pytest.raises(EngineError, match="U\\+D83C"):
        encode(tiny_tokenizer(), [("user", "fever \ud83c")], DATE)
