"""The strict reading against reported failures and made-up replies; the published one against the released letters."""

import csv
import io
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from nsh.answers import Reading, parse_letter, published_letter
from nsh.cases import load_cases
from nsh.records import STATUSES
from nsh.released import load_released

DIFFERENCES = Path(__file__).parent / "data" / "parser_differences.csv"
FOUR = {"A": "10 mg", "B": "20 mg", "C": "30 mg", "D": "40 mg"}
TEXTS = {"A": "C. difficile colitis", "B": "Renal ultrasound", "C": "Gout", "D": "Pseudogout"}


def said(text, **more):
    """The letter read, else the status."""
    reading = parse_letter(text, **more)
    assert (reading.letter is None) == (reading.status != "ok")
    return reading.letter or reading.status


# Failures that users of other evaluation tools have reported, each with the right value.
REPORTED = {
    "A1 article": [("The answer is B since a vessel is blocked.", "B")],
    "A3 first capital": [("Answer: **D**", "D"), ("The correct option is d.", "D")],
    "A4 wrapped": [
        (text, "C") for text in ("**C**", "(C)", "[C]", "$C$", "**Answer:** (C)", "C.", "`C`", "“C”", "_C_")
    ],
    "A6 words": [("Answer: None of the above", "unparsed"), ("Answer: Don't know", "refusal")],
    "A8 label twice": [("Antwort:\n\nAntwort: C", "C"), ("Respuesta: B", "B"), ("Réponse : B", "B"), ("答案是D", "D")],
    "A10 last capital": [("Answer: (B)\nLet me know if more is needed.", "B"), ("Answer: E", "unparsed")],
    "A14 reasoning": [
        ("<think>maybe A</think>\nD", "D"),
        ("<think>maybe A", "truncated"),
        ("maybe A</think> D", "D"),
        ("<think>a <think>tag</think> maybe A</think> D", "D"),
        ("Answer: D <THINK>or A?</THINK>", "D"),
        ("<think>A</think>", "empty"),
    ],
    "A15 no option": [("The dose is 14 mg", "unparsed"), ("14 mg", "unparsed")],
    "A16 three failures": [("", "empty"), (" \n", "empty"), ("I cannot give medical advice.", "refusal"), ("B", "B")],
    "A17 several": [("A and C", "ambiguous"), ("Either B or D", "ambiguous"), ("Answer: B/C", "ambiguous")],
}


@pytest.mark.parametrize(("text", "right"), [pair for pairs in REPORTED.values() for pair in pairs])
def test_reported_failures(text, right):
    assert said(text) == right
    assert said(text, options=FOUR) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("D: Supportive therapy", "D"),
        ("B) Supportive therapy", "B"),
        ("b. supportive therapy", "B"),
        ("\\boxed{C}", "C"),
        ("The final answer is: $\\boxed{\\text{D}}$", "D"),
        ("<answer>B</answer>", "B"),
        ('{"answer": "B"}', "B"),
        ("ＡＮＳＷＥＲ：Ｂ", "B"),
        ("The most likely diagnosis is option B: gout.", "B"),
        ("The most relevant option would be:\n\nB", "B"),
        ("I would choose (d).", "D"),
        ("D is the correct option, as the potassium is low. The other options (A, B, and C) are not.", "D"),
        ("Option A is wrong. Option C is correct.", "C"),
        ("Answer: A. Wait, that is wrong. Answer: B", "B"),
        ("C\n\nExplanation:\nA: too early\nB: too late\nD: never", "C"),
        ("A: no\nB: no\nC: yes\nAnswer: C", "C"),
        ("The answer is C. Therefore A and B are wrong.", "C"),
        ("The correct answer is A: Chlamydia serovars A, B, or C.", "A"),
        ("The most likely diagnosis is ischemia (C). Colitis (A) is less likely. Abscess (B) is not.", "C"),
        ("Colitis (A) is less likely. Ischemia (C) is the most likely diagnosis.", "C"),
        ("We should get an ultrasound (B).", "B"),
    ],
)
def test_commitments(text, right):
    assert said(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A vessel is blocked.", "unparsed"),
        ("The answer is a vessel.", "unparsed"),
        ("Answer: C-section", "unparsed"),
        ("C. difficile colitis", "unparsed"),
        ("The best answer is B cell lymphoma.", "unparsed"),
        ("Chronic hepatitis B, vitamin D and 36.8°C", "unparsed"),
        ("Answer: N/A", "unparsed"),
        ("I don't think the answer is B.", "unparsed"),
        ("The incorrect answer is B.", "unparsed"),
        ("The best answer cannot be B.", "unparsed"),
        ("Ultrasound (B) is not indicated.", "unparsed"),
        ("Answer: B\nNo, final answer: E", "unparsed"),
        ("Select the best answer letter (A, B, C, or D). Output exactly one letter.", "unparsed"),
        ("A\nB\nC\nD", "ambiguous"),
        ("A: x\nB: y\nC: z\nD: w", "ambiguous"),
        ("Both A and C are correct.", "ambiguous"),
        ("The next step is Tdap (C) and DTaP (A).", "ambiguous"),
        ("As an AI, I can only discuss the options. Gout (A) hurts.", "refusal"),
    ],
)
def test_no_letter(text, right):
    assert said(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Renal ultrasound", "B"),
        ("The answer is renal ultrasound.", "B"),
        ("The most likely diagnosis is pseudogout. Gout is less likely.", "D"),
        ("It must be pseudogout", "D"),
        ("C. difficile colitis", "A"),
        ("The answer is C. difficile colitis", "A"),
        ("B Renal ultrasound", "B"),
        ("B: Gout", "B"),
        ("Gout or pseudogout", "ambiguous"),
        ("This is not gout.", "unparsed"),
        ("She has a history of gout. She now has a cough.", "unparsed"),
    ],
)
def test_option_text_counts_where_it_names_one_option(text, right):
    assert said(text, options=TEXTS) == right


