"""The object in a reply: what is read, what is repaired and said to be so, and what is refused despite a repair."""

import json
import random
import re
import time

import pytest
from json_repair import repair_json

from nsh.json_text import parse_json

OBJECT = {
    "age": 61,
    "sex": "female",
    "note": 'she\'s had "it" for 3 days; {not} [a list], 5 µg ≥ 3×, α-synuclein 😀\n```',
    "vitals": {"hr": 80, "temp_f": 98.65, "rr": None},
    "labs": [{"name": "WBC, total", "value": 1.2e1, "unit": "10^9/L"}],
    "none": [],
    "empty": {},
    "known": True,
}
ASCII, INDENTED = json.dumps(OBJECT), json.dumps(OBJECT, ensure_ascii=False, indent=2)


def read(text, finish="stop"):
    """Status and value."""
    found = parse_json(text, finish)
    assert (found.value is not None) == (found.status in ("ok", "repaired"))
    assert bool(found.note) or found.status == "ok"
    return found.status, found.value


@pytest.mark.parametrize("written", [ASCII, INDENTED])
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "\ufeff  {}\n",
        "Sure!\n```json\n{}\n```\nHope this helps",
        "```\n{}```",
        "~~~JSON\n{}\n~~~",
        "Here's the patient's object: {}.",
        "see `x` [1], (a), <b> and 5'11\": {}",
        'The "facts", as asked:\n\n{}\n\nIt doesn\'t say more [2].',
        "<think>perhaps {{'a': 1}}</think>\n{}",
        'the prompt began it: {{"a": 2}}</think>{}',
        "# Title\n// note: {{x}} and \\frac{{a}}{{b}}\n{}",
    ],
)
def test_k1_fences_and_prose_around_the_object(around, written):
    assert read(around.replace("{}", "\0").replace("{{", "{").replace("}}", "}").replace("\0", written)) == (
        "ok",
        OBJECT,
    )


@pytest.mark.parametrize(
    ("text", "value"), [('{"note": "use ``` here"}', {"note": "use ``` here"}), ('see `x`: {"a":1}', {"a": 1})]
)
def test_k2_back_ticks_inside_and_before_the_object(text, value):
    assert read(text) == ("ok", value)
    assert read(f"```json\n{text}\n```")[1] == value


@pytest.mark.parametrize(
    "written", [ASCII, INDENTED, repr(OBJECT), f"```json\n{ASCII}", ASCII.replace("{", "{{").replace("}", "}}")]
)
@pytest.mark.parametrize(
    "after",
    [
        "",
        "\n```\nHope this helps",
        '\n\nI stopped {here}; the "age" isn\'t known.',
        '\n```\n```json\n{"age": 61}',
        "\n" + ASCII,
    ],
)
def test_k5_an_object_cut_anywhere_is_never_read(written, after):
    for end in range(written.index("{") + 1, len(written) - 1):
        for finish in ("stop", "length"):
            status, value = read(written[:end] + after, finish)
            assert (status, value) in [("truncated", None), ("none", None)], written[:end]
            assert status == "truncated" or after


def test_k5_what_the_repair_makes_of_the_same():
    cut = '{"findings": ["fever", "low bl'
    assert json.loads(repair_json(cut)) == {"findings": ["fever", "low bl"]}  # plausible, and wrong
    assert read(cut) == ("truncated", None)
    assert read('{"a": 1}\n{"a": 1, "b', "length") == ("truncated", None)
    assert read("<think>it may be {'a': 1}") == ("truncated", None)
    assert read("Certainly, the facts of this", "length") == ("truncated", None)
    assert read(ASCII + "\nThis means that", "length") == ("ok", OBJECT)


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("{'age': None, ok: True,}", {"age": None, "ok": True}, "single quotation marks"),
        ("{'age': None, ok: True,}", {"age": None, "ok": True}, "words without"),
        ("{'age': None, ok: True,}", {"age": None, "ok": True}, "literals of other languages"),
        ("{'age': None, ok: True,}", {"age": None, "ok": True}, "commas"),
        ('{{"a": 1}}', {"a": 1}, "doubled braces"),
        ('{{"a": {{"b": 1}}, "c": {{}}}}', {"a": {"b": 1}, "c": {}}, "doubled braces"),
        ('{{"a": {"b": {"c": 1}}}}', {"a": {"b": {"c": 1}}}, "doubled braces"),
        ('```\n{"a": 1}}\n```', {"a": 1}, "surplus braces"),
        ("{'a': 'it isn't O'Brien's', 'b': ['doesn't smoke', 'sons' room']}", None, "single"),
        ("{'a': \"she's\", 'b': 'x \"y\" z'}", {"a": "she's", "b": 'x "y" z'}, "single"),
        ('{"a": "line one\nline two"}', {"a": "line one\nline two"}, "line breaks"),
        ('{"a": "she said "no" twice", "b": 1}', {"a": 'she said "no" twice', "b": 1}, "quotation marks"),
        ('{"a": "5\'11"", "b": 1}', {"a": "5'11\"", "b": 1}, "quotation marks"),
        (r'{"past\_history": "C:\d \u03b1"}', {"past_history": "C:\\d α"}, "escapes"),
        ('{"a": 1 // first, of two\n, # second\n"b": /* { */ 2}', {"a": 1, "b": 2}, "comments"),
        ('{"a": "x" "b": ["y" "z"]\n"c": 1,}', {"a": "x", "b": ["y", "z"], "c": 1}, "commas"),
        ("{'a': '\\ud83d\\ude00 α', 'b': '5 µg ≥ 3×'}", {"a": "😀 α", "b": "5 µg ≥ 3×"}, "single"),
        ("{a: 007, b: 5 mg/dL, c: -1.50, d: 1e3}", {"a": "007", "b": "5 mg/dL", "c": -1.5, "d": 1000}, "words"),
        (repr(OBJECT), OBJECT, "literals"),
    ],
)
def test_k7_each_lenient_step_is_named(text, value, step):
    found = parse_json(f"Here:\n{text}\nDone.")
    value = value or {"a": "it isn't O'Brien's", "b": ["doesn't smoke", "sons' room"]}
    assert (found.status, found.value) == ("repaired", value)
    assert step in found.note


