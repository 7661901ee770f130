"""The run log: what a run took, beside its plan; and what a later plan learns from it."""

import json
from pathlib import Path

import pytest
from tiny_model import save_tiny_model

from nsh import Store
from nsh.asked import asked_study
from nsh.build import generate
from nsh.engines import Completion, ScriptedEngine
from nsh.errors import EngineError
from nsh.models import resolve
from nsh.scale import rates
from nsh.scale.estimate import plans
from nsh.scale.rates import Rates, bytes_of, corrected, gpu_rates, machine, rates_here
from nsh.scale.run_log import FIELDS, logged, runs
from nsh.store import key_of

OWN = {"model": "m", "engine": "transformers", "dtype": "float32"}
BASE = Rates(100, 10, 50, "made up")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny", context=8192)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def study(model, *conditions, n_cases=2):
    return asked_study(None, [f"n_cases={n_cases}", "max_new_tokens=16"], [model], list(conditions))


def test_a_run_is_logged_beside_its_plan_and_the_next_plan_uses_it(tiny, store):
    """Truth from the store's own lines; the plan from before the run."""
    (plan,) = plans(study(tiny, "direct"))
    assert not store.exists()
    assert generate([study(tiny, "direct")]).generated == 6
    (row,) = runs(store)
    kept = [json.loads(line) for path in store.glob("*.jsonl") for line in path.read_text().splitlines()]
    for name in ("prompt_tokens", "new_tokens"):
        assert row[name] == row["stages"]["direct"][name] == sum(one[name] for one in kept)
    assert row["calls"] == row["estimate"]["calls"] == 6
    assert row["estimate"]["prompt_tokens"] == row["prompt_tokens"] == plan.total["prompt_tokens"]
    assert row["read_tokens"] == plan.total["read_tokens"] == row["prompt_tokens"], "no prompt begins like another"
    assert row["estimate"]["new_tokens"] == plan.total["new_tokens"] and row["estimate"]["seconds"] is None
    assert row["stages"]["direct"]["budget"] == 6 * 16 and row["finished"] is True
    assert row["steps"] == max(one["new_tokens"] for one in kept), "one batch"
    assert row["dtype"] == "float32" and row["device"] == "cpu" and row["engine"] == "transformers"
    assert 0 < row["seconds"] < 60 and row["loading_seconds"] > 0 and row["begun"].startswith("20")

    (later,) = plans(study(tiny, "debias", n_cases=8))
    assert later.time_from == "1 run of this model on this machine" and later.total["seconds"] > 0
    (again,) = plans(study(tiny, "direct", n_cases=8))
    assert again.total["found"] == 6 and list(again.lengths_from) == ["the store"], "rather than another model"
    generate([study(tiny, "debias")])
    assert [list(run["stages"]) for run in runs(store)] == [["direct"], ["debias"]]
    later = runs(store)[1]
    assert later["estimate"]["seconds"] > 0
    shared = {one["stamp"]["shared_start"] for path in store.glob("*.jsonl") for one in map(json.loads, path.open())}
    system = max(shared)  # tokens that the six prompts of debias begin with
    assert later["read_tokens"] == pytest.approx(later["prompt_tokens"] - 5 * system, rel=0.02)


def test_a_run_that_makes_nothing_is_not_logged(store):
    assert generate([study("scripted", "direct")]).generated == 6
    assert generate([study("scripted", "direct")]).generated == 0
    assert len(runs(store)) == 1


def test_the_plan_of_a_half_filled_store_and_the_run_agree(store):
    generate([study("scripted", "extract", n_cases=1)])
    (plan,) = plans(study("scripted", "extract", "story_schema"))
    generate([study("scripted", "extract", "story_schema")])
    row = runs(store)[1]
    assert plan.total["calls"] == row["estimate"]["calls"] == row["calls"] == 12
    assert plan.total["found"] == 6


def test_a_run_stopped_half_way_leaves_what_it_made(store):
    class Failing(ScriptedEngine):
        def generate(self, calls):
            made = super().generate(calls)
            yield from (next(made) for _ in range(4))
            raise EngineError("no memory")

    one = study("scripted", "direct")
    place = Store(store)
    with (
        pytest.raises(EngineError),
        logged(Failing(), one.models[0], one.jobs, one.values, place) as engine,
    ):
        calls = [job.settings.apply(next(job.start())) for job in one.jobs]
        for index, completion in engine.generate(calls):
            place.put(key_of(engine.identity, calls[index]), completion, engine.identity)
    (row,) = runs(store)
    assert (row["calls"], row["finished"], row["estimate"]["calls"]) == (4, False, 6)


def test_an_engine_of_several_models_keeps_its_own_ways(store):
    class Two(ScriptedEngine):
        def identity_of(self, call):
            return {"model": call.stage}

    one = study("scripted", "direct")
    with logged(Two(), one.models[0], one.jobs, one.values, Store(store)) as engine:
        assert engine.identity["model"] == "scripted" and hasattr(engine, "identity_of")
        assert not hasattr(engine, "nothing_of_that_name")
    assert not runs(store), "nothing was made"