def test_numbers_count_only_alone():
    options = {"A": "10", "B": "20", "C": "30", "D": "40"}
    assert [said(text, options=options) for text in ("14 mg", "20", "Answer: 20.", "Give 14 over 10 minutes")] == [
        "unparsed",
        "B",
        "B",
        "unparsed",
    ]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("", "truncated"),
        ("Let us consider option (A) first", "truncated"),
        ("A: too early.\nB: too", "truncated"),
        ("The most likely diagnosis is ischemia (C). Colitis", "C"),
        ("D: Supportive therapy is", "D"),
        ("Answer: A and C, because", "ambiguous"),
        ("I cannot give medical advice, but", "refusal"),
    ],
)
def test_cut_off_reply_has_no_answer_in_what_it_only_mentions(text, right):
    assert said(text, finish="length") == right


def test_any_set_of_letters():
    for letters in ("AB", "ABCDE", "ABCDEFGHIJ"):
        for letter in "ABCDEFGHIJ":
            assert said(f"Final answer: {letter}", letters=letters) == (letter if letter in letters else "unparsed")
    assert said("Answer: I think it rains", letters="ABCDEFGHIJ") == "unparsed"
    assert said("A or B", letters="AB") == said("Answer: A or B", letters="AB") == "ambiguous"


FRAGMENTS = [
    *"ABCDEIJabi .,:;()[]{}$*_`\"'’\\/&\n\t-–<>°é答\u200b\ud83c",
    *(
        "answer",
        " is ",
        "Answer: ",
        "correct",
        "most likely",
        " option ",
        "not",
        " and ",
        " or ",
        "best",
        "therefore, ",
    ),
    *("<think>", "</think>", "\\boxed{", "I cannot", "Gout", "pseudogout", "C. difficile", "Ⓑ", "𝐂", "ﷺ", "10 mg"),
]


def test_never_raises_and_never_leaves_the_set():
    chance = random.Random(20)
    for _ in range(3000):
        text = "".join(chance.choices(FRAGMENTS, k=chance.randrange(1, 40)))
        letters = chance.choice(["AB", "ABCD", "ABCDE", "BD", "ABCDEFGHIJ"])
        finish = chance.choice(["stop", "length", "answer"])
        reading = parse_letter(text, letters, chance.choice([None, TEXTS, FOUR]), finish)
        assert reading.letter in ({*letters} if reading.status == "ok" else {None})
        assert reading.status in STATUSES
        assert published_letter(text, letters) in {*letters, None}


@pytest.mark.parametrize(
    "unit", [*FRAGMENTS, "A and ", "answer a ", "so A ", "best is a ", "(A) is best. ", "A\n", "A: ", "<think></think>"]
)
def test_a_megabyte_takes_well_under_a_second(unit):
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    start = time.process_time()
    parse_letter(text, options=TEXTS)
    assert time.process_time() - start < 0.8


