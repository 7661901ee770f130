"""Registers: what the papers print is in their files, wrong files are named, and one from outside works."""

import re
from dataclasses import replace

import pytest
import yaml

from nsh.errors import DataError
from nsh.making.retell_cli import retell
from nsh.making.voices import FOLDER, register, registers
from nsh.markers import labels
from nsh.prompts import STATUSES

MARKED = ("socioeconomic", "cultural")
OWN = {
    "name": "rural",
    "label": "rural",
    "instruction": "Tell it as on a farm.",
    "temperature": 0.7,
    "openings": {"weather-first": "open with the weather", "animals-first": "open with the animals"},
    "forbidden": ["howdy", "y'?all"],
    "words": [1, 1.5],
    "person": None,
    "source": "this test",
    "status": "reconstructed",
    "note": "made up",
}


def written(folder, **changes):
    """A register file of one's own, with some fields in another form (a field that is ... is left out)."""
    path = folder / "mine.yaml"
    given = {name: value for name, value in {**OWN, **changes}.items() if value is not ...}
    path.write_text(yaml.safe_dump(given), encoding="utf-8")
    return path


def test_temperatures_and_lengths_are_those_printed():
    """`voices` §3 and Appendix B: 0.25, 0.90, 0.90; the original's length ± 10%, and 10 to 25% more words."""
    found = {name: (one.temperature, one.words) for name, one in registers().items()}
    assert found["clinical"] == (0.25, (0.90, 1.10))
    assert found["socioeconomic"] == found["cultural"] == (0.90, (1.10, 1.25))
    assert found["neutral"][0] == 0.90  # `voices`, Limitations: "the same temperature (0.90)"


def test_opening_styles_are_the_five_that_facts_names():
    """`facts` Appendix C.2, by name, in lower case as the packaged samples write them."""
    beta = ["impact-first", "timeline-first", "remedy-first", "worry-first", "symptom-first-lay"]
    gamma = ["somatic-metaphor-first", "family-context-first", "remedy-failure-first", "duty-frame-first"]
    assert list(register("socioeconomic").openings) == beta
    assert list(register("cultural").openings) == [*gamma, "quiet-onset-first"]
    assert all(text.startswith("open ") for name in MARKED for text in register(name).openings.values())


def test_the_phrases_that_facts_prints_are_told_to_the_writer():
    """`facts` Appendix C.1."""
    beta = ["I can't afford to miss work", "I'm sorry to bother you", "I know you're busy"]
    beta.append("He mentioned he was hesitant to come back so soon because")
    gamma = ["my family insisted I come", "traditional herbal teas", "my mother insisted", "fulfill my duties"]
    for name, printed in zip(MARKED, (beta, gamma), strict=True):
        assert [phrase for phrase in printed if phrase not in register(name).instruction] == []


@pytest.mark.parametrize("said", ["I'm sorry to bother you", "i am sorry to bother you", "Sorry to bother you"])
def test_an_apology_at_the_start_is_forbidden_with_and_without_its_verb(said):
    """`facts` Appendix C.1: "apologetic openers (e.g.," the first)."""
    assert [rule for rule in register("socioeconomic").forbidden if re.match(rf"(?:{rule})$", said, re.IGNORECASE)]


@pytest.mark.parametrize("name", registers())
def test_every_register_says_where_it_is_from_and_names_no_group(name):
    one = register(name)
    assert one.name == name and one.status in STATUSES
    assert one.source.startswith(("voices, ", "facts, "))
    assert labels(" ".join([one.instruction, *one.openings.values()])) == ()


def test_the_third_person_control_changes_one_thing():
    other = register("third_person")
    assert (other.person, register("socioeconomic").person) == ("third", "first")
    said = {"name", "label", "person", "source", "status", "note"}
    kept = {name: getattr(other, name) for name in ("instruction", "temperature", "openings", "forbidden", "words")}
    assert replace(register("socioeconomic"), **{name: getattr(other, name) for name in said}) == other
    assert kept["temperature"] == 0.90


def test_the_packaged_registers_are_the_files_of_the_folder_the_papers_first():
    assert sorted(registers()) == sorted(file.stem for file in FOLDER.glob("*"))
    assert list(registers())[:3] == ["clinical", "socioeconomic", "cultural"]


def test_the_help_of_the_command_lists_the_packaged_registers():
    listed = re.search(r"Registers: (.*)\.", retell.__doc__)[1]
    assert sorted(listed.split(", ")) == sorted(registers())


def test_a_register_from_outside_the_package(tmp_path):
    mine = register(written(tmp_path))
    assert (mine.name, mine.words, mine.person, len(mine.openings)) == ("rural", (1, 1.5), None, 2)
    short = tmp_path / "short.yaml"
    short.write_text("like: cultural\nname: longer\nwords: [1.1, 3]\n", encoding="utf-8")
    assert register(str(short)) == replace(register("cultural"), name="longer", words=(1.1, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": " "}, "field 'name': expected letters, digits and underscores, and not 'overall'; found ' '"),
        ({"name": "overall"}, "not 'overall'"),
        ({"name": "a\ud83c"}, "line 6, column 7 found invalid Unicode"),
        ({"temperature": "hot"}, "field 'temperature': expected a number from 0 to 2; found 'hot'"),
        ({"temperature": 3}, "a number from 0 to 2; found 3"),
        ({"temperature": True}, "found True"),
        ({"openings": ["first"]}, "field 'openings': expected a mapping"),
        ({"forbidden": ["(open"]}, "field 'forbidden': expected regular expressions"),
        ({"forbidden": ["(?i)foo"]}, "field 'forbidden': expected regular expressions"),
        ({"forbidden": "howdy"}, "field 'forbidden'"),
        ({"words": [1.2, 1.1]}, "field 'words': expected two factors, 0 < low <= high <= 100; found [1.2, 1.1]"),
        ({"words": [1e-9, 1e308]}, "field 'words'"),
        ({"words": 1.1}, "field 'words'"),
        ({"person": "second"}, "field 'person': expected first, third or null; found 'second'"),
        ({"status": "mine"}, "field 'status': expected one of verbatim, partly reconstructed, reconstructed"),
        ({"note": ...}, "lacking: note, unknown: none"),
        ({"temprature": 1}, "unknown: temprature"),
        ({"like": "mine.yaml"}, "field 'like': expected the name of a packaged register; found 'mine'"),
        ({"like": "cultral"}, "field 'like': expected the name of a packaged register; found 'cultral'"),
    ],
)
def test_a_wrong_register_is_named(tmp_path, change, message):
    with pytest.raises(DataError) as error:
        register(written(tmp_path, **change))
    assert message in str(error.value)


def test_no_such_register_and_no_mapping(tmp_path):
    with pytest.raises(DataError, match="no register neutrl; did you mean 'neutral'"):
        register("neutrl")
    with pytest.raises(DataError, match=r"no register .*absent\.yaml$"):
        register(tmp_path / "absent.yaml")
    (tmp_path / "list.yaml").write_text("- 1", encoding="utf-8")
    with pytest.raises(DataError, match="not a YAML mapping"):
        register(tmp_path / "list.yaml")
