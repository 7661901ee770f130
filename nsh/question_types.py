"""What a question asks for: a diagnosis, a treatment or an investigation, told by its phrases (`facts`, Filter 5)."""

from collections.abc import Mapping
from functools import cache

from nsh.declared import read_data


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """Read the phrases of each type of question, in the order in which the types are tried.

    Examples
    --------
    >>> {kind: len(found) for kind, found in phrases().items()}
    {'investigation': 6, 'treatment': 12, 'diagnosis': 6}
    """
    types = read_data("question_types.yaml")["types"]
    return {kind: (*lists["printed"], *lists["reconstructed"]) for kind, lists in types.items()}


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
    ``facts`` Appendix A, Filter 5: the numbers of phrases and nine of them; the other fifteen are reconstructed.

    Examples
    --------
    >>> question_type("What is the most likely diagnosis?"), question_type("Which test would confirm the diagnosis?")
    ('diagnosis', 'investigation')
    """
    words = " ".join(question.casefold().split())
    return next((kind for kind, found in phrases().items() if any(phrase in words for phrase in found)), "other")
