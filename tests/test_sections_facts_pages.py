"""One case walked through, the data set and its raters, stability, and the two versions of the paper."""

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters

from nsh import open_page, recomputed
from nsh.cases import Case
from nsh.dss import dss
from nsh.errors import EngineError
from nsh.extraction import Extraction, read_extraction
from nsh.parts import beside_printed
from nsh.patterns import from_patterns
from nsh.printed import published
from nsh.ratings import facts_ratings
from nsh.records import records_frame
from nsh.sections import facts_dataset, facts_walk, stability, versions
from nsh.transcripts import chosen, hidden

OPTIONS = {"A": "Azithromycin", "B": "Vancomycin", "C": "Aspirin", "D": "Warfarin"}
PNEUMONIA = Extraction(
    age=67,
    chief_complaint="community-acquired pneumonia?",
    symptoms_present=["confusion"],
    vitals={"rr": 32, "bp_systolic": 104, "bp_diastolic": 58},
    labs=[{"name": "WBC", "value": 16.4, "unit": "10^3/µL"}, {"name": "Na", "value": 131, "unit": "mmol/L"}],
    medications_current=["metformin 500 mg"],
)


@pytest.fixture
def walk():
    return open_page("facts-03-architecture", models=["scripted"])


def test_a_page_without_models_walks_through_nothing():
    study = open_page("facts-03-architecture", models=[])
    assert facts_walk.extracted(None).status == "none"
    assert facts_walk.step_words(study).empty


def test_the_walk_counts_the_words_of_each_step(walk):
    words = facts_walk.step_words(walk)
    assert list(words.index[:2]) == ["the account", "Agent 1 writes"]
    case = walk.cases[0]
    assert words.loc["the account"].to_dict() == {voice: len(text.split()) for voice, text in case.narratives.items()}
    assert list(words.columns) == list(case.narratives)


def test_a_condition_without_extraction_is_walked_too():
    study = open_page("facts-03-architecture", models=["scripted"], condition="rewrite")
    assert facts_walk.extracted(chosen(study)).facts is None
    assert list(facts_walk.step_words(study).index) == ["the account", "rewrite", "answer_from"]


def test_stated_fields_are_shown_and_the_others_left_out():
    stated = facts_walk.stated(PNEUMONIA)
    assert stated["labs"] == "WBC 16.4 10^3/µL; Na 131.0 mmol/L"
    assert stated["vitals: rr"] == "32"
    assert not {"sex", "allergies", "vitals: hr", "question type"} & set(stated)


def test_what_had_the_wrong_type_is_named(walk):
    read = read_extraction('{"age": "old", "sex": "female"}')
    text = facts_walk.extraction_table(walk, read, "x").text
    assert "set aside: wrong type" in text
    assert "female" in text
    assert "nothing" in facts_walk.extraction_table(walk, read_extraction("no json"), "x").text


def test_scoring_and_caps_change_what_the_router_gives():
    grid = facts_walk.router_grid(PNEUMONIA, "Which treatment is best?", OPTIONS)
    tools = {setting: [result.tool for result in results] for setting, results in grid.items()}
    assert tools["published", "paper"] == ["lab_interpreter", "curb65", "drug_kb", "drug_kb"]
    assert tools["safe", "released"] == ["lab_interpreter", "lab_interpreter", "curb65", "drug_kb"]
    assert "not scored" in grid["safe", "paper"][1].text  # the urea is not stated
    assert "4 of 5 points" in grid["published", "paper"][1].text  # confusion, breathing, pressure, age
    assert facts_walk.settings_differ(grid) == 4
    shown = facts_walk.router_table(grid, "x").text
    assert shown.count("curb65") >= 4
    assert "Adverse effects" not in shown  # the first line of a drug's card


def test_what_was_extracted_and_looked_up_is_hidden_with_the_texts(walk):
    walk.values["source"] = "released"
    read = read_extraction('{"age": 61, "sex": "female"}')
    assert "female" not in facts_walk.extraction_table(walk, read, "x").text
    grid = facts_walk.router_grid(PNEUMONIA, "Which treatment is best?", OPTIONS)
    tools = facts_walk.router_table(grid, "x", hidden(walk)).text
    assert tools.count("drug_kb") >= 4 and not [drug for drug in OPTIONS.values() if drug in tools]


