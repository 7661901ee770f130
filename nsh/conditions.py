"""The prompting conditions of the papers, each a short generator that reads like its sentence in the paper.

A condition yields a `Call`, is sent back the `Completion`, and returns an `Answer`. It knows nothing of batches,
stores or engines; `nsh.runner` drives thousands of such generators at once.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from nsh import prompts
from nsh.answers import parse_letter
from nsh.cases import Case
from nsh.engines import Call, Completion


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition concludes: the letter (None if there is none), its status, and the text it was read from."""

    letter: str | None
    status: str
    text: str

    @classmethod
    def from_completion(cls, completion: Completion, case: Case) -> "Answer":
        """Read the letter that a completion commits to.

        Examples
        --------
        >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
        >>> Answer.from_completion(Completion("Answer: B"), case).letter
        'B'
        """
        reading = parse_letter(completion.text, "".join(case.options), case.options, completion.finish)
        return cls(reading.letter, reading.status, completion.text)


Steps = Generator[Call, Completion, Answer]


def direct(case: Case, voice: str) -> Steps:
    """B1, direct: the narrative with its options, one letter asked for (`voices` §4; 128 new tokens)."""
    reply = yield Call(prompts.direct(case, voice), max_new_tokens=128, letters="".join(case.options))
    return Answer.from_completion(reply, case)


def rewrite(case: Case, voice: str) -> Steps:
    """Rewrite-then-Reason: restate the narrative as a clinical vignette, then answer from the vignette, the question
    sentence and the options, without the narrative (`voices` §4 and Appendix I; 512 and 16 new tokens)."""
    vignette = yield Call(prompts.rewrite(case.narratives[voice]), max_new_tokens=512)
    reply = yield Call(
        prompts.answer_from("CLINICAL VIGNETTE", vignette.text, case), max_new_tokens=16, letters="".join(case.options)
    )
    return Answer.from_completion(reply, case)


CONDITIONS: dict[str, Callable[[Case, str], Steps]] = {"direct": direct, "rewrite": rewrite}
