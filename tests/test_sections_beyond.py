"""The pages beyond the papers: ranks against pandas, readings, the guard on made rewrites, and fabricated voices."""

from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from made_cases import make_cases
from scipy.stats import pearsonr, ttest_1samp
from test_notebooks import NOTEBOOKS

from nsh.accuracies import accuracy
from nsh.agreement import mcnemar
from nsh.engines import ScriptedEngine
from nsh.gaps import anchoring
from nsh.guard import STRUCK
from nsh.jobs import jobs
from nsh.measures import measures
from nsh.patterns import from_patterns
from nsh.planner import discordance, power
from nsh.printed import number, published
from nsh.records import records_frame
from nsh.runner import run
from nsh.sections import beyond, planning
from nsh.sensitivity import sensitivity
from nsh.store import Store

REPLIES = {
    "rewrite": "A 97-year-old with a pulse of 88/min and knee pain.",
    "rewrite_again": "A patient with a pulse of 88/min and knee pain.",
}


@pytest.fixture(scope="module")
def real():
    return from_patterns(["B1"])


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A study whose model always invents an age and a pulse, and takes only the age back."""
    engine = ScriptedEngine(reply=lambda call: REPLIES.get(call.stage, "C"))
    outcomes, _ = run(jobs(make_cases(2), "guarded_rewrite"), engine, Store(tmp_path_factory.mktemp("store")))
    model = SimpleNamespace(name="made")
    own = {"models": [model], "cases": make_cases(2), "values": {"source": "samples"}}
    return SimpleNamespace(outcomes=lambda model: outcomes, **own)


def test_the_printed_dss_stands_beside_the_measures(real):
    table = beyond.with_printed_dss(measures(real)).set_index("model")
    printed = published("facts_table3_b1").set_index("model")["dss"]
    assert table["dss"].to_dict() == printed.map(number).to_dict()


def test_a_model_that_the_paper_lacks_has_no_dss():
    frame = pd.DataFrame({"model": ["m"], "condition": ["B1"]})
    assert beyond.with_printed_dss(frame)["dss"].isna().all()


def test_ranks_are_those_of_the_sorted_values(real):
    table = beyond.with_printed_dss(measures(real))
    told = beyond.rank_rows(table).get_label()
    for name, head, worst_first in (("gap", "gap", False), ("nse", "NSE", False), ("dss", "DSS", True)):
        order = table.sort_values(name, ascending=worst_first)["model"].tolist()
        for rank, model in enumerate(order, start=1):
            assert f"{head} {rank}" in told.split(f"{model}: ")[1].split(";")[0]


def test_a_measure_undefined_for_a_model_is_not_ranked():
    frame = pd.DataFrame({"model": ["a", "b"], "gap": [0.1, 0.2], "nse": [0.3, np.nan]})
    assert "NSE" not in beyond.rank_rows(frame).get_label()


def answers(texts, model="m"):
    """Records of replies as stored by the rule of the first letter, one case per row, right answer B."""
    rows = []
    for case, replies in enumerate(texts):
        for voice, text in zip(("clinical", "cultural"), replies, strict=True):
            letter = next((letter for letter in text if letter in "AB"), None)
            row = {"model": model, "condition": "direct", "case": f"{case}", "voice": voice, "gold": "B", "text": text}
            rows.append(row | {"letter": letter, "status": "ok" if letter else "unparsed", "correct": letter == "B"})
    return records_frame(rows)


@pytest.fixture(scope="module")
def read():
    records = answers([("B", "A patient like this has gout: B."), ("B", "none"), ("B", "B")])
    return sensitivity(records, {f"{case}": {"A": "Lyme", "B": "Gout"} for case in range(3)})


def test_one_column_per_reading_in_one_order(read):
    wide = beyond.wide_readings(read, ["gap", "nag"])
    assert list(wide) == list(beyond.READINGS.values())
    assert wide.index.tolist() == [("m", "gap"), ("m", "nag")]
    gaps = wide.loc["m", "gap"]
    assert gaps["as stored"] == pytest.approx(2 / 3)  # cultural: A, nothing, B
    assert gaps["our parser"] == pytest.approx(1 / 3)  # the article is no answer
    assert gaps["our parser, left out"] == pytest.approx(0)


def test_the_largest_change_is_named(read):
    most = beyond.largest_change(read, "gap")
    assert most["model"] == "m" and most["reading"] == "our parser, left out"
    assert (most["stored"], most["value"]) == pytest.approx((2 / 3, 0))


@pytest.mark.parametrize("frame", [None, pd.DataFrame({"measure": [], "change": []})])
def test_without_readings_nothing_moves(frame):
    nothing = {"model": "no model", "reading": "any", "stored": "no value", "value": "no value"}
    assert beyond.largest_change(frame, "nag") == nothing


def test_the_readings_as_a_figure(read):
    told = beyond.reading_rows(read, "gap").get_label()
    assert told.startswith("GAP (percentage points). m: as stored 66.7") and "our parser, left out 0.0" in told


def test_the_guard_counts_what_a_correction_takes_back(guarded):
    counts = beyond.guard_counts(guarded)
    assert set(counts["first"]) == {2} and set(counts["second"]) == {1}
    assert len(counts) == sum(len(case.narratives) for case in make_cases(2))
    assert "first rewrite 2.00, second rewrite 1.00" in beyond.guard_rows(counts).get_label()


def test_audits_before_and_after_the_guard(guarded):
    frame = beyond.guard_audits(guarded).set_index("condition")
    assert frame.loc["first rewrite", "n_invented"].eq(1).all()  # the pulse; an age is counted apart
    assert frame.loc["first rewrite", "invented_age"].eq(97).all()
    assert frame.loc["guarded rewrite", "n_invented"].eq(0).all()
    assert frame.loc["guarded rewrite", "invented_age"].isna().all()


def test_the_example_shows_the_rewrite_and_what_is_struck_out(guarded):
    text = beyond.guard_example(guarded).text
    assert REPLIES["rewrite"] in text and "97-year-old; 88/min" in text and text.count(STRUCK) == 2


@pytest.mark.parametrize("source", ["released", "hf:someone/data"])
def test_no_text_of_a_borrowed_data_set_is_shown(guarded, source):
    borrowed = SimpleNamespace(**{**vars(guarded), "values": {"source": source}})
    assert REPLIES["rewrite"] not in beyond.guard_example(borrowed).text


def test_no_run_no_example():
    study = SimpleNamespace(models=[], values={"source": "samples"})
    assert "no model was run" in beyond.guard_example(study).text
    assert beyond.guard_counts(study).empty and beyond.guard_audits(study).empty


@pytest.mark.parametrize("voice", [beyond.REGISTER, beyond.GENERATION])
def test_a_fabricated_voice_is_as_accurate_as_the_voices_it_is_made_from(real, voice):
    """Over 7,000 answers the standard error is below 0.006."""
    made = beyond.fabricated_voice(real, voice, seed=3)
    like = ["clinical"] if voice == beyond.REGISTER else ["socioeconomic", "cultural"]
    assert made["correct"].mean() == pytest.approx(real[real["voice"].isin(like)]["correct"].mean(), abs=0.02)
    assert set(made["source"]) == {"fabricated"} and set(made["voice"]) == {voice}


def test_a_fabricated_voice_is_no_copy_and_keeps_four_in_five(real):
    made = beyond.fabricated_voice(real, beyond.REGISTER, seed=3).set_index("case")["correct"]
    same = (made == real[real["voice"] == "clinical"].set_index("case")["correct"]).mean()
    assert 0.8 < same < 0.95  # what is taken from another case may be the same by chance


def test_the_same_seed_gives_the_same_voice_whatever_stands_beside_the_model(real):
    one = real[real["model"] == "gemma-3-12b-it"]
    alone = beyond.fabricated_voice(one, beyond.GENERATION, seed=5)["correct"]
    beside = beyond.fabricated_voice(real, beyond.GENERATION, seed=5).query("model == 'gemma-3-12b-it'")["correct"]
    other = beyond.fabricated_voice(one, beyond.GENERATION, seed=6)["correct"]
    assert alone.tolist() == beside.tolist() != other.tolist()


def test_a_case_without_every_voice_is_left_out():
    records = fabricated([[1, 0, 1], [1, None, 1]])
    assert beyond.fabricated_voice(records, beyond.GENERATION)["case"].tolist() == ["case 0"]


def test_every_measure_takes_a_fourth_voice():
    records = fabricated(random_answers(50, 3, seed=4))
    four = pd.concat([records, beyond.fabricated_voice(records, beyond.REGISTER)], ignore_index=True)
    assert accuracy(four)["voice"].nunique() == 5  # four voices and overall
    means = four.groupby("voice")["correct"].mean()
    gap = means["clinical"] - means.drop("clinical").mean()
    assert anchoring(four, resamples=10, permutations=10)["gap"].item() == pytest.approx(gap)
    assert len(mcnemar(four)) == 6


def test_power_curves_draw_what_the_planner_gives(real):
    known = discordance(real)
    told = planning.power_curves(known, [0.05, 0.1], [100, 1000], draws=500, seed=1).get_label()
    for gap in (0.05, 0.1):
        share = 100 * power(known, 1000, gap, draws=500, seed=1).power
        assert f"1,000 questions {share:.0f}%" in told.split(f"gap of {100 * gap:g} points")[1].split(";")[0]


def test_the_half_width_is_that_of_the_t_interval():
    gaps = pd.Series([0.05, 0.08, 0.12, 0.07])
    lo, hi = ttest_1samp(gaps, 0).confidence_interval()
    assert planning.models_needed(gaps, [4])["half_width_points"].item() == pytest.approx(50 * (hi - lo))


def test_four_studies_in_five_find_the_least_correlation():
    """Brute force: 4,000 studies of 50 models with that true correlation; the standard error is 0.006."""
    least = planning.models_needed(pd.Series([0.1, 0.2]), [50])["least_r"].item()
    x, noise = np.random.default_rng(7).normal(size=(2, 4000, 50))
    found = pearsonr(x, least * x + (1 - least**2) ** 0.5 * noise, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("name", ["measures", "parser", "planner", "guarded", "neutral"])
def test_pages_say_that_they_are_beyond_the_papers(name):
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOKS / f"beyond-{name}.ipynb", 4).cells)
    assert "Beyond the papers" in text and "{cite}`" in text
    assert name != "neutral" or text.count("FABRICATED") >= 5
