"""Released answers as records: made-up result files by hand, the real ones against `facts` Tables 3 and 6."""

import hashlib
import json
import time
from pathlib import Path

import pytest

from nsh import pull as pull_module
from nsh.errors import DataError, ParameterError
from nsh.printed import published
from nsh.records import COLUMNS
from nsh.released import CONDITIONS, MODELS, load_released, released_status, result_file

TEXTS = {"A": "A", "B": "B: Lyme", None: "I cannot give medical advice."}


def answer(letter: str | None, gold: str, text: str | None = None) -> dict:
    """One voice's answer."""
    text = TEXTS[letter] if text is None else text
    return {"raw_response": text, "extracted_answer": letter, "is_correct": letter == gold}


def line(case: str = "X_1", gold: str = "B", letters=("B", "A", None), **changes) -> dict:
    """One line of a result file."""
    voices = {voice: answer(letter, gold) for voice, letter in zip(("alpha", "beta", "gamma"), letters, strict=True)}
    return {"question_id": case, "correct_answer_idx": gold, "personas_eval": voices, **changes}


def write(folder: Path, name: str, rows) -> Path:
    """Write a file of JSON lines in the released layout."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def questions(folder: Path, **golds: str) -> None:
    """Write the questions that the answers belong to."""
    rows = [
        {"question_id": case, "options": {"A": "Gout", "B": "Lyme"}, "answer_idx": gold} for case, gold in golds.items()
    ]
    write(folder, "dataset/medqa_1000_filtered.jsonl", rows)


def test_one_record_per_model_condition_case_and_voice(tmp_path):
    write(tmp_path, result_file("B1", "qwen25"), [line("X_1"), line("X_2", "A", ("A", "A", "B"))])
    write(tmp_path, result_file("B3", "llama31"), [line("X_1")])
    records = load_released(tmp_path)
    assert list(records.columns) == COLUMNS
    names = [("Qwen2.5-7B-Instruct", "B1")] * 6 + [("Llama-3.1-8B-Instruct", "B3")] * 3
    assert list(zip(records["model"], records["condition"], strict=True)) == names
    first = records.iloc[:6]
    assert first["case"].tolist() == ["X_1"] * 3 + ["X_2"] * 3
    assert first["voice"].tolist() == ["clinical", "socioeconomic", "cultural"] * 2
    assert first["letter"].tolist() == ["B", "A", None, "A", "A", "B"]
    assert first["correct"].tolist() == [True, False, False, True, True, False]
    assert first["status"].tolist() == ["ok", "ok", "refusal", "ok", "ok", "ok"]
    assert first["text"].tolist()[2] == TEXTS[None]
    assert set(records["source"]) == {"released"}
    assert records["prompt_tokens"].isna().all() and set(records["keys"]) == {()}


def test_a_response_without_letter_says_why(tmp_path):
    questions(tmp_path, X_1="B")
    row = line(letters=(None, None, None))
    for voice, text in zip(("alpha", "beta", "gamma"), (" \n", "Maybe.", "The answer is B."), strict=True):
        row["personas_eval"][voice] = answer(None, "B", text)
    write(tmp_path, result_file("B1", "qwen25"), [row])
    records = load_released(tmp_path)
    assert records["status"].tolist() == ["empty", "unparsed", "unparsed"]  # the authors' reading counts, not ours
    assert not records["correct"].any()


def test_only_the_conditions_asked_for_are_read(tmp_path):
    write(tmp_path, result_file("B1", "qwen25"), [line()])
    write(tmp_path, result_file("B2", "qwen25"), [{"corrupt": True}])
    assert set(load_released(tmp_path, conditions=("B1",))["condition"]) == {"B1"}
    with pytest.raises(ParameterError, match="released condition 'B4': expected a list of B1, B2, B3"):
        load_released(tmp_path, conditions=("B1", "B4"))


def test_an_empty_folder_gives_an_empty_frame(tmp_path):
    records = load_released(tmp_path)
    assert (len(records), list(records.columns)) == (0, COLUMNS)


def altered(voice: str, **changes) -> dict:
    """The answers of a line, one of them changed."""
    voices = line()["personas_eval"]
    return {"personas_eval": voices | {voice: voices[voice] | changes}}


@pytest.mark.parametrize(
    ("changes", "place", "expected"),
    [
        ({"question_id": None}, "field 'question_id'", "text or a whole number"),
        ({"correct_answer_idx": None}, "field 'correct_answer_idx'", "a letter; found None"),
        ({"correct_answer_idx": "A"}, "field 'correct_answer_idx'", "'B', the correct letter of X_2; found 'A'"),
        ({"personas_eval": None}, "field 'personas_eval'", "an object"),
        ({"personas_eval": {"alpha": {}}}, "field 'personas_eval'", "answers for alpha, beta, gamma"),
        ({"personas_eval": dict.fromkeys(("alpha", "beta", "gamma"))}, "field 'personas_eval, alpha'", "an object"),
        (
            altered("beta", is_correct=True),
            "voice beta, field 'is_correct'",
            "False, as the answer is A and B is correct",
        ),
        (altered("gamma", is_correct=None), "voice gamma, field 'is_correct'", "False, as the answer is None"),
        (altered("beta", extracted_answer="b"), "voice beta, field 'extracted_answer'", "a letter or null; found 'b'"),
        (altered("alpha", raw_response=None), "voice alpha, field 'raw_response'", "text; found None"),
    ],
)
def test_a_corrupt_line_is_named(tmp_path, changes, place, expected):
    questions(tmp_path, X_1="B", X_2="B")
    path = write(tmp_path, result_file("B1", "qwen25"), [line("X_1"), line("X_2") | changes])
    with pytest.raises(DataError) as error:
        load_released(tmp_path)
    message = str(error.value)
    assert message.startswith(f"{path}, line 2, ")
    assert f"{place}: expected {expected}" in message


def test_a_torn_line_and_a_case_that_stands_twice(tmp_path):
    path = write(tmp_path, result_file("B1", "qwen25"), [line(), line()])
    with pytest.raises(DataError, match=r"two rows for the same answer: Qwen2\.5-7B-Instruct, B1, X_1, clinical"):
        load_released(tmp_path)
    path.write_text(path.read_text()[:-40])
    with pytest.raises(DataError, match="line 2: expected one JSON object"):
        load_released(tmp_path)


def test_status_of_every_file(tmp_path, monkeypatch):
    good = write(tmp_path, result_file("B1", "llama31"), [line()])
    bad = write(tmp_path, result_file("B1", "llama32"), [line()])
    write(tmp_path, result_file("B2", "llama31"), [line()])
    checksum = hashlib.sha256(good.read_bytes()).hexdigest()
    listing = tmp_path / "files.csv"
    rows = [(good, checksum), (bad, "0" * 64), (tmp_path / result_file("B1", "qwen25"), checksum)]
    listing.write_text("path,bytes,sha256\n" + "".join(f"{p.relative_to(tmp_path)},7,{s}\n" for p, s in rows))
    monkeypatch.setattr(pull_module, "LIST", listing)
    status = released_status(tmp_path).set_index("file")
    assert status["state"].head(4).to_dict() == {
        result_file("B1", "llama31"): "present",
        result_file("B1", "llama32"): "wrong checksum",
        result_file("B1", "qwen25"): "missing",
        result_file("B2", "llama31"): "not listed",
    }
    assert set(status["state"].iloc[4:]) == {"not offered"}
    assert len(status) == len(MODELS) * len(CONDITIONS)
    assert status["bytes"].head(3).tolist() == [7, 7, 7] and status["bytes"].iloc[3:].isna().all()


# ---------------------------------------------------------------- the real files


def test_every_listed_file_of_the_released_folder_is_right(released):
    states = released_status(released).set_index("file")["state"]
    assert (states == "present").sum() == 35
    assert set(states) == {"present", "not offered"}
    assert (states == "not offered").sum() == 9  # of the 21 result files of 7 models and 3 conditions, 12 are listed


@pytest.fixture(scope="module")
def records(released):
    """All released answers."""
    return load_released(released)


def test_loading_is_quick_enough_to_do_at_will(released):
    seconds = []
    for _ in range(2):
        start = time.process_time()
        assert len(load_released(released)) == 36_000  # 12 files of 1,000 questions in 3 voices
        seconds.append(time.process_time() - start)
    assert min(seconds) < 3


@pytest.mark.parametrize(("condition", "table"), [("B1", "facts_table3_b1"), ("B3", "facts_table6_b3")])
def test_accuracies_are_the_printed_ones(records, condition, table):
    printed = published(table).set_index("model")
    answers = records[records["condition"] == condition]
    shares = answers.pivot_table(index="model", columns="voice", values="correct", aggfunc="mean")
    assert len(shares) == {"B1": 7, "B3": 4}[condition]
    for model, row in shares.iterrows():
        for voice in row.index:
            assert f"{row[voice]:.4f}" == printed.loc[model, f"omr_{voice}"], (model, voice)
        assert f"{row.mean():.4f}" == printed.loc[model, "omr"], model


def test_models_are_named_in_the_order_of_facts_table_3(records):
    assert list(MODELS.values()) == published("facts_table3_b1")["model"].tolist()
    assert records["model"].unique().tolist() == list(MODELS.values())


def test_empty_and_unread_responses(records):
    # BioMistral's B3 responses are all empty; its B1 responses hold no letter in 93 of 3,000
    biomistral = records[records["model"] == "BioMistral-7B"]
    assert set(biomistral.loc[biomistral["condition"] == "B3", "status"]) == {"empty"}
    assert (biomistral.loc[biomistral["condition"] == "B1", "status"] != "ok").sum() == 93
    assert (records["letter"].isna() == (records["status"] != "ok")).all()
