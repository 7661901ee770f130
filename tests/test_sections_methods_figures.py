"""Figures of what methods change: what is drawn is told in the text alternative, printed values beside."""

import pandas as pd
import pytest
from fabricated import fabricated, random_answers

from nsh.patterns import from_patterns
from nsh.sections import method_figures as figures
from nsh.sections.method_numbers import versus
from nsh.sections.methods import condition_means, method_rows


@pytest.fixture(scope="module")
def run():
    names = ("direct", "extract", "rewrite")
    return pd.concat([fabricated(random_answers(20, 3, seed), condition=name) for seed, name in enumerate(names)])


def test_released_models_are_drawn_and_the_silent_one_named():
    rows = method_rows(from_patterns(["B1", "B3"]), "B1", resamples=0)
    label = figures.levels_of_models(rows, "clinical").get_label()
    assert "B3, Llama-3.1-8B-Instruct: clinical −0.6, marked voices, mean 0.5, gap before 0.131" in label
    assert label.endswith("Not drawn, no right answer at all: BioMistral-7B under B3.")
    assert label.count("gap before") == 6


def test_changes_stand_beside_the_printed_ones(run):
    """Printed for the rewrite: clinical .633 − .645, marked .586 − .547, in points."""
    means = condition_means(run, resamples=0)
    figure = figures.levels_of_conditions(means, ["direct", "extract", "rewrite"], "clinical", "a note")
    points = 100 * (means.at["rewrite", "acc_clinical"] - means.at["direct", "acc_clinical"])
    told = f"clinical {points:z.1f} (printed -1.2), marked".replace("-", "−")
    assert f"Rewrite-then-Reason: {told}" in figure.get_label() and figure.get_label().endswith("a note")
    drawn = [line.get_xdata()[-1] for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert any(value == pytest.approx(points) for value in drawn)
    assert any(value == pytest.approx(-1.2) for value in drawn)


def test_prose_minus_schema_draws_each_voice_and_the_gap(run):
    found = versus(run, "rewrite", "extract", resamples=0)
    label = figures.prose_minus_schema(found).get_label()
    values = [100 * found[f"delta_voice_{name}"].iloc[0] for name in ("clinical", "socioeconomic", "cultural")]
    told = "clinical {:z.1f}, socioeconomic {:z.1f}, cultural {:z.1f}, gap".format(*values).replace("-", "−")
    assert told in label


def test_a_condition_of_the_readers_own_is_drawn_without_a_printed_value(run):
    mine = run.replace({"condition": {"rewrite": "mine"}})
    label = figures.levels_of_conditions(condition_means(mine, resamples=0), ["direct", "mine"], "clinical").get_label()
    assert "mine: clinical" in label and "(printed" not in label and "nan" not in label


def test_missing_values_are_named_and_voices_ordered():
    values = pd.DataFrame({"cultural": [0.5, None], "clinical": [0.9, 0.8]}, index=["first", "second"])
    label = figures.voices_in_rows(values, {"as printed": {"clinical": 0.96}}, "Recall", "z.2f").get_label()
    assert "second: clinical 0.80, cultural not computed" in label
    assert "as printed: clinical (printed 0.96)" in label
