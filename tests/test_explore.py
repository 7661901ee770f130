"""Widgets that work without a kernel: what they hold, and what a reader sees in a headless Chromium."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import launched, visit
from fabricated import fabricated, random_answers
from ipywidgets import Dropdown, Play, Stack, Widget
from ipywidgets.embed import embed_data
from made_cases import VOICES
from playwright.sync_api import Browser

from nsh import explore as explore_module
from nsh.engines import Call, Completion, ScriptedEngine
from nsh.errors import EngineError, ParameterError
from nsh.explore import LIVE, NO_MODEL, TRANSCRIPTS, explore, try_prompt
from nsh.gaps import anchoring
from nsh.opening import open_page
from nsh.records import records_frame
from nsh.study import Study
from nsh.tables import Block
from nsh.watch import SIZES, UNDEFINED, bootstrap_to_watch, gap_as_cases_are_added

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {"models": ["scripted"], "max_new_tokens": 16}


def made_study(tmp_path, monkeypatch, slug="voices-04-setup", **values) -> Study:
    """A study with a store of its own."""
    monkeypatch.setenv("NSH_STORE", str(tmp_path / "store"))
    return open_page(slug, **{**SETTINGS, **values})


def inside(widget: Widget, kind: type) -> list[Widget]:
    """The widget and all in it that are of a kind."""
    found = [widget] if isinstance(widget, kind) else []
    return found + [deep for child in getattr(widget, "children", ()) for deep in inside(child, kind)]


def labels(widget: Widget) -> list[str]:
    """The text alternatives of a widget's pictures."""
    (stack,) = inside(widget, Stack)
    return [html.unescape(re.search(r'<svg role="img" aria-label="([^"]+)"', c.value)[1]) for c in stack.children]


def test_every_state_is_there_and_no_page_holds_more_than_eighteen(tmp_path, monkeypatch):
    conditions = ["direct", "rewrite"]
    study = made_study(tmp_path, monkeypatch, "voices-08-costs", conditions=conditions, n_cases=5, shortened_cases=2)
    widget = explore(study)
    case, condition, voice = inside(widget, Dropdown)
    assert list(case.options) == [one.id for one in study.cases[:2]]  # those that both conditions have
    assert list(condition.options) == conditions and list(voice.options) == list(VOICES)
    outer, *_ = inside(widget, Stack)
    for outcome in study.outcomes(study.models[0]):
        key = outcome.job.case.id, outcome.job.name, outcome.job.voice
        if key[0] in case.options:
            at = [
                list(control.options).index(name) for control, name in zip((case, condition, voice), key, strict=True)
            ]
            leaf = outer.children[at[0]].children[at[1]].children[at[2]]
            assert html.escape(outcome.completions[-1].text) in leaf.value


def test_as_many_cases_as_come_to_eighteen_transcripts(tmp_path, monkeypatch):
    widget = explore(made_study(tmp_path, monkeypatch, n_cases=24, condition="direct"))
    case, voice = inside(widget, Dropdown)
    assert len(case.options) * len(voice.options) == TRANSCRIPTS
    assert "6 of 24 cases" in widget.children[0].value


def test_one_case_needs_no_dropdown_for_it(tmp_path, monkeypatch):
    (voice,) = inside(explore(made_study(tmp_path, monkeypatch, n_cases=1)), Dropdown)
    assert list(voice.options) == list(VOICES)


def test_without_a_model_there_is_a_remark(tmp_path, monkeypatch):
    study = made_study(tmp_path, monkeypatch, models=[])
    assert str(explore(study)) == str(try_prompt(study)) == str(gap_as_cases_are_added(records_frame([]))) == NO_MODEL
    assert str(bootstrap_to_watch(records_frame([]))) == NO_MODEL


