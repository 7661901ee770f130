"""Voices: the papers' names, and styles that can be told apart."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from nsh.declared import read_data
from nsh.voices import known_voices, released_names, styles_of

ENTRIES = [entry for group in read_data("voices.yaml").values() for entry in group]
ALL_COLORS = [entry["color"] for entry in ENTRIES]


def linear(color: str) -> np.ndarray:
    """Linear red, green and blue of a hexadecimal color (IEC 61966-2-1)."""
    part = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colors (WCAG 2.1, relative luminance)."""
    light, dark = sorted((float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_names_of_the_papers():
    assert [voice.name for voice in known_voices()] == ["clinical", "socioeconomic", "cultural"]
    assert released_names() == {"alpha": "clinical", "beta": "socioeconomic", "gamma": "cultural"}


@pytest.mark.parametrize("page", ["#FFFFFF", "#121212", "#14181E"])
@pytest.mark.parametrize("color", ALL_COLORS)
def test_contrast_on_white_and_dark_pages(color, page):
    assert contrast(color, page) >= 3.0  # WCAG 2.1, success criterion 1.4.11


DEFICIENCIES = {  # Machado, Oliveira and Fernandes 2009, severity 1.0
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_three_voices_differ_under_color_vision_deficiency(deficiency):
    seen = [np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(voice.color), 0, 1) for voice in known_voices()]
    for a, b in itertools.combinations(seen, 2):
        assert np.abs(a ** (1 / 2.2) - b ** (1 / 2.2)).max() > 0.15


def test_colors_and_markers_are_all_different():
    assert len({*ALL_COLORS}) == len(ENTRIES) == len({entry["marker"] for entry in ENTRIES})


def test_unknown_voices_get_distinct_styles_in_the_order_given():
    names = ["zeta", "clinical", "rural", "urban", "telegraphic", "<b>", "农村"]
    styles = styles_of(names)
    assert list(styles) == names
    assert len({(style.color, style.marker) for style in styles.values()}) == len(names)
    assert styles["<b>"].label == "<b>" and styles["rural"].released is None


def test_same_set_same_styles_whatever_the_order_and_more_than_there_are_styles():
    names = [f"voice{number}" for number in range(12)]
    assert styles_of(names) == styles_of(reversed(names))
    assert len(styles_of(names + names)) == 12


def test_a_fallback_style_is_the_same_in_another_process():
    code = "from nsh.voices import styles_of; print(styles_of(['rural'])['rural'].color)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == styles_of(["rural"])["rural"].color
