"""Judges: what they are asked, how strictly their replies are read, files of results, and agreement by brute force."""

import json
from contextlib import closing
from math import isnan

import pandas as pd
import pytest
from made_cases import make_cases
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from nsh import prompts
from nsh.cases import Case
from nsh.engines import Completion, ScriptedEngine
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.jobs import Job, jobs
from nsh.judgements import COLUMNS, judge_agreement, judgements, load_judgements
from nsh.judging import against_narrative, judge_added, judge_intermediate, read_reply
from nsh.runner import run
from nsh.store import Store

CASE = Case(
    "1",
    "Which?",
    {"A": "Gout", "B": "Lyme"},
    "B",
    {"clinical": "Knee {pain}.", "cultural": "My knee burns."},
    "Knee pain for 3 days.",
)
ADDED = {"added": [{"content": "a tick bite", "relevant": True}, {"content": "a garden", "relevant": False}]}
KEPT = {"facts": [{"fact": "knee pain", "kept": True}, {"fact": "burning", "kept": False}]}


def judged(reply: str, todo: list[Job], folder, **named) -> pd.DataFrame:
    """Judgements of a judge that always gives the same reply."""
    with closing(Store(folder)) as store:
        outcomes, _ = run(todo, ScriptedEngine(reply=lambda call: reply), store)
    return judgements(outcomes, "J", **named)


@pytest.mark.parametrize("name", ["judge_added", "judge_intermediate"])
def test_the_prompts_say_that_they_are_reconstructed(name):
    assert prompts.template(name)["status"] == "reconstructed"
    assert prompts.template(name)["source"].startswith("voices, Appendix ")


def test_a_judge_sees_original_and_retelling_and_is_asked_for_no_letter():
    call = next(judge_added(CASE, "clinical"))
    assert "ORIGINAL VIGNETTE:\nKnee pain for 3 days.\n\nRETELLING:\nKnee {pain}.\n" in call.messages[1][1]
    assert call.letters == ""


def test_an_intermediate_is_judged_against_its_narrative():
    call = next(judge_intermediate(against_narrative(CASE, "cultural", "Knee pain."), "cultural"))
    assert "PATIENT NARRATIVE:\nMy knee burns.\n\nINTERMEDIATE:\nKnee pain.\n" in call.messages[1][1]
    assert "3 days" not in str(call.messages)


def test_a_case_without_an_original_is_named():
    with pytest.raises(DataError, match="case 000 has no original vignette"):
        next(judge_added(make_cases(1)[0], "clinical"))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ADDED),
        f"```json\n{json.dumps(ADDED)}\n```",
        f"Sure!\n```\n{json.dumps(ADDED, indent=1)}\n```\nHope this helps.",
        '{"added": [{"content": "use ``` here", "relevant": true}, {"content": "x", "relevant": false}]}',
    ],
)
def test_replies_that_are_read(text):
    assert read_reply(text, facts=False) == {"added": [True, False]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing was added.",
        '{"added": [{"content": "a fever", "relevant": true}',
        '{"added": [{"content": "a fever"}]}',
        '{"added": [{"content": "a fever", "relevant": "yes"}]}',
        '{"added": [{"content": "a fever", "relevant": 1}]}',
        '{"added": "none"}',
        '{"added": ""}',
        '{"added": {}}',
        '{"added": null}',
        '{"added": ["a fever"]}',
        '{"added": [], "added": []}',
        "{'added': []}",
        "[]",
        "[" * 100_000,
        json.dumps(KEPT),
    ],
)
def test_replies_that_are_not_guessed_at(text):
    assert read_reply(text, facts=False) is None


def test_an_audit_of_an_intermediate_needs_both_lists():
    assert read_reply(json.dumps(ADDED | KEPT), facts=True) == {"added": [True, False], "facts": [True, False]}
    assert read_reply(json.dumps(ADDED), facts=True) is None


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        (Completion(json.dumps(ADDED)), "ok"),
        (Completion('{"added": ['), "unparsed"),
        (Completion('{"added": [', "length"), "truncated"),
        (Completion(" "), "empty"),
        (Completion("I cannot."), "unparsed"),
    ],
)
def test_status_of_a_reply(completion, status):
    steps = judge_added(CASE, "cultural")
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(completion)
    assert (end.value.value.status, end.value.value.letter) == (status, None)