def test_a_setting_without_tools_says_so():
    grid = facts_walk.router_grid(None, "What is the diagnosis?", {"A": "Gout", "B": "Lyme"})
    assert facts_walk.router_table(grid, "x").text.count("no tool") == 4


def test_own_cases_are_counted_as_the_released_ones():
    text = "A 61-year-old man " + "is seen. " * 40
    options = {"A": "Gout", "B": "Lyme"}
    case = Case("1", "Which?", options, "B", {"clinical": "x", "cultural": "y"}, original=text)
    other = Case("2", "Which?", options, "B", {"clinical": "x", "cultural": "y"}, original="Short.")
    told = facts_dataset.told_of([case, other])
    assert told == {
        "n_vignettes": 2,
        "n_generations": 4,
        "stem_matches": 1,
        "length_matches": 1,
        "min_length": len("Short."),
    }


def test_made_up_ratings_are_named_and_have_the_shape_of_the_released():
    rated = facts_dataset.rated(open_page("facts-02-dataset", released="off"))
    assert "FABRICATED" in rated.note and "FABRICATED" in rated.whose
    ratings = rated.ratings
    assert len(ratings) == 10 * 3 * 3 * 3
    numbers = facts_ratings(ratings)
    assert numbers["n_informative"] == 2
    assert numbers["facts_preserved_pct"] == 100
    assert numbers["exact_pct_clinical"] == 100  # 5 and 5


def test_realism_means_by_brute_force():
    ratings = facts_dataset.fabricated_ratings(2)
    means, printed = facts_dataset.realism_means(ratings)
    assert means.loc["Annotator_1"].tolist() == [5.0, 3.5, 2.5]
    assert means.loc[facts_dataset.POOLED].tolist() == pytest.approx([5, (3.5 + 5 + 4.5) / 3, (2.5 + 5 + 3.5) / 3])
    assert printed.loc[facts_dataset.POOLED].tolist() == [4.89, 4.64, 4.19]


def test_numbers_of_the_text_stand_beside_ours():
    ours = {"here": {"alpha_all": -0.0136, "wilcoxon_p": 4.9e-25}}
    shown = beside_printed(["alpha_all", "stem_matches", "wilcoxon_p"], ours, "x", paper="facts").text
    assert "−0.014" in shown.splitlines()[1].split()[-1]
    assert shown.splitlines()[2].endswith("not computed")
    assert shown.splitlines()[3].endswith("4.9e−25")


def test_what_a_place_prints_is_listed():
    numbers = facts_ratings(facts_dataset.fabricated_ratings())
    table11, appendix = (facts_dataset.listed(place, numbers) for place in ("Table 11", "Appendix I"))
    assert {"alpha_informative", "exact_pct_cultural", "signed_difference_cultural", "facts_preserved_pct"} <= set(
        table11
    )
    assert {"mean_clinical", "mean_informative_clinical", "kruskal_h_all_raters"} <= set(appendix) - set(table11)


def test_without_the_files_the_ledger_gets_no_ratings():
    study = open_page("facts-02-dataset", released="off")
    assert facts_dataset.sources(study, None)["released"]["facts_text"].empty
    some = facts_dataset.sources(study, facts_dataset.fabricated_ratings())["released"]["facts_text"]
    assert some["n_annotators"] == 3


def two_letters(texts):
    """A letter each as a unit vector: equal letters have cosine 1, others 0."""
    return np.array([np.eye(4)["ABCD".index(text)] for text in texts])


