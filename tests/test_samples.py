"""The packaged sample cases: their form, their facts in every voice, their register rules and their originality.

`problems(case)` names everything wrong with one case; the rules follow `facts` section 2.2 and Appendix C and the
measured lengths and question shares of `voices` section 3. What a program cannot see (soundness, tone) is read by eye.
"""

import json
import re
from collections import Counter
from importlib.resources import files
from statistics import mean

import pytest

VOICES = ("clinical", "socioeconomic", "cultural")
STYLES = {
    "socioeconomic": ("impact-first", "timeline-first", "remedy-first", "worry-first", "symptom-first-lay"),
    "cultural": (
        "somatic-metaphor-first",
        "family-context-first",
        "remedy-failure-first",
        "duty-frame-first",
        "quiet-onset-first",
    ),
}
TYPES = ("diagnosis", "treatment", "investigation")
RATIOS = {"socioeconomic": (1.8, 2.25), "cultural": (2.05, 2.55)}  # words of the voice / words of the clinical one
MEANS = {"socioeconomic": (1.9, 2.1), "cultural": (2.2, 2.4)}
VERBATIM = {"socioeconomic": (0.2, 0.45), "cultural": (0.4, 0.7)}  # printed: 30% and 58% (`voices` section 6)

FORBIDDEN = (
    r"can't afford to miss work",
    r"famil(y|ies) insisted",
    r"mother insisted",
    r"herbal teas?",
    r"fulfil+ my dut(y|ies)",
    r"sorry (to|for|about) (bother|troubl|tak|wast)\w*",
    r"(i'm|i am) sorry",
    r"apologi[sz]e\w*",
    r"hate to bother",
    r"(you're|you are|you must be) (so |very )?busy",
    r"(he|she) mentioned (he|she) was hesitant",
)
LABELS = (
    r"african|asian|arab\w*|caucasian|european|hispanic|latin[oax]s?|indigenous|aboriginal|inuit|native american",
    r"americans?|british|chinese|japanese|korean|indian|pakistani|bangladeshi|mexican|nigerian|somali|syrian|turkish",
    r"vietnamese|filipino|russian|ukrainian|spanish|portuguese|french|german|italian|english|hindi|urdu|bengali",
    r"china|india|mexico|nigeria|vietnam|brazil|united states|usa|england|america|africa|asia|europe",
    r"muslims?|islam\w*|christ\w*|catholic\w*|hindu\w*|jew(s|ish)?|buddh\w*|sikh\w*|church|mosque|synagogue|rabbi|imam",
    r"(black|white|brown) (wo)?m[ae]n|(black|white|brown) (patient|person|people|boy|girl|child)",
    r"race|racial|ethnic\w*|nationality|immigrants?|migrants?|refugees?|foreign born|low income|medicaid|caste",
    r"[$£€] ?\d[\d,.]*|\d+ (dollars|pounds sterling|euros|rupees|pesos)|minimum wage",
)
MONEY = (
    r"jobs?|work|working|works|pay|paid|pays|paying|paycheck|payday|bills?|shifts?|boss|rent|money|wages?|cost"
    r"|costs|afford|insurance|copay|overtime|fired|manager|foreman|supervisor|budget|broke|cash|savings|tips|hired"
    r"|landlord|price|unpaid|hires|register|warehouse|crew"
)
NEGATION = (
    r"\b(no|not|none|nor|never|without|neither|nothing|nobody|nowhere|absent|denies|denied|negative|free of|cannot"
    r"|hardly|un\w+|\w+n't)\b"
)
ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
TENS = re.findall(r"\w+", "zero ten twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS = [*ONES, *(f"{ten}-{one}".removesuffix("-zero") for ten in TENS[2:] for one in ONES[:10])]  # 0 to 99


def fold(text: str) -> str:
    """Lower case with straight apostrophes."""
    return text.lower().replace("’", "'")


def tokens(text: str) -> list[str]:
    """Words and numbers, case and punctuation folded."""
    return re.findall(r"[a-z0-9]+", fold(text))


def phrases(text: str, length: int) -> set[str]:
    """All runs of `length` folded words."""
    found = tokens(text)
    return {" ".join(found[i : i + length]) for i in range(len(found) - length + 1)}


def holds(text: str, wording: str) -> bool:
    """Whether the wording stands in the text as whole words; a number is never found inside a longer one."""
    return bool(re.search(rf"(?<!\w)(?<!\d[.,/]){re.escape(fold(wording))}(?!\w)(?![.,/]\d)", fold(text)))


def digits(text: str) -> set[str]:
    """Numbers written in digits."""
    return set(re.findall(r"\d+(?:[.,]\d+)*", text))


def numbers_lacking(text: str, other: str) -> list[str]:
    """Numbers written in digits in `text` that stand in `other` neither in digits nor in words."""
    spelled = {str(n) for n, word in enumerate(NUMBER_WORDS) if holds(other, word)}
    return sorted(digits(text) - digits(other) - spelled)


def sentences(text: str) -> list[str]:
    """Sentences of a text, split after a mark that is followed by white space."""
    return [part for part in re.split(r"(?<=[.?!])[\"”']?\s+", text.strip()) if part]


def form_problems(case: dict) -> list[str]:
    """Fields, letters, question and styles."""
    question, options = case["question"], case["options"]
    checks = {
        f"type {case['type']!r} is not one of {TYPES}": case["type"] in TYPES,
        f"options {list(options)} are not A to D": list(options) == list("ABCD"),
        "two options are equal or empty": len({fold(o).strip() for o in options.values()} - {""}) == len(options),
        f"gold {case['gold']!r} is not an option": case["gold"] in options,
        f"rationale {case['rationale']!r} is not one line": case["rationale"].strip() and "\n" not in case["rationale"],
        f"question {question!r} is not one sentence ending in ?": len(sentences(question)) == 1 and question[-1] == "?",
        f"narratives {list(case['narratives'])} are not {VOICES}": tuple(case["narratives"]) == VOICES,
        "clinical does not end with the question": case["narratives"]["clinical"].endswith(question),
        "original does not end with the question": case["original"].endswith(question),
    }
    found = [message for message, passed in checks.items() if not passed]
    for voice, names in STYLES.items():
        if case["styles"].get(voice) not in names:
            found.append(f"style {case['styles'].get(voice)!r} of {voice} is not one of {names}")
        if "?" not in case["narratives"][voice]:
            found.append(f"{voice} asks no question")
    return found


def length_problems(case: dict) -> list[str]:
    """Word counts (split at white space, as the papers count) and their ratios."""
    words = {voice: len(text.split()) for voice, text in case["narratives"].items()}
    found = []
    if not 90 <= words["clinical"] <= 125:
        found.append(f"clinical has {words['clinical']} words, wanted 90 to 125")
    against_original = words["clinical"] / len(case["original"].split())
    if not 0.9 <= against_original <= 1.1:
        found.append(f"clinical is {against_original:.2f} of the original's length, wanted 0.9 to 1.1")
    for voice, (low, high) in RATIOS.items():
        ratio = words[voice] / words["clinical"]
        if not low <= ratio <= high:
            found.append(f"{voice} is {ratio:.2f} of the clinical length, wanted {low} to {high}")
    return found


def fact_problems(case: dict) -> list[str]:
    """Every fact in every voice and in the original, by a wording that cannot match by accident; numbers unchanged."""
    facts, texts = case["facts"], {**case["narratives"], "original": case["original"]}
    found = [] if 6 <= len(facts) <= 14 else [f"{len(facts)} facts, wanted 6 to 14"]
    if len({fact["fact"] for fact in facts}) < len(facts):
        found.append("two facts have the same name")
    for fact in facts:
        denied = re.match(r"(denied|absent|none|no)\b", fold(fact["value"]))
        for wording in fact["accepted"]:
            if fact["fact"] != "age" and (re.fullmatch(r"\d\d?", wording) or wording in NUMBER_WORDS):
                found.append(f"{fact['fact']}: wording {wording!r} can match by accident")
            if denied and not re.search(NEGATION, fold(wording)):
                found.append(f"{fact['fact']}: wording {wording!r} does not deny")
        if wrong := numbers_lacking(fact["value"], case["original"]):
            found.append(f"{fact['fact']}: the original lacks {wrong}")
        for name, text in texts.items():
            if not any(holds(text, wording) for wording in fact["accepted"]):
                found.append(f"{fact['fact']}: no accepted wording in {name}")
    for voice, text in case["narratives"].items():
        if added := numbers_lacking(text, case["original"]):
            found.append(f"{voice} adds the numbers {added}")
        if lost := numbers_lacking(case["original"], text):
            found.append(f"{voice} lacks the numbers {lost}")
    return found


def register_problems(case: dict) -> list[str]:
    """Person, stock phrases, labels, copied text, leaked answer, economic detail spread over the narrative."""
    found, gold = [], case["options"][case["gold"]]
    for name, text in {**case["narratives"], "original": case["original"]}.items():
        body = fold(text)
        for pattern in (*FORBIDDEN, *LABELS):
            if hit := re.search(rf"(?<![\w$£€])(?:{pattern})(?!\w)", body):
                found.append(f"{name} says {hit[0]!r}")
        if f" {' '.join(tokens(gold))} " in f" {' '.join(tokens(text))} ":
            found.append(f"{name} gives the answer {gold!r} away")
        first_person = len(re.findall(r"\b(I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur)\b", text))
        if (first_person >= 4) != (name in STYLES) or (name not in STYLES and first_person):
            found.append(f"{name} has {first_person} words in the first person")
        if name != "original" and (
            copied := phrases(text.replace(case["question"], ""), 10) & phrases(case["original"], 10)
        ):
            found.append(f"{name} copies ten words of the original: {sorted(copied)[0]!r}")
    parts = sentences(case["narratives"]["socioeconomic"])
    told = [bool(re.search(rf"\b({MONEY})\b", fold(part))) for part in parts]
    closing = [money for money, part in zip(told, parts, strict=True) if not part.endswith("?")][-1]
    if sum(told) < 3 or not any(told[: len(told) // 2]) or closing:
        found.append(f"economic detail stands in sentences {[i for i, t in enumerate(told, 1) if t]} of {len(told)}")
    return found


def problems(case: dict) -> list[str]:
    """Everything wrong with one case, as one sentence each; empty if nothing is."""
    return [*form_problems(case), *length_problems(case), *fact_problems(case), *register_problems(case)]


def released_phrases(folder) -> set[str]:
    """All runs of eight folded words in the released narratives and in the vignettes they retell."""
    sources = {
        "dataset/.persona_cache_v2.jsonl": ("persona_alpha", "persona_beta", "persona_gamma"),
        "dataset/medqa_1000_filtered.jsonl": ("question",),
    }
    found = set()
    for name, keys in sources.items():
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.update(*(phrases(row[key], 8) for key in keys))
    return found


SAMPLES = files("nsh") / "data" / "samples.jsonl"
CASES = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()] if SAMPLES.is_file() else []


def test_samples_are_the_24_expected_cases():
    assert [case["id"] for case in CASES] == [f"NS_{number:03}" for number in range(1, 25)]
    assert {"internal medicine", "paediatrics", "obstetrics", "psychiatry", "surgery"} <= {
        c["specialty"] for c in CASES
    }
    assert {case["type"] for case in CASES} == set(TYPES)
    assert Counter(case["gold"] for case in CASES) == dict.fromkeys("ABCD", 6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_keeps_every_rule(case):
    assert problems(case) == []


@pytest.mark.parametrize("voice", STYLES)
def test_voice_over_all_cases(voice):
    assert min(Counter(case["styles"][voice] for case in CASES)[style] for style in STYLES[voice]) >= 4
    low, high = MEANS[voice]
    words = [{name: len(case["narratives"][name].split()) for name in VOICES} for case in CASES]
    assert low <= mean(count[voice] / count["clinical"] for count in words) <= high
    low, high = VERBATIM[voice]
    assert low <= mean(case["question"] in case["narratives"][voice] for case in CASES) <= high


def test_narratives_do_not_repeat_each_other():
    owners = Counter(p for case in CASES for p in set().union(*(phrases(t, 8) for t in case["narratives"].values())))
    assert [phrase for phrase, count in owners.items() if count > 1] == []


def test_no_eight_words_shared_with_released_text(released):
    theirs = released_phrases(released)
    for case in CASES:
        for name, text in {**case["narratives"], "original": case["original"]}.items():
            assert sorted(phrases(text, 8) & theirs) == [], f"{case['id']} {name}"


def test_checker_sees_a_broken_case():
    broken = json.loads(json.dumps(CASES[0]))
    broken["narratives"]["socioeconomic"] += f" I can't afford to miss work. {broken['options'][broken['gold']]}. 4711"
    broken["facts"][0]["accepted"] = ["words that stand nowhere"]
    text = "; ".join(problems(broken))
    for part in ("can't afford to miss work", "gives the answer", "adds the numbers ['4711']", "no accepted wording"):
        assert part in text
