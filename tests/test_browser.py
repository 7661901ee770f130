"""The transcript browser: what the page is made from, and the page in a headless Chromium without a network."""

import json
import re
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import pytest
from axe import findings
from browser import SCHEMES, WIDTHS, launched, visit
from made_cases import VOICES, make_cases
from playwright.sync_api import Browser, Page
from typer.testing import CliRunner

from nsh.browser import STAMP, browser_data, marked
from nsh.cases import Case, load_cases
from nsh.cli import app
from nsh.data_cli import FOR
from nsh.records import records_frame, write_records

NASTY = "</script><!-- <b>&amp;</b> $x$ `tick` |pipe|\nnext\u2028line \u202etfel\u202c \u200f \ud83d end"
NAME = NASTY.replace("\ud83d ", "")  # of a voice
STATUSES = ["ok", "unparsed", "refusal"]
# the time from a change of a control to the frame that shows it, milliseconds
TIMED = """([name, value]) => new Promise((done) => {
  const control = document.querySelector(`[name="${name}"]`), started = performance.now();
  control.value = value;
  control.dispatchEvent(new Event("input", {bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - started)));
})"""


def fabricated_run(models: int, conditions: int, cases: int, seed: int = 0) -> pd.DataFrame:
    """Answers by chance, three voices a case, with a reply of some 500 characters each."""
    names = list(
        product(
            [f"model {m}" for m in range(models)],
            [f"condition {c}" for c in range(conditions)],
            [f"{n:04d}" for n in range(cases)],
            VOICES,
        )
    )
    random = np.random.default_rng(seed)
    letters, status = random.choice(list("ABCD"), len(names)), random.choice(STATUSES, len(names), p=[0.9, 0.05, 0.05])
    rows = [
        {
            **dict(zip(("model", "condition", "case", "voice"), name, strict=True)),
            "gold": "A",
            "letter": letter if how == "ok" else None,
            "status": how,
            "correct": letter == "A" and how == "ok",
            "text": f"Reply {number}: the answer is {letter}. " * 30,
            "source": "fabricated",
        }
        for number, (name, letter, how) in enumerate(zip(names, letters, status, strict=True))
    ]
    return records_frame(rows)


def held(path) -> dict:
    """The data in a written page."""
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_columns_give_back_every_answer():
    records = fabricated_run(2, 2, 5)
    columns = browser_data(records)["columns"]
    for name in ("model", "condition", "case", "voice", "status", "letter", "source"):
        values = [columns[name]["values"][code] if code >= 0 else None for code in columns[name]["codes"]]
        assert values == records[name].where(records[name].notna(), None).tolist()
    assert columns["correct"]["codes"] == records["correct"].astype(int).tolist()


def test_a_flip_is_right_in_one_voice_and_wrong_in_another():
    records = fabricated_run(2, 2, 8)
    found = browser_data(records)["columns"]["flip"]["codes"]
    for place, row in enumerate(records.itertuples()):
        same = records[
            (records["model"] == row.model) & (records["condition"] == row.condition) & (records["case"] == row.case)
        ]
        assert found[place] == (same["correct"].any() and not same["correct"].all())


def test_ids_and_letters_only_unless_text_is_asked_for(tmp_path):
    cases, records = make_cases(2), fabricated_run(1, 1, 2)
    without = write_records(records, tmp_path / "ids.html", cases=cases)
    page = without.read_text(encoding="utf-8")
    assert "Reply 1" not in page and "Story" not in page and STAMP not in page
    assert FOR in page and "FABRICATED" in page
    assert held(without)["texts"] is held(without)["stories"] is None
    with_text = write_records(records, tmp_path / "text.html", True, cases)
    assert STAMP in with_text.read_text(encoding="utf-8")
    assert held(with_text)["texts"]["values"][1].startswith("Reply 1")


@pytest.mark.parametrize(("options", "said"), [([], False), (["--with-text"], True)])
def test_the_command_writes_the_page_by_the_ending(tmp_path, monkeypatch, options, said):
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    out = tmp_path / "run.html"
    run = ["records", "--out", str(out), "--model", "scripted", "--condition", "direct", "-p", "n_cases=2", *options]
    result = CliRunner().invoke(app, run, catch_exceptions=False)
    assert result.exit_code == 0 and "6 records" in result.output
    data = held(out)
    assert data["columns"]["case"]["values"] == [case.id for case in load_cases("samples", 2)]
    assert (data["texts"] is not None) == (data["stories"] is not None) == (STAMP in out.read_text("utf-8")) == said


