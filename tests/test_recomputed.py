"""Our own numbers for the ledger: from pattern counts, from a part of the released files, and from all of them."""

import json

import pandas as pd
import pytest

from nsh import recomputed
from nsh.cases import Case
from nsh.errors import EngineError
from nsh.printed import numbers, published
from nsh.ratings import RATINGS
from nsh.recomputed import recompute
from nsh.told import told_of_questions
from nsh.tool_logs import LOG


def no_encoder(records):
    """In the place of DSS, where there is no sentence encoder."""
    raise EngineError("no encoder here")


def test_without_released_files_the_pattern_counts_give_tables_3_and_4():
    sources = recompute(None, resamples=20)
    assert sources["aggregate"] == {} and "nsh data pull" in sources["left out"][-1]
    own = sources["released"]
    gap = own["facts_table3_b1"]["omr"] - numbers("facts_table3_b1", "omr")
    assert gap.notna().all() and gap.abs().max() <= 0.00005 + 1e-9
    assert own["facts_table1_nag"]["B2"].dropna().index.tolist() == ["BioMistral-7B", "Mistral-7B-Instruct-v0.3"]
    assert "dss" not in own["facts_table3_b1"] and "facts_table10_dss" not in own


def test_a_folder_without_result_files_is_as_none(tmp_path):
    (tmp_path / "results").mkdir()
    sources = recompute(tmp_path, resamples=20)
    assert len(sources["released"]["facts_table3_b1"]) == 7
    assert "voice_table1_retellings" not in sources["released"]
    assert any("aggregate files are not here" in reason for reason in sources["left out"])


def test_a_folder_with_answers_under_b1_only_takes_the_others_from_the_counts(monkeypatch, tmp_path):
    """Twelve fabricated questions under B1: their accuracies; B3 from the counts, as facts Table 6 prints it."""
    from copied_book import fabricate_released

    monkeypatch.setattr(recomputed, "dss", no_encoder)
    fabricate_released(tmp_path)
    own = recompute(tmp_path, resamples=20)["released"]
    assert own["facts_table3_b1"].at["Llama-3.1-8B-Instruct", "omr_clinical"] == 9 / 12
    assert own["facts_table6_b3"].at["Llama-3.1-8B-Instruct", "omr_clinical"] == pytest.approx(0.723)


def test_without_a_sentence_encoder_the_reason_is_given(monkeypatch, tmp_path):
    from copied_book import fabricate_released

    monkeypatch.setattr(recomputed, "dss", no_encoder)
    fabricate_released(tmp_path)
    sources = recompute(tmp_path, resamples=20)
    assert "DSS could not be computed: no encoder here." in sources["left out"]
    assert len(sources["released"]["facts_table3_b1"]) == 7


def test_answers_that_are_not_all_are_said(monkeypatch, tmp_path):
    """An empty folder; seven models with 12 questions; six models, of which one has 999 of 1,000."""
    from copied_book import fabricate_released

    monkeypatch.setattr(recomputed, "dss", no_encoder)
    counted = [f"{condition}: the packaged pattern counts, no answers." for condition in ("B1", "B2", "B3")]
    assert recompute(tmp_path, resamples=10)["left out"][:3] == counted
    fabricate_released(tmp_path)
    said = recompute(tmp_path, resamples=10)["left out"]
    assert sum(line.startswith("B1: 12 questions of ") for line in said) == 7 and "of 7 models" not in str(said)
    monkeypatch.setattr(recomputed, "N_QUESTIONS", 12)
    assert not [line for line in recompute(tmp_path, resamples=10)["left out"] if line.startswith("B1")]
    files = sorted((tmp_path / "results").rglob("results_B1_*.jsonl"))
    files[0].unlink()
    files[1].write_text(files[1].read_text().partition("\n")[2])
    said = [line for line in recompute(tmp_path, resamples=10)["left out"] if line.startswith("B1")]
    assert said == ["B1: answers of 6 of 7 models.", "B1: 11 questions of gemma-3-12b-it."]


