"""Every page of the built book under axe-core's rules, in light and dark."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import html_pages, launched, visit
from playwright.sync_api import Browser, Page

from nsh import assets

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
HTML = Path(os.environ.get("NSH_BOOK") or ROOT / "_build" / "html")
FOUND = """async (rules) => {
  const options = {resultTypes: ['violations'], ...(rules && {runOnly: {type: 'rule', values: rules}})};
  const {violations} = await axe.run(document, options);
  return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 120)).join(' | ')}`);
}"""


@pytest.fixture(scope="module")
def axe() -> Path:
    """The script of axe-core, from npm."""
    script = ROOT / "_build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        assets.fetch(ROOT)
    return script


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all pages."""
    with launched(chromium) as started:
        yield started


def found(page: Page, axe: Path, *rules: str) -> list[str]:
    """The serious and critical findings on a page as it stands, each with the first elements concerned."""
    page.add_script_tag(path=axe)
    return page.evaluate(FOUND, list(rules) or None)


@pytest.mark.parametrize("file", html_pages(HTML), ids=lambda file: str(file.relative_to(HTML).with_suffix("")))
def test_no_serious_finding_in_light_and_dark(file: Path, browser: Browser, axe: Path):
    with visit(browser, file) as seen:
        assert found(seen.page, axe) == []
        seen.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert found(seen.page, axe, "color-contrast") == []


def test_the_rules_find_what_is_wrong(tmp_path: Path, browser: Browser, axe: Path):
    file = tmp_path / "bad.html"
    file.write_text(
        '<!DOCTYPE html><html lang="en"><title>t</title><main><img src="a.png"><a href="#"></a></main></html>'
    )
    with visit(browser, file) as seen:
        assert [finding.split(":")[0] for finding in found(seen.page, axe)] == ["image-alt", "link-name"]
