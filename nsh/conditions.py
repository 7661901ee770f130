"""The prompting conditions of the papers, each a short generator that reads like its sentence in the paper.

A condition yields a `Call`, is sent back the `Completion`, and returns an `Answer`. It knows nothing of batches,
stores or engines; `nsh.runner` drives thousands of such generators at once. What a run may choose about a condition
(`scoring`, `caps`, `two_shot`) is a keyword of its function, with the papers' way as the default.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from nsh.answers import parse_letter
from nsh.cases import Case
from nsh.decision_support.router import route
from nsh.engines import Call, Completion
from nsh.extraction import SCHEMA, Extracted, read_extraction
from nsh.guard import strike, unsupported
from nsh.prompts import ask, support


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition concludes: the letter (None if there is none), its status, and the reasoning or reply behind it.

    Where it has such a part: `extraction`, how the JSON was read (`nsh.parse_json`); `tools`, the tools called;
    `fallback`, whether a letter had to be asked for once more.
    """

    letter: str | None
    status: str
    text: str
    extraction: str | None = None
    tools: tuple[str, ...] | None = None
    fallback: bool | None = None

    @classmethod
    def from_completion(cls, completion: Completion, case: Case, extraction: str | None = None) -> "Answer":
        """Read the letter that a completion commits to.

        Examples
        --------
        >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
        >>> Answer.from_completion(Completion("Answer: B"), case).letter
        'B'
        """
        reading = parse_letter(completion.text, "".join(case.options), case.options, completion.finish)
        return cls(reading.letter, reading.status, completion.text, extraction)


Steps = Generator[Call, Completion, Answer]


def _answered(prompt: str, case: Case, voice: str) -> Steps:
    """One call that reads the narrative, with its own version of the question, and answers."""
    reply = yield ask(prompt, case, narrative=case.narratives[voice])
    return Answer.from_completion(reply, case)


def direct(case: Case, voice: str) -> Steps:
    """B1, direct: the narrative with its options, one letter asked for (`voices` §4)."""
    return (yield from _answered("direct", case, voice))


def cot(case: Case, voice: str) -> Steps:
    """B2, chain of thought: reason step by step, then answer (`voices` §4)."""
    return (yield from _answered("cot", case, voice))


def debias(case: Case, voice: str) -> Steps:
    """B3, debiasing: B1 with a system instruction to ignore how the patient tells it (`voices` §4)."""
    return (yield from _answered("debias", case, voice))


def cot_debias(case: Case, voice: str) -> Steps:
    """B4: B2 with the system instruction of B3 (`voices` §4)."""
    return (yield from _answered("cot_debias", case, voice))


def rewrite(case: Case, voice: str) -> Steps:
    """Rewrite-then-Reason: restate the narrative as a clinical vignette, then answer from the vignette, the question
    sentence and the options, without the narrative (`voices` §4)."""
    vignette = yield ask("rewrite", narrative=case.narratives[voice])
    reply = yield ask("answer_from", case, heading="CLINICAL VIGNETTE", intermediate=vignette.text)
    return Answer.from_completion(reply, case)


def _extracted(case: Case, voice: str) -> Generator[Call, Completion, Extracted]:
    """Agent 1: the clinical facts of the narrative as JSON; the raw reply stands for them where it does not parse."""
    reply = yield ask("extract", schema=SCHEMA, narrative=case.narratives[voice])
    return read_extraction(reply.text, reply.finish)


def extract(case: Case, voice: str) -> Steps:
    """Extract-then-Reason (Schema): the facts as JSON, then the answer from them, the question sentence and the
    options, without the narrative (`voices` §4)."""
    extracted = yield from _extracted(case, voice)
    reply = yield ask("answer_from", case, heading="CLINICAL FACTS", intermediate=extracted.text)
    return Answer.from_completion(reply, case, extracted.status)


