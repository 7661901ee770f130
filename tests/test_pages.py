"""The built book as a reader meets it: every page from the disk, without a network, narrow and wide, light and dark.

The book is the one in `_build/html`; another can be named by NSH_BOOK.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pytest
import yaml
from axe import findings
from browser import SCHEMES, WIDTHS, Visit, html_pages, launched, visit
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
HTML = Path(os.environ.get("NSH_BOOK") or ROOT / "_build" / "html")
DISCLAIMER = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["announcement"]
BLANK = {"", "nan", "NaN", "None", "NaT", "inf", "<NA>"}
LEAKED = re.compile(r"\bnp\.\w+\(|\bnan\b|\bNaN\b|<NA>|\bobject at 0x")
# of each image: whether it is loaded, its own width, its width on the page, its text alternative
IMAGES = "images => images.map((image) => [image.complete, image.naturalWidth, image.clientWidth, image.alt])"
# of each table: how many boxes it lies in, and whether the keyboard reaches the box if the table is wider
BOXES = """tables => tables.map((table) => {
  const boxes = [];
  for (let node = table.parentElement; node; node = node.parentElement)
    if (node.classList.contains('nsh-scroll')) boxes.push(node);
  const reached = (box) => box.scrollWidth <= box.clientWidth || box.getAttribute('tabindex') === '0';
  return [boxes.length, boxes.every(reached)];
})"""
CONTROLS = "a[href], button, input, select, textarea, summary, [role=slider], .nsh-scroll[tabindex]"
# marks the controls that are seen, until they get the focus; puts it on the first; how many there are
WAIT_FOR_FOCUS = """controls => {
  const seen = controls.filter((control) => control.checkVisibility({visibilityProperty: true}) && !control.disabled);
  seen.forEach((control) => control.addEventListener('focus', () => delete control.dataset.waiting));
  seen.forEach((control) => { control.dataset.waiting = ''; });
  if (seen.length) seen[0].focus();
  return seen.length;
}"""
# the text of the page without code, which may well say None or nan
PROSE = """() => {
  const text = document.querySelector('main').cloneNode(true);
  text.querySelectorAll('pre, code, script, style, mjx-container').forEach((node) => node.remove());
  return text.textContent;
}"""


def texts(page: Page, selector: str) -> list[str]:
    """The text of each matching element, trimmed."""
    return [text.strip() for text in page.locator(selector).all_text_contents()]


def show(page: Page, width: int, scheme: str) -> None:
    """Give a page another width and color scheme."""
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all pages."""
    with launched(chromium) as started:
        yield started


@pytest.fixture(scope="module", params=html_pages(HTML), ids=lambda file: str(file.relative_to(HTML).with_suffix("")))
def drawn(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Visit]:
    """A page of the book, drawn once for all its tests."""
    with visit(browser, request.param) as seen:
        yield seen


def test_there_is_a_book():
    if not (HTML / "index.html").is_file():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no book in {HTML}: run `make book` first")
    assert len(html_pages(HTML)) > 3


def test_nothing_is_asked_of_the_network_and_the_console_is_quiet(drawn: Visit):
    assert drawn.outside == []
    assert drawn.complaints == []


def test_the_disclaimer_is_read_at_top_and_foot(drawn: Visit):
    assert texts(drawn.page, ".bd-header-announcement__content") == [DISCLAIMER]
    assert DISCLAIMER in drawn.page.locator(".bd-footer-content").inner_text()


def test_no_rule_of_accessibility_is_broken_in_light_or_dark(drawn: Visit):
    assert findings(drawn.page) == []
    show(drawn.page, 1280, "dark")
    assert findings(drawn.page, "color-contrast") == []
    show(drawn.page, 1280, "light")


def test_every_figure_is_drawn_and_described(drawn: Visit):
    for complete, natural, shown, alt in drawn.page.locator("article img").evaluate_all(IMAGES):
        assert complete and natural and shown
        assert len(alt.split()) > 2, f"alt text {alt!r} describes nothing"
        assert not re.search(r"_images/|\.(svg|png)$", alt)


def test_no_number_is_blank(drawn: Visit):
    assert not BLANK.intersection(texts(drawn.page, "article .pasted-text, article tbody td"))
    assert not LEAKED.search(drawn.page.evaluate(PROSE))


def test_mathematics_is_typeset(drawn: Visit):
    assert drawn.page.locator("article .math:not(:has(mjx-container))").count() == 0
    assert drawn.page.locator("mjx-merror").count() == 0
    assert not re.search(r"\\\(|\\\[|\\begin\{", drawn.page.evaluate(PROSE))


def test_every_widget_is_shown(drawn: Visit):
    views = drawn.page.locator('script[type="application/vnd.jupyter.widget-view+json"]').count()
    assert drawn.page.locator(".widget-subarea > .jupyter-widgets").count() == views


@cache
def places(file: Path) -> set[str]:
    """The names within a file that a link can lead to."""
    html = file.read_text(encoding="utf-8") if file.suffix == ".html" else ""
    return {"", *re.findall(r'\bid="([^"]+)"', html)}


def test_links_between_pages_lead_somewhere(drawn: Visit):
    links = drawn.page.locator("a[href]").evaluate_all("links => links.map((link) => link.href)")
    parts = [urlsplit(link) for link in links if link.startswith("file:")]
    local = {(Path(url2pathname(link.path)), unquote(link.fragment)) for link in parts}
    assert [link for link in sorted(local) if not link[0].is_file() or link[1] not in places(link[0])] == []


def test_the_keyboard_reaches_every_control(drawn: Visit):
    controls = drawn.page.locator(f"article :is({CONTROLS})").evaluate_all(WAIT_FOR_FOCUS)
    for _ in range(controls + 50):  # what can be focused without being a control comes between
        drawn.page.keyboard.press("Tab")
    assert (
        drawn.page.locator("[data-waiting]").evaluate_all("all => all.map((one) => one.outerHTML.slice(0, 99))") == []
    )


def test_wide_tables_scroll_in_a_box_that_the_keyboard_reaches(drawn: Visit):
    drawn.page.set_viewport_size({"width": 390, "height": WIDTHS[390]})
    boxes = drawn.page.locator("table.nsh-table").evaluate_all(BOXES)
    assert [box for box in boxes if box != [1, True]] == []


def test_the_rules_of_accessibility_find_what_is_wrong(tmp_path: Path, browser: Browser):
    file = tmp_path / "bad.html"
    file.write_text(
        '<!DOCTYPE html><html lang="en"><title>t</title><main><img src="a.png"><a href="#"></a></main></html>'
    )
    with visit(browser, file) as seen:
        assert [finding.split(":")[0] for finding in findings(seen.page)] == ["image-alt", "link-name"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_the_window(drawn: Visit, width: int, scheme: str):
    show(drawn.page, width, scheme)
    assert drawn.page.evaluate("document.documentElement.scrollWidth") <= width
