"""Packaged generations made again: what agrees is counted, answer by answer."""

import pytest

from nsh import Store, open_page, run, verify
from nsh.engines import ScriptedEngine
from nsh.errors import MissingDataError
from nsh.verify import Agreement


@pytest.fixture
def study():
    return open_page("voices-05-anchoring", models=["scripted"], n_cases=5)


@pytest.fixture
def packaged(study, tmp_path, monkeypatch):
    """The study's fifteen answers as if they had come with the book."""
    store = Store(tmp_path)
    run(study.jobs, ScriptedEngine("scripted"), store)
    store.close()
    monkeypatch.setattr("nsh.verify.packaged_generations", lambda: tmp_path)
    (file,) = tmp_path.glob("*.jsonl")
    return file


def test_answers_that_come_out_the_same(study, packaged):
    assert verify.verify([study, study], share=1.0) == Agreement(15, 15, 15, 15)
    assert verify.verify([study]).n == 2  # a tenth of 15, rounded


def test_the_choice_follows_its_seed(study, packaged):
    lines = packaged.read_text(encoding="utf-8").splitlines(keepends=True)
    packaged.write_text(
        "".join(line.replace('"text": "', '"text": "I think ') for line in lines[:1]) + "".join(lines[1:])
    )
    found = {verify.verify([study], share=0.1, seed=seed).same_texts for seed in range(20)}
    assert found == {1, 2}


def test_another_letter_and_another_text_are_told_apart(study, packaged):
    first, second, *rest = packaged.read_text(encoding="utf-8").splitlines(keepends=True)
    letter = first.partition('"text": "')[2][0]
    first = first.replace(f'"text": "{letter}"', f'"text": "{"B" if letter == "A" else "A"}"')
    second = second.replace('"text": "', '"text": "Answer: ')
    packaged.write_text(first + second + "".join(rest), encoding="utf-8")
    agreement = verify.verify([study], share=1.0)
    assert agreement == Agreement(15, 15, 14, 13)
    assert str(agreement).startswith(
        "15 of 15 packaged answers made again: 14 with the same letter and status, 13 with"
    )


def test_without_packaged_answers_it_is_said_that_they_are_off(study, monkeypatch):
    monkeypatch.setattr(verify, "packaged_generations", lambda: None)
    with pytest.raises(MissingDataError, match="NSH_PACKAGED=off"):
        verify.verify([study])


def test_a_generation_that_is_not_packaged_is_missed(packaged):
    other = open_page("voices-05-anchoring", models=["scripted"], n_cases=7)
    with pytest.raises(MissingDataError):
        verify.verify([other], share=1.0)