def extract_reason(case: Case, voice: str) -> Steps:
    """+Reason: the schema route with a structured reasoning agent in the place of the answering call (`voices` §4)."""
    extracted = yield from _extracted(case, voice)
    reply = yield ask("reason", case, facts=extracted.text, support="")
    return Answer.from_completion(reply, case, extracted.status)


def extract_tools(case: Case, voice: str, scoring: str = "published", caps: str = "paper") -> Steps:
    """+Tools, NarrativeShield: extraction, a rule-based tool router, the reasoning agent, and an extractor of the
    letter where the agent commits to none (`facts` §3.3; `voices` §4)."""
    extracted = yield from _extracted(case, voice)
    results = route(extracted.facts, case.question, case.options, scoring, caps)
    reply = yield ask("reason", case, facts=extracted.text, support=support([result.text for result in results]))
    answer = Answer.from_completion(reply, case)
    if fallback := answer.letter is None:
        answer = Answer.from_completion((yield ask("fallback", case, reasoning=reply.text)), case)
    tools = tuple(result.tool for result in results)
    return Answer(answer.letter, answer.status, reply.text, extracted.status, tools, fallback)


def story_schema(case: Case, voice: str) -> Steps:
    """Story+Schema: one answering call that reads the narrative and the extracted facts (`voices` §4)."""
    extracted = yield from _extracted(case, voice)
    reply = yield ask("story_schema", case, narrative=case.narratives[voice], facts=extracted.text)
    return Answer.from_completion(reply, case, extracted.status)


def zero_shot(case: Case, voice: str) -> Steps:
    """Zero shot: one letter with a brief explanation (`sdoh` §IV-A)."""
    return (yield from _answered("zero_shot", case, voice))


def few_shot(case: Case, voice: str) -> Steps:
    """Few shot: two solved examples before the target case (`sdoh` §IV-A)."""
    return (yield from _answered("few_shot", case, voice))


def bias_aware(case: Case, voice: str) -> Steps:
    """Bias aware: an instruction to focus on clinical evidence (`sdoh` §IV-A)."""
    return (yield from _answered("bias_aware", case, voice))


def facts_cot(case: Case, voice: str, two_shot: bool = False) -> Steps:
    """B2 of `facts` §3.2: reason, then answer; with `two_shot` after two worked examples, as BioMistral was given."""
    return (yield from _answered("facts_cot_two_shot" if two_shot else "facts_cot", case, voice))


def facts_debias(case: Case, voice: str) -> Steps:
    """B3 of `facts` §3.2: a single capitalized instruction to disregard how the patient speaks."""
    return (yield from _answered("facts_debias", case, voice))


def guarded_rewrite(case: Case, voice: str) -> Steps:
    """Beyond the papers: a rewrite whose every value must occur in the narrative, else it is asked for once more
    without them, and what is still not there is struck out; then the answer."""
    narrative = case.narratives[voice]
    vignette = (yield ask("rewrite", narrative=narrative)).text
    if values := unsupported(narrative, vignette):
        again = ask("rewrite_again", narrative=narrative, vignette=vignette, values="; ".join(values))
        vignette = (yield again).text
    reply = yield ask("answer_from", case, heading="CLINICAL VIGNETTE", intermediate=strike(narrative, vignette))
    return Answer.from_completion(reply, case)


def rewrite_cot(case: Case, voice: str) -> Steps:
    """Beyond the papers: the rewrite, then chain of thought over it (named as a next step in `voices` §9)."""
    vignette = yield ask("rewrite", narrative=case.narratives[voice])
    reply = yield ask("cot_from", case, heading="CLINICAL VIGNETTE", intermediate=vignette.text)
    return Answer.from_completion(reply, case)


Condition = Callable[..., Steps]
CONDITIONS: dict[str, Condition] = {
    condition.__name__: condition
    for condition in (
        *(direct, cot, debias, cot_debias),
        *(rewrite, extract, extract_reason, extract_tools, story_schema),
        *(zero_shot, few_shot, bias_aware),
        *(facts_cot, facts_debias),
        *(guarded_rewrite, rewrite_cot),
    )
}
