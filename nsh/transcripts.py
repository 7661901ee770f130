"""What was sent and what came back: a run's calls, one by one, as text and as a figure of their lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from nsh.boxes import boxed
from nsh.drawing import entry, finish, hollow, look, rows_of, styled
from nsh.engines import Call, Completion
from nsh.errors import DataError, ParameterError
from nsh.prompts import template
from nsh.runner import Outcome
from nsh.study import Study
from nsh.tables import Block, callout
from nsh.voices import styles_of

TEXT_FILES = (".jsonl", ".csv", ".parquet")
NO_MODEL = "No model was run: models = []."
ENDS = {"stop": "by the model", "length": "by the budget", "answer": "once its letter was settled"}


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a run and its completion."""

    call: Call
    completion: Completion


def transcript(outcome: Outcome) -> list[Step]:
    """The calls of an outcome with what came back, in order: its condition is walked again with its own completions.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from nsh import Case, Store, run
    >>> from nsh.engines import ScriptedEngine
    >>> from nsh.jobs import jobs
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> (outcome,), _ = run(jobs([case], "rewrite"), ScriptedEngine(reply=lambda call: "B"), Store(mkdtemp()))
    >>> [(step.call.stage, step.completion.text) for step in transcript(outcome)]
    [('rewrite', 'B'), ('answer_from', 'B')]
    """
    steps, made, before = outcome.job.start(), [], None
    for completion in outcome.completions:
        made.append(Step(outcome.job.settings.apply(steps.send(before)), completion))
        before = completion
    return made


def hidden(study: Study) -> Block | None:
    """What stands in the place of the cases' texts, and of what models made of them, where they may not be shown: the
    samples are ours and a file is the reader's own, but of the released cases, of a data set on the hub and of any
    case that states an exam step (`meta_info`), as MedQA's do, a page holds ids, letters and numbers only."""
    source = str(study.values["source"])
    local = source == "samples" or (source.endswith(TEXT_FILES) and not source.startswith("hf:"))
    if local and not any(case.meta.get("meta_info") for case in study.cases):
        return None
    return callout(f"The texts of “{source}” are not shown here: ids, letters and numbers only.")


def chosen(study: Study) -> Outcome | None:
    """The outcome that a page shows: its first model, its first case, the voice that it names; None if it runs no
    model.

    Raises
    ------
    ParameterError
        If the case is not told in that voice.
    """
    if not study.models:
        return None
    voice = study.values["voice"] or study.reference
    for outcome in study.outcomes(study.models[0]):
        if outcome.job.voice == voice:
            return outcome
    raise ParameterError(f"voice = {voice!r}: the case is told in {', '.join(study.cases[0].narratives)}")


def shown(study: Study, outcome: Outcome | None) -> Block:
    """The transcript of one of a study's outcomes, where its texts may be shown and there is one."""
    if outcome is None:
        return callout(NO_MODEL)
    return hidden(study) or written_out(outcome)


def written_out(outcome: Outcome) -> Block:
    """A transcript to read: each call with its prompt's source, its turns as they were sent, and the reply."""
    parts = []
    for number, step in enumerate(transcript(outcome), start=1):
        prompt, call, reply = template(step.call.stage), step.call, step.completion
        head = f"Call {number}: {Path(call.stage).stem}"
        facts = (
            f"{prompt['status']}; source: {prompt['source']}. Prompt: {reply.prompt_tokens} tokens. "
            f"Reply: {reply.new_tokens} of at most {call.max_new_tokens} new tokens, ended {ENDS[reply.finish]}."
        )
        parts.append((head, facts, [*call.messages, ("reply", reply.text)]))
    return boxed(parts, after=f"Answer: {_concluded(outcome)}")


def _concluded(outcome: Outcome) -> str:
    """Letter, status and what else the condition says about itself."""
    answer = outcome.answer
    said = [f"{answer.letter or 'no letter'} ({answer.status})", f"right answer: {outcome.job.case.gold}"]
    if answer.extraction:
        said.append(f"extraction: {answer.extraction}")
    if answer.tools is not None:
        said += [f"tools: {', '.join(answer.tools) or 'none'}", f"fallback: {'yes' if answer.fallback else 'no'}"]
    return "; ".join([*said, *outcome.departures])


@styled
def reply_lengths(outcomes: Sequence[Outcome]) -> Figure:
    """Draw the new tokens of every call, a marker per voice, with the call's budget as a hollow circle.

    Raises
    ------
    DataError
        If there is no outcome.
    """
    if not outcomes:
        raise DataError("reply_lengths: no outcome to draw; run at least one case")
    styles = styles_of(dict.fromkeys(outcome.job.voice for outcome in outcomes))
    longest = max(outcomes, key=lambda outcome: len(outcome.stages))
    labels = {stage: Path(stage).stem for stage in longest.stages}
    figure, axes = rows_of([*labels.values()], 0.55)
    rows, values = {stage: row for row, stage in enumerate(labels)}, {label: [] for label in labels.values()}
    for step in transcript(longest):
        axes.plot(step.call.max_new_tokens, rows[step.call.stage], linestyle="none", **hollow())
    offsets = {voice: 0.15 * (place - (len(styles) - 1) / 2) for place, voice in enumerate(styles)}
    for outcome in outcomes:
        voice = outcome.job.voice
        for stage, completion in zip(outcome.stages, outcome.completions, strict=True):
            axes.plot(completion.new_tokens, rows[stage] + offsets[voice], linestyle="none", **look(styles[voice]))
            values[labels[stage]].append(f"{voice} {completion.new_tokens}")
    axes.set_xlim(left=0)
    entries = [entry(style.label, **look(style)) for style in styles.values()] + [entry("budget", **hollow())]
    listed = {label: ", ".join(found) for label, found in values.items()}
    return finish(figure, entries, "", "New tokens of each call", listed)
