"""Deterministic audits on sentences of this project's own; what is invented in each was decided by hand."""

from contextlib import closing
from math import isnan, nan

import pytest
from made_cases import make_cases
from statsmodels.stats.proportion import proportion_confint

from nsh.audits import audit, audit_frame, audit_summary, intermediates
from nsh.cases import load_cases
from nsh.engines import ScriptedEngine
from nsh.errors import DataError
from nsh.jobs import jobs
from nsh.runner import run
from nsh.store import Store

STORY = "At fifty-three, I take ten milligrams of amlodipine; the nurse said my pulse was eighty-eight."
VIGNETTE = "A 53-year-old man takes amlodipine 10 mg. Pulse is 88/min."


def row(**changed) -> dict:
    """A row to audit."""
    made = dict(model="m", condition="rewrite", case="1", voice="cultural", narrative=STORY, intermediate=VIGNETTE)
    return made | changed


def test_a_faithful_rewrite_invents_nothing():
    found = audit(STORY, VIGNETTE, VIGNETTE)
    assert isnan(found["invented_age"]) and isnan(found["age_off"]) and not found["age_approximate"]
    assert (found["invented"], found["n_original"], found["negatives"]) == ([], 0, [])
    assert (found["n_values"], found["words"], found["compression"]) == (2, 10, 10 / 15)


@pytest.mark.parametrize(
    ("narrative", "invented"),
    [
        ("I am tired.", 45),
        ("I am in my late forties and tired.", 45),
        ("My toddler is well.", 45),
        ("At sixty, I am tired.", 45),
        ("I'm forty-five, and tired.", nan),
        ("My boy is 12 years old; I am 45, and tired.", nan),
    ],
)
def test_an_age_counts_as_invented_where_the_narrative_does_not_give_it(narrative, invented):
    found = audit(narrative, "A 45-year-old man is tired.", "A 53-year-old man is tired.")
    assert (found["invented_age"], found["age_off"]) == pytest.approx((invented, 53 - invented), nan_ok=True)


def test_how_far_off_an_age_is_needs_an_original_with_an_age():
    assert isnan(audit("I ache.", "A 45-year-old aches.")["age_off"])
    assert isnan(audit("I ache.", "A 45-year-old aches.", "A man aches.")["age_off"])


def test_an_approximate_age_in_the_rewrite_is_not_a_stated_age():
    assert isnan(audit("I ache.", "A woman in her forties aches.")["invented_age"])


@pytest.mark.parametrize(
    ("narrative", "approximate"),
    [
        ("I am in my late forties.", True),
        ("I am in my early forties.", False),
        ("I ache.", False),
        ("I'm 47, in my late forties.", False),
    ],
)
def test_an_exact_age_put_for_an_approximate_one_counts_as_invented_and_is_marked(narrative, approximate):
    """The rewrite prompt asks to state an age that is given only approximately as given (`voices` Appendix I)."""
    found = audit(narrative, "A 47-year-old woman aches.")
    assert found["age_approximate"] is approximate
    assert isnan(found["invented_age"]) is ("47" in narrative)


def test_invented_values_and_those_of_the_original():
    """Of four values 10 mg is given; of the three invented the original holds the blood pressure, in another place."""
    rewrite = "Takes amlodipine 10 mg. BP 120/80 mm Hg, temperature 98.6°F, potassium 4 mEq/L."
    found = audit("I take 10 mg.", rewrite, "BP 120/80, and temperature is 37.2 C.")
    assert [value.value for value in found["invented"]] == ["120/80", "37", "4"]
    assert (found["n_values"], found["n_invented"], found["n_original"]) == (4, 3, 1)
    assert audit("I take 10 mg.", rewrite)["n_original"] is None


@pytest.mark.parametrize(
    ("rewrite", "name"),
    [
        ("He has no known drug allergies.", "allergies"),
        ("NKDA.", "allergies"),
        ("No significant past medical history.", "medical history"),
        ("Past medical history is unremarkable.", "medical history"),
        ("No prior surgeries.", "surgical history"),
        ("Family history is noncontributory.", "family history"),
        ("She denies any recent travel.", "travel"),
        ("He denies tobacco use.", "tobacco"),
        ("She takes no medications.", "medications"),
    ],
)
def test_templated_negatives(rewrite, name):
    assert name in audit("My knee hurts.", rewrite)["negatives"]
    told = "My family asked of allergies, history, an operation, a trip, smoking and pills."
    assert audit(told, rewrite)["negatives"] == []


