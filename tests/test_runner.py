"""The runner: each distinct call once, rounds of calls, results in order."""

import pytest
from made_cases import make_cases

from nsh.conditions import Answer
from nsh.engines import Call, Completion, ScriptedEngine, StoreEngine
from nsh.errors import MissingDataError, ParameterError
from nsh.jobs import Job, Settings, jobs
from nsh.runner import run
from nsh.store import Store


class CountingEngine(ScriptedEngine):
    """Remembers every call that it was asked for, and answers in reverse order."""

    def __init__(self, reply=None):
        super().__init__("scripted", reply)
        self.calls = []

    def generate(self, calls):
        self.calls += calls
        yield from reversed(list(super().generate(calls)))


def test_outcomes_keep_the_order_of_the_jobs(tmp_path):
    todo = jobs(make_cases(5), "direct")
    outcomes, tally = run(todo, CountingEngine(), Store(tmp_path))
    assert [outcome.job for outcome in outcomes] == todo
    assert (tally.generated, tally.found, tally.shared) == (15, 0, 0)


def test_a_call_made_by_several_jobs_is_paid_for_once(tmp_path):
    case = make_cases(1)[0]
    engine = CountingEngine()
    outcomes, tally = run([Job("direct", case, "clinical")] * 3, engine, Store(tmp_path))
    assert (len(engine.calls), tally.generated, tally.shared) == (1, 1, 2)
    assert len(outcomes) == 3


def test_a_second_run_generates_nothing(tmp_path):
    todo = jobs(make_cases(4), "rewrite")
    first, _ = run(todo, CountingEngine(), Store(tmp_path))
    engine = CountingEngine()
    second, tally = run(todo, engine, Store(tmp_path))
    assert (engine.calls, tally.generated, tally.found) == ([], 0, 24)
    assert [outcome.answer for outcome in second] == [outcome.answer for outcome in first]


def test_rewrite_answers_from_the_vignette_alone(tmp_path):
    """`voices` §4: the answering call sees the rewrite, the question sentence and the options, not the narrative."""
    case = make_cases(1)[0]
    engine = CountingEngine(lambda call: "B" if call.letters else "A VIGNETTE.")
    (outcome,), _ = run([Job("rewrite", case, "cultural")], engine, Store(tmp_path))
    first, second = engine.calls
    assert case.narratives["cultural"] in first.messages[-1][1]
    assert "Story 0 told" not in str(second.messages)
    assert "A VIGNETTE." in second.messages[-1][1]
    assert case.question in second.messages[-1][1]
    assert (first.max_new_tokens, second.max_new_tokens, outcome.answer.letter) == (512, 16, "B")
    assert len(outcome.keys) == len(outcome.completions) == 2


def test_answer_only_concerns_answering_calls_only(tmp_path):
    engine = CountingEngine()
    run([Job("rewrite", make_cases(1)[0], "cultural", Settings(answer_only=True))], engine, Store(tmp_path))
    assert [call.answer_only for call in engine.calls] == [False, True]


def test_the_extraction_of_four_conditions_is_paid_for_once(tmp_path):
    """Conditions that make the same call share it."""
    engine = CountingEngine(lambda call: "Answer: B" if call.letters else "{}")
    names = ("extract", "extract_reason", "extract_tools", "story_schema")
    case = make_cases(1)[0]
    _, tally = run([Job(name, case, "clinical") for name in names], engine, Store(tmp_path))
    assert [call.stage for call in engine.calls] == ["extract", "answer_from", "reason", "story_schema"]
    assert (tally.generated, tally.shared) == (4, 4)
    engine.calls.clear()
    run([Job("extract_tools", case, "clinical")], engine, Store(tmp_path))
    assert engine.calls == []


def test_an_outcome_says_where_the_run_left_the_papers_way(tmp_path):
    engine = CountingEngine(lambda call: "Answer: B" if call.letters else "{}")
    case, settings = make_cases(1)[0], Settings(structured=True, max_new_tokens=20, scoring="safe")
    names = ("extract_tools", "direct", "extract")
    outcomes, _ = run([Job(name, case, "clinical", settings) for name in names], engine, Store(tmp_path))
    assert [list(outcome.departures) for outcome in outcomes] == [
        ["scoring safe", "structured", "at most 20 new tokens"],
        ["at most 20 new tokens"],
        ["structured", "at most 20 new tokens"],
    ]
    plain, _ = run([Job(name, case, "clinical") for name in names], engine, Store(tmp_path))
    assert not any(outcome.departures for outcome in plain)


def test_constrained_and_free_extractions_are_different_calls(tmp_path):
    engine = CountingEngine(lambda call: "{}")
    case = make_cases(1)[0]
    todo = [Job("extract", case, "clinical", settings) for settings in (Settings(), Settings(structured=True))]
    (free, held), _ = run(todo, engine, Store(tmp_path))
    assert free.keys[0] != held.keys[0] and free.keys[1] == held.keys[1]


def no_answer(case, voice):
    yield Call((("user", "Which?"),), 16)


def no_call(case, voice):
    yield "Which?"


def no_option(case, voice):
    return Answer("Z", "ok", (yield Call((("user", "Which?"),), 16)).text)


def no_way(case, voice):
    raise KeyError("tone")
    yield


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (no_answer, "returned None"),
        (no_call, "yielded 'Which\\?'"),
        (no_option, "no_option answered 'Z'; None or one of A, B"),
        (no_way, "condition no_way, case .*, clinical: KeyError: 'tone'"),
    ],
)
def test_a_condition_that_is_none_is_named(tmp_path, condition, message):
    with pytest.raises(ParameterError, match=message):
        run([Job(condition, make_cases(1)[0], "clinical")], CountingEngine(), Store(tmp_path))


def test_the_store_engine_names_what_is_missing(tmp_path):
    with pytest.raises(MissingDataError, match="6 generations of a/model"):
        run(jobs(make_cases(2), "direct"), StoreEngine({"model": "a/model", "dtype": "float32"}), Store(tmp_path))


def test_what_was_generated_before_an_engine_fails_is_kept(tmp_path):
    class Failing(ScriptedEngine):
        def generate(self, calls):
            yield 0, Completion("A")
            raise RuntimeError("the device is gone")

    with pytest.raises(RuntimeError, match="the device is gone"):
        run(jobs(make_cases(2), "direct"), Failing(), Store(tmp_path))
    assert len(Store(tmp_path)) == 1
