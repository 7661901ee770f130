"""Retelling with a scripted writer and auditor: retries, giving up, resuming, and what the auditor is shown."""

import json
import re
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from nsh.accuracies import accuracy
from nsh.cases import Case, load_cases
from nsh.cli import app
from nsh.engines import Call, Completion, ScriptedEngine
from nsh.errors import DataError, EngineError, ParameterError
from nsh.jobs import Settings, jobs
from nsh.making.items import load_items
from nsh.making.retell import Audited, openings, read_audit, retelling, writing
from nsh.making.retold import retell_all, retelling_jobs, retold
from nsh.making.retold_files import case_of, write_cases
from nsh.making.voices import register, registers
from nsh.prompts import template
from nsh.records import from_outcomes
from nsh.runner import run
from nsh.store import Store

CASES = load_cases("samples", 3)
PASS = json.dumps({"facts": [{"fact": "a cough", "present": True}], "verdict": "pass"})
FAIL = json.dumps({"facts": [{"fact": "a cough", "present": False}], "verdict": "fail"})
ANY = {"words": (0.5, 2.5), "person": None}
BETA, GAMMA = (replace(register(name), **ANY) for name in ("socioeconomic", "cultural"))
NEUTRAL = replace(register("neutral"), **ANY)


def scripted(audit=lambda call: PASS, text=lambda call, original: original) -> ScriptedEngine:
    """A writer that retells by `text`, given its call and the original, and an auditor that replies by `audit`."""
    said = re.compile(r"(?:VIGNETTE|TEXT A):\n(.*?)\n\n", re.DOTALL)

    def reply(call: Call) -> str:
        original = said.search(call.messages[-1][1])[1]
        return audit(call) if call.stage == "audit" else text(call, f"Attempt {call.seed:d} says: {original}")

    return ScriptedEngine(reply=reply)


def told(engine, folder, cases=CASES, voices=(BETA, GAMMA), **options):
    with closing(Store(folder)) as store:
        return retell_all(cases, voices, engine, store, **options)


def attempt_of(call: Call) -> int:
    """Which attempt an auditor's call is about."""
    return int(re.search(r"Attempt (\d+) says", call.messages[-1][1])[1])


def test_a_retelling_that_passes_is_kept_with_its_opening(tmp_path):
    result = told(scripted(), tmp_path)
    assert result.gave_up == [] and result.report["status"].tolist() == ["ok"] * 6
    for case, made in zip(CASES, result.cases, strict=True):
        assert made.narratives["cultural"] == f"Attempt 1 says: {case.original}"
        assert made.narratives["clinical"] == case.narratives["clinical"]
        assert made.meta["styles"]["cultural"] == openings(case.id, GAMMA)[0] in GAMMA.openings
        assert made.meta["attempts"] == {"socioeconomic": 1, "cultural": 1}


def test_failed_audits_retry_with_another_style_and_seed(tmp_path):
    sent: list[Call] = []

    def audit(call):
        return PASS if attempt_of(call) == 7 else FAIL

    engine = scripted(audit, lambda call, text: sent.append(call) or text)
    result = told(engine, tmp_path, CASES[:1], [GAMMA])
    used = result.report["opening"].tolist()
    assert len(used) == 7 and sorted(used[:5]) == sorted(GAMMA.openings)  # none again before all five
    assert used[5:] == used[:2] and all(a != b for a, b in pairwise(used))
    assert result.report["status"].tolist() == ["failed"] * 6 + ["ok"]
    assert set(result.report["missing"][:6]) == {"a cough"} and result.report["verdict"].tolist()[-1] == "pass"
    assert [call.seed for call in sent] == [1, 2, 3, 4, 5, 6, 7] and {call.temperature for call in sent} == {0.9}
    for call, opening in zip(sent, used, strict=True):
        assert GAMMA.openings[opening] in call.messages[1][1]
    assert result.cases[0].meta["styles"]["cultural"] == used[-1] and result.cases[0].meta["attempts"]["cultural"] == 7


