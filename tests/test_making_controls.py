"""The control voices: texts that keep every fact, and records in five voices through every measure by brute force."""

import json
import re
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import mean

import nbformat
import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, random_answers
from test_samples import FORBIDDEN, LABELS, MONEY, VOICES, fact_problems, fold, phrases, tokens

from nsh.accuracies import OVERALL, accuracy
from nsh.agreement import kappa, mcnemar
from nsh.cases import check, load_cases
from nsh.declared import pages
from nsh.gaps import anchoring
from nsh.making.voices import register
from nsh.measures import measures
from nsh.opening import open_page
from nsh.pooled import pooled_effect
from nsh.retellings import narrative_person
from nsh.sections.controls import MAKE, STEPS, pooled, step_rows, steps
from nsh.sections.workshop import facts_kept

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "book" / "making" / "cases.jsonl"
CONTROLS = ("neutral", "third_person")
FIVE = (*VOICES, *CONTROLS)
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
BY_DENIAL = (
    "NS_006",
    "clinical",
    "vaccinations",
)  # right behind "cough and vomiting are denied": a limit of the search


def words(text):
    """Words divided at white space, as the papers count."""
    return len(text.split())


# ---------------------------------------------------------------- the texts


def test_the_cases_are_the_first_six_samples_with_two_voices_more():
    samples = load_cases("samples", 6)
    assert [row["id"] for row in CASES] == [case.id for case in samples]
    for row, case in zip(CASES, samples, strict=True):
        assert {voice: row["narratives"][voice] for voice in VOICES} == dict(case.narratives)
        assert (row["original"], row["options"], row["gold"]) == (case.original, case.options, case.gold)
        assert [fact["value"] for fact in row["facts"]] == [fact["value"] for fact in case.meta["facts"]]
        assert tuple(row["narratives"]) == FIVE and "by hand" in row["provenance"]
        assert "no model generated them" in row["provenance"]


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["id"])
def test_a_control_keeps_every_fact_and_number_and_says_nothing_that_the_samples_may_not(row):
    assert fact_problems(row) == []
    gold = " ".join(tokens(row["options"][row["gold"]]))
    for voice in CONTROLS:
        text = row["narratives"][voice]
        assert not [
            hit for rule in (*FORBIDDEN, *LABELS) if (hit := re.search(rf"(?<![\w$£€])(?:{rule})(?!\w)", fold(text)))
        ]
        assert f" {gold} " not in f" {' '.join(tokens(text))} " and text.endswith("?")
        assert narrative_person(text) == "third" and not re.search(r"\b(I|[Mm]y|[Ww]e|[Yy]our)\b", text)
        assert not phrases(text.replace(row["question"], ""), 10) & phrases(row["original"], 10)


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["id"])
def test_the_neutral_voice_is_as_long_as_the_marked_ones_and_has_no_register(row):
    told = row["narratives"]
    assert words(told["neutral"]) == pytest.approx(
        mean(words(told[v]) for v in ("socioeconomic", "cultural")), rel=0.05
    )
    assert told["neutral"].endswith(row["question"])
    assert not re.search(rf"\b({MONEY}|like a|as if|scared|worried|afraid)\b", fold(told["neutral"]))


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["id"])
def test_the_third_person_changes_the_person_and_little_else(row):
    told = row["narratives"]
    assert words(told["third_person"]) == pytest.approx(words(told["socioeconomic"]), rel=0.05)
    ours, theirs = (set(tokens(told[voice])) for voice in ("third_person", "socioeconomic"))
    assert len(ours & theirs) / len(ours) > 0.8
    assert narrative_person(told["socioeconomic"]) == "first"


def test_openings_vary_and_no_two_cases_share_eight_words():
    for voice in CONTROLS:
        assert len({" ".join(tokens(row["narratives"][voice])[:3]) for row in CASES}) == len(CASES)
    runs = [set().union(*(phrases(text, 8) for text in row["narratives"].values())) for row in CASES]
    assert not any(one & other for one, other in combinations(runs, 2))


def test_the_check_and_the_facts_of_the_page_find_nothing():
    assert check(FILE).splitlines()[:2] == ["cases: 6", "options: ABCD in 6"] and "warning" not in check(FILE)
    kept = facts_kept(load_cases(FILE))
    assert kept.loc[kept["missing"] != "–", ["case", "voice", "missing"]].to_numpy().tolist() == [list(BY_DENIAL)]
    assert set(kept["invented"]) == {"–"}