def test_torn_and_foreign_lines_are_left_out(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    row = dict.fromkeys(FIELDS, 0) | {"begun": "2026-01-02", "stages": {}, "estimate": None}
    (folder / "b.jsonl").mkdir()
    odd = [row | {"begun": 1}, row | {"stages": ["direct"]}, row | {"seconds": "9"}, row | {"stages": {"direct": 1}}]
    (folder / "c.jsonl").write_text("\n".join(map(json.dumps, odd)), encoding="utf-8")
    lines = [json.dumps(row), json.dumps(row | {"begun": "2026-01-01"}), "[1]", '{"stages": {}}', json.dumps(row)[:20]]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert [run["begun"] for run in runs(tmp_path)] == ["2026-01-01", "2026-01-02"]
    assert len(Store(tmp_path)) == 0, "the store reads no log as generations"


def test_batches_take_the_steps_of_their_longest_reply(store):
    """Two batches, of two rows and of three, and one cut short by the end: 5 + 9 + 4."""
    lengths, rows = [5, 2, 1, 9, 3, 4], [2, 2, 3, 3, 3, 3]

    class Batches(ScriptedEngine):
        def generate(self, calls):
            for index, (new, together) in enumerate(zip(lengths, rows, strict=True)):
                yield index, Completion("B", "stop", 7, new, {"engine": "e", "batch_rows": together})

    one = study("scripted", "direct")
    with logged(Batches(), one.models[0], one.jobs, one.values, Store(store)) as engine:
        list(engine.generate([next(job.start()) for job in one.jobs]))
    (row,) = runs(store)
    assert (row["steps"], row["new_tokens"], row["prompt_tokens"]) == (18, 24, 42)


def ran(prompt, steps, new, reading=1.0, writing=1.0, **other):
    """A run that took so many times what `BASE` says."""
    work = {"read_tokens": prompt, "steps": steps, "new_tokens": new}
    read, write = BASE.seconds(work, 1, 4)
    own = OWN | {"machine": machine()[0], "parameters": 1, "byte": 4} | other
    return own | work | {"seconds": reading * read + writing * write}


def test_seconds_are_operations_bytes_and_their_rates():
    """Two operations a parameter and token; one pass over the weights a step."""
    work = {"read_tokens": 3000, "steps": 200, "new_tokens": 1000}
    read, write = BASE.seconds(work, 0.5, 2)
    assert read == pytest.approx(2 * 0.5e9 * 3000 / 100e9)
    assert write == pytest.approx(0.5e9 * 2 * 200 / 10e9 + 2 * 0.5e9 * 1000 / 50e9)


def test_one_run_corrects_reading_and_writing_alike():
    fitted = corrected(BASE, [ran(1000, 100, 500, 3.0, 3.0)], OWN)
    assert (fitted.read, fitted.bandwidth, fitted.write) == pytest.approx((100 / 3, 10 / 3, 50 / 3))


def test_two_unlike_runs_tell_reading_from_writing():
    log = [ran(10000, 10, 20, 2.0, 0.5), ran(100, 1000, 3000, 2.0, 0.5)]
    fitted = corrected(BASE, log, OWN)
    assert fitted.read == pytest.approx(50, rel=0.1) and fitted.bandwidth == pytest.approx(20, rel=0.1)
    assert fitted.source == "2 runs of this model on this machine"


def test_other_models_tell_where_the_model_has_not_run_and_nothing_elsewhere_does():
    others = [ran(1000, 100, 500, 2.0, 2.0, model="other"), ran(1, 1, 1, 9.0, 9.0, model="odd", parameters=None)]
    fitted = corrected(BASE, others, OWN)
    assert fitted.read == pytest.approx(50) and fitted.source == "1 run of other models on this machine"
    own = ran(1000, 100, 500, 4.0, 4.0)
    assert corrected(BASE, [*others, own], OWN).read == pytest.approx(25)
    for other in ({"machine": "elsewhere"}, {"dtype": "bfloat16"}, {"engine": "vllm"}):
        assert corrected(BASE, [ran(1, 1, 1, 9.0, 9.0, **other)], OWN) is BASE


def test_rates_of_this_machine_follow_its_gpu(monkeypatch):
    monkeypatch.setattr(rates, "machine", lambda: ("x, NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"))
    assert rates_here("bfloat16") == gpu_rates("A100 80GB")
    monkeypatch.setattr(rates, "machine", lambda: ("x, Unheard Of", "Unheard Of"))
    assert not rates_here("bfloat16").source and rates_here("bfloat16").memory is None
    monkeypatch.setattr(rates, "machine", lambda: ("x", ""))
    assert rates_here("float16").read == rates_here("bfloat16").read > rates_here("float32").read


def test_bytes_of_a_parameter():
    assert [bytes_of(*way) for way in (("float32", None), ("bfloat16", None), ("bfloat16", "4bit"), (None, None))] == [
        4,
        2,
        0.5,
        0,
    ]


def test_gpus_and_packaged_rates_are_whole():
    from nsh.declared import read_data

    sheet = read_data("scale/gpus.yaml")
    assert all({*row} == {"memory", "tflops", "bandwidth", "source"} for row in sheet["gpus"].values())
    assert all(row["source"] == "unchecked" or row["source"].startswith("https://") for row in sheet["gpus"].values())
    assert all(0 < share < 1 for share in sheet["assumed"].values())
    assert {*read_data("scale/rates.yaml")["rates"]} == {"float32", "bfloat16"}
    assert resolve("SmolLM2-135M-Instruct").parameters == 0.135


def test_names_of_log_files_hold_a_writer_each(store):
    generate([study("scripted", "direct")])
    generate([study("scripted", "cot")])
    assert len({path.name for path in (Path(store) / "runs").iterdir()}) == 2