def test_a_run_of_a_judge_on_retellings(tmp_path):
    frame = judged(json.dumps(ADDED), jobs([CASE], judge_added), tmp_path)
    assert frame.columns.tolist() == list(COLUMNS)
    assert frame[["case", "voice", "judge", "n_added", "n_relevant", "status"]].values.tolist() == [
        ["1", "clinical", "J", 2, 1, "ok"],
        ["1", "cultural", "J", 2, 1, "ok"],
    ]
    assert frame[["n_missing", "recall"]].isna().all(axis=None)


def test_a_run_of_a_judge_on_intermediates(tmp_path):
    todo = jobs([against_narrative(CASE, "cultural", "Knee pain.")], judge_intermediate)
    (row,) = judged(json.dumps(ADDED | KEPT), todo, tmp_path, model="m", condition="rewrite").to_dict("records")
    assert row == {
        **{"model": "m", "condition": "rewrite", "case": "1", "voice": "cultural", "judge": "J"},
        **{"n_added": 2, "n_relevant": 1, "n_missing": 1, "recall": 0.5, "status": "ok"},
    }


def test_an_unread_reply_is_counted_and_has_no_numbers(tmp_path):
    frame = judged("I cannot.", jobs([CASE], judge_added), tmp_path)
    assert frame["status"].tolist() == ["unparsed", "unparsed"]
    assert frame[["n_added", "n_relevant", "n_missing", "recall"]].isna().all(axis=None)


def test_a_narrative_without_facts_has_no_recall(tmp_path):
    todo = jobs([against_narrative(CASE, "cultural", "Knee pain.")], judge_intermediate)
    frame = judged('{"facts": [], "added": []}', todo, tmp_path)
    assert (frame["n_added"][0], frame["status"][0], isnan(frame["recall"][0])) == (0, "ok", True)


CSV = "case,voice,judge,n_added,n_relevant,recall,status\n007,clinical,F,3,1,0.5,ok\n007,cultural,F,,,,unparsed\n"


