"""Replies held to a schema, on random scores: each is complete and valid whatever a model would like to write."""

import json
import sys
from itertools import pairwise

import pytest
from tiny_model import tiny_tokenizer

pytest.importorskip("transformers")
pytest.importorskip("llguidance")
jsonschema = pytest.importorskip("jsonschema")

import numpy as np  # noqa: E402

from nsh.engines import Call  # noqa: E402
from nsh.errors import EngineError  # noqa: E402
from nsh.extraction import SCHEMA, Extraction  # noqa: E402
from nsh.structured import Schemas  # noqa: E402

LONG = {name: {"type": "integer", "minimum": 3} for name in "abcdefghij"}
OBJECT = {"type": "object", "properties": LONG, "required": list(LONG), "additionalProperties": False}
TREE = {"type": "object", "properties": {"leaf": {"type": "boolean"}, "below": {"items": {"$ref": "#/$defs/tree"}}}}
TREE["properties"]["below"]["type"] = "array"
SCHEMAS = {
    "extraction": json.loads(SCHEMA),
    "a string": {"type": "string"},
    "a string of a given length": {"type": "string", "minLength": 5, "maxLength": 9},
    "a pattern": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
    "words with brackets, quotes and accents": {"enum": ["é\n", "ünknown", "a]b", 'a}"', "[", 7]},
    "a number": {"type": "number"},
    "a number within bounds": {"type": "integer", "minimum": 37, "maximum": 412},
    "long objects in a list": {"type": "array", "items": OBJECT},
    "lists in a list": {"type": "array", "items": {"type": "array"}, "minItems": 2},
    "one of several": {"anyOf": [OBJECT, {"type": "array", "items": {"type": "number"}}, {"type": "boolean"}]},
    "a tree": {"$defs": {"tree": TREE | {"required": ["leaf", "below"]}}, "$ref": "#/$defs/tree"},
    "optional fields": {"type": "object", "properties": {"a": {"type": ["null", "string"]}, "b": {"enum": [1, "x"]}}},
    "a constant": {"const": {"a": [1, "b"]}},
    "anything": {},
}


