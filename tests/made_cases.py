"""Made-up cases for tests; no text of any data set."""

from nsh.cases import Case

VOICES = ("clinical", "socioeconomic", "cultural")


def make_cases(n: int, voices: tuple[str, ...] = VOICES, letters: str = "ABCD") -> list[Case]:
    """n distinct cases in the given voices."""
    options = {letter: f"finding {letter}" for letter in letters}
    return [
        Case(
            id=f"{number:03d}",
            question="Which finding is next?",
            options=options,
            gold=letters[number % len(letters)],
            narratives={voice: f"Story {number} told in the {voice} voice. Which finding is next?" for voice in voices},
            original=None,
            meta={},
        )
        for number in range(n)
    ]
