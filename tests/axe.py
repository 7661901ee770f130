"""axe-core, from npm, on a page of a browser."""

from pathlib import Path

from playwright.sync_api import Page

from nsh import assets

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "_build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
FOUND = """async (rules) => {
  const options = {resultTypes: ['violations'], ...(rules && {runOnly: {type: 'rule', values: rules}})};
  const {violations} = await axe.run(document, options);
  return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 120)).join(' | ')}`);
}"""


def findings(page: Page, *rules: str) -> list[str]:
    """The serious and critical findings on a page as it stands, each with the first elements concerned; by all rules
    unless some are named."""
    if not SCRIPT.is_file():
        assets.fetch(ROOT)
    page.add_script_tag(path=SCRIPT)
    return page.evaluate(FOUND, list(rules) or None)