def test_the_last_picture_of_the_gap_is_the_gap_of_all_cases():
    records = fabricated(random_answers(40, 3, seed=1))
    said = labels(gap_as_cases_are_added(records, resamples=200, seed=3))
    row = 100 * anchoring(records, resamples=200, permutations=0, seed=3).iloc[0][["gap", "gap_lo", "gap_hi"]]
    assert len(said) <= SIZES
    assert said[-1].endswith("40 cases: {:.1f} [{:.1f}, {:.1f}] points.".format(*row).replace("-", "−"))


def test_the_same_seed_adds_the_same_cases_and_one_letter_changes_the_pictures():
    answers = random_answers(30, 3, seed=2)
    one, again, other = (
        labels(gap_as_cases_are_added(fabricated(answers), resamples=50, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again and one[:-1] != other[:-1]
    answers[4, 0] = not answers[4, 0]
    assert labels(gap_as_cases_are_added(fabricated(answers), resamples=50, seed=1))[-1] != one[-1]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cases_are_watched_too(n):
    records = fabricated(random_answers(n, 3, seed=0))
    for widget in (gap_as_cases_are_added(records, resamples=20), bootstrap_to_watch(records, resamples=20)):
        assert "nan" not in str([child.value for child in inside(widget, explore_module.HTML)])


def test_no_gap_is_said_in_words():
    unmarked = fabricated([[True], [False]], voices=["clinical"])
    assert str(gap_as_cases_are_added(unmarked)) == str(bootstrap_to_watch(unmarked, resamples=10)) == UNDEFINED
    with pytest.raises(ParameterError, match="resamples = 0"):
        bootstrap_to_watch(unmarked, resamples=0)


def test_the_draws_are_those_of_the_interval():
    """After all draws the shaded range is the interval that `anchoring` reports from the same seed."""
    records = fabricated(random_answers(50, 3, seed=5))
    widget = bootstrap_to_watch(records, resamples=300, seed=7)
    row = 100 * anchoring(records, resamples=300, permutations=0, seed=7).iloc[0][["gap", "gap_lo", "gap_hi"]]
    said = labels(widget)
    assert said[-1].endswith("300 draws: {:.1f} [{:.1f}, {:.1f}].".format(*row).replace("-", "−"))
    assert len(said) == 6 and inside(widget, Play)[0].max == 5  # 10, 20, 50, 100, 200, 300


def test_a_page_filled_by_a_program_says_how_to_have_the_box(tmp_path, monkeypatch):
    shown = try_prompt(made_study(tmp_path, monkeypatch))
    assert isinstance(shown, Block) and str(shown) == LIVE and "nsh live" in LIVE


@pytest.fixture
def prompted(tmp_path, monkeypatch):
    """The box, the button and the reply's place, as somebody at a kernel has them, and the calls that were made."""
    monkeypatch.setattr(explore_module, "_attended", lambda: True)
    study, asked = made_study(tmp_path, monkeypatch, condition="direct"), []

    def reply(call: Call) -> str:
        asked.append(call)
        return "<b>B</b>, $x$"

    monkeypatch.setattr(study, "engine", lambda model: ScriptedEngine(reply=reply))
    return *try_prompt(study).children, asked


def test_an_edited_prompt_is_sent_and_the_reply_is_shown_literally(prompted):
    prompt, button, said, asked = prompted
    assert prompt.value.startswith("Answer") or len(prompt.value) > 100
    prompt.value = "Say B."
    button.click()
    assert asked[0].messages == (("user", "Say B."),) and asked[0].max_new_tokens == 16
    assert "&lt;b&gt;B&lt;/b&gt;, $x$" in said.value and "mathjax_ignore" in said.value
    assert "Read as: B (ok)" in said.value and not button.disabled


def test_an_engine_that_fails_says_so_in_the_page(prompted, monkeypatch):
    _, button, said, _ = prompted

    def fail(self, calls) -> Iterator[tuple[int, Completion]]:
        raise EngineError("no <memory>")

    monkeypatch.setattr(ScriptedEngine, "generate", fail)
    button.click()
    assert "no &lt;memory&gt;" in said.value and not button.disabled


@pytest.mark.slow
def test_somebody_is_at_the_kernel_where_input_is_allowed():
    """As JupyterLab and the live page ask; papermill allows none."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        for allowed in (True, False):
            client.execute("from nsh.explore import _attended", reply=True, timeout=120)
            answer = client.execute(
                "", user_expressions={"said": "_attended()"}, allow_stdin=allowed, reply=True, timeout=60
            )
            assert answer["content"]["user_expressions"]["said"]["data"]["text/plain"] == str(allowed)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# one transcript is in the page: that of a story, with so many calls
SHOWN = """([story, calls]) => {
  const found = document.querySelectorAll('.nsh-transcript'), made = document.querySelectorAll('.nsh-call');
  return found.length === 1 && found[0].textContent.includes(story) && made.length === calls;
}"""
PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title><main>
<script src="{vendor}/require/require.js"></script>
<script src="{vendor}/npm/@jupyter-widgets/html-manager/dist/embed-amd.js"></script>
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
<div><script type="application/vnd.jupyter.widget-view+json">{view}</script></div></main></html>"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests."""
    with launched(chromium) as started:
        yield started


def static_page(widget: Widget, folder: Path) -> Path:
    """A page with the widget's saved state and the book's own viewer, and no kernel."""
    import json

    from nsh.assets import vendor

    data = embed_data(views=[widget], drop_defaults=False)  # as a kernel tells its front end
    state, view = (json.dumps(part).replace("<", "\\u003c") for part in (data["manager_state"], data["view_specs"][0]))
    file = folder / "page.html"
    file.write_text(PAGE.format(vendor=vendor(ROOT).resolve().as_uri(), state=state, view=view), encoding="utf-8")
    return file


@pytest.mark.slow
def test_dropdowns_choose_the_transcript_without_a_kernel(tmp_path, monkeypatch, browser):
    study = made_study(tmp_path, monkeypatch, "voices-08-costs", conditions=["direct", "rewrite"], n_cases=2)
    replies = {(o.job.case.id, o.job.name, o.job.voice): o.answer.text for o in study.outcomes(study.models[0])}
    with visit(browser, static_page(explore(study), tmp_path)) as seen:
        page = seen.page
        for case, condition, voice in replies:
            for name, value in {"Case": case, "Condition": condition, "Voice": voice}.items():
                page.get_by_label(name, exact=True).select_option(value)
            story = next(one for one in study.cases if one.id == case).narratives[voice]
            page.wait_for_function(SHOWN, arg=[story[:60], {"direct": 1, "rewrite": 2}[condition]])
            assert page.locator(".nsh-said").last.inner_text() == replies[case, condition, voice]
        assert seen.outside == [] and seen.complaints == []


@pytest.mark.slow
def test_a_slider_moved_by_the_keyboard_changes_the_picture(tmp_path, browser):
    widget = gap_as_cases_are_added(fabricated(random_answers(40, 3, seed=1)), resamples=50)
    said = labels(widget)
    with visit(browser, static_page(widget, tmp_path)) as seen:
        seen.page.get_by_role("img", name=said[0]).wait_for()
        handle = seen.page.get_by_role("slider")
        for wanted in said[1:4]:
            handle.press("ArrowRight")
            seen.page.get_by_role("img", name=wanted).wait_for()
        assert seen.outside == [] and seen.complaints == []


@pytest.mark.slow
def test_the_bootstrap_plays_without_a_kernel(tmp_path, browser):
    widget = bootstrap_to_watch(fabricated(random_answers(40, 3, seed=1)), resamples=100)
    said = labels(widget)
    with visit(browser, static_page(widget, tmp_path)) as seen:
        seen.page.locator(".widget-play button").first.click()
        seen.page.get_by_role("img", name=said[-1]).wait_for()