def test_k8_numbers_that_are_none_and_halves_of_characters_are_never_in_a_value():
    text = '{"a": NaN, "b": [-Infinity, Infinity, 1e999, -1e999], "c": undefined, "d": nan, "e": "NaN"}'
    value = {"a": None, "b": [None] * 4, "c": None, "d": None, "e": "NaN"}
    assert read(text) == read(text.replace('"', "'")) == ("repaired", value)
    assert json.loads(repair_json(text))["a"] == "NaN"  # the word
    assert read('{"a": %s}' % ("1" * 5000)) == ("repaired", {"a": None})
    for half in ("\\ud83c", "\ud83c", "\\ude00"):
        assert read(f'{{"a": "x{half}"}}') == ("repaired", {"a": "x\ufffd"})
    assert read('{"\\ud83d\\ude00": "\ud83d\ude00"}'.encode("utf-16", "surrogatepass").decode("utf-16")) == (
        "ok",
        {"😀": "😀"},
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "I am unable to comply.",
        "null",
        "61",
        '"x"',
        "[1, 2]",
        '[{"a": 1}]',
        "[{'a': 1}, {'a': 2},]",
        '["{\\"a\\": 1}", "{b: 1}"]',
        "{x}",
        "a } b",
        '{"a", "b"}',
    ],
)
def test_k10_no_object(text):
    assert read(text) == ("none", None)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} {"a": 2}',
        'The schema is {"age": "int"}, the answer {"age": 61}.',
        'The schema is {"age": <int>}, the answer {"age": 61}.',
        "{'a': 1}\n{\"a\": 1.5}",
        '{"a": 1}{"a": true}',
        '{"a": 1, "a": 2}',
        "{'a': {'b': 1, 'b': True}}",
    ],
)
def test_objects_or_keys_that_contradict_each_other_are_ambiguous(text):
    assert read(text) == ("ambiguous", None)


def test_the_same_twice_is_once():
    assert parse_json('{"a": 1, "b": 2} or {"b": 2, "a": 1}').note == "the same object 2 times"
    assert read('{"a": 1, "a": 1}') == ("ok", {"a": 1})
    assert read("{'a': 1} {\"a\": 1}") == ("repaired", {"a": 1})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": }',
        '{"a": , "b": 1}',
        '{"a": 1, "b"}',
        '{"a": [1, 2, ...]}',
        '{"a": 1]}',
        '{"a": "x" + "y"}',
        '{"a": """x"""}',
        '{"a": "she said "no", then left", "b": 1}',
        '{"age: 61, "sex": "male"}',
        '{"a": ["fever, "cough", "pain"]}',
        "{'a': ['fever, 'cough']}",
        '{"a": [{"b": 1]]}',
        '{"a": ["fever", "cough", "age": 61}',
        '{"age"] 61, {"a": 1}',
        '"age": 61, "vitals": {"hr": 80}}',
        '"vitals": {"hr": 80}, "sex": "male"}',
        'sex: male}, "labs": {"a": 1}',
    ],
)
def test_what_a_repair_would_lose_merge_or_invent_is_refused(text):
    assert isinstance(json.loads(repair_json(text)), dict | list)
    assert read(text) == ("none", None)


def test_random_damage_raises_nothing_and_loses_no_word():
    """A value that is read holds every letter and digit of its text, in order (no literal or comment is made here)."""
    rng = random.Random(4)
    base = json.dumps({"age": 61, "note": "he's well", "list": ["fever", "no cough"], "vitals": {"hr": 80.5}})
    seen = set()
    for _ in range(6000):
        text = list(base)
        for _ in range(rng.randint(1, 2)):
            text[rng.randrange(len(text))] = rng.choice(["", *"{}[]\",:'\\ \nxü-"])
        text = "".join(text)
        found = parse_json(text)
        seen.add(found.status)
        if found.value is not None:
            kept = json.dumps(found.value, ensure_ascii=False)
            assert re.findall(r"[^\W_]", kept.replace("\\n", "")) == re.findall(r"[^\W_]", text.replace("\\n", ""))
    assert seen >= {"ok", "repaired", "truncated", "none"}


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "[{" * 100_000,
        '{"a":' * 40_000 + "1" + "}" * 40_000,
        '{"a": "' + 'x"' * 100_000,
        '{"a": ' + "/*" * 100_000,
        '{"a": "' + "\n " * 100_000,
        "{'a': [" + "'x'," * 50_000 + "]}",
        "{" + ", ".join(f"k{i}: v{i}" for i in range(12_000)) + "}",
        '{"a": [' + ", ".join(f'"the "v{i}" x"' for i in range(9_000)) + "]}",
        '{"a": 1}' * 25_000,
        "{x} " * 50_000,
        "<think>" * 28_000,
    ],
)
def test_long_and_deep_replies_take_linear_time(text):
    """200 kB each; a quadratic reading takes minutes."""
    start = time.perf_counter()
    read(text)
    assert time.perf_counter() - start < 15