def test_what_is_known_of_a_case_goes_by_the_place_of_its_id():
    records = records_frame(
        {"model": "m", "condition": "direct", "case": name, "voice": "clinical", "gold": gold, "correct": True}
        for name, gold in [("b", "C"), ("a", None)]
    )
    case = Case("a", "Why?", {"A": "x", "B": "y"}, "A", {"clinical": "At 40."})
    data = browser_data(records, [case])
    assert data["columns"]["case"]["values"] == ["b", "a"] and data["gold"] == ["C", None]
    assert data["stories"] == [None, ["Why?", {"A": "x", "B": "y"}, {"clinical": ["At 40."]}]]


def test_no_answers_are_a_page_too(tmp_path):
    assert held(write_records(records_frame([]), tmp_path / "none.html"))["columns"]["case"]["codes"] == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Aged 53, pulse 88/min", "53 years old, pulse 88/min", []),
        ("Aged 53, pulse 88/min", "Aged 54, pulse 88/min", ["53"]),
        ("BP 134 over 76, temp 98.6 F", "BP 120/76, 37 degrees C", ["134", "76"]),
        ("BP 134/76 and potassium 2.9 mEq/L", "potassium came back 2.9", ["134/76"]),
        ("She took nine hundred milligrams", "She took a tablet", ["nine hundred"]),
        ("A toddler with a cough for 3 days", "A boy of 2 with a cough for 4 days", ["toddler"]),
        ("No number at all", "Aged 53", []),
    ],
)
def test_numbers_that_the_other_voice_does_not_state_are_marked(one, other, expected):
    pieces = marked({"one": one, "other": other})["one"]
    assert "".join(pieces) == one
    assert pieces[1::2] == expected


