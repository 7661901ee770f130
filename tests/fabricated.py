"""Made-up records for tests of the statistics; no model gave these answers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nsh.records import records_frame

THREE_VOICES = ("clinical", "socioeconomic", "cultural")


def fabricated(
    correct: Sequence[Sequence[bool | int | None]],
    letters: Sequence[Sequence[str | None]] | None = None,
    voices: Sequence[str] = THREE_VOICES,
    model: str = "model",
    condition: str = "direct",
    cases: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Records of an array of answers, cases × voices; None in `correct` is a case without a record in that voice."""
    cases = cases or [f"case {number}" for number in range(len(correct))]
    return records_frame(
        {
            "model": model,
            "condition": condition,
            "case": cases[row],
            "voice": voice,
            "letter": letters[row][column] if letters else None,
            "status": "ok" if not letters or letters[row][column] else "unparsed",
            "correct": bool(correct[row][column]),
            "source": "fabricated",
        }
        for row in range(len(correct))
        for column, voice in enumerate(voices)
        if correct[row][column] is not None
    )


def from_letters(letters: Sequence[Sequence[str | None]], gold: str = "A", **options) -> pd.DataFrame:
    """Records of an array of letters, cases × voices, all with the same right answer."""
    return fabricated([[letter == gold for letter in row] for row in letters], letters, **options)


def random_answers(n: int, k: int, seed: int) -> np.ndarray:
    """Right/wrong answers, cases × voices, correlated within a case and lower in later voices."""
    generator = np.random.default_rng(seed)
    difficulty = generator.normal(0, 1, (n, 1))
    return generator.normal(0.6 - 0.25 * np.arange(k), 1, (n, k)) > difficulty
