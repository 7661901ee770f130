"""The built book in a headless Chromium that has no network: what the page tests and the screenshots share."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, sync_playwright

FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = {390: 844, 768: 1024, 1280: 800}  # pixels: phone, tablet, laptop, each with its height
SCHEMES = ("light", "dark")
NETWORK = re.compile(r"^(https?|wss?):")
# everything a page draws late: widgets, images further down, mathematics, fonts
SETTLED = """async () => {
  const views = [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')];
  const waiting = () => views.some((view) => !view.parentElement.querySelector('.widget-subarea'));
  for (let tries = 0; tries < 200 && waiting(); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""


@dataclass
class Visit:
    """One page as it was drawn: the page itself, what it asked of the network, and what its console said."""

    page: Page
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def launched(program: str) -> Iterator[Browser]:
    """A Chromium with a user folder of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def visit(browser: Browser, file: Path, width: int = 1280, scheme: str = "light") -> Iterator[Visit]:
    """Open a page from the disk and wait until it has drawn itself; requests to the network are noted and refused."""
    size = {"width": width, "height": WIDTHS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    seen = Visit(context.new_page())

    def refuse(route: Route) -> None:
        seen.outside.append(route.request.url)
        route.abort()

    context.route(NETWORK, refuse)
    seen.page.on("console", lambda message: seen.complaints.append(message.text) if message.type == "error" else None)
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.goto(file.resolve().as_uri(), timeout=90_000)  # a busy machine takes its time
    seen.page.evaluate(SETTLED)
    yield seen
    context.close()


def html_pages(html: Path) -> list[Path]:
    """Every page of a built book, but for the theme's own fragments and `index.html`, which sends the reader on."""
    return sorted(
        file for file in html.rglob("*.html") if file.relative_to(html).parts[0] not in ("_static", "index.html")
    )
