"""Sections 1, 6 and 9 of `voices`: against printed numbers, the known answers of the release, and brute force."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from fabricated import THREE_VOICES, fabricated, random_answers
from made_cases import make_cases

from nsh.drawing import Drawing
from nsh.opening import open_page
from nsh.parts import beside_printed
from nsh.patterns import from_patterns
from nsh.printed import number, published
from nsh.sections import discussing, explaining


@pytest.fixture
def studied(tmp_path, monkeypatch):
    """Open a page of this chapter on the packaged samples, in a store of its own and without released files."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    for name in ("NSH_RELEASED_DIR", "NSH_MEDQA_TEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NSH_CACHE", str(tmp_path / "cache"))

    def opened(slug="voices-01-introduction", models=("scripted",), n_cases=4, **values):
        return open_page(slug, models=list(models), n_cases=n_cases, resamples=20, **values)

    return opened


def answers(rows, **options):
    return fabricated(rows, cases=[f"NS_00{number}" for number in range(1, len(rows) + 1)], **options)


def with_records(study, records):
    study.__dict__["records"] = records
    return study


def with_released(study, n=40, superset=0):
    """Give a study made-up released cases and answers of two models; the first few retellings hold the original."""
    cases = []
    for case in make_cases(n, voices=THREE_VOICES):
        original = f"A {case.id}-year-old. Why?"
        told = {voice: f"{original} I hurt, I do." for voice in THREE_VOICES}
        told["socioeconomic"] = f"I hurt. {original if len(cases) < superset else 'Why?'}"
        cases.append(replace(case, original=original, narratives=told))
    ids = [case.id for case in cases]
    rows = [fabricated(random_answers(n, 3, seed).tolist(), cases=ids, model=f"m{seed}") for seed in (1, 2)]
    study.__dict__ |= {"real_cases": cases, "real": pd.concat(rows, ignore_index=True)}
    return study


def test_the_counts_alone_leave_the_gap_and_say_what_is_missing(studied):
    """The mean gap of the seven released models: 0.0873, from the voice accuracies of `facts` Table 3."""
    numbers = explaining.released_section6(studied())
    table3 = published("facts_table3_b1").drop(columns="model").map(number).mean()
    assert numbers.to_dict() == pytest.approx(
        {"gap_overall": table3["omr_clinical"] - (table3["omr_socioeconomic"] + table3["omr_cultural"]) / 2}, abs=1e-3
    )
    assert "nsh data pull" in str(explaining.left_out(numbers))


def test_released_answers_give_the_subsets_by_brute_force(studied, monkeypatch, tmp_path):
    study = with_released(studied(), superset=7)
    file = tmp_path / "test.jsonl"
    file.write_text(json.dumps({"question": study.real_cases[3].original}))
    numbers = explaining.released_section6(study)
    assert "NSH_MEDQA_TEST" in str(explaining.left_out(numbers))
    monkeypatch.setenv("NSH_MEDQA_TEST", str(file))
    split = explaining.released_section6(study)
    first = [case.id for case in study.real_cases[:7]]
    means = study.real[study.real["case"].isin(first)].groupby("voice")["correct"].mean()
    assert numbers["gap_superset"] == pytest.approx(means["clinical"] - means["socioeconomic"])
    assert (split["n_test_split"], split["n_train_split"]) == (1, 39)
    assert "NSH_MEDQA_TEST" not in str(explaining.left_out(split))


def test_a_run_has_a_series_per_condition_and_none_without_a_model(studied):
    page = "voices-06-explanations"
    own = explaining.own_section6(studied(page, conditions=["direct", "rewrite"], shortened_cases=2))
    assert {name: numbers["n_overall"] for name, numbers in own.items()} == {"direct": 4, "rewrite": 2}
    assert explaining.own_section6(studied(page, models=[])) == {}


