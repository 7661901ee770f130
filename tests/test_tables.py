"""Tables: everything escaped, nothing shown as nan, every header scoped."""

from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

from nsh.errors import ParameterError
from nsh.tables import Block, beside, callout, format_cell, table

NASTY = [
    "Hb <5 g/dL <b>x</b><script>1</script>",
    "costs $5, then $x^2$ and \\(y\\)",
    "`code` | pipe | **bold**",
    "\u202eright to left\u202c \u05d0\u05d1",
    "&lt; &amp; \"quoted\" 'single'",
    "two\nlines",
]


class Seen(HTMLParser):
    """The tags, attributes and texts that a browser would see."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("text", NASTY)
def test_model_text_is_shown_literally_everywhere(text):
    frame = pd.DataFrame({text: [text], "note": [text]})
    block = table(frame, text, labels={"note": text})
    seen = Seen(block.html)
    assert seen.texts.count(text) == 5  # caption, two headings, row header, note
    assert {tag for tag, _ in seen.tags} <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(seen.tags[0][1]["class"].split())
    assert seen.tags[0][1]["aria-label"] == text
    assert Seen(callout(text).html).texts == [text]
    compared = pd.DataFrame([[text, text, "0.1", 0.1, True]], columns=["model", "column", "printed", "ours", "equal"])
    assert Seen(beside(compared, text).html).texts.count(text) == 3


def test_half_of_a_surrogate_pair_is_shown_as_its_escape():
    block = table(pd.DataFrame({"a": ["x \ud83c y \U0001f600"]}, dtype=object), "caption")
    assert "x \\ud83c y \U0001f600" in block.html and "x \\ud83c y" in block.text
    block.html.encode("utf-8")


def test_headers_have_scope_and_numbers_are_right_aligned():
    frame = pd.DataFrame(
        {"model": ["a", "b"], "n": [1000, 20], "nag": [0.15100000000000002, -0.00001], "yes": [True, False]}
    )
    seen = Seen(table(frame, "caption").html)
    assert [attrs.get("scope") for tag, attrs in seen.tags if tag == "th"] == ["col"] * 4 + ["row"] * 2
    assert [attrs.get("class") for tag, attrs in seen.tags if tag == "td"] == ["num", "num", None] * 2
    assert seen.texts == ["caption", "model", "n", "nag", "yes", "a", "1,000", "0.151", "yes", "b", "20", "0.000", "no"]
    scroll, attrs = seen.tags[0]
    assert (scroll, attrs["tabindex"], attrs["role"]) == ("div", "0", "region")
    assert seen.tags[1] == ("table", {"class": "nsh-table"})


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("", "not computed"),
        (None, "not computed"),
        (np.nan, "not computed"),
        ("n = 0", "n = 0"),
        ("n = 0; 3 cases without every voice left out", "n = 0"),
        ("undefined: constant labels", "undefined"),
        ("n = 1: interval undefined", "undefined"),
        ("no discordant pairs: no change", "not computed"),
    ],
)
@pytest.mark.parametrize("value", [np.nan, None, pd.NA, pd.NaT])
def test_missing_numbers_say_why(value, note, shown):
    assert format_cell(value, ".4f", note) == shown
    block = table(pd.DataFrame({"model": ["m"], "v": [value], "note": [note]}), "caption")
    assert shown in Seen(block.html).texts and "nan" not in block.html.lower() + block.text.lower()


def test_an_empty_note_column_is_left_out_and_a_named_index_is_shown():
    frame = pd.DataFrame({"v": [1.0], "note": [""]}, index=pd.Index(["m"], name="model"))
    assert Seen(table(frame, "c").html).texts == ["c", "model", "v", "m", "1.000"]


def test_no_rows():
    block = table(pd.DataFrame({"model": [], "v": []}), "caption")
    assert "no rows" in block.html and block.text == "caption: no rows"


def test_two_row_headers_formats_and_duplicate_columns():
    frame = pd.DataFrame([["a", "b", 0.5, 0.25]], columns=["model", "voice", "v", "v"])
    seen = Seen(table(frame, "c", formats={"v": ".1%"}, row_headers=2).html)
    assert seen.texts[-4:] == ["a", "b", "50.0%", "25.0%"]
    assert [attrs["scope"] for tag, attrs in seen.tags if tag == "th"][-2:] == ["row", "row"]


def test_beside_marks_equal_and_different_with_a_text_alternative():
    rows = [
        ["a", "nag", "0.151", 0.15100000000000002, True],
        ["a", "p", "<0.000001", 1e-9, True],
        ["b", "nag", "0.069", 0.0731, False],
        ["c", "nag", "0.091", np.nan, pd.NA],
    ]
    block = beside(
        pd.DataFrame(rows, columns=["model", "column", "printed", "ours", "equal"]), "c", labels={"nag": "NAG"}
    )
    seen = Seen(block.html)
    marks = [attrs["aria-label"] for tag, attrs in seen.tags if tag == "span"]
    assert marks == ["equal to the printed digits"] * 2 + ["differs from the printed"]
    text = " ".join(unescape(part) for part in seen.texts)
    assert block.text.split("\n")[1].split() == ["a", "0.151", "✓", "<0.000001", "✓"]
    assert "0.073 ≠ 0.069" in block.text and "not computed (printed 0.091)" in block.text
    assert "0.073   ≠   0.069" in text and "not printed" in text and "NAG" in text
    assert "nan" not in (block.html + block.text).lower()


def test_a_notebook_gets_html_and_text():
    block = callout("chance level (0.25)", "warning")
    data, _ = DisplayFormatter().format(block)
    assert data["text/html"] == block.html and data["text/plain"] == "chance level (0.25)"
    assert "nsh-warning" in block.html and isinstance(block, Block)


def test_unknown_callout():
    with pytest.raises(ParameterError, match="'danger' is not one of note, warning"):
        callout("x", "danger")