def llama_tokenizer():
    """A tokenizer of the other kind: blanks are letters, and bytes are tokens only where no character is."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
    from transformers import PreTrainedTokenizerFast

    special = ["<unk>", "<s>", "</s>"]
    letters = '▁{}[]",:.-+0123456789abcdefghijklmnopqrstuvwxyzEé\\'
    merges = [("n", "u"), ("l", "l"), ("nu", "ll"), ("▁", "{"), ('"', ":"), ("▁", '"')]
    names = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *map("".join, merges)]
    vocabulary = {name: place for place, name in enumerate(names)}
    core = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True))
    core.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    core.decoder = decoders.Sequence(parts)
    core.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in special])
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


@pytest.fixture(scope="module", params=[tiny_tokenizer, llama_tokenizer], ids=["bytes", "letters"])
def schemas(request) -> Schemas:
    tokenizer = request.param()
    made = Schemas(tokenizer, {tokenizer.eos_token_id}, len(tokenizer))
    made.tokenizer = tokenizer
    return made


def least(schemas: Schemas, schema: str) -> int:
    """Fewest tokens, as the error says."""
    with pytest.raises(EngineError, match=r"takes \d+ tokens") as refused:
        schemas.begin(Call((), 0, stage="extract", schema=schema))
    return int(str(refused.value).split()[-2])


def written(schemas: Schemas, schema: str, budget: int, score) -> tuple[str, int, int]:
    """Text, number of tokens and number of forced ones of a reply, with one call of `score` for each token."""
    reply, new = schemas.begin(Call((), budget, schema=schema)), []
    while not new or new[-1] not in schemas.tokens.eos_tokens:
        new.append(reply.next(score()))
        assert len(new) <= budget
    text = schemas.tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text, len(new), reply.forced


def noise(width: int, seed: int):
    """Random scores in which some tokens are liked throughout, so that replies get stuck in lists and strings."""
    random = np.random.default_rng(seed)
    liked = np.where(np.arange(width) % 10 == random.integers(10), 3.0 * (seed % 3), 0)
    return lambda: random.normal(size=width) + liked


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_reply_is_complete_and_valid_within_any_budget(schemas, name):
    schema, width = json.dumps(SCHEMAS[name]), len(schemas.tokenizer)
    fewest = least(schemas, schema)
    for budget in (fewest, fewest + 1, fewest + 3, fewest + 20, fewest + 150):
        for seed in range(3):
            text, count, _ = written(schemas, schema, budget, noise(width, seed))
            jsonschema.validate(json.loads(text), SCHEMAS[name])
            assert 0 < count <= budget


def test_the_closing_of_an_extraction_is_the_empty_record(schemas):
    closing = schemas.begin(Call((), 1000, schema=SCHEMA)).closing
    assert schemas.tokenizer.decode(closing, skip_special_tokens=True) == Extraction().model_dump_json()
    assert len(closing) == least(schemas, SCHEMA)


def test_with_room_to_spare_each_token_is_the_likeliest_that_some_document_goes_on_with(schemas):
    """By definition: the documents are few, so all of them are compared, letter by letter."""
    documents = ['"abc"', '"abd"', '"b"', "12", "null"]
    schema = json.dumps({"enum": [json.loads(one) for one in documents]})
    numbers = range(schemas.tokens.vocab_size)
    pieces = [schemas.tokens.decode_bytes([token]).decode("utf-8", "replace") for token in numbers]
    end, found = schemas.tokens.eos_token, set()
    for seed in range(40):
        score, reply, text = noise(len(pieces), seed), schemas.begin(Call((), 50, schema=schema)), ""
        while text not in documents:
            ahead = [one[len(text) :] for one in documents if one.startswith(text)]
            going = [n for n, piece in enumerate(pieces) if piece and any(one.startswith(piece) for one in ahead)]
            scores = score()
            token, best = reply.next(scores), max(going, key=scores.__getitem__)
            if len({one[0] for one in ahead}) > 1:
                assert pieces[token] == pieces[best]  # one letter may be two tokens, a byte and a character
            assert token in going  # and where one letter is forced, llguidance goes on as the tokenizer writes it
            text += pieces[token]
        assert reply.next(score()) == end and reply.forced == 0
        found.add(text)
    assert found == set(documents)


@pytest.mark.parametrize(
    "schema, liked, expected",
    [
        ('{"type": "string"}', "a", '"' + "a" * 17 + '"'),
        ('{"type": "integer"}', "7", "7" * 19),
        ('{"type": "array", "items": {"type": "integer", "maximum": 9, "minimum": 7}}', "7,", "[7,7,7,7,7,7,7,7,7]"),
        ('{"type": "array", "items": {"type": "string"}}', '"a', '["' + "a" * 15 + '"]'),
    ],
)
def test_a_reply_that_would_go_on_for_ever_is_closed_in_its_last_tokens(schemas, schema, liked, expected):
    scores = np.zeros(len(schemas.tokenizer))
    for better, worse in pairwise([*reversed(liked), ""]):
        scores[schemas.tokens.greedy_tokenize(better)] = 1 + len(worse)
    text, count, forced = written(schemas, schema, 20, lambda: scores)
    assert (text, count) == (expected, 20) and forced > 0


def test_there_is_no_blank_between_the_parts(schemas):
    blank = np.zeros(len(schemas.tokenizer))
    blank[[schemas.tokens.decode_bytes([token]).startswith(b" ") for token in range(len(blank))]] = 9
    text, *_ = written(schemas, '{"type": "array", "items": {"type": "integer"}, "minItems": 2}', 20, lambda: blank)
    assert " " not in text


def test_any_of_the_end_tokens_ends_a_reply():
    tokenizer = tiny_tokenizer()
    schemas = Schemas(tokenizer, {1, 2}, 320)
    for liked in (1, 2):
        scores = np.eye(320)[liked]
        reply = schemas.begin(Call((), 9, schema='{"const": "a"}'))
        assert [reply.next(scores) for _ in range(4)][-1] == liked


def test_scores_of_more_tokens_than_the_tokenizer_has_are_never_taken():
    schemas = Schemas(tiny_tokenizer(), {1}, 384)
    reply = schemas.begin(Call((), 30, schema='{"type": "string"}'))
    assert max(reply.next(np.arange(384.0)) for _ in range(30)) < 320


def test_without_the_library_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "llguidance.hf", None)
    with pytest.raises(EngineError, match=r'pip install "narrativeshield-papers\[structured\]"'):
        Schemas(tiny_tokenizer(), {1}, 320)


def test_what_cannot_be_held_to_is_refused(schemas):
    for schema, why in [
        ('{"type": "array", "uniqueItems": true}', "uniqueItems"),
        ('{"type": "string", "pattern": "^a+b$"}', "no reply of at most 4096 tokens is found"),
    ]:
        with pytest.raises(EngineError, match=why):
            schemas.begin(Call((), 100, schema=schema))
    with pytest.raises(EngineError, match=r'max_new_tokens is 2, but .* "extract" takes 3 tokens'):
        schemas.begin(Call((), 2, stage="extract", schema='{"type": "array"}'))
    with pytest.raises(EngineError, match="cannot read the tokenizer"):
        Schemas(tiny_tokenizer(), (), 320)


def test_a_matcher_that_fails_is_an_error_not_the_end_of_the_reply(schemas):
    reply = schemas.begin(Call((), 9, schema='{"type": "array"}'))
    reply.matcher.consume_token(schemas.tokens.greedy_tokenize("x")[0])
    with pytest.raises(EngineError, match="llguidance gave up"):
        reply.next(np.zeros(len(schemas.tokenizer)))