def test_dss_by_condition_and_table10():
    records = from_letters([["A", "A", "A"], ["A", "B", "B"]], condition="B1")
    records["text"] = records["letter"]
    scores = dss(records, encode=two_letters)
    assert scores["dss"].tolist() == pytest.approx([1, 1 / 3])
    found = recomputed.by_condition(scores)
    assert found["B1"].loc["model"].tolist() == pytest.approx([2 / 3, 50])
    theirs = pd.DataFrame({"B1": [40.0], "NS": [20.0]}, index=["model"])
    shares = stability.table10(found, {"facts_table10_dss": theirs})
    assert shares.loc["model", ["B1", "NS"]].tolist() == [50.0, 20.0]
    same = stability.same_letter(records, scores).set_index("letters")
    assert same["dss"].to_dict() == pytest.approx({"all the same": 1, "not all the same": 1 / 3})
    assert same["below_pct"].to_dict() == {"all the same": 0, "not all the same": 100}
    assert "0.6667" in stability.stability_table(scores, "", "x").text


def test_mean_dss_stands_beside_the_printed():
    ours = {"B3": pd.DataFrame({"dss": [0.77511]}, index=["Mistral-7B-Instruct-v0.3"])}
    compared = stability.mean_dss(ours)
    assert len(compared) == 21
    assert compared.dropna()[["column", "printed", "equal"]].values.tolist() == [["B3", "0.7751", True]]


def test_pattern_counts_and_a_missing_encoder_give_no_scores(monkeypatch):
    scores, why = recomputed.stability(from_patterns(["B1"]).head(3))
    assert scores.empty
    assert why == ""

    def no_encoder(records=None, *args, **options):
        if records is None or len(records):
            raise EngineError("no encoder")
        return dss(records)

    monkeypatch.setattr(recomputed, "dss", no_encoder)
    monkeypatch.setattr(stability, "letter_changes", no_encoder)
    scores, why = recomputed.stability(fabricated([[1, 0, 0]]))
    assert scores.empty
    assert "no encoder" in stability.stability_table(scores, why, "x").text
    assert "no encoder" in stability.letters_table("x").text


def test_without_files_there_are_no_answers():
    study = open_page("facts-04-stability", released="off", models=[])
    assert stability.released_answers(study).empty
    assert stability.same_letter(records_frame([]), dss(records_frame([]))).empty
    assert stability.printed_shares()["NS"]["gemma-3-12b-it"] == 16.3


def test_every_pair_of_the_versions_is_looked_up():
    pairs = versions.version_pairs()
    assert set(pairs["change"]) <= {versions.SAME, versions.OTHER, versions.APART, *versions.ONLY.values()}
    by = pairs.set_index("what")
    assert by.loc["H of realism by voice", "change"] == versions.SAME  # 138.69 rounds to 138.7
    assert by.loc["largest NAG under B1", ["printed_first", "printed_second"]].tolist() == ["0.151", "0.164"]
    assert (pairs["printed_first"] == "–").sum() == (pairs["change"] == versions.ONLY["second"]).sum()


def test_the_counts_give_what_version_1_prints():
    """Section 4.1: 0.064 to 0.151; 13 control pairs survive Bonferroni over 21, where the footnote says 14."""
    ours = versions.seven_models(from_patterns(), resamples=0, permutations=9)
    assert round(float(ours["nag_lowest"]), 3) == 0.064
    assert round(float(ours["nag_highest"]), 3) == 0.151
    assert (ours["control_after_bonferroni"], ours["b3_smaller_nag"], ours["b3_no_cost"]) == (13, 6, 4)
    shown = versions.versions_table(versions.version_pairs(), ours, "x").text
    assert "13" in shown


def test_the_shared_models_and_their_gaps():
    """`voices` §7.2 prints 0.131 and 0.143 for the two Llama models under B1."""
    ours, printed = versions.shared_gaps(from_patterns(["B1"]), resamples=0)
    assert len(ours) == 5
    assert printed["gap"].dropna().round(1).to_dict() == {"Llama-3.1-8B-Instruct": 13.1, "Llama-3.2-3B-Instruct": 14.3}
    table3 = published("facts_table3_b1").set_index("model").loc[ours.index]
    assert printed["nag"].tolist() == pytest.approx([100 * float(text) for text in table3["nag"]])
    marked = (table3["omr_socioeconomic"].astype(float) + table3["omr_cultural"].astype(float)) / 2
    assert ours["gap"].tolist() == pytest.approx((100 * (table3["omr_clinical"].astype(float) - marked)).tolist())
