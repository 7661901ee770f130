"""Widgets to explore a run with. Their states are made beforehand and linked in the page, so that they work without a
kernel too; what needs one says how to have it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from ipywidgets import HTML, Box, Button, Dropdown, Layout, Stack, Textarea, VBox, Widget, jslink

from nsh.answers import parse_letter
from nsh.boxes import boxed
from nsh.errors import NshError
from nsh.study import Study
from nsh.tables import Block, callout
from nsh.transcripts import NO_MODEL, hidden, written_out

TRANSCRIPTS = 18  # most states of a widget, so that a page stays small
LIVE = (
    "With a kernel, here is a box where the first prompt of this run can be edited and sent to its model. For that, "
    "run `nsh live`, open the address that it prints, come back to this page and run its cells; or open the notebook "
    "in JupyterLab (`make lab`)."
)


def explore(study: Study) -> Widget | Block:
    """Choose case, condition and voice, and see every call of the study's first model.

    Parameters
    ----------
    study : Study
        Of its cases and conditions as many are shown, from the first, as come to 18 transcripts.

    Returns
    -------
    Widget or Block
        A dropdown for each of the three of which there is more than one; a remark where no model was run or texts may
        not be shown.
    """
    if instead := _nothing(study):
        return instead
    found = {(one.job.case.id, one.job.name, one.job.voice): one for one in study.outcomes(study.models[0])}
    _, conditions, voices = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    voices = voices[:TRANSCRIPTS]
    conditions = conditions[: TRANSCRIPTS // len(voices)]
    complete = [case.id for case in study.cases if all((case.id, name, voices[0]) in found for name in conditions)]
    cases = complete[: TRANSCRIPTS // (len(voices) * len(conditions))]
    choices = {"Case": cases, "Condition": conditions, "Voice": voices}
    controls = {name: Dropdown(options=options, description=name) for name, options in choices.items()}
    stack = _nested([*controls.values()], {key: written_out(outcome).html for key, outcome in found.items()})
    told = f"{study.models[0].name}: {len(cases)} of {len(study.cases)} cases, {', '.join(conditions)}."
    usable = [control for control in controls.values() if len(control.options) > 1]
    return VBox([HTML(f"<p>{escape(told)}</p>"), row_of(usable), stack])


def _nothing(study: Study) -> Block | None:
    """The remark that stands in the place of a widget, if one must."""
    return hidden(study) if study.models else callout(NO_MODEL)


def _nested(controls: Sequence[Dropdown], states: Mapping[tuple[str, ...], str], path: tuple[str, ...] = ()) -> Widget:
    """Stacks within stacks, a level per dropdown, each linked to it in the page; one state needs no stack."""
    if not controls:
        return HTML(states[path])
    children = [_nested(controls[1:], states, (*path, name)) for name in controls[0].options]
    return stack_of(children, controls[0]) if len(children) > 1 else children[0]


def stack_of(children: Sequence[Widget], control: Widget) -> Stack:
    """Children of which the control's choice is shown."""
    stack = Stack(children, selected_index=0)
    jslink((control, "index"), (stack, "selected_index"))
    return stack


def row_of(controls: Sequence[Widget]) -> Box:
    """Controls side by side, one below the other where the page is narrow."""
    return Box(controls, layout=Layout(flex_flow="row wrap"))


def try_prompt(study: Study) -> Widget | Block:
    """Edit the first prompt of a study and send it to its first model.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Widget or Block
        A text box, a button and the reply where somebody is at the kernel; on a page filled by a program, which could
        only show a dead button, how to have them; a remark as of `explore`.
    """
    if instead := _nothing(study):
        return instead
    if not _attended():
        return callout(LIVE, code=True)
    model, job = study.models[0], study.jobs[0]
    call = job.settings.apply(next(job.start()))
    (*before, (role, text)), said = call.messages, HTML()
    prompt = Textarea(text, description="Prompt", layout=Layout(width="100%", height="16rem"))
    button = Button(description=f"Ask {model.name}", layout=Layout(width="auto"))

    def ask(_: Button) -> None:
        """Send the prompt as it stands in the box, and show what comes back."""
        button.disabled, said.value = True, '<p role="status">The model is reading …</p>'
        try:
            asked = replace(call, messages=(*before, (role, prompt.value)))
            ((_, completion),) = study.engine(model).generate([asked])
            letter, status = (
                parse_letter(completion.text, call.letters) if call.letters else (None, "no letter asked for")
            )
            read = f"Read as: {letter or 'no letter'} ({status}). Right answer: {job.case.gold}."
            said.value = f'<div role="status">{boxed([("Reply", "", [("", completion.text)])], after=read).html}</div>'
        except NshError as error:
            said.value = callout(str(error), "warning").html
        finally:
            button.disabled = False

    button.on_click(ask)
    return VBox([prompt, button, said])


def _attended() -> bool:
    """Whether somebody is at this kernel: a program that fills pages says that it could not answer a question."""
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return bool(kernel and kernel.get_parent("shell")["content"].get("allow_stdin"))
