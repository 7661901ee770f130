"""The first page: what an instruction to ignore the voice changes in the released models, in one row of numbers."""

from dataclasses import dataclass

from nsh.gaps import anchoring
from nsh.patterns import from_patterns
from nsh.sections.methods import answering


@dataclass(frozen=True, slots=True)
class InstructionEffect:
    """Mean gap (a proportion) of the `n` models that answer at all under both, without and with the instruction."""

    n: int
    before: float
    after: float


def instruction_effect(before: str = "B1", after: str = "B3") -> InstructionEffect:
    """The mean gap of the released models under two conditions, from the packaged counts.

    A model without a single right answer under one of them (BioMistral's B3 replies are all empty) is left out.

    Examples
    --------
    >>> effect = instruction_effect()
    >>> effect.n, round(effect.before, 4), round(effect.after, 4)
    (6, 0.0935, 0.0815)
    """
    gaps = anchoring(answering(from_patterns([before, after])), resamples=0, permutations=0)
    means = gaps.groupby("condition")["gap"].mean()
    return InstructionEffect(gaps["model"].nunique(), float(means[before]), float(means[after]))