@pytest.mark.parametrize("lines", ["", "question_id,persona,x__r1", "question_id,persona,x__r1\n1,alpha,5"])
def test_without_the_ratings_their_rows_are_left_out_and_said(tmp_path, lines):
    file = tmp_path / RATINGS
    file.parent.mkdir(parents=True)
    file.write_text(lines)
    sources = recompute(tmp_path, resamples=10)
    assert [line for line in sources["left out"] if line.startswith("Ratings: ")]
    assert "n_annotators" not in sources["released"]["facts_text"]


def test_empty_logs_and_other_ablations_are_no_rows_of_table_9(tmp_path):
    first, second = (tmp_path / LOG.format(key=key) for key in ("llama31", "qwen25"))
    first.parent.mkdir(parents=True)
    first.write_text("")
    assert "facts_table9_ns_operations" not in recompute(tmp_path, resamples=10)["released"]
    call = {"model": "qwen25", "question_id": "1", "persona": "alpha", "tool": "gcs"}
    second.write_text("\n".join(json.dumps(call | {"ablation": run}) for run in ("full", "half")))
    table = recompute(tmp_path, resamples=10)["released"]["facts_table9_ns_operations"]
    assert table[["ablation", "n_calls"]].values.tolist() == [["full", 1]]


def test_every_id_of_ours_that_a_row_takes_directly_is_a_row():
    """What is looked up under a row's own id is named as the row is: a misspelt id would never be compared."""
    ids = set(published("voices_text")["id"]) | set(published("facts_text")["id"])
    own = recompute(None, resamples=20)["released"]["voices_text"]
    assert {"nag_smallest", "pooled_effect_points", "size_nag_r"} <= set(own.index) <= ids


def test_what_is_told_of_questions_counted_by_hand():
    """Of three vignettes two open with an age and one has 300 characters; one retelling set was not finished."""
    voices = {"clinical": "Pain. Why?", "plain": "It hurts. Why?"}
    vignettes = ["A 61-year-old man coughs. Why?", "An 8 month old boy. " + "x" * 280, "Pain at 40. Why?"]
    cases = [
        Case(str(n), "Why?", {"A": "x", "B": "y"}, "A", voices, text, {"_generation_status": status})
        for n, (text, status) in enumerate(zip(vignettes, ["SUCCESS", "SUCCESS", "PARTIAL"], strict=True))
    ]
    assert told_of_questions(cases) == {
        "n_vignettes": 3,
        "n_partial_failed": 1,
        "n_generations": 6,
        "stem_matches": 2,
        "length_matches": 1,
        "min_length": 16,
    }


@pytest.fixture(scope="module")
def full(released):
    """The sources from all released files, DSS left out."""
    patch = pytest.MonkeyPatch()
    patch.setattr(recomputed, "dss", no_encoder)
    yield recompute(released, resamples=100)
    patch.undo()


def test_ratings_and_logs_of_the_released_files(full):
    """facts Appendix I and Table 9, the issue's own list of figures."""
    own = full["released"]["facts_text"]
    assert own["kruskal_h_all_raters"] == pytest.approx(138.69, abs=0.005)
    assert own["kruskal_h_informative"] == pytest.approx(176.06, abs=0.005)
    assert own["alpha_all"] == pytest.approx(-0.014, abs=0.0005)
    assert own["alpha_informative"] == pytest.approx(0.226, abs=0.0005)
    assert (own["n_higher_annotator3"], own["n_higher_annotator1"]) == (157, 17)
    assert (own["calculators_max"], own["drug_lookups_max"], own["tools_four_lab_once"]) == (2, 4, 4)
    assert full["released"]["facts_table9_ns_operations"].at["Llama-3.1-8B-Instruct", "max_tools"] == 16


def test_texts_of_the_released_files(full):
    own = pd.concat([full["released"]["voices_text"], full["released"]["facts_text"]])
    assert own["stem_matches"] == own["length_matches"] == own["n_cases"] == 1000
    assert own["n_partial_failed"] == 0 and own["n_superset"] == 84 and own["n_question_verbatim"] == 207
    assert own["b3_biomistral_empty"] == 1 and own["worked_superset_case"] == 1
