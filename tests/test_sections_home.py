"""The row of numbers on the first page, against the paper's own tables."""

import pytest

from nsh.printed import published
from nsh.sections.home import instruction_effect


def test_the_effect_of_the_instruction_follows_from_the_printed_tables():
    """`facts` Tables 3 and 6 print OMR per voice for the models; BioMistral's B3 has no answer at all."""
    gaps = {}
    for name in ("facts_table3_b1", "facts_table6_b3"):
        omr = published(name).set_index("model")[["omr_clinical", "omr_socioeconomic", "omr_cultural"]].astype(float)
        omr = omr.drop(index="BioMistral-7B")
        gaps[name] = (omr["omr_clinical"] - (omr["omr_socioeconomic"] + omr["omr_cultural"]) / 2).mean()
    effect = instruction_effect()
    assert effect.n == 6
    assert [effect.before, effect.after] == pytest.approx(list(gaps.values()), abs=1e-9)