def test_the_order_of_styles_depends_on_case_and_register():
    orders = {tuple(openings(str(number), GAMMA)) for number in range(40)}
    assert len(orders) > 20 and all(sorted(order) == sorted(GAMMA.openings) for order in orders)
    first = Counter(openings(str(number), BETA)[0] for number in range(500))
    assert min(first.values()) > 70 and len(first) == 5  # 100 expected, five standard deviations are 45
    assert openings("1", NEUTRAL) == [""]


def test_ten_failures_give_up_with_the_case_named_and_lose_nothing(tmp_path):
    lost = CASES[1].original[:40]
    result = told(scripted(lambda call: FAIL if lost in call.messages[-1][1] else PASS), tmp_path)
    assert [case.id for case in result.cases] == [CASES[0].id, CASES[2].id]
    assert result.gave_up == [
        f"case {CASES[1].id}, {voice}: gave up after 10 attempts, the last: auditor: fail (a cough)"
        for voice in ("socioeconomic", "cultural")
    ]
    rows = result.report[result.report["case"] == CASES[1].id]
    assert len(rows) == 20 and rows["status"].value_counts().to_dict() == {"failed": 18, "gave up": 2}
    assert rows["text"].str.contains("Attempt").all() and len(result.report) == 24


def test_a_failed_check_is_named_and_the_auditor_not_asked(tmp_path):
    engine = scripted(lambda call: pytest.fail("asked"), lambda call, text: "My family insisted.")
    result = told(engine, tmp_path, CASES[:1], [GAMMA], attempts=2)
    assert result.report["failed"].tolist() == ["length; forbidden phrase; value; question"] * 2
    assert set(result.report["verdict"]) == {""} and "forbidden phrase: My family insisted" in result.report["why"][0]
    assert "the last: length: 3 words" in result.gave_up[0]


def test_a_retelling_that_was_cut_off_is_not_audited():
    steps = retelling(GAMMA, attempts=1)(CASES[0], "cultural")
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(Completion(CASES[0].original, "length"))
    assert end.value.value.attempts[0].failed == {"end": "cut off at its budget"}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (PASS, "pass"),
        (FAIL, "fail"),
        (f"Here it is.\n```json\n{PASS}\n```", "pass"),
        ('{"facts": [{"fact": "x", "present": true}], "verdict": "fail"}', "contradictory"),
        ('{"facts": [{"fact": "x", "present": false}], "verdict": "pass"}', "contradictory"),
        ('{"facts": [], "verdict": "pass"}', "contradictory"),
        ('{"facts": [{"fact": "x", "present": "yes"}], "verdict": "pass"}', "unparsed"),
        ('{"facts": [{"fact": "x", "present": true}], "verdict": "PASS"}', "unparsed"),
        ('{"facts": [{"fact": "x", "present": true}]}', "unparsed"),
        ('{"facts": {"x": true}, "verdict": "pass"}', "unparsed"),
        ('{"verdict": "pass"}', "unparsed"),
        ("pass", "unparsed"),
        (" ", "empty"),
    ],
)
def test_the_auditors_reply_is_read_strictly(text, verdict):
    assert read_audit(Completion(text))[0] == verdict
    if verdict in ("unparsed", "empty"):
        assert read_audit(Completion(text, "length")) == ("truncated", ())


def runs_of(text: str, length: int = 3) -> set[tuple[str, ...]]:
    """Every run of so many words."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


@pytest.mark.parametrize("name", registers())
def test_the_auditor_sees_nothing_of_what_the_writer_was_told(name):
    """No run of three words of the writer's instructions, and no opening style, voice or temperature."""
    one, case = register(name), CASES[0]
    steps = retelling(replace(one, **ANY), attempts=1)(case, name)
    written = next(steps)
    audit = steps.send(Completion(case.original))
    shown = "\n".join(text for _, text in audit.messages).replace(case.original, "")
    told = "\n".join(text for _, text in written.messages).replace(case.original, "")
    assert runs_of(shown) & runs_of(told) == set()
    assert (name == "clinical" or name not in shown) and not any(style in shown for style in one.openings)
    assert (audit.temperature, audit.seed, written.temperature) == (0.0, 0, one.temperature)
    assert {template(prompt)["status"] for prompt in ("retell", "audit")} == {"reconstructed"}


