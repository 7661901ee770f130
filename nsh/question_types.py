"""What a question asks for: a diagnosis, a treatment or an investigation, told by its phrases (`facts`, Filter 5)."""

from collections.abc import Mapping
from functools import cache

from nsh.declared import read_data


def phrase_lists() -> Mapping[str, Mapping[str, list[str]]]:
    """The phrases of each type: those that a paper prints, the reconstructed ones, and those that tell no type.

    Examples
    --------
    >>> phrase_lists()["treatment"]["general"]
    ['following would']
    """
    return read_data("question_types.yaml")["types"]


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """The phrases that tell each type of question, in the order in which the types are tried.

    Examples
    --------
    >>> {kind: len(found) for kind, found in phrases().items()}
    {'investigation': 6, 'treatment': 11, 'diagnosis': 5}
    """
    return {kind: (*lists["printed"], *lists["reconstructed"]) for kind, lists in phrase_lists().items()}


def question_type(question: str) -> str:
    """Type of the first list of which a phrase stands in the question; case and line breaks do not count.

    Parameters
    ----------
    question : str
        The question sentence.

    Returns
    -------
    str
        "diagnosis", "treatment" (or management), "investigation", or "other" where no phrase is found.

    References
    ----------
    ``facts`` Appendix A, Filter 5: the numbers of phrases and nine of them. Of the other fifteen, all reconstructed,
    two tell no type and are left out here.

    Examples
    --------
    >>> question_type("What is the most likely diagnosis?"), question_type("Which test would confirm the diagnosis?")
    ('diagnosis', 'investigation')
    """
    words = " ".join(question.casefold().split())
    return next((kind for kind, found in phrases().items() if any(phrase in words for phrase in found)), "other")
