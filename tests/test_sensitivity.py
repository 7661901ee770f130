"""Rescoring and sensitivity against the released letters, plain counting and least squares."""

import numpy as np
import pandas as pd
import pytest

from nsh.cases import load_cases
from nsh.errors import DataError, MissingDataError, ParameterError
from nsh.patterns import from_patterns
from nsh.records import records_frame
from nsh.released import load_released
from nsh.sensitivity import PARSERS, UNPARSED, rescore, sensitivity

pytestmark = pytest.mark.filterwarnings("error")

OPTIONS = {"A": "Gout", "B": "Lyme disease", "C": "Sarcoidosis", "D": "Influenza"}
VOICES = ("clinical", "socioeconomic", "cultural")
READING = ["parser", "unparsed"]


def written(texts, stored=None, voices=VOICES, gold="A", model="model"):
    """Records of an array of replies, cases × voices (None: no record), with stored letters (default: all missing)."""
    rows = []
    for row, replies in enumerate(texts):
        for column, (voice, text) in enumerate(zip(voices, replies, strict=True)):
            letter = stored[row][column] if stored else None
            found = {"letter": letter, "status": "ok" if letter else "unparsed", "correct": letter == gold}
            key = {"model": model, "condition": "direct", "case": f"case {row}", "voice": voice}
            if text is not None:
                rows.append(key | found | {"gold": gold, "text": text, "source": "run"})
    return records_frame(rows)


def options_of(records, options=OPTIONS):
    """The same options for every case."""
    return dict.fromkeys(records["case"], options)


def look_up(frame, measure, voices="", parser="stored", unparsed="wrong", model="model"):
    """The one row of a reading, measure and voices."""
    keys = {"measure": measure, "voices": voices, "parser": parser, "unparsed": unparsed, "model": model}
    (row,) = frame[(frame[list(keys)] == pd.Series(keys)).all(axis=1)].to_dict("records")
    return row


def random_replies(n, k, seed):
    """Replies and stored letters, some of which hold no letter."""
    letters = np.random.default_rng(seed).choice(["A", "A", "B", "C", ""], size=(n, k))
    texts = [[f"Answer: {letter}" if letter else "Not sure." for letter in row] for row in letters]
    return texts, [[letter or None for letter in row] for row in letters]


@pytest.fixture(scope="module")
def b1(released):
    """Released B1 answers and the options of their cases."""
    return load_released(released, ["B1"]), {case.id: case.options for case in load_cases(released)}


def test_published_letter_gives_every_released_letter(b1):
    records, options = b1
    assert len(records) == 21000
    read = rescore(records, "published_letter", options)
    assert read["letter"].equals(records["letter"]) and read["correct"].equals(records["correct"])


def test_strict_reading_lifts_biomistral(b1):
    """Measured before this module was written: accuracy 0.4257 to 0.4383, NAG 0.064 to 0.038."""
    records, options = b1
    records = records[records["model"] == "BioMistral-7B"]
    read = rescore(records, "parse_letter", options)
    assert f"{records['correct'].mean():.4f} {read['correct'].mean():.4f}" == "0.4257 0.4383"
    frame = sensitivity(records, options)
    strict = look_up(frame, "nag", parser="parse_letter", model="BioMistral-7B")
    assert f"{strict['value']:.3f} {strict['change']:.3f} {strict['n']}" == "0.038 -0.026 1000"
    assert f"{look_up(frame, 'nag', model='BioMistral-7B')['value']:.3f}" == "0.064"  # `facts` Table 3


def test_pooled_effect_of_the_released_models_under_every_reading(b1):
    """-8.73 is the effect of the released letters, measured beforehand; no reading takes it outside its interval."""
    records, options = b1
    pooled = sensitivity(records, options).query("measure == 'pooled_effect'")
    assert pooled[READING].values.tolist() == [[parser, rule] for parser in PARSERS for rule in UNPARSED]
    assert pooled["value"].iloc[0] == pytest.approx(-8.73, abs=0.005)
    assert pooled["value"].between(-10.20, -7.26).all() and (pooled["n"] == 1000).all()


