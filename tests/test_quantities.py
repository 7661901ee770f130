"""Ages and measured values in made-up sentences; what each sentence states is read off by hand."""

import pytest

from nsh.cases import load_cases
from nsh.quantities import ages, digits, measurements, unstated


def found(text: str) -> list[tuple[str, str, str]]:
    """Measured values as tuples."""
    return [(value.kind, value.value, value.unit) for value in measurements(text)]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("seven", "7"),
        ("thirteen", "13"),
        ("twenty-four", "24"),
        ("ninety eight point six", "98.6"),
        ("a hundred and two", "102"),
        ("one hundred thirty-four", "134"),
        ("one thirty-four", "134"),
        ("two thousand five hundred", "2500"),
        ("thirty-seven point oh", "37.0"),
        ("one-year-old", "1-year-old"),
    ],
)
def test_numbers_in_words(words, number):
    assert digits(words) == number


@pytest.mark.parametrize("text", ["one of them", "someone", "often", "the tenth of May", "a wonderful oneness"])
def test_words_that_are_no_numbers(text):
    assert digits(text) == text


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("A 53-year-old man", 53),
        ("a sixty-two-year-old woman", 62),
        ("At fifty-three years of age", 53),
        ("Age 53, tired", 53),
        ("I'm 45, and tired.", 45),
        ("I’m forty-five, and tired.", 45),
        ("a woman of seventy-two years", 72),
        ("At thirty, I left", 30),
        ('{"age": 53, "sex": "male"}', 53),
        ('{"age": "6 months"}', 0.5),
        ("an 18-month-old girl", 1.5),
        ("a 1.5-year-old girl", 1.5),
        ("a 26-week-old boy", 0.5),
        ("I have seen eighty winters", 80),
        ("I have lived sixty-six years, in peace", 66),
    ],
)
def test_numeric_ages(text, years):
    (age,) = ages(text)
    assert (age.low, age.high, age.approximate) == (years, years, False)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("a woman in her late forties", 47, 49),
        ("I am in my early 60s", 60, 63),
        ("he is in his mid-thirties", 34, 36),
        ("in their seventies", 70, 79),
        ("my toddler", 1, 3),
        ("The newborn is pale", 0, 0.08),
        ("a middle-aged driver", 40, 65),
        ("two teenagers", 13, 19),
    ],
)
def test_indirect_ages_are_approximate(text, low, high):
    (age,) = ages(text)
    assert (age.low, age.high, age.approximate) == (low, high, True)


@pytest.mark.parametrize(
    "text", ["I am one of many", "I'm 28 weeks along", "I am 170 pounds", "for 20 years", "page 45", "I am 120 over 80"]
)
def test_what_is_no_age(text):
    assert ages(text) == []


def test_numeric_ages_come_first():
    assert [age.low for age in ages("My toddler, 2 years old, and I, aged 30")] == [2, 30, 1]


VITALS = [
    ("blood pressure", "129/71", "mm Hg"),
    ("heart rate", "87", "/min"),
    ("respiratory rate", "16", "/min"),
    ("temperature", "37", "°C"),
    ("oxygen saturation", "97", "%"),
]


@pytest.mark.parametrize(
    "text",
    [
        "BP: 129/71, HR: 87/min, RR 16/min, T 37.0°C, SpO2 97%.",
        "BP 129/71 mmHg, pulse 87 bpm, respirations 16 per minute, temperature 98.6 F, sats 97 percent.",
        "Pressure one twenty-nine over seventy-one, heart beating eighty-seven times a minute, sixteen breaths "
        "a minute, a temperature of ninety-eight point six, an oxygen level of ninety-seven.",
        '{"bp": "129/71", "hr": 87, "rr": 16, "temp": "98.6∘F", "spo2": "97%"}',
        "129 / 71; 87 beats in each minute; breathing at 16; warmth 37.0℃; oxygen saturation 97 %",
    ],
)
def test_vital_signs_in_many_spellings_are_the_same(text):
    assert found(text) == VITALS