def test_a_share_is_of_a_gap_above_zero(studied):
    """`voices` §6: 0.085 of 0.096 is 89 per cent."""
    text = published("voices_text").set_index("id")["printed"].map(number)
    share = explaining._with_share(text[["gap_overall", "gap_age_explicit"]])["gap_age_explicit_share_pct"]
    assert round(share) == text["gap_age_explicit_share_pct"]
    for gap in (0.0, -0.1):
        left = explaining._with_share(pd.Series({"gap_overall": gap, "gap_age_explicit": 0.1}))
        assert list(left.index) == ["gap_overall", "gap_age_explicit"]


def test_only_subsets_of_the_same_questions_are_compared():
    before = pd.Series({"gap_overall": 0.1, "n_overall": 9, "gap_superset": 0.1, "n_superset": 3, "gap_strict": 0.1})
    after = pd.Series({"gap_overall": 0.2, "n_overall": 9, "gap_superset": 0.0, "n_superset": 2, "gap_strict": 0.0})
    assert explaining.lowered(before, after) == (0, 1)
    assert explaining.lowered(before, pd.Series({**after, "n_superset": 3})) == (1, 2)


def test_numbers_stand_beside_the_printed_in_their_decimals():
    ours = {"ours": pd.Series({"gap_superset_lo": -0.00049, "n_superset": 84})}
    lines = str(beside_printed(["gap_superset_lo", "n_superset", "n_strict"], ours, "Some")).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["0.000", "84", "computed"]
    table = str(explaining.subset_table({"superset": "appended", "strict": "strict"}, ours, "Some"))
    assert "84" in table and "undefined" in table and "nan" not in table


def test_figure_3_is_ordered_by_size_and_draws_what_is_printed_alone():
    """Sizes of `voices` §6: 1,000, 861, halves, 344, 299, 139, 106, 84."""
    label = explaining.subset_gaps({}).get_label()
    order = [part.partition(":")[0] for part in label.partition(". ")[2].split("; ")]
    assert order == [*explaining.FIGURE3.values()]
    ours = {"B1": pd.Series({"gap_superset": 0.05, "n_superset": 40.0, "n_overall": 50.0, "gap_overall": 0.1})}
    label = explaining.subset_gaps(ours, note="Few cases.").get_label()
    assert "original vignette appended: printed 6.8, B1 5.0 (n = 40); shorter half" in label
    assert label.endswith("Few cases.") and "nan" not in label
    assert Drawing(explaining.subset_gaps({**ours, "rewrite": ours["B1"]})).svg().count("n, rewrite") == 1


def test_the_case_shown_is_the_first_that_flips(studied):
    study = with_records(studied(), answers([[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 0]]))
    assert discussing.flipping_case(study).id == "NS_003"
    never = with_records(studied(), answers([[0, 1, 1], [1, 1, 1]]))
    assert discussing.flipping_case(never).id == "NS_001"


def test_a_case_is_told_escaped_with_every_answer_and_without_text_where_it_is_not_ours(studied):
    study = studied(models=["scripted"])
    study.cases[0].narratives["clinical"] = "<b>Hb $5</b>"
    study.__dict__["records"] = answers([[1, 1, 0]], letters=[["C", "C", None]])
    told = discussing.told_case(study)
    assert "&lt;b&gt;Hb $5&lt;/b&gt;" in told.html and "<b>" not in told.html
    assert "model answers C, right" in told.text and "model answers nothing, wrong" in told.text
    study.values["source"] = "released"
    hidden = discussing.told_case(study)
    assert "Hb" not in hidden.html and study.cases[0].question not in hidden.text
    assert "no model was run" in discussing.told_case(studied(models=[])).text


def test_the_worked_example_is_counted_per_voice_where_its_answers_are():
    records = pd.concat([fabricated([row], cases=["MQ_0153"], model=str(row)) for row in ([1, 0, 0], [1, 1, 0])])
    assert discussing.worked_answers(records).startswith("2 of 2 in the clinical, 0 of 2 in the cultural")
    assert "not on this machine" in discussing.worked_answers(from_patterns(["B1"]))