def test_rescore_reads_text_and_keeps_everything_else():
    records = written([["A C-section. Answer: B", "Answer: A", "I cannot say."]], [["C", None, "A"]])
    published = rescore(records, "published_letter", options_of(records))
    strict = rescore(records, "parse_letter", options_of(records))
    assert published["letter"].tolist() == ["A", "A", None]  # the article, as the papers' pattern reads it
    assert strict["letter"].tolist() == ["B", "A", None]
    assert strict["correct"].tolist() == [False, True, False] and strict["correct"].dtype == bool
    assert published["status"].tolist() == ["ok", "ok", "unparsed"] and strict["status"].iloc[2] == "refusal"
    assert rescore(records, "stored", {}) is records and records["letter"].tolist() == ["C", None, "A"]
    rest = [name for name in records if name not in ("letter", "status", "correct")]
    assert strict[rest].equals(records[rest])


def test_options_a_to_j_are_the_case_s_own():
    records = written([["Answer: J"] * 3, ["Answer: J"] * 3], gold="J")
    options = {"case 0": {letter: f"finding {letter * 4}" for letter in "ABCDEFGHIJ"}, "case 1": OPTIONS}
    for parser in ("published_letter", "parse_letter"):
        assert rescore(records, parser, options)["correct"].tolist() == [True] * 3 + [False] * 3


def test_a_reply_that_names_only_an_option_is_read_strictly():
    records = written([["The most likely diagnosis is gout."] * 3])
    assert rescore(records, "parse_letter", options_of(records))["letter"].tolist() == ["A"] * 3
    assert rescore(records, "published_letter", options_of(records))["letter"].isna().all()


def test_a_reply_that_was_cut_off_stays_so():
    records = written([["Option A is possible"] * 3]).assign(status="truncated")
    assert rescore(records, "parse_letter", options_of(records))["status"].tolist() == ["truncated"] * 3


def test_mistakes_are_named():
    records = written([["A"] * 3])
    with pytest.raises(ParameterError, match="parser = 'lenient': one of stored, published_letter, parse_letter"):
        rescore(records, "lenient", options_of(records))
    with pytest.raises(DataError, match="case 'case 0' has no options"):
        rescore(records, "parse_letter", {})
    with pytest.raises(MissingDataError, match=r"1 records lack .* model, direct, case 0, cultural"):
        rescore(written([["A", "A", ""]]).replace({"text": {"": None}}), "parse_letter", options_of(records))
    with pytest.raises(MissingDataError, match="21000 records lack"):
        sensitivity(from_patterns(["B1"]), {})


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("unparsed", UNPARSED)
def test_every_measure_is_a_plain_count(k, unparsed):
    """Over all answers, or over what has a letter in each voice that the measure needs."""
    voices = [*VOICES, "rural", "elderly"][:k]
    texts, stored = random_replies(60, k, seed=k)
    records = written(texts, stored, voices)
    frame = sensitivity(records, options_of(records))
    right = [[letter == "A" if letter or unparsed == "wrong" else None for letter in row] for row in stored]
    for column, voice in enumerate(voices):
        answered = [row[column] for row in right if row[column] is not None]
        row = look_up(frame, "accuracy", voice, unparsed=unparsed)
        assert row["n"] == len(answered) and row["value"] == pytest.approx(sum(answered) / len(answered))
    complete = [row for row in right if None not in row]
    assert (len(complete) == 60) == (unparsed == "wrong")
    means = [sum(column) / len(complete) for column in zip(*complete, strict=True)]
    expected = {
        "gap": means[0] - sum(means[1:]) / (k - 1),
        "nag": means[0] - min(means[1:]),
        "nse": sum(0 < sum(row) < k for row in complete) / len(complete),
    }
    for measure, value in expected.items():
        row = look_up(frame, measure, unparsed=unparsed)
        assert row["n"] == len(complete) and row["value"] == pytest.approx(value)
        assert row["change"] == pytest.approx(value - look_up(frame, measure)["value"])
    both = [(row[0], row[1]) for row in right if None not in row[:2]]
    for measure, kind in (("mcnemar_b", (True, False)), ("mcnemar_c", (False, True))):
        row = look_up(frame, measure, f"{voices[0]}, {voices[1]}", unparsed=unparsed)
        assert (row["n"], row["value"]) == (len(both), both.count(kind))
    assert len(frame) == 6 * (k + 3 + k * (k - 1) + 1) and (frame["note"] == "").all()


@pytest.mark.parametrize("unparsed", UNPARSED)
def test_pooled_effect_equals_a_regression_with_a_dummy_for_each_question(unparsed):
    texts, stored = random_replies(50, 3, seed=9)
    records = written(texts, stored)
    row = look_up(sensitivity(records, options_of(records)), "pooled_effect", unparsed=unparsed, model="all models")
    kept = records if unparsed == "wrong" else records[records["letter"].notna()]
    design = pd.get_dummies(kept["case"], dtype=float).assign(marked=(kept["voice"] != "clinical").astype(float))
    assert row["value"] == pytest.approx(100 * np.linalg.lstsq(design, kept["correct"].astype(float))[0][-1])
    by_case = kept.groupby("case")["voice"].agg(set)
    assert row["n"] == sum("clinical" in voices and len(voices) > 1 for voices in by_case)