def test_text_that_looks_like_the_page_itself_is_data(tmp_path):
    row = {"model": NASTY, "condition": "direct", "case": NASTY, "voice": NAME, "correct": True, "text": NASTY}
    case = Case(NASTY, NASTY, {"A": NASTY, "B": "y"}, "A", {NAME: NASTY})
    path = write_records(records_frame([row]), tmp_path / "nasty.html", True, [case])
    page = path.read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and "<!--" not in page and "\u2028" not in page and "\u202e" not in page
    data = held(path)
    assert data["texts"]["values"] == [NASTY] and "".join(data["stories"][0][2][NAME]) == NASTY


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests."""
    with launched(chromium) as started:
        yield started


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> dict:
    """27,000 made-up answers, without and with text."""
    folder, records = tmp_path_factory.mktemp("large"), fabricated_run(3, 3, 1000)
    cases = [
        Case(f"{n:04d}", "Which?", {"A": "Gout", "B": "Lyme"}, "A", dict.fromkeys(VOICES, f"Story {n}. " * 30))
        for n in range(1000)
    ]
    return {
        "ids": write_records(records, folder / "ids.html"),
        "text": write_records(records, folder / "text.html", True, cases),
        "records": records,
    }


def shown(page: Page) -> int:
    """How many answers pass the filters."""
    return int(page.locator("#count").inner_text().split()[0].replace(",", ""))


PAINTED = """() => [...performance.getEntriesByType("paint"), ...performance.getEntriesByName("drawn")]
  .map((entry) => entry.startTime)"""


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("kind", ["ids", "text"])
def test_27000_answers_are_quick(large, browser, kind, record_property):
    """First paint and the list under 3 s, a filter under 300 ms: the best of three, since other programs run too."""
    file, paints, times = large[kind], [], {}
    assert file.stat().st_size < 60_000_000
    flips = pd.Series(browser_data(large["records"])["columns"]["flip"]["codes"])
    steps = [
        ("model", 1, 9_000),
        ("flip", 1, flips[9_000:18_000].sum()),
        ("search", "0123", None),
        ("search", "", None),
    ]
    for _ in range(3):
        with visit(browser, file) as seen:
            page = seen.page
            paints.append(max(page.evaluate(PAINTED)))
            assert shown(page) == 27_000 and page.locator("[role=option]").count() < 100
            for name, value, expected in [*steps, ("flip", "", 9_000), ("model", "", 27_000), ("status", 1, None)]:
                times.setdefault(f"{name} {value}", []).append(page.evaluate(TIMED, [name, value]))
                assert expected is None or shown(page) == expected
            assert seen.outside == seen.complaints == []
    record_property("painted", paints)
    record_property("filtered", times)
    assert min(paints) < 3000
    assert max(map(min, times.values())) < 300


@pytest.fixture
def small(tmp_path):
    """Two models, two conditions, four cases."""
    return write_records(fabricated_run(2, 2, 4), tmp_path / "small.html")


@pytest.mark.slow
def test_filters_narrow_together_and_a_search_finds_ids(small, browser):
    with visit(browser, small) as seen:
        page = seen.page
        assert shown(page) == 48
        page.get_by_label("Model", exact=True).select_option("model 1")
        page.get_by_label("Voice", exact=True).select_option("cultural")
        assert shown(page) == 8
        page.get_by_label("Search ids").fill("0002")
        assert shown(page) == 2
        assert page.locator("[role=option]").all_inner_texts()[0].startswith("0002")
        page.get_by_label("Search ids").fill("no such id")
        assert shown(page) == 0 and page.locator("#detail").inner_text() == "No answer chosen"
        assert not page.locator("#list").is_visible()


@pytest.mark.slow
def test_a_chosen_answer_stands_beside_the_other_voices(small, browser):
    records = fabricated_run(2, 2, 4)
    with visit(browser, small) as seen:
        page = seen.page
        page.locator("[role=option]").nth(4).click()
        row = records.iloc[4]
        assert page.locator("#detail h2").inner_text() == f"Case {row.case}: {row.model}, {row.condition}"
        same = records[(records["model"] == row.model) & (records["condition"] == row.condition)]
        for article, (_, other) in zip(
            page.locator("article").all(), same[same["case"] == row.case].iterrows(), strict=True
        ):
            text = article.inner_text()
            assert other.voice in text and f"Status\n{other.status}" in text
            assert f"Answer\n{other.letter or 'none'}" in text
            assert ("right" if other.correct else "✗") in text.splitlines()[-1]


@pytest.mark.slow
def test_the_keyboard_reaches_every_answer(large, browser):
    with visit(browser, large["ids"]) as seen:
        page = seen.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the answers"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "list"
        for key, row in [("ArrowDown", 1), ("PageDown", 11), ("ArrowUp", 10), ("End", 26_999), ("Home", 0)]:
            page.keyboard.press(key)
            assert page.locator("#list").get_attribute("aria-activedescendant") == f"answer-{row}"
            option = page.locator(f"#answer-{row}")
            assert option.get_attribute("aria-selected") == "true"
            assert option.get_attribute("aria-posinset") == str(row + 1)
            assert option.evaluate(
                "(o) => o.offsetTop >= list.scrollTop && o.offsetTop < list.scrollTop + list.clientHeight"
            )
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "detail"


@pytest.mark.slow
def test_any_text_is_shown_literally(tmp_path, browser):
    row = {"model": NASTY, "condition": NASTY, "case": NASTY, "voice": NAME, "correct": True, "text": NASTY}
    case = Case(NASTY, NASTY, {"A": NASTY, "B": "y"}, "A", {NAME: NASTY})
    records = records_frame([row | {"letter": NASTY, "status": NASTY, "gold": NASTY, "settings": NASTY}])
    file = write_records(records, tmp_path / "nasty.html", True, [case])
    units = [ord(unit) for unit in NASTY]  # no character of it takes two
    with visit(browser, file) as seen:
        page = seen.page
        for place in ("pre.said", "article p.said", "#detail > p.said", "h2 bdi", "li bdi", "dd bdi"):
            found = page.locator(place).first.evaluate("(n) => n.textContent.split('').map((c) => c.charCodeAt(0))")
            assert found == units, place
        assert page.locator("article h3 bdi").text_content() == NAME
        assert page.locator("article b, [role=option] b").count() == 0
        assert page.locator("select[name=model] option").nth(1).evaluate("(o) => o.label").startswith("</script><!--")
        assert seen.outside == seen.complaints == []


@pytest.mark.slow
def test_marks_stand_where_the_voices_differ(tmp_path, browser):
    narratives = {"clinical": "Aged 53, pulse 88/min.", "rural": "In my fifties, pulse 88/min."}
    case = Case("1", "Why?", {"A": "x", "B": "y"}, "A", narratives)
    rows = [{"model": "m", "condition": "c", "case": "1", "voice": v, "correct": True, "text": ""} for v in narratives]
    with visit(browser, write_records(records_frame(rows), tmp_path / "m.html", True, [case])) as seen:
        assert seen.page.locator("article mark").all_inner_texts() == ["53", "In my fifties"]
        seen.page.get_by_label("Search ids and texts").fill("my fifties")
        assert shown(seen.page) == 1


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_and_is_accessible(tmp_path, browser, width):
    cases = make_cases(3)
    records = fabricated_run(2, 1, 3).assign(case=lambda rows: rows["case"].str[1:])
    file = write_records(records, tmp_path / "page.html", True, cases)
    # the page lets no script in: axe is run on the same page without that rule
    file.write_text(re.sub(r"<meta http-equiv[^>]+>", "", file.read_text(encoding="utf-8")), encoding="utf-8")
    for scheme in SCHEMES:
        with visit(browser, file, width, scheme) as seen:
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
            assert findings(seen.page) == []
