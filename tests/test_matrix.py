"""Records are joined by id, refused when they cannot be joined, and counted when a voice is missing."""

import numpy as np
import pandas as pd
import pytest
from fabricated import fabricated, from_letters

from nsh.errors import DataError, ParameterError
from nsh.matrix import NO_RECORD, check_columns, check_records, one_condition, order_voices, tidy, voice_matrices

pytestmark = pytest.mark.filterwarnings("error")


def test_array_holds_each_answer_at_its_case_and_voice():
    matrix = voice_matrices(fabricated([[1, 0, 1], [0, 0, 1]]))[0]
    assert matrix.voices == ("clinical", "socioeconomic", "cultural")
    assert matrix.cases.tolist() == ["case 0", "case 1"]
    assert matrix.codes.tolist() == [[1, 0, 1], [0, 0, 1]]


def test_cases_are_joined_by_id_not_by_row_order():
    records = fabricated([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    expected = voice_matrices(records)[0].codes
    for seed in range(5):
        shuffled = voice_matrices(records.sample(frac=1, random_state=seed))[0]
        assert shuffled.codes.tolist() == expected.tolist()


def test_missing_voice_is_dropped_pairwise_and_counted():
    matrix = voice_matrices(fabricated([[1, 0, 1], [1, None, 0], [None, 1, 1]]))[0]
    assert matrix.left_out() == ["2 cases without every voice left out"]
    assert matrix.complete().tolist() == [[1, 0, 1]]
    assert matrix.pair("clinical", "cultural").tolist() == [[1, 1], [1, 0]]
    assert (matrix.codes == NO_RECORD).sum() == 2


def test_voice_that_one_model_lacks_is_missing_there_and_not_overlooked():
    records = pd.concat([fabricated([[1, 0, 1]], model="a"), fabricated([[1, 0, None]], model="b")])
    first, second = voice_matrices(records)
    assert len(first.complete()) == 1
    assert second.voices == first.voices
    assert len(second.complete()) == 0


def test_models_and_conditions_come_in_order_of_appearance_whatever_the_column_type():
    records = pd.concat(
        [fabricated([[1, 1, 1]], model=model, condition=condition) for model, condition in ("zx", "ax", "ay")]
    )
    for kind in ("object", "str", "category"):
        found = [(m.model, m.condition) for m in voice_matrices(records.astype({"model": kind, "voice": kind}))]
        assert found == [("z", "x"), ("a", "x"), ("a", "y")]


def test_letters_are_coded_equal_for_equal_letters_and_zero_for_none():
    codes = voice_matrices(from_letters([["B", "B", None], ["J", "B", "J"]]), value="letter")[0].codes
    assert codes[0, 2] == 0 and (codes > 0).sum() == 5
    assert codes[0, 0] == codes[0, 1] == codes[1, 1] != codes[1, 0] == codes[1, 2]


def test_letters_of_the_string_type_have_the_same_codes():
    records = from_letters([["B", None, "C"], ["A", "A", None]])
    typed = records.assign(letter=records["letter"].astype("string"))
    expected = voice_matrices(records, value="letter")[0].codes
    assert np.array_equal(voice_matrices(typed, value="letter")[0].codes, expected)


def test_reference_comes_first_then_the_papers_order_then_by_name():
    assert order_voices(["b", "cultural", "a", "clinical"], "b") == ("b", "clinical", "cultural", "a")


def test_pairs_with_the_reference_come_first():
    matrix = voice_matrices(fabricated([[1, 1, 1]]), reference="cultural")[0]
    assert matrix.pairs() == [
        ("cultural", "clinical"),
        ("cultural", "socioeconomic"),
        ("clinical", "socioeconomic"),
    ]


def test_empty_records_give_no_arrays():
    assert voice_matrices(fabricated([])) == []


def test_duplicate_is_refused_by_name():
    records = fabricated([[1, 0, 1]], model="BioMistral-7B", cases=["MQ_0007"])
    with pytest.raises(DataError, match=r"1 records occur twice.*'BioMistral-7B'.*'MQ_0007', voice 'cultural'"):
        voice_matrices(pd.concat([records, records.iloc[[2]]]))


def test_missing_column_is_named():
    with pytest.raises(DataError, match="lack the column 'voice'"):
        check_records(fabricated([[1, 0, 1]]).drop(columns="voice"))


def test_empty_key_is_refused():
    records = fabricated([[1, 0, 1]])
    records.loc[1, "model"] = None
    with pytest.raises(DataError, match="empty key"):
        check_records(records)


@pytest.mark.parametrize("bad", ["False", None, 2, float("nan")])
def test_correct_that_is_not_boolean_is_refused(bad):
    records = fabricated([[1, 0, 1]]).astype({"correct": object})
    records.loc[1, "correct"] = bad
    with pytest.raises(DataError, match=r"'socioeconomic', correct .*; as correct True or False is expected"):
        check_records(records)


def test_unknown_reference_is_named_with_the_voices_there_are():
    with pytest.raises(ParameterError, match="'clincal' is in no record; the records hold clinical, socioeconomic"):
        voice_matrices(fabricated([[1, 0, 1]]), reference="clincal")


def test_tidy_keeps_columns_and_types_without_rows():
    frame = tidy([], {"model": None, "n": "int64", "value": "float64"})
    assert list(frame.columns) == ["model", "n", "value"]
    assert frame["n"].dtype == "int64" and frame["value"].dtype == "float64"


def test_columns_and_keys_of_any_frame_are_checked():
    ratings = pd.DataFrame({"case": ["a", "a", "b", "a"], "rater": [1, 2, 1, 2], "rating": 5})
    check_columns(ratings[:3], ["rating"], "ratings", once=["case", "rater"])
    with pytest.raises(DataError, match="ratings lack the column 'item'; they have: case, rater, rating"):
        check_columns(ratings, ["rating", "item"], "ratings")
    with pytest.raises(
        DataError, match="1 ratings occur twice, the first is case 'a', rater 2; one per case, rater is"
    ):
        check_columns(ratings, [], "ratings", once=["case", "rater"])
    with pytest.raises(DataError, match="ratings lack the column 'item'"):
        check_columns(ratings, [], "ratings", once=["item"])


def test_records_of_one_condition_give_their_voices_and_those_of_several_are_refused():
    records = fabricated([[1, 0, 1]], voices=("rural", "cultural", "plain"))
    assert one_condition(records, "plain") == ("plain", "cultural", "rural")
    assert one_condition(records[:0], "plain") == ("plain",)
    with pytest.raises(ParameterError, match=r"records of 2 conditions \(direct, other\): give those of one"):
        one_condition(pd.concat([records, records.assign(condition="other")]), "plain")
    with pytest.raises(ParameterError, match="'clinical' is in no record; the records hold cultural, plain, rural"):
        one_condition(records, "clinical")


def test_empty_text_is_no_letter_and_is_refused():
    records = from_letters([["A", "A", None]])
    with pytest.raises(DataError, match="voice 'cultural' has letter ''"):
        check_records(records.assign(letter=records["letter"].fillna("")))


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_mark_that_contradicts_the_letters_is_refused(kind):
    records = from_letters([["A", "B", None]]).assign(gold="A").astype({"letter": kind, "gold": kind})
    check_records(records)
    records.loc[1, "correct"] = True
    with pytest.raises(DataError, match="voice 'socioeconomic' has a correct that its letter contradicts"):
        check_records(records)


def test_ids_that_are_text_in_one_condition_and_numbers_in_another_are_refused():
    records = [fabricated([[1, 1, 1]], cases=[case], condition=str(case)) for case in ("1", 1)]
    with pytest.raises(DataError, match="case holds both text and other values"):
        check_records(pd.concat(records))