@pytest.mark.parametrize(
    ("celsius", "fahrenheit"), [("37.0", "98.6"), ("38.0", "100.4"), ("36.1", "97"), ("40.0", "104.0"), ("39.4", "103")]
)
def test_celsius_and_fahrenheit_are_the_same_measurement(celsius, fahrenheit):
    """Fahrenheit = 1.8 Celsius + 32, rounded to one decimal."""
    assert measurements(f"temperature {celsius} C") == measurements(f"temperature {fahrenheit} °F")
    assert unstated(f"T {fahrenheit}°F", f"my temp was {celsius}.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lithium, 900 mg daily", ("dose", "900", "mg")),
        ("nine hundred milligrams of lithium", ("dose", "900", "mg")),
        ("50 µg", ("dose", "50", "mcg")),
        ("fifty micrograms", ("dose", "50", "mcg")),
        ("ten units of insulin", ("dose", "10", "U")),
        ("5 mg/kg", ("dose", "5", "mg/kg")),
        ("hemoglobin 8.90 g per dL", ("lab", "8.9", "g/dL")),
        ("8.9 grams per deciliter", ("lab", "8.9", "g/dL")),
        ("potassium of 2.9 mEq/L", ("lab", "2.9", "mEq/L")),
        ("glucose 5 mmol/l", ("lab", "5", "mmol/L")),
        ("11,000/mm3", ("lab", "11000", "/µL")),
        ("11000 cells/µL", ("lab", "11000", "/µL")),
        ("94 mm/h", ("lab", "94", "mm/h")),
        ("ninety-four millimeters an hour", ("lab", "94", "mm/h")),
        ("0.02 mIU/L", ("lab", "0.02", "mU/L")),
        ("hematocrit 38%", ("lab", "38", "%")),
        ("BMI 24 kg/m2", ("lab", "24", "kg/m2")),
        ("a PO2 of 60 mm Hg", ("pressure", "60", "mm Hg")),
        ("contractions, 3 per minute", ("rate", "3", "/min")),
        ("pH 7.31, lactate raised", ("pH", "7.31", "")),
    ],
)
def test_doses_and_laboratory_values(text, expected):
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "for 10 days",
        "4 kg lighter",
        "a lump of 3 cm",
        "strength 4/5",
        "score 26/30",
        "vision 20/40",
        "vitamin B12",
        "three times a day",
        "knee flexed to 90 degrees",
        "breathing trouble on 6 nights",
        "a pulse of 2+",
        "sulfamethoxazole 800/160",
        "",
    ],
)
def test_what_is_no_measured_value(text):
    assert found(text) == []


def test_a_bare_number_in_the_source_states_a_value_and_a_counted_one_does_not():
    assert unstated("potassium 2.9 mEq/L", "The potassium came back 2.9, she said.") == []
    assert [value.value for value in unstated("amlodipine 10 mg", "For 10 days")] == ["10"]
    assert [value.value for value in unstated("amlodipine 10 mg, again 10 mg", "amlodipine 5 mg")] == ["10"]


def test_units_are_not_converted():
    assert len(unstated("0.5 mg", "500 mcg")) == 1


def test_every_vital_sign_of_the_samples_reaches_every_retelling():
    """The samples were written so; a value said without its unit or in lay words must still be found."""
    for case in load_cases("samples"):
        for voice, narrative in case.narratives.items():
            lost = [value for value in unstated(case.original, narrative) if value.kind not in ("lab", "dose")]
            assert not lost, (case.id, voice, lost)


def test_nearly_every_clinical_retelling_of_the_released_cases_holds_every_vital_sign(released):
    """Aggregate sanity: 675 of the 687 clinical retellings whose original has a measured value."""
    vitals = {"blood pressure", "heart rate", "respiratory rate", "temperature", "oxygen saturation", "pH"}
    kept = [
        not [value for value in unstated(case.original, case.narratives["clinical"]) if value.kind in vitals]
        for case in load_cases("released")
        if measurements(case.original)
    ]
    assert (sum(kept), len(kept)) == (675, 687)
