"""Done means computed: one changed letter in what a page is made from changes that page, and no other.

All pages are built once from canned answers, and again after each change; what is compared are the outputs of the
executed notebooks, without the foot that says how a page was made. The canned answers end in text that is more than
text to HTML, mathematics and Markdown; the book made of them shows it to the letter.
"""

import re
import shutil
from pathlib import Path

import pytest
from browser import launched, visit
from copied_book import ROOT, Copy, Rebuild
from test_book import lay_checkout
from warm_pages import ODD

from nsh import book
from nsh.declared import pages
from nsh.status import write_status

pytestmark = pytest.mark.slow

VOICES, FACTS, BENCHMARK = "voices-05-anchoring", "facts-04-anchoring", "voices-03-benchmark"
LEDGER, SETUP = "ledger", "voices-04-setup"
NO_LETTER = {"voices-b-retelling", "voices-d-additions"}  # a writer or a judge is asked for none
# Rules find no age in the canned letters; a letter changed under every prompt leaves the pairs of prompts alike.
NOT_BY_A_LETTER = {"voices-h-audits", "sdoh-05-statistics"} | NO_LETTER
# what is changed -> the parameter by which a page takes it
KINDS = {"generation": "models", "retelling": "source", "released answer": "released"}
SHOW_TEXT = {SETUP, "facts-03-architecture", "sdoh-03-design", "beyond-guarded"}


def takes(parameter: str) -> set[str]:
    """The pages that take a parameter."""
    return {slug for slug, page in pages().items() if parameter in page.parameters}


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Copy:
    return Copy(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def rebuilds(copy) -> dict[str, Rebuild]:
    """Every kind of change in turn, and what building again did."""
    done = {"everything": copy.build(), "nothing": copy.build()}
    shutil.copy(copy.staged(VOICES), copy.folder / "before.ipynb")
    copy.change_generations()
    done["generation"] = copy.build()
    shutil.copy(copy.staged(VOICES), copy.folder / "after.ipynb")
    copy.change_retelling()
    done["retelling"] = copy.build()
    copy.change_pattern()
    done["pattern count"] = copy.build()
    copy.values["released"] = "released"
    copy.build()
    copy.change_released()
    done["released answer"] = copy.build()
    copy.change_declaration()
    so_far = [done[kind].changed for kind in ("generation", "retelling", "pattern count", "released answer")]
    if rest := set(pages()).difference(*so_far):
        done["declaration"] = copy.build(rest)
    return done


def test_the_first_build_runs_every_page_and_the_next_runs_none(rebuilds):
    assert rebuilds["everything"].ran == rebuilds["everything"].changed == set(pages())
    assert rebuilds["everything"].made > 72  # the packaged cases, directly, and other conditions
    assert rebuilds["nothing"] == Rebuild(frozenset(), frozenset(), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pages_that_take_what_changed_run_and_no_other(rebuilds, kind):
    assert rebuilds[kind].ran == takes(KINDS[kind]) - (NO_LETTER if kind == "generation" else set())


@pytest.mark.parametrize("slug", pages())
def test_a_changed_letter_changes_the_page(rebuilds, slug):
    kinds = {kind for kind in rebuilds if kind != "everything" and slug in rebuilds[kind].changed}
    assert kinds
    assert "generation" in kinds or "models" not in pages()[slug].parameters or slug in NOT_BY_A_LETTER


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("generation", {VOICES, FACTS, SETUP}),
        ("released answer", {VOICES, FACTS, LEDGER}),
        ("pattern count", {VOICES, FACTS, LEDGER}),
    ],
)
def test_what_is_not_shown_changes_nothing(rebuilds, kind, changed):
    assert rebuilds[kind].changed & {VOICES, FACTS, BENCHMARK, LEDGER, SETUP} == changed


def test_a_retelling_changes_its_table_and_its_prompt(rebuilds):
    assert {BENCHMARK, SETUP} <= rebuilds["retelling"].changed


@pytest.fixture(scope="module")
def odd_pages(rebuilds, copy) -> list[Path]:
    """The pages of the whole book, as HTML, that hold the odd text."""
    for name in ("_config.yml", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, copy.folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book.assets, "vendor", lambda root, vendor=book.assets.vendor: vendor(ROOT))
        html = book.build_html(copy.folder, list(pages()), write_status).parent / "notebooks"
    return [html / f"{slug}.html" for slug in pages() if "nsh-odd" in copy.staged(slug).read_text("utf-8")]


def test_odd_text_of_a_model_is_shown_to_the_letter(odd_pages, chromium):
    assert {file.stem for file in odd_pages} >= SHOW_TEXT
    literally = ODD.replace("\ud83c", "\\ud83c")  # which no file can hold
    with launched(chromium) as browser:
        for file in odd_pages:
            with visit(browser, file) as seen:
                assert literally in seen.page.evaluate("document.querySelector('main').textContent"), file.stem
                assert seen.page.locator(".nsh-odd").count() == 0 and not seen.page.evaluate("'odd' in window")
                assert seen.complaints == seen.outside == []


def test_a_changed_letter_is_in_the_html(rebuilds, copy, tmp_path, monkeypatch):
    (tmp_path / "viewers").mkdir()
    monkeypatch.setattr(book.assets, "vendor", lambda root: tmp_path / "viewers")
    folder = tmp_path / "checkout"
    folder.mkdir()
    lay_checkout(folder)
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: book/intro\nchapters:\n  - file: notebooks/{VOICES}\n")
    (folder / "book" / "intro.md").write_text("# Welcome\n\n```{bibliography}\n```\n")
    articles = []
    for name in ("before", "before", "after"):
        for place in (folder / "notebooks", folder / "_build" / "stage" / "notebooks"):
            shutil.copy(copy.folder / f"{name}.ipynb", place / f"{VOICES}.ipynb")
        html = book.build_html(folder, [VOICES]).parent / "notebooks" / f"{VOICES}.html"
        text = html.read_text(encoding="utf-8")
        article = text[text.index("<article") : text.index("</article>")]
        articles.append(re.sub(r'<details class="nsh-provenance">.*?</details>', "", article, flags=re.DOTALL))
    assert articles[0] == articles[1] != articles[2]