def test_n_0_is_said_where_no_answer_has_a_letter():
    frame = sensitivity(records := written([["", "", ""]] * 3), options_of(records))
    left_out = frame[frame["unparsed"] == "left out"]
    assert len(frame) == 6 * 13 and (left_out["n"] == 0).all() and (left_out["note"] == "n = 0").all()
    assert left_out[["value", "change"]].isna().all(axis=None)
    assert (frame.loc[frame["unparsed"] == "wrong", "change"] == 0).all()


@pytest.mark.parametrize(("silent", "measured"), [(0, [0.5, 1.0]), (2, [1.0, 0.5])])
def test_a_voice_without_any_letter_leaves_no_gap_but_the_other_voices_accuracy(silent, measured):
    """The gap must not shrink to the voices that are left."""
    stored = [["A", "A", "A"], ["A", "B", "A"]] if silent else [["B", "A", "A"], ["A", "B", "A"]]
    stored = [[None if column == silent else letter for column, letter in enumerate(row)] for row in stored]
    frame = sensitivity(records := written([["A"] * 3] * 2, stored), options_of(records))
    for measure in ("gap", "nag", "nse"):
        assert look_up(frame, measure, unparsed="left out")["note"] == "n = 0"
    others = [voice for column, voice in enumerate(VOICES) if column != silent]
    found = [look_up(frame, "accuracy", voice, unparsed="left out")["value"] for voice in others]
    assert sorted(found) == sorted(measured)
    assert look_up(frame, "accuracy", VOICES[silent], unparsed="left out")["note"] == "n = 0"
    pooled = look_up(frame, "pooled_effect", unparsed="left out", model="all models")
    assert pooled["note"] == ("n = 0" if silent == 0 else "")


def test_a_condition_without_any_letter_stands_beside_one_with_letters():
    """As BioMistral's empty B3 replies in the released answers."""
    records = pd.concat([written([["A"] * 3], [["A"] * 3]), written([[""] * 3]).assign(condition="empty")])
    left_out = sensitivity(records, options_of(records)).query("unparsed == 'left out'")
    assert (left_out.query("condition == 'empty'")["note"] == "n = 0").all()
    assert (left_out.query("condition == 'direct'")["note"] == "").all()
    assert sensitivity(records.iloc[:0], {}).empty


def test_n_1_constant_labels_and_no_discordant_pair():
    frame = sensitivity(records := written([["A"] * 3], [["A"] * 3]), options_of(records))
    assert look_up(frame, "gap")["value"] == 0 and look_up(frame, "nse")["value"] == 0
    assert look_up(frame, "mcnemar_b", "clinical, cultural")["value"] == 0
    assert (frame["n"] == 1).all() and (frame["change"] == 0).all() and (frame["note"] == "").all()


def test_one_voice_has_no_gap():
    frame = sensitivity(records := written([["A"]], [["A"]], voices=["clinical"]), options_of(records))
    assert look_up(frame, "gap")["note"] == look_up(frame, "nag")["note"] == "undefined: no marked voice"
    assert look_up(frame, "accuracy", "clinical")["value"] == 1


def test_missing_voice_and_unequal_case_sets():
    records = written(
        [["A", "A", None], ["A", "B", "B"], [None, "A", "A"]], [["A", "A", "A"], ["A", "B", "B"], ["A"] * 3]
    )
    frame = sensitivity(records, options_of(records))
    assert [look_up(frame, "accuracy", voice)["n"] for voice in VOICES] == [2, 3, 2]
    assert (look_up(frame, "gap")["n"], look_up(frame, "gap")["value"]) == (1, 1.0)
    assert look_up(frame, "mcnemar_b", "clinical, socioeconomic")["n"] == 2
    with pytest.raises(ParameterError, match="reference voice 'plain'"):
        sensitivity(records, options_of(records), reference="plain")


def test_row_order_does_not_matter():
    records = written(*random_replies(30, 3, seed=2))
    shuffled = sensitivity(records.sample(frac=1, random_state=1), options_of(records))
    pd.testing.assert_frame_equal(shuffled, sensitivity(records, options_of(records)))