# ---------------------------------------------------------------- a voice from outside, and the packaged controls


def test_the_registers_are_what_the_hand_written_texts_are():
    assert [register(name).person for name in CONTROLS] == ["third", "third"]
    assert [register(name).temperature for name in CONTROLS] == [0.9, 0.9]
    assert register("third_person").words == register("socioeconomic").words


def test_a_voice_from_outside_the_package_is_read_and_measured(tmp_path, monkeypatch):
    """One file makes a register; a file of cases that has its voice goes through a page."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    text = (
        "like: neutral\nname: voicemail\nlabel: on a voicemail\nperson: first\ninstruction: |\n  Spoken in a hurry.\n"
    )
    (tmp_path / "voicemail.yaml").write_text(text)
    made = register(tmp_path / "voicemail.yaml")
    assert (made.name, made.person, made.temperature, made.instruction) == (
        "voicemail",
        "first",
        register("neutral").temperature,
        "Spoken in a hurry.\n",
    )
    rows = [row | {"narratives": row["narratives"] | {made.name: f"Hi, me again. {row['original']}"}} for row in CASES]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    study = open_page("beyond-neutral", source=str(tmp_path / "cases.jsonl"), models=["scripted"], resamples=20)
    assert set(study.records["voice"]) == {*FIVE, made.name}
    means = study.records.groupby("voice")["correct"].mean()
    found = anchoring(study.records, **study.statistics)["gap"].item()
    assert found == pytest.approx(means["clinical"] - means.drop("clinical").mean())


# ---------------------------------------------------------------- records in several voices through every measure


@pytest.fixture(scope="module", params=[4, 5], ids=["four voices", "five voices"])
def several(request):
    """40 made-up cases of two models in four or five voices."""
    voices = FIVE[: request.param]
    frames = [fabricated(random_answers(40, request.param, seed), voices=voices, model=f"m{seed}") for seed in (1, 2)]
    return pd.concat(frames, ignore_index=True)


def right(records, model):
    """Right and wrong by case and voice, counted from the rows one by one."""
    rows = zip(records["model"], records["case"], records["voice"], records["correct"], strict=True)
    table = {}
    for name, case, voice, correct in rows:
        if name == model:
            table.setdefault(case, {})[voice] = int(correct)
    return list(table.values())


def test_accuracy_gap_and_nag_of_several_voices(several):
    scores = accuracy(several).set_index(["model", "voice"])["accuracy"]
    found = anchoring(several, resamples=20, permutations=20).set_index("model")
    for model in ("m1", "m2"):
        table = right(several, model)
        means = {voice: sum(row[voice] for row in table) / len(table) for voice in table[0]}
        assert scores[model].drop(OVERALL).to_dict() == pytest.approx(means)
        marked = [value for voice, value in means.items() if voice != "clinical"]
        assert found.at[model, "gap"] == pytest.approx(means["clinical"] - sum(marked) / len(marked))
        assert found.at[model, "nag"] == pytest.approx(means["clinical"] - min(marked))


def test_mcnemar_and_kappa_of_every_pair_of_several_voices(several):
    tests = mcnemar(several).set_index(["model", "voice_a", "voice_b"])
    agreed = kappa(several, on="correct").set_index(["model", "voice_a", "voice_b"])
    voices = list(dict.fromkeys(several["voice"]))
    assert len(tests) == len(agreed) == 2 * comb(len(voices), 2)
    for (model, a, b), test in tests.iterrows():
        table = right(several, model)
        lost, gained = (sum(row[x] > row[y] for row in table) for x, y in ((a, b), (b, a)))
        assert (test["b"], test["c"]) == (lost, gained)
        tail = sum(comb(lost + gained, k) for k in range(min(lost, gained) + 1)) / 2 ** (lost + gained)
        assert test["p_exact"] == pytest.approx(min(1, 2 * tail))
        same = sum(row[a] == row[b] for row in table) / len(table)
        p, q = (sum(row[x] for row in table) / len(table) for x in (a, b))
        chance = p * q + (1 - p) * (1 - q)
        assert agreed.at[(model, a, b), "kappa"] == pytest.approx((same - chance) / (1 - chance))


def test_the_pooled_effect_of_several_voices_is_the_mean_change(several):
    """With every question in every voice, the effect within question and model is the mean over models of −gap."""
    changes = []
    for row in [*right(several, "m1"), *right(several, "m2")]:
        marked = [value for voice, value in row.items() if voice != "clinical"]
        changes.append(sum(marked) / len(marked) - row["clinical"])
    found = pooled_effect(several)
    assert found.effect == pytest.approx(100 * np.mean(changes))
    assert (found.n_questions, found.n_models, found.n_records) == (40, 2, len(several))


def test_all_measures_take_several_voices_and_dss_is_left_out(several):
    table = measures(several)
    assert table["model"].tolist() == ["m1", "m2"]
    gaps = anchoring(several, resamples=1, permutations=1)["gap"]
    assert table["gap"].tolist() == pytest.approx(gaps.tolist())
    assert "dss" not in table  # fabricated records hold no replies, so there are no scores of them


# ---------------------------------------------------------------- the steps of the page


def test_the_three_steps_add_up_to_the_fourth(several):
    rows = step_rows(several).set_index(["model", "step"])
    have = [pair for pair in STEPS if {*pair} <= set(several["voice"])]
    assert rows.index.get_level_values("step").unique().tolist() == [" → ".join(pair) for pair in have]
    for (model, step), row in rows.iterrows():
        a, b = step.split(" → ")
        table = right(several, model)
        assert row["lost"] == sum(case[a] > case[b] for case in table)
        assert row["effect"] == pytest.approx(100 * sum(case[b] - case[a] for case in table) / 40)
    if len(have) == 4:
        effects = rows["effect"].unstack()[[" → ".join(pair) for pair in STEPS]]
        assert effects.iloc[:, :3].sum(axis=1).to_numpy() == pytest.approx(effects.iloc[:, 3].to_numpy())


def test_another_unmarked_voice_turns_no_step_round(several):
    columns = ["model", "step", "lost", "gained"]
    turned = step_rows(several, "neutral").sort_values(columns[:2])[columns]
    assert turned.to_numpy().tolist() == step_rows(several).sort_values(columns[:2])[columns].to_numpy().tolist()


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The page's own run, from canned answers."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return open_page("beyond-neutral", models=["scripted"], resamples=20)


def test_the_page_runs_its_five_voices_from_the_checkout(study):
    assert pages()["beyond-neutral"].default("source") == "book/making/cases.jsonl"
    assert set(study.records["voice"]) == set(FIVE) and len(study.records) == 30
    assert len(steps(study).text.splitlines()) == 1 + len(STEPS)
    told = pooled(study).text
    assert all(voice in told for voice in (*FIVE[1:], "all marked"))


def test_without_a_run_or_without_the_voices_the_page_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    assert steps(open_page("beyond-neutral", models=[])) is None is pooled(open_page("beyond-neutral", models=[]))
    own = {"source": str(FILE.with_name("own.jsonl")), "models": ["scripted"], "resamples": 20}
    assert steps(open_page("beyond-neutral", **own)).text == MAKE


def test_the_page_says_whose_the_voices_are_and_how_to_generate_them():
    text = "\n".join(cell.source for cell in nbformat.read(ROOT / "notebooks" / "beyond-neutral.ipynb", 4).cells)
    for said in (
        "written by hand",
        "no clinician checked",
        "nsh data retell released --voice neutral.yaml --model Qwen2.5-7B-Instruct --dtype bfloat16",
        "--out neutral.jsonl",
        "-p source=neutral.jsonl",
    ):
        assert said in text


def test_the_pages_own_register_is_neutral_at_the_length_of_the_released_marked_voices(tmp_path):
    """`voices` Table 1: originals of 137 words, marked retellings of 261 and 301."""
    cell = nbformat.read(ROOT / "notebooks" / "beyond-neutral.ipynb", 4).cells[24].source
    written = re.search(r"^printf '(.*)' > neutral\.yaml$", cell, re.MULTILINE)[1]
    (tmp_path / "neutral.yaml").write_text(written.replace("\\n", "\n"), encoding="utf-8")
    made = register(tmp_path / "neutral.yaml")
    assert made.words == (round(261 / 137, 1), round(301 / 137, 1))
    assert replace(made, words=register("neutral").words) == register("neutral")
