"""Fact recall on the samples, and the penalty controlling for recall against pyfixest and statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from nsh.cases import load_cases
from nsh.errors import DataError, ParameterError
from nsh.recall import fact_recall, recall_penalty

FACTS = [
    {"fact": "fever", "value": "101 F for 3 days", "accepted": ["fever of 101 for 3 days"]},
    {"fact": "cough", "value": "denied", "accepted": ["no cough", "does not cough"]},
    {"fact": "penicillin", "value": "allergic"},
]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Fever of 101 for three days, denies coughing, allergic to penicillin.", ()),
        ("For 3 days fevers, up to 101; without any cough; penicillin-allergic.", ()),
        ("Fever of 102 for 3 days, no cough, penicillin allergic.", ("fever",)),
        ("A cough. He feels well otherwise and has no allergy.", ("fever", "cough", "penicillin")),
        ("", ("fever", "cough", "penicillin")),
    ],
)
def test_facts_by_hand(text, missing):
    found = fact_recall(FACTS, text)
    assert found.missing == missing
    assert (found.n, found.n_found, found.recall) == (3, 3 - len(missing), (3 - len(missing)) / 3)


def test_scattered_words_and_a_denied_fact_are_not_found():
    apart = "Fever today. " + "Bread, milk, apples, pears, plums and figs were bought. " * 2 + "101 steps, 3 days."
    assert "fever" in fact_recall(FACTS, apart).missing
    assert fact_recall([{"fact": "tremor", "value": "present", "accepted": ["tremor"]}], "No tremor.").n_found == 0


def test_no_facts_leave_recall_undefined():
    found = fact_recall([], "Fever.")
    assert (found.n, found.n_found, found.recall != found.recall) == (0, 0, True)


def test_a_fact_without_a_value_is_named():
    with pytest.raises(DataError, match="'fact': 'fever'"):
        fact_recall([{"fact": "fever"}], "Fever.")


def test_the_samples_hold_their_own_facts_and_not_those_of_the_next_case():
    """Accepted wordings are quoted from the texts, so nearly all are found there, and few in another case's text."""
    cases = load_cases("samples")
    own = [fact_recall(c.meta["facts"], text).recall for c in cases for text in (*c.narratives.values(), c.original)]
    other = [
        fact_recall(case.meta["facts"], text).recall
        for case, stranger in zip(cases, cases[1:] + cases[:1], strict=True)
        for text in stranger.narratives.values()
    ]
    assert np.mean(own) > 0.999 and min(own) > 0.9
    assert np.mean(other) < 0.2


def made(
    n: int = 80, voices=("clinical", "socioeconomic", "cultural"), models=("a", "b"), seed: int = 0
) -> pd.DataFrame:
    """Answers that depend on recall, which is lower in the marked voices."""
    random = np.random.default_rng(seed)
    rows = [
        (model, f"{case:03d}", voice, number > 0)
        for case in range(n)
        for model in models
        for number, voice in enumerate(voices)
    ]
    frame = pd.DataFrame(rows, columns=["model", "case", "voice", "marked"])
    frame["recall"] = np.clip(0.95 - 0.15 * frame["marked"] + random.normal(0, 0.1, len(frame)), 0, 1)
    frame["n_relevant"] = random.poisson(1 + 2 * frame["marked"])
    frame["correct"] = random.random(len(frame)) < 0.2 + 0.5 * frame["recall"]
    return frame


@pytest.mark.parametrize("controls", [("recall",), ("recall", "n_relevant")])
def test_equals_pyfixest(controls):
    """feols with case^model effects, CRV1 by case, and G / (G − 1) as its only correction."""
    pyfixest = pytest.importorskip("pyfixest")
    frame = made().drop(index=[4, 5, 40])
    found = recall_penalty(frame, controls)
    data = frame.assign(correct=frame["correct"].astype(float), marked=frame["marked"].astype(float))
    for names in ((), controls):
        model = pyfixest.feols(
            f"correct ~ {' + '.join(('marked', *names))} | case^model",
            data=data,
            vcov={"CRV1": "case"},
            ssc=pyfixest.ssc(k_adj=False, G_adj=True),
            fixef_rm="singleton",
        ).tidy()
        ours = found[found["controls"] == (", ".join(names) or "none")].set_index("term")
        expected = model.loc[ours.index, ["Estimate", "2.5%", "97.5%", "Pr(>|t|)"]]
        assert ours[["coef", "lo", "hi", "p"]].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-8)