def test_long_reply_is_read_at_both_ends():
    assert said("word " * 50_000 + "Answer: B") == "B"
    assert said("B: gout. " + "word " * 50_000) == "B"


def test_reading_unpacks():
    letter, status = parse_letter("Answer: B")
    assert (letter, status) == ("B", "ok") == Reading("B", "ok")


def test_published_reading_is_the_first_capital_word():
    assert published_letter(" D: Supportive therapy (not A)") == "D"
    assert published_letter("The history of a C-section suggests B.") == "C"
    assert published_letter("The answer is b.") is None
    assert published_letter("E", "ABCDE") == "E"


def differences(answers, cases):
    """Rows for each answer that the two readings read differently: ids, letters and a class, no text."""
    options = {case.id: case.options for case in cases}
    for row in answers.itertuples():
        published, strict = published_letter(row.text), parse_letter(row.text, "ABCD", options[row.case])
        if published != strict.letter:
            kind = difference_kind(row.text, published, strict)
            file = f"{row.condition} {row.model}"
            yield [file, row.case, row.voice, published or "", strict.letter or "", strict.status, kind]


def difference_kind(text, published, strict):
    """Why the two readings of a text differ."""
    if published is None:
        return "option named by its text"
    if strict.status == "refusal":
        return "options mentioned in a refusal"
    if strict.status == "ambiguous":
        return "two letters named"
    set_apart = re.search(rf"(?:^\s*|[(\[,*]\s?|[Oo]ption ){published}\s?[),\]:*]|[Oo]ption {published}\b", text)
    first = re.search(rf"\b{published}\b", text)
    if not (set_apart and set_apart.start() <= first.start()):
        return "letter of a word"
    return "first letter differs from last commitment" if strict.letter else "letters mentioned, none chosen"


def differences_csv(answers, cases):
    """The text of parser_differences.csv; write it there after a deliberate change of the strict reading."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["file", "case", "voice", "published", "strict", "status", "kind"])
    writer.writerows(differences(answers, cases))
    return table.getvalue()


@pytest.fixture(scope="module")
def answers(released):
    """The released answers that are here: B1 of seven models, B2 and B3 of some."""
    return load_released(released)


def test_published_reading_gives_every_released_letter(answers):
    wrong = sum(published_letter(row.text) != row.letter for row in answers.itertuples())
    assert wrong == 0
    assert (answers["condition"] == "B1").sum() == 21_000


def test_published_parse_rate(answers):
    """`facts` Table 5: 54.07% of BioMistral's chain-of-thought responses yield a letter."""
    replies = answers.query("condition == 'B2' and model == 'BioMistral-7B'")["text"]
    assert round(100 * replies.map(published_letter).notna().mean(), 2) == 54.07


@pytest.mark.slow
def test_all_differences_stand_in_the_committed_list(answers, released):
    assert differences_csv(answers, load_cases(str(released))) == DIFFERENCES.read_text(encoding="utf-8")


def test_committed_list_holds_ids_and_letters_only():
    rows = list(csv.DictReader(DIFFERENCES.open(encoding="utf-8", newline="")))
    for row in rows:
        assert re.fullmatch(r"MQ_\d{4}", row["case"])
        assert {row["published"], row["strict"]} <= {*"ABCD", ""}
        assert row["status"] in STATUSES
    assert Counter(row["file"][:2] for row in rows)["B1"] < 0.006 * 21_000


def test_released_answers_are_read_quickly(answers, released):
    options = {case.id: case.options for case in load_cases(str(released))}
    replies = [(row.text, options[row.case]) for row in answers.query("condition == 'B1'").itertuples()]
    start = time.process_time()
    for text, texts in replies:
        parse_letter(text, "ABCD", texts)
    assert time.process_time() - start < 5  # 1.1 on a quiet core


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Do not choose A.", None),
        ("You should never choose B.", None),
        ("I wouldn't pick C.", None),
        ("Students often choose A. The right one is B.", None),
        ("Most people think A, but B is correct.", None),
        ("The answer is B, although some choose A.", "B"),
        ("It is tempting to choose A.", None),
        ("In some cases I would choose B.", "B"),
        ("Answer: “C”", "C"),
        ("Answer:\u200b C", "C"),
        ("\ufeffAnswer: «B»", "B"),
    ],
)
def test_what_others_choose_and_what_is_not_to_be_chosen_is_no_answer(reply, letter):
    assert parse_letter(reply).letter == letter