def test_the_third_person_control_differs_in_one_sentence():
    first, third = (writing(CASES[0], register(name), "worry-first", 1) for name in ("socioeconomic", "third_person"))
    lines = [set(call.messages[1][1].split("\n")) for call in (first, third)]
    parts = template("retell")["parts"]
    assert lines[0] ^ lines[1] == {parts["first"], parts["third"]}


class Stopped(EngineError):
    """What ends a run in the middle."""


class Dies:
    """An engine that ends after so many completions, and counts the calls that it answered."""

    def __init__(self, engine, after: int | None = None):
        self.engine, self.identity, self.after, self.made = engine, engine.identity, after, []

    def generate(self, calls):
        for index, completion in self.engine.generate(calls):
            if len(self.made) == self.after:
                raise Stopped("killed")
            self.made.append(calls[index])
            yield index, completion


@pytest.mark.parametrize("ninths", range(9))
def test_a_resumed_run_makes_no_call_twice(tmp_path, ninths):
    def audit(call):
        return PASS if attempt_of(call) > len(call.messages[-1][1]) % 4 else FAIL

    undisturbed = Dies(scripted(audit))
    whole = told(undisturbed, tmp_path / "whole")
    after = len(undisturbed.made) * ninths // 9
    stopped, resumed = Dies(scripted(audit), after), Dies(scripted(audit))
    with pytest.raises(Stopped):
        told(stopped, tmp_path / "killed")
    again = told(resumed, tmp_path / "killed")
    assert len(stopped.made) == after and not {*map(repr, stopped.made)} & {*map(repr, resumed.made)}
    assert Counter(map(repr, stopped.made + resumed.made)) == Counter(map(repr, undisturbed.made))
    assert again.report.equals(whole.report) and again.cases == whole.cases


def test_an_auditor_of_its_own(tmp_path):
    seen = {"writer": [], "auditor": []}

    def reply(who):
        return lambda call: seen[who].append(call.stage) or scripted().reply(call)

    engine = Audited(*(ScriptedEngine(who, reply(who)) for who in seen))
    assert told(engine, tmp_path).gave_up == []
    assert (set(seen["writer"]), set(seen["auditor"])) == ({"retell"}, {"audit"})
    seen["writer"].clear()
    seen["another"] = []
    assert told(Audited(engine.engines[0], ScriptedEngine("another", reply("another"))), tmp_path).gave_up == []
    assert seen["writer"] == [] and set(seen["another"]) == {"audit"}  # the texts are there, the audits are not


def test_a_budget_of_the_run_holds_for_writer_and_auditor_and_the_drawing_stays(tmp_path):
    with closing(Store(tmp_path)) as store:
        jobs = retelling_jobs(CASES[:1], [GAMMA], settings=Settings(max_new_tokens=99))
        job = jobs[0].settings.apply(next(jobs[0].start()))
        assert (job.max_new_tokens, job.temperature, job.seed) == (99, 0.9, 1)
        assert retold(run(jobs, scripted(), store)[0]).gave_up == []


def test_wrong_input_is_named(tmp_path):
    with pytest.raises(DataError, match="case 7 has no original vignette to retell"):
        retelling_jobs([Case("7", "Why?", {"A": "x", "B": "y"}, "A", {"plain": "Ow."})], [NEUTRAL])
    with pytest.raises(DataError, match="case medqa-1 would be told in neutral alone"):
        retelling_jobs([Case("medqa-1", "Why?", {"A": "x", "B": "y"}, "A", {}, "Ow. Why?")], [NEUTRAL])
    for voices, attempts in (([NEUTRAL, NEUTRAL], 1), ([], 1), ([NEUTRAL], 0)):
        with pytest.raises(ParameterError, match="each once, and 1 or more"):
            retelling_jobs(CASES, voices, attempts)
    with pytest.raises(DataError, match="there is none to write"):
        write_cases([], tmp_path / "none.jsonl")


