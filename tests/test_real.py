"""Whether a page holds its numbers on real models."""

import pytest

from nsh.declared import find_page
from nsh.real import real_run

SEVEN_B, PACKAGED = "Qwen2.5-7B-Instruct", "SmolLM2-135M-Instruct"


@pytest.mark.parametrize(
    ("slug", "values", "here"),
    [
        ("voices-05-anchoring", {"source": "samples"}, True),
        ("voices-07-mitigation", {"source": "samples", "models": [PACKAGED]}, False),
        ("voices-07-mitigation", {"source": "samples", "models": [SEVEN_B]}, False),
        ("voices-07-mitigation", {"source": "released", "models": [PACKAGED]}, False),
        ("voices-07-mitigation", {"source": "released", "models": [PACKAGED, SEVEN_B]}, True),
        ("voices-06-explanations", {"released": "off"}, False),
    ],
)
def test_what_counts_as_the_real_run(slug, values, here):
    assert real_run(find_page(slug), values) is here


def test_released_files_count_where_they_are(tmp_path):
    (tmp_path / "results").mkdir()
    assert real_run(find_page("voices-06-explanations"), {"released": str(tmp_path)})