def test_a_file_of_judgements_loads_into_the_same_frame(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    rows = [
        {"case": "007", "voice": "clinical", "judge": "F", "n_added": 3, "n_relevant": 1, "recall": 0.5},
        {"case": "007", "voice": "cultural", "judge": "F", "status": "unparsed"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second = load_judgements(tmp_path / "a.csv"), load_judgements(tmp_path / "a.jsonl")
    pd.testing.assert_frame_equal(first, second)
    assert first.columns.tolist() == list(COLUMNS) and first["case"].tolist() == ["007", "007"]
    assert first["n_relevant"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("007,clinical", ",clinical", "row 1, field 'case'"),
        ("F,3,1", ",3,1", "row 1, field 'judge'"),
        (",3,1", ",three,1", "row 1, field 'n_added': expected a whole number of at least 0; found 'three'"),
        (",3,1", ",3,-1", "row 1, field 'n_relevant'"),
        (",3,1", ",3,1.5", "row 1, field 'n_relevant'"),
        (",3,1", ",3,nan", "row 1, field 'n_relevant'"),
        (",3,1", ",3,1_0", "row 1, field 'n_relevant'"),
        (",3,1", ",3,4", "row 1, field 'n_relevant': expected at most n_added, 3; found '4'"),
        ("0.5", "50", "row 1, field 'recall': expected a number from 0 to 1; found '50'"),
        (",ok", ",fine", "row 1, field 'status': expected one of ok, "),
    ],
)
def test_a_wrong_field_is_named_with_its_file_and_row(tmp_path, old, new, message):
    (tmp_path / "a.csv").write_text(CSV.replace(old, new, 1))
    with pytest.raises(DataError, match=f"a.csv, {message}"):
        load_judgements(tmp_path / "a.csv")


def test_an_item_that_stands_twice_with_one_judge_is_named(tmp_path):
    (tmp_path / "a.csv").write_text(CSV.replace("cultural", "clinical"))
    with pytest.raises(DataError, match=r"a\.csv occur twice, the first is .*case '007', voice 'clinical', judge 'F'"):
        load_judgements(tmp_path / "a.csv")


def test_a_missing_file():
    with pytest.raises(MissingDataError):
        load_judgements("nowhere.csv")


def counted(**counts) -> pd.DataFrame:
    """Judgements of some judges on the same items, the second half in another voice."""
    rows = [
        {"case": f"{i:02d}", "voice": ("clinical", "cultural")[2 * i >= len(numbers)], "judge": judge, "n_relevant": n}
        for judge, numbers in counts.items()
        for i, n in enumerate(numbers)
    ]
    return pd.DataFrame(rows).assign(status="ok")


F, P, L = (0, 1, 0, 2, 0, 3, 1, 0, 4, 2), (0, 2, 1, 2, 0, 4, 0, 1, 3, 2), (1, 1, 0, 1, 0, 2, 1, 1, 2, 0)


def test_agreement_of_each_pair_against_scipy_and_statsmodels():
    table = judge_agreement(counted(F=F, P=P, L=L)).set_index(["voice", "judge_a", "judge_b"])
    assert len(table) == 9
    for a, b, first, second in (("F", "P", F, P), ("F", "L", F, L)):
        row = table.loc[("all voices", a, b)]
        square = [
            [sum((x > 0, y > 0) == (i, j) for x, y in zip(first, second, strict=True)) for j in (0, 1)] for i in (0, 1)
        ]
        assert row["agreement"] == (square[0][0] + square[1][1]) / 10
        assert row["kappa"] == pytest.approx(cohens_kappa(square).kappa, rel=1e-12)
        assert row["spearman"] == pytest.approx(stats.spearmanr(first, second).statistic, rel=1e-12)
    within = table.loc[("cultural", "F", "P")]
    assert within["n"] == 5
    assert within["spearman"] == pytest.approx(stats.spearmanr(F[5:], P[5:]).statistic, rel=1e-12)


def test_items_are_joined_by_id_and_unread_ones_left_out():
    frame = counted(F=F, P=P).sample(frac=1, random_state=2)
    same = judge_agreement(frame, reference="F").sort_values("voice").reset_index(drop=True)
    pd.testing.assert_frame_equal(same, judge_agreement(counted(F=F, P=P)).sort_values("voice").reset_index(drop=True))
    frame.loc[(frame["judge"] == "P") & (frame["case"] < "03"), "status"] = "unparsed"
    assert judge_agreement(frame, reference="F").set_index("voice").loc["all voices", "n"] == 7


def test_the_same_case_of_two_models_is_two_items():
    frame = pd.concat([counted(F=F, P=P).assign(model=model, condition="rewrite") for model in "ab"])
    assert judge_agreement(frame)["n"].tolist() == [20, 10, 10]


def test_constant_judges_are_undefined():
    row = judge_agreement(counted(F=(1, 1, 1), P=(1, 1, 1))).iloc[0]
    assert isnan(row["kappa"]) and isnan(row["spearman"]) and row["agreement"] == 1
    assert row["note"] == "undefined: constant labels; spearman undefined: constant counts"


def test_n_0_and_n_1():
    apart = pd.concat([counted(F=(1, 2)), counted(P=(1, 2)).assign(case=["x", "y"])])
    row = judge_agreement(apart).iloc[0]
    assert (row["n"], isnan(row["kappa"]), isnan(row["spearman"])) == (0, True, True)
    assert row["note"].startswith("n = 0")
    assert judge_agreement(counted(F=(1,), P=(1,))).iloc[0]["note"].endswith("spearman undefined: constant counts")


def test_one_judge_has_no_pair_and_no_judge_no_row():
    assert judge_agreement(counted(F=F)).empty
    assert judge_agreement(counted(F=F).iloc[:0]).empty


def test_a_frame_without_a_column_is_refused():
    with pytest.raises(DataError, match="judgements lack the column 'status'"):
        judge_agreement(counted(F=F).drop(columns="status"))


def test_no_common_item_is_n_0_alone_and_an_item_judged_twice_its_own_id():
    apart = pd.concat([counted(F=(1, 2)), counted(P=(1, 2)).assign(case=["x", "y"])])
    notes = judge_agreement(apart)["note"]
    assert notes.str.startswith("n = 0").all() and not notes.str.contains("spearman").any()
    twice = pd.concat([counted(F=(1,)), counted(F=(2,))])
    with pytest.raises(DataError, match="1 judgements occur twice, the first is case '00', voice 'clinical', judge"):
        judge_agreement(twice)


def test_another_ending_and_a_missing_column_are_named(tmp_path):
    (tmp_path / "x.out").write_text(CSV)
    with pytest.raises(ParameterError, match=r"x\.out: expected a file that ends in \.jsonl, \.csv, \.parquet$"):
        load_judgements(tmp_path / "x.out")
    (tmp_path / "a.csv").write_text("case,voice,n_added\n1,clinical,3")
    with pytest.raises(DataError, match=r"row 1, field 'judge': expected a column of this name; found \['case', "):
        load_judgements(tmp_path / "a.csv")
