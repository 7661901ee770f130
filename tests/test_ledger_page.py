"""The ledger as a page shows it: escaped, with its filters, and every row in the table."""

import pandas as pd
import pytest
from browser import launched, visit

from nsh.ledger import COLUMNS, STATUSES
from nsh.ledger_page import counts_table, ledger_counts, ledger_table, left_out, status_bars
from nsh.ledger_text import shown_number

LINES = [
    ["t/a/1", "facts", "Table 1", "a <b>", "0.151", 0.151, "equal", "a - b = 0.151\nnote <script>"],
    ["t/a/2", "voices", "section 5", "claim $x$", "yes", 0.0, "inconsistent", ""],
    ["t/a/3", "sdoh", "Table V", "p", "<0.001", float("nan"), "not derivable", "no data"],
]
ROWS = pd.DataFrame(LINES, columns=COLUMNS)


def test_counts_by_status_and_paper():
    counts = ledger_counts(ROWS)
    assert counts.index.tolist() == ["inconsistent", "equal", "not derivable"]  # the order of STATUSES
    assert counts.loc["equal"].to_dict() == {"voices": 0, "facts": 1, "sdoh": 0}
    assert f"equal: {STATUSES['equal']}" in counts_table(counts).text
    assert counts.to_numpy().sum() == len(ROWS)


def test_the_figure_says_what_it_draws():
    assert "equal: voices 0, facts 1, sdoh 0" in status_bars(ledger_counts(ROWS)).get_label()


def test_text_is_escaped_and_every_row_is_there():
    html = ledger_table(ROWS, "All <rows>").html
    assert html.count("<tbody") == 3 and "a &lt;b&gt;" in html and "&lt;script&gt;" in html and "<script" not in html
    assert "nsh-filtered" in html and "<details>" in html and "<details open>" not in html
    assert "tex2jax_ignore" in html  # a dollar sign stays one
    plain = ledger_table(ROWS, "Few", filters=False).html
    assert "nsh-filtered" not in plain and "<details open>" in plain


@pytest.mark.parametrize(
    ("ours", "printed", "shown"),
    [
        (0.1510000001, "0.151", "0.151"),
        (0.16, "0.151", "0.160"),
        (0.15277, "0.151", "0.15277"),
        (40.0, "52.1", "40.0"),
        (13, "14 of 14", "13"),
        (1.0, "yes", "yes"),
        (0.0, "yes", "no"),
        (-0.0, "0.000", "0.000"),
        (2e-9, "<0.000001", "2.0e-09"),
        (float("nan"), "0.1", "–"),
    ],
)
def test_our_number_has_the_printed_decimals_or_more(ours, printed, shown):
    assert shown_number(ours, printed) == shown


def test_what_was_left_out_is_said():
    assert "DSS: no model." in left_out({"left out": ["DSS: no model."]}).text
    assert "All released data" in left_out({"left out": []}).text


PAGE = """<!doctype html><meta charset="utf-8"><title>ledger</title><body>{table}<script>{script}</script></body>"""


@pytest.fixture
def page(chromium, tmp_path):
    """A page with the table and the script, as the book has them."""
    from pathlib import Path

    script = Path(__file__).parents[1] / "book" / "_static_src" / "js" / "ledger.js"
    file = tmp_path / "ledger.html"
    html = PAGE.format(table=ledger_table(ROWS, "Rows").html, script=script.read_text(encoding="utf-8"))
    file.write_text(html, encoding="utf-8")
    with launched(chromium) as browser, visit(browser, file, 1280, "light") as seen:
        yield seen.page


def visible(page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('tbody')].filter(r => !r.hidden).map(r => r.dataset.status)")


def test_the_filters_work_without_a_kernel(page):
    assert visible(page) == ["equal", "inconsistent", "not derivable"]
    page.select_option("select[name=status]", "equal")
    assert visible(page) == ["equal"] and page.inner_text("output") == "1 of 3 rows"
    assert "status=equal" in page.url
    page.select_option("select[name=status]", "")
    page.fill("input[name=search]", "CLAIM $X")
    assert visible(page) == ["inconsistent"]
    assert "search" not in page.url  # not while typing
    page.press("input[name=search]", "Enter")
    assert "search=CLAIM" in page.url
    page.select_option("select[name=paper]", "facts")
    assert visible(page) == [] and page.inner_text("output") == "0 of 3 rows"


def test_a_filtered_view_can_be_linked_to(page):
    page.evaluate("location.hash = '#paper=sdoh&status=nothing'")
    page.wait_for_function("document.querySelector('output').textContent.startsWith('1 of')")
    assert visible(page) == ["not derivable"]
    page.evaluate("location.hash = '#every-row'")  # a heading: all rows, and the address stays
    page.wait_for_function("document.querySelector('output').textContent.startsWith('3 of')")
    assert page.url.endswith("#every-row")
