"""Formulas over printed numbers: values, what rounding allows, and what is refused."""

import pytest
from scipy import stats

from nsh.errors import DataError, ParameterError
from nsh.formulas import Unavailable, discordant_from_p, evaluate, grim, mcnemar_from_kappa
from nsh.printed import half_unit, published

ROW = {"a": "0.645", "b": ".547", "model": "m", "printed": "0.098"}


def ours(*name):
    """The numbers of ours that these tests have."""
    if name == ("table", "nag", "m"):
        return 0.1
    raise Unavailable(name)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("a - b", 0.098),
        ("min(a, b)", 0.547),
        ("mean([a, b])", 0.596),
        ("count([x > 0.6 for x in [a, b]])", 1),
        ("a > b and not b > a", 1),
        ("printed", 0.098),
        ("0.5 if model == 'm' else 2", 0.5),
        ("released('table', 'nag', model)", 0.1),
        ("cell('facts_table1_nag', 'B1', 'BioMistral-7B')", 0.064),
        ("cell('sdoh_table3_main', 'nse_pct', 'Qwen2.5-7B-Instruct', 'zero_shot')", 32.0),
        ("max(column('facts_table1_nag', 'B1'))", 0.151),
        ("len(column('sdoh_table3_main', 'nse_pct', prompt='zero_shot'))", 3),
        ("text('voices_text', 'nag_rank_medgemma-4b-it')", 2),
    ],
)
def test_what_a_formula_comes_to(formula, value):
    assert evaluate(formula, ROW, ours).value == pytest.approx(value)


def test_rounding_of_the_inputs_by_brute_force():
    """Every corner of the box of half units: the slack covers the farthest of them for a sum of monotone terms."""
    formula, found = "(a + 2 * b) / 3", evaluate("(a + 2 * b) / 3", ROW, ours)
    corners = [
        evaluate(formula, {**ROW, "a": str(0.645 + i), "b": str(0.547 + j)}, ours).value
        for i in (-0.0005, 0.0005)
        for j in (-0.0005, 0.0005)
    ]
    assert found.slack == pytest.approx(max(abs(corner - found.value) for corner in corners))
    assert found.read == {"a": "0.645", "b": ".547"}


def test_counts_are_not_rounded_and_percentages_are():
    assert evaluate("n + 0", {"n": "300", "printed": "1"}, ours).slack == 0
    assert evaluate("n + 0", {"n": "14%", "printed": "1"}, ours).slack == 0.5
    assert half_unit("7 of 7") == half_unit("7/11") == 0 and half_unit("40.80%") == 0.005


def test_the_printed_number_itself_is_taken_as_it_stands():
    assert evaluate("grim(printed, 1000)", {"printed": "0.6417"}, ours).slack == 0


@pytest.mark.parametrize(
    "formula",
    ["a -", "nothing + 1", "a - model", "open('x')", "().__class__", "cell('facts_table1_nag', 'B9', 'BioMistral-7B')"],
)
def test_a_malformed_formula_is_named(formula):
    with pytest.raises(ParameterError, match="formula"):
        evaluate(formula, ROW, ours)


def test_a_cell_must_be_one_row():
    with pytest.raises(DataError, match=r"0 rows for Qwen2\.5-7B-Instruct"):
        evaluate("cell('sdoh_table3_main', 'nse_pct', 'Qwen2.5-7B-Instruct')", ROW, ours)


def test_a_number_that_we_do_not_have_is_unavailable():
    with pytest.raises(Unavailable):
        evaluate("released('table', 'omr', 'm')", ROW, ours)


def test_grim_is_the_nearest_fraction():
    assert grim(0.6417, 3000) == 1925 / 3000 and grim(0.645, 11) == pytest.approx(7 / 11)
    assert grim(2.0003, 3000) == 1 and grim(-0.0106, 1000) == -0.011


def test_discordant_counts_from_kappa_are_those_of_table_4():
    """facts Tables 3 and 4 print accuracies, kappa and p of the same answers; pattern counts give b and c."""
    counts = published("patterns").query("condition == 'B1'").set_index("model")
    for model, row in counts.iterrows():
        n = {name: int(row[name]) for name in row.index if name.startswith("n")}
        b, c = n["n100"] + n["n101"], n["n010"] + n["n011"]
        right = n["n100"] + n["n101"] + n["n110"] + n["n111"], n["n010"] + n["n011"] + n["n110"] + n["n111"]
        chance = (right[0] * right[1] + (1000 - right[0]) * (1000 - right[1])) / 1e6
        kappa = round((1 - (b + c) / 1000 - chance) / (1 - chance), 4)
        expected = stats.chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1)
        found = mcnemar_from_kappa(right[0] / 1000, right[1] / 1000, kappa, 1000)
        assert found == pytest.approx(expected), model


def test_the_nearest_reachable_p():
    """sdoh Table VI, 1.5B: 13 more answers right; p = 0.245891 is that of 56 and 69 discordant answers or the like."""
    found = discordant_from_p(0.245891, 13, 900)
    brute = min(
        (stats.binomtest(fewer, 2 * fewer + 13).pvalue for fewer in range(1, 400)), key=lambda p: abs(p - 0.245891)
    )
    assert found == pytest.approx(brute)
    assert discordant_from_p(1.0, 0, 900) == 1


def test_numbers_of_ours_are_shown_and_not_taken_for_rounded():
    found = evaluate("a - released('table', 'nag', model)", ROW, ours)
    assert found.read == {"a": "0.645", "our table/nag/m": "0.1"}
    assert found.slack == pytest.approx(0.0005)