def test_an_empty_intermediate_or_narrative():
    found = audit(STORY, "")
    assert isnan(found.pop("invented_age")) and isnan(found.pop("age_off")) and found.pop("n_original") is None
    assert not any(found.values())
    assert isnan(audit("", "")["compression"])


def test_the_frame_has_one_row_per_intermediate():
    frame = audit_frame([row(), row(voice="clinical", intermediate=VIGNETTE + " BP 120/80.", original="BP 120/80.")])
    assert frame["n_invented"].tolist() == [0, 1]
    assert frame["n_original"].astype(object).where(frame["n_original"].notna(), None).tolist() == [None, 1]
    assert frame.columns.tolist() == [
        *("model", "condition", "case", "voice", "words", "n_values", "n_invented", "n_negatives", "n_original"),
        *("compression", "invented_age", "age_off", "age_approximate"),
    ]


def test_a_row_without_a_field_is_named():
    with pytest.raises(DataError, match="row 2, field 'narrative'"):
        audit_frame([row(), row(narrative=None)])
    with pytest.raises(DataError, match="audits lack the column 'prompt'"):
        audit_summary(audit_frame([row()]), by=["prompt"])


def test_the_summary_against_counting(tmp_path):
    """Five rewrites by hand: ages invented in 2 (8 and 3 years off), values in 2, either in 3."""
    rewrites = [
        VIGNETTE,
        "A 45-year-old man.",
        "A 50-year-old man, BP 120/80.",
        "A man, BP 120/80, potassium 4 mEq/L.",
        "A man with no known allergies.",
    ]
    original = "A 53-year-old man, BP 120/80."
    rows = [row(case=str(i), intermediate=text, original=original) for i, text in enumerate(rewrites)]
    table = audit_summary(audit_frame(rows)).set_index("measure")
    assert table.loc["put for an approximate age", "value"] == 0
    shares = ["invented age", "invented value", "invention", "templated negative", "invented value in the original"]
    assert table.loc[shares, "value"].tolist() == [0.4, 0.4, 0.6, 0.2, 2 / 3]
    assert table.loc[shares, "n"].tolist() == [5, 5, 5, 5, 3]
    wilson = proportion_confint(3, 5, method="wilson")
    assert tuple(table.loc["invention", ["lo", "hi"]]) == pytest.approx(wilson, rel=1e-12)
    assert (table.loc["years off", "value"], table.loc["years off", "n"]) == (5.5, 2)
    assert table.loc["words", "value"] == (10 + 3 + 5 + 7 + 6) / 5
    assert table.loc["compression", "value"] == 6 / 15
    assert (table["condition"] == "rewrite").all() and (table["note"] == "").all()


def test_n_0_is_said_and_not_a_zero():
    table = audit_summary(audit_frame([row()])).set_index("measure")
    for measure in ("years off", "invented value in the original"):
        assert (table.loc[measure, "n"], table.loc[measure, "note"]) == (0, "n = 0")
        assert table.loc[[measure], "value"].isna().all()
    assert audit_summary(audit_frame([])).empty


def test_groups_of_any_columns_and_any_voices():
    voices = ("clinical", "socioeconomic", "cultural", "rural", "urban")
    frame = audit_frame(row(voice=voice, model=model) for voice in voices for model in "ab")
    assert audit_summary(frame)["voice"].unique().tolist() == list(voices)
    assert set(audit_summary(frame, by=("model",)).query("measure == 'words'")["n"]) == {5}
    other = audit_summary(frame.sample(frac=1, random_state=1)).sort_values(["voice", "measure"])
    same = audit_summary(frame).sort_values(["voice", "measure"])
    assert other.reset_index(drop=True).equals(same.reset_index(drop=True))


def test_the_rewrites_of_a_run_are_audited(tmp_path):
    engine = ScriptedEngine(reply=lambda call: "B" if call.letters else "A 45-year-old with pulse 88/min.")
    with closing(Store(tmp_path)) as store:
        outcomes, _ = run(jobs(make_cases(2), "rewrite"), engine, store)
    frame = audit_frame(intermediates(outcomes, "scripted"))
    assert len(frame) == 6
    assert set(frame["model"]) == {"scripted"} and set(frame["condition"]) == {"rewrite"}
    assert frame["invented_age"].tolist() == [45] * 6
    assert frame["n_invented"].tolist() == [1] * 6


def test_the_retellings_of_the_samples_invent_no_measured_value():
    """They were written to the facts of their originals, so a retelling audited as an intermediate is clean."""
    n_values = 0
    for case in load_cases("samples"):
        for voice, narrative in case.narratives.items():
            found = audit(case.original, narrative, case.original)
            assert not found["invented"], (case.id, voice)
            n_values += found["n_values"]
    assert n_values > 200
