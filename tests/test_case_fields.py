"""Numbers in rows of data: what is read, what counts as nothing, and what is refused by name."""

from math import inf

import pytest

from nsh.case_fields import identifier, number
from nsh.errors import DataError


@pytest.mark.parametrize(
    ("value", "expected"),
    [("5", 5), (" -2.50 ", -2.5), (".5", 0.5), ("+3.", 3), ("1e-3", 0.001), (7, 7), (0.00001, 1e-5), (0, 0)],
)
def test_numbers_are_read_from_numbers_and_from_their_text(value, expected):
    assert number("n", value, "a.csv, row 1") == expected


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_none_and_not_zero(value):
    assert number("n", value, "a.csv, row 1", 0, 1, whole=True) is None


@pytest.mark.parametrize(
    "value", ["five", "1_000", "1,000", "nan", "inf", "1e999", "5%", True, [1], inf, float("nan"), "--1", "0x1", "."]
)
def test_what_is_no_finite_number_in_decimal_digits_is_refused(value):
    with pytest.raises(DataError, match=r"a\.csv, row 1, field 'n': expected a number; found "):
        number("n", value, "a.csv, row 1")


@pytest.mark.parametrize(
    ("value", "bounds", "expected"),
    [
        ("1.01", {"low": 0, "high": 1}, "a number from 0 to 1; found '1.01'"),
        (-1, {"low": 0, "whole": True}, "a whole number of at least 0; found -1"),
        ("2.5", {"whole": True}, "a whole number; found '2.5'"),
        ("x", {"low": 1, "high": 5, "whole": True}, "a whole number from 1 to 5; found 'x'"),
    ],
)
def test_bounds_are_part_of_the_message(value, bounds, expected):
    with pytest.raises(DataError, match=f"field 'n': expected {expected}"):
        number("n", value, "a.csv, row 1", **bounds)


def test_bounds_are_allowed_themselves():
    assert [number("n", value, "a.csv, row 1", 0, 1) for value in ("0", "1")] == [0, 1]


def test_an_id_is_text_or_a_whole_number():
    assert (identifier("case", "007", "a.csv, row 1"), identifier("case", 7, "a.csv, row 1")) == ("007", "7")
    for value in (True, 1.0, None, " "):
        with pytest.raises(DataError, match="field 'case'"):
            identifier("case", value, "a.csv, row 1")