def test_questions_of_medqa_become_cases_that_can_be_read_again(tmp_path):
    items = load_items("samples")[:2]
    result = told(scripted(), tmp_path / "store", [replace(item, step="step1") for item in items])
    written = load_cases(write_cases(result.cases, tmp_path / "made.jsonl"))
    assert [case.original for case in written] == [item.vignette for item in items]
    assert list(written[0].narratives) == ["socioeconomic", "cultural"] and written[0].meta["meta_info"] == "step1"
    assert case_of(items[0]).question == items[0].question == written[0].question
    assert written == result.cases


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`nsh data retell` with a scripted model, and a store and a folder of its own."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("nsh.study.ScriptedEngine", lambda name: ScriptedEngine(name, scripted().reply))
    (tmp_path / "plain.yaml").write_text("like: neutral\nname: plain\nwords: [0.5, 2.5]\nperson:\n", encoding="utf-8")

    def call(*options: str):
        given = ["data", "retell", "samples", "--out", str(tmp_path / "made.jsonl"), "--model", "scripted", *options]
        return CliRunner().invoke(app, given)

    return call


def test_the_command_writes_cases_that_the_next_command_accepts(command, tmp_path):
    """The neutral control, from a file outside the package, is one more voice for every measure."""
    ran = command("--voice", str(tmp_path / "plain.yaml"), "-n", "2")
    assert ran.exit_code == 0 and "2 cases in clinical, socioeconomic, cultural, plain;" in ran.stdout
    checked = CliRunner().invoke(app, ["data", "check", str(tmp_path / "made.jsonl")])
    assert checked.exit_code == 0 and re.search(r"cases: 2\n.*\n?.*plain \d+", checked.stdout)
    cases = load_cases(tmp_path / "made.jsonl")
    assert (tmp_path / "made.jsonl.csv").read_text(encoding="utf-8").count("Attempt 1 says") == 2
    with closing(Store(tmp_path / "answers")) as store:
        outcomes, _ = run(jobs(cases, "direct"), ScriptedEngine(), store)
    assert set(accuracy(from_outcomes(outcomes, "m"))["voice"]) >= {"plain", "clinical", "socioeconomic", "cultural"}


def test_the_command_names_what_was_given_up_and_keeps_the_attempts(command, tmp_path):
    ran = command("--voice", "neutral", "-n", "1", "--attempts", "3")
    assert isinstance(ran.exception, DataError) and "no case was retold in every voice" in str(ran.exception)
    assert f"case {CASES[0].id}, neutral: gave up after 3 attempts, the last: length: 114 words, not 122" in ran.stderr
    assert (tmp_path / "made.jsonl.csv").read_text(encoding="utf-8").count("gave up") == 1
    assert not (tmp_path / "made.jsonl").exists()


def test_the_command_takes_an_auditor_of_its_own(command, tmp_path):
    ran = command("--voice", str(tmp_path / "plain.yaml"), "-n", "1", "--auditor", "scripted-judge")
    assert ran.exit_code == 0
    (stored,) = (tmp_path / "store").glob("*.jsonl")
    identities = {json.dumps(json.loads(line)["engine"]) for line in stored.read_text(encoding="utf-8").splitlines()}
    assert {json.loads(identity)["model"] for identity in identities} == {"scripted", "scripted-judge"}


def test_a_voice_that_the_cases_have_and_a_file_that_is_there_are_not_overwritten(command, tmp_path):
    ran = command("--voice", "cultural", "-n", "1")
    assert isinstance(ran.exception, ParameterError) and "told in cultural already" in str(ran.exception)
    (tmp_path / "made.jsonl").write_text("mine", encoding="utf-8")
    ran = command("--voice", "neutral", "-n", "1")
    assert isinstance(ran.exception, ParameterError) and "nothing is overwritten" in str(ran.exception)
    assert not list(tmp_path.glob("store/*")) and (tmp_path / "made.jsonl").read_text(encoding="utf-8") == "mine"


def test_half_of_a_surrogate_pair_is_written_as_its_escape(tmp_path):
    odd = retell_all(CASES[:1], [BETA], ScriptedEngine(reply=lambda call: "x \ud83c y"), Store(tmp_path), attempts=1)
    assert odd.report["text"].tolist() == ["x \\ud83c y"]
    case = replace(CASES[0], meta={"note": "x \ud83c y"})
    assert load_cases(write_cases([case], tmp_path / "odd.jsonl"))[0].meta["note"] == "x \ud83c y"


def test_another_seed_gives_other_calls():
    (first,), (other,) = (retelling_jobs(CASES[:1], [register("cultural")], seed=seed) for seed in (0, 1))
    assert next(first.start()).seed != next(other.start()).seed