def test_equals_statsmodels_with_dummies():
    """The coefficients of ordinary least squares with one dummy per question and model."""
    frame = made(20)
    dummies = pd.get_dummies(frame["case"] + frame["model"], dtype=float)
    x = pd.concat([frame[["marked", "recall"]].astype(float), dummies], axis=1)
    expected = sm.OLS(frame["correct"].astype(float), x).fit().params[["marked", "recall"]]
    assert recall_penalty(frame)["coef"].tolist()[1:] == pytest.approx(expected.tolist(), rel=1e-9)


def test_n_counts_rows_questions_and_models():
    alone = recall_penalty(made()).iloc[0]
    assert (alone["n"], alone["n_questions"], alone["n_models"]) == (480, 80, 2)


def test_row_order_does_not_matter():
    frame = made()
    assert recall_penalty(frame.sample(frac=1, random_state=3)).equals(recall_penalty(frame))


@pytest.mark.parametrize("voices", [("clinical", "cultural"), ("clinical", "a", "b", "c", "d")])
def test_two_and_five_voices(voices):
    """Complete answers: the penalty without controls is the marked voices' accuracy less the reference's."""
    frame = made(voices=voices)
    right = frame.groupby("marked")["correct"].mean()
    alone = recall_penalty(frame).iloc[0]
    assert alone["n"] == 160 * len(voices) and alone["coef"] == pytest.approx(right[True] - right[False])


def test_rows_without_a_recall_and_single_rows_are_left_out():
    frame = made(10, models=("a",))
    frame.loc[[0, 1, 3], "recall"] = None
    assert recall_penalty(frame)["n"].tolist() == [26] * 3


def test_n_0():
    found = recall_penalty(made().iloc[:0])
    assert found["note"].tolist() == ["n = 0"] * 3 and found["coef"].isna().all()


def test_one_cluster():
    found = recall_penalty(made(1))
    assert found["note"].tolist() == ["n = 1: errors undefined"] * 3
    assert found["coef"].notna().all() and found[["lo", "hi", "p"]].isna().all(axis=None)


def test_a_constant_recall_is_undefined_and_the_penalty_alone_is_not():
    found = recall_penalty(made().assign(recall=0.84))
    assert found["coef"].notna().tolist() == [True, True, False] and found["coef"][0] == found["coef"][1]
    assert found["note"].tolist() == ["", "", "undefined: the covariate is constant"]


def test_a_recall_that_only_tells_the_voices_apart_is_collinear():
    frame = made()
    found = recall_penalty(frame.assign(recall=0.9 - 0.1 * frame["marked"]))
    assert found["note"].tolist() == ["", *["undefined: the covariates are collinear in 480 rows"] * 2]


def test_constant_answers_are_undefined():
    found = recall_penalty(made().assign(correct=True))
    assert (found[["coef", "lo", "hi"]] == 0).all(axis=None) and found["p"].isna().all()
    assert set(found["note"]) == {"p undefined: the outcome is constant"}


def test_errors():
    with pytest.raises(DataError, match="records lack the column 'recall'; they have: model"):
        recall_penalty(made().drop(columns="recall"))
    with pytest.raises(ParameterError, match="reference voice 'rural' is in no record"):
        recall_penalty(made(), reference="rural")


def test_two_conditions_or_two_answers_in_one_voice_are_refused():
    frame = made()
    with pytest.raises(ParameterError, match="records of 2 conditions"):
        recall_penalty(pd.concat([frame.assign(condition="B1"), frame.assign(condition="B2")]))
    with pytest.raises(DataError, match="1 records occur twice"):
        recall_penalty(pd.concat([frame, frame.iloc[[0]]]))