def test_more_errors_as_section_5_computes_them():
    """`voices` §5: from the mean accuracies 0.635, 0.546 and 0.531 follow 36.5% and 46.2% wrong, 26% more."""
    text = published("voices_text").set_index("id")["printed"].map(number)
    right = [[n < round(1000 * text[f"accuracy_{voice}"]) for voice in THREE_VOICES] for n in range(1000)]
    errors = discussing.more_errors(fabricated(right)).set_index("model")
    assert errors.loc["mean"].round(0).to_dict() == {"reference": 36, "marked": 46, "more": text["more_errors_pct"]}
    assert abs(errors.at["model", "marked"] - text["error_rate_marked_pct"]) < 0.1
    assert discussing.more_errors(fabricated([[1, 0, 1]]))["more"].isna().all()


def test_table_2_taken_apart_agrees_with_its_printed_differences():
    """Its column of changes in the marked voices, from unrounded numbers, is within a tenth and the rounding."""
    rows = discussing.levelling_rows().set_index("condition")
    printed = published("voice_table2_conditions").set_index("condition")
    for name in printed.index[1:]:
        assert abs(rows.at[name, "marked"] - number(printed.at[name, "delta_marked_points"])) < 0.16
        fell = 100 * (number(printed.at[name, "gap"]) - number(printed.at["B1 direct", "gap"]))
        assert abs(rows.at[name, "gap"] - fell) < 0.16
    assert rows.at["B3 debias", "how"] == "the unmarked voice falls"
    assert rows.at["Rewrite-then-Reason", "how"] == "marked voices gain, the unmarked falls"
    assert rows["reference"].iloc[-1] == pytest.approx(-0.6333, abs=1e-3)


def test_a_model_that_never_answers_is_left_out_of_the_levels():
    quiet = fabricated([[0, 0, 0]], model="quiet", condition="B3")
    talks = [fabricated([[1, 0, 1]], model="talks", condition=name) for name in ("B1", "B3")]
    both = pd.concat([quiet, *talks, fabricated([[1, 1, 1]], model="quiet", condition="B1")])
    assert discussing.mean_levels(both).values.tolist() == [[1, 0.5], [1, 0.5]]
    assert discussing.levelling(discussing.mean_levels(both))["how"].tolist() == ["no smaller gap"]


@pytest.mark.parametrize("voices", [("plain", "rural"), (*THREE_VOICES, "rural")])
def test_every_voice_by_brute_force(voices):
    right = random_answers(60, len(voices), 5)
    frame = discussing.one_telling(fabricated(right.tolist(), voices=voices), voices[0])
    one, every = right[:, 0].mean(), right.all(axis=1).mean()
    assert frame[["one", "every", "lost"]].values.tolist()[0] == pytest.approx([one, every, 100 * (1 - every / one)])


def test_ranks_and_losses_follow_the_packaged_counts():
    """Llama-3.2-3B-Instruct: 387 of its 665 are right in every voice, counts 119 + 88 + 71 + 387 in `patterns`."""
    frame = discussing.one_telling(from_patterns(["B1"])).set_index("model")
    row = frame.loc["Llama-3.2-3B-Instruct"]
    assert [row["one"], row["every"], row["rank_one"], row["rank_every"]] == [0.665, 0.387, 2, 4]
    assert pd.isna(discussing.one_telling(fabricated([[0, 1, 1]]))["lost"].iloc[0])


def test_what_differs_between_voices_is_counted():
    case = make_cases(1, voices=("plain", "rural"))[0]
    case = replace(case, narratives={"rural": "I am 40 years old, I say.", "plain": "A man."})
    table = discussing.bundle([case], "plain").set_index("property")
    assert list(table.columns) == ["plain", "rural"]
    assert table["rural"].tolist() == [7, 100, 100] and table["plain"].tolist() == [2, 0, 0]
