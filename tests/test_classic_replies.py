"""Reading replies to the classic tests, however they are written, and those that list too much."""

import json
import re
from dataclasses import replace

import pytest

from carrara import registry
from carrara.answers.grade import grade
from carrara.core.types import Question, Undecidable
from carrara.prompt.items import make, questions_of
from tests.classic import TESTS, recipe, text_of
from tests.told import answered


def asked(test: str, params: str = "", index: int = 0) -> Question[tuple[str, ...]]:
    question: Question[tuple[str, ...]] = questions_of(recipe(test, params, index=index)).questions[0]
    return question


FOUR = replace(asked("niah", "variant=multivalue"), gold=("1111111", "2222222", "3333333", "4444444"))
NIAH = registry.load("classic/niah")
ALL_FOUR = """
1111111, 2222222, 3333333, 4444444
4444444, 3333333, 2222222, 1111111.
1111111 2222222 3333333 4444444
1,111,111, 2,222,222, 3,333,333 and 4,444,444
1111111,2222222,3333333,4444444
- 1111111\\n- 2222222\\n- 3333333\\n- 4444444
1. 1111111\\n2. 2222222\\n3. 3333333\\n4. 4444444
1111111\\n\\n2222222\\n\\n3333333\\n\\n4444444
["1111111", "2222222", "3333333", "4444444"]
{"numbers": [1111111, 2222222, 3333333, 4444444]}
```json\\n{"answer": [1111111, 2222222, 3333333, 4444444]}\\n```
**1111111**, **2222222**, **3333333**, **4444444**
The numbers are 1111111, 2222222, 3333333 and 4444444.
Answer: 1111111, 2222222, 3333333, 4444444
**Answer:**\\n\\n- 1111111\\n- 2222222\\n- 3333333\\n- 4444444
<think>Is it 5555555? No.</think>1111111, 2222222, 3333333, 4444444
5555555? no</think>\\n1111111, 2222222, 3333333, 4444444
\\\\boxed{1111111, 2222222, 3333333, 4444444}
$1111111$; $2222222$; $3333333$; $4444444$
| number |\\n|--|\\n| 1111111 |\\n| 2222222 |\\n| 3333333 |\\n| 4444444 |
I first saw 5555555, kept for another name.\\nFinal answer: 1111111, 2222222, 3333333, 4444444
First 1111111 (early), then 2222222 (later), 3333333 (later still), and last 4444444, four numbers in all.
1111111, 2222222, 3333333, 4444444\\n</example>\\n\\n<example>\\n<text> One number kept for x is 5555555.
1111111, 2222222, 3333333, 4444444\\n\\nExplanation: 5555555 is kept for another name.
1111111, 1111111, 2222222, 3333333, 4444444, 4444444
"""


@pytest.mark.parametrize("reply", ALL_FOUR.strip().split("\n"))
def test_all_four_in_any_form_and_order(reply: str) -> None:
    graded = grade(NIAH, FOUR, reply.replace("\\\\", "\\").replace("\\n", "\n"))
    assert (graded.status, graded.answer, graded.score) == ("ok", "1111111, 2222222, 3333333, 4444444", 1.0)


@pytest.mark.parametrize(
    ("reply", "score", "published"),
    [
        ("1111111", 0.25, 0.25),
        ("1111111, 2222222", 0.5, 0.5),
        ("1111111, 2222222, 3333333, 5555555", 0.5, 0.75),
        ("1111111, 2222222, 3333333, 4444444, 5555555", 0.75, 1.0),
        (", ".join(str(n) * 7 for n in range(1, 10)), 0.0, 1.0),
        ("5555555", 0.0, 0.0),
        ("11111112222222, 3333333", 0.25, 0.75),
        ("1111111, not 2222222", 0.25, 0.5),
        ("Answer: 1111111, 5555555\nAnswer: 1111111, 2222222", 0.25, 0.5),
    ],
)
def test_wrong_ones_count_against_right_ones(reply: str, score: float, published: float) -> None:
    graded = grade(NIAH, FOUR, reply)
    assert (graded.score, graded.scores["ruler"]) == (score, published)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " ",
        "There are none.",
        "<think>1111111, 2222222",
        "1, 2, 3, 4",
        "7" * 1_000_000,
        "111111, 222222",
        "1111111.5",
    ],
)
def test_replies_without_a_number_are_unparsed(reply: str) -> None:
    assert answered(NIAH, reply, FOUR) is None


def test_a_long_story_is_read_at_its_end() -> None:
    story = "So I went on, and at some place it spoke of 5555555, which I did not need at all. " * 20
    reply = f"{story}\n\nThese are the four:\n1111111\n2222222\n3333333\n4444444"
    assert grade(NIAH, FOUR, reply).score == 1.0


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("style", ["chat", "base"])
def test_repeating_the_prompt_gains_nothing(test: str, style: str) -> None:
    for index in range(8):
        item = make(f"classic/{test}", length=2048, index=index, style=style)  # type: ignore[arg-type]
        assert grade(item.task, item.question, item.text).score == 0.0
        assert grade(item.task, item.question, f"{item.question.ask}\n{item.gold}").score == 1.0


@pytest.mark.parametrize("test", TESTS)
def test_naming_everything_in_the_text_gains_nothing(test: str) -> None:
    """Where the text holds anything but the answer."""
    for index in range(8):
        item = make(f"classic/{test}", length=2048, index=index)
        variant = item.question.labels.get("variant", "")
        if test == "passkey" or variant in ("single_1", "single_2", "single_3", "multivalue", "multiquery"):
            continue
        assert grade(item.task, item.question, text_of(item) if test != "json_kv" else item.text[:-120]).score == 0.0


VT, FWE, CWE = (registry.load(f"classic/{test}") for test in ("vt", "fwe", "cwe"))
THREE = replace(
    asked("vt", "hops=2"),
    ask="Which 3 variables have the value 21417 in the end?",
    gold=("JPXCM", "KFFRM", "RJBMR"),
)
TRACE = """To solve this, trace each of the assignments step by step:

1. PGQLH = 37872
2. MMZVW = PGQLH
3. KFFRM = 21417
4. JPXCM = KFFRM
5. RJBMR = JPXCM
"""
TALK = "Let KFFRM be 21417. Let JPXCM be KFFRM. Let RJBMR be JPXCM. The rest: PGQLH, MMZVW, QZWCQ have 37872."
WHY = (
    "KFFRM is given the value 21417, JPXCM is KFFRM, RJBMR is JPXCM. The others (PGQLH, MMZVW) have the value 37872, "
    "so they are not included in the list of variables with the asked value."
)


@pytest.mark.parametrize(
    "reply",
    [
        # at the end of a trace
        f"{TRACE}\nThe variables with the value 21417 are:\n\n**KFFRM, JPXCM, RJBMR**",
        f"{TRACE}\nThe variables with the value 21417 are:\n\n- KFFRM\n- JPXCM\n- RJBMR",
        f"{TRACE}\nThe variables with the value 21417 are:\n\n1. **KFFRM**\n2. **JPXCM**\n3. **RJBMR**",
        f"{TRACE}\nThe variables with the value 21417 are:\n\n* `KFFRM`\n\n* `JPXCM`\n\n* `RJBMR`\n",
        f"{TRACE}\nThe variables with the value 21417 are KFFRM, JPXCM and RJBMR.",
        f"{TRACE}\nSo KFFRM, JPXCM, and RJBMR all have the value 21417.",
        f"{TRACE}\nTherefore, the three variables are **KFFRM**, **JPXCM** and **RJBMR**.",
        f"{TRACE}\nKFFRM, JPXCM, RJBMR",
        f"{TRACE}\nKFFRM, JPXCM, RJBMR\n\nThese are the three that were asked for.",
        f"{TRACE}\n$$\\boxed{{KFFRM, JPXCM, RJBMR}}$$",
        f"{TRACE}\nSo it is $\\boxed{{\\text{{KFFRM}}}}$, $\\boxed{{\\text{{JPXCM}}}}$, $\\boxed{{\\text{{RJBMR}}}}$.",
        f"{TRACE}\n### Final Answer\n\nKFFRM, JPXCM, RJBMR",
        f"{TRACE}\n**Final answer:**\n\nKFFRM, JPXCM, RJBMR\n",
        f"{TRACE}\nFinal answer: the variables are KFFRM, JPXCM, RJBMR.",
        f'{TRACE}\n```json\n{{"variables": ["KFFRM", "JPXCM", "RJBMR"]}}\n```',
        f"{TRACE}\n[KFFRM, JPXCM, RJBMR]",
        f"{TRACE}\nThe chain is KFFRM → JPXCM → RJBMR.",
        f"{TRACE}\nValue 21417: KFFRM, JPXCM, RJBMR\nValue 37872: PGQLH, MMZVW",
        f"{TRACE}\nValue 37872: PGQLH, MMZVW\nValue 21417: KFFRM, JPXCM, RJBMR",
        "Let's trace. PGQLH is 37872. MMZVW is PGQLH, so 37872. KFFRM is 21417.\nJPXCM is KFFRM. RJBMR is JPXCM.\n"
        "Therefore: KFFRM, JPXCM, RJBMR",
        f"{TALK}\n\nKFFRM, JPXCM, RJBMR",
        f"{TALK}\n\nKFFRM JPXCM RJBMR",
        f"{TALK} Thus KFFRM, JPXCM, RJBMR.",
        f"{TALK}\nKFFRM\nJPXCM\nRJBMR",
        f"{TALK}\n\n| Variable |\n|---|\n| KFFRM |\n| JPXCM |\n| RJBMR |",
        # at the start
        f"KFFRM, JPXCM, RJBMR\n\n{WHY}",
        f"**KFFRM, JPXCM, RJBMR**\n\n{TRACE}",
        f"KFFRM\nJPXCM\nRJBMR\n\n{WHY}",
        f"The variables are KFFRM, JPXCM, RJBMR.\n\n{WHY}",
        f"Sure! Here are the variables:\n\nKFFRM, JPXCM, RJBMR\n\n{WHY}",
        "KFFRM, JPXCM, RJBMR\n\nThe variables PGQLH and MMZVW have the value 37872.",
        # announced
        "The answer is: KFFRM, JPXCM, RJBMR. Note: PGQLH has 37872.",
        "The answer is KFFRM, JPXCM, RJBMR. PGQLH and MMZVW have another value.",
        "**Answer:**\n1. KFFRM (21417)\n2. JPXCM\n3. RJBMR\n\nPGQLH is 37872.",
        "**Answer:** KFFRM, JPXCM, RJBMR\n\nMMZVW is PGQLH, which is 37872.",
        "The result is KFFRM, JPXCM, RJBMR.\nPGQLH, MMZVW and QZWCQ have the value 37872.",
        "Answer: KFFRM\nAnswer: JPXCM\nAnswer: RJBMR",
        "Answer 1: KFFRM\nAnswer 2: JPXCM\nAnswer 3: RJBMR",
        "Answer:\n\nKFFRM\n\nJPXCM\n\nRJBMR",
        "Answer:\n- KFFRM is set to 21417\n- JPXCM is set to KFFRM\n- RJBMR is set to JPXCM",
        f"{TALK}\nReasoning: see above.\n\nAnswer: KFFRM, JPXCM, RJBMR",
        # what is not meant
        "KFFRM, JPXCM, RJBMR, but PGQLH, MMZVW have the value 37872.",
        "KFFRM, JPXCM and RJBMR have the value 21417, while PGQLH and MMZVW have the value 37872.",
        "KFFRM, JPXCM, RJBMR (not PGQLH, MMZVW)",
        "KFFRM, JPXCM, RJBMR, not PGQLH, MMZVW",
        "KFFRM, JPXCM, RJBMR (PGQLH and MMZVW have 37872)",
        "Not PGQLH, MMZVW or QZWCQ, but KFFRM, JPXCM, RJBMR.",
        "Is it KFFRM, JPXCM and QZWCQ?\nNot PGQLH, MMZVW or QZWCQ, but KFFRM, JPXCM, RJBMR.",
        "KFFRM, JPXCM, RJBMR. The others are PGQLH, MMZVW.",
        "KFFRM, JPXCM, RJBMR\n\nOther variables: PGQLH, MMZVW",
        "KFFRM, JPXCM, PGQLH. Wait, PGQLH is 37872. It's KFFRM, JPXCM, RJBMR.",
        # as always
        "KFFRM = 21417, JPXCM = KFFRM, RJBMR = JPXCM",
        "KFFRM = 21417\nJPXCM = KFFRM\nRJBMR = JPXCM",
        "KFFRM: 21417\nJPXCM: 21417\nRJBMR: 21417",
        "KFFRM (assigned 21417), JPXCM (assigned KFFRM), RJBMR (assigned JPXCM)",
        "(KFFRM, JPXCM, RJBMR)",
        "(The variables are KFFRM, JPXCM and RJBMR.)",
        "('KFFRM', 'JPXCM', 'RJBMR')",
        "The variables (KFFRM, JPXCM, RJBMR) have the value 21417.",
        "KFFRM, JPXCM (and RJBMR)",
        "KFFRM has 21417. JPXCM and RJBMR have it too.",
        "VAR KFFRM, VAR JPXCM, VAR RJBMR",
        "KFFRM; JPXCM; RJBMR",
    ],
)
def test_the_list_is_told_from_the_trace(reply: str) -> None:
    assert answered(VT, reply, THREE) == THREE.gold


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("KFFRM, JPXCM, RJBMR\nPGQLH, MMZVW, QZWCQ", 6),
        ("KFFRM, JPXCM, RJBMR\n\nPGQLH, MMZVW, QZWCQ", 6),
        ("KFFRM, JPXCM, RJBMR. PGQLH, MMZVW, QZWCQ.", 6),
        ("KFFRM, JPXCM, RJBMR or PGQLH, MMZVW, QZWCQ", 6),
        ("Answer: KFFRM, JPXCM, RJBMR or PGQLH, MMZVW, QZWCQ", 6),
        ("Answer: KFFRM, JPXCM, RJBMR\nPGQLH, MMZVW, QZWCQ", 6),
        ("The variables are:\n- KFFRM\n- JPXCM\n- RJBMR\n- PGQLH\n- MMZVW\n- QZWCQ", 6),
        ("Answer: KFFRM\nAnswer: JPXCM\nAnswer: RJBMR\nAnswer: PGQLH\nAnswer: MMZVW\nAnswer: QZWCQ", 6),
        ("\\boxed{KFFRM} \\boxed{JPXCM} \\boxed{RJBMR} \\boxed{PGQLH} \\boxed{MMZVW} \\boxed{QZWCQ}", 6),
        ("KFFRM PGQLH\nJPXCM PGQLH\nRJBMR MMZVW\nMMZVW QZWCQ\nKFFRM JPXCM", 6),
        (TRACE, 5),
        (TRACE.replace("\n", " "), 5),
    ],
)
def test_several_lists_are_one(reply: str, names: int) -> None:
    answer = answered(VT, reply, THREE)
    assert answer is not None
    assert len(answer) == names


@pytest.mark.parametrize("joint", ["\n", ", ", "; ", ". ", " ", "\n\n", ".\n", " and "])
@pytest.mark.parametrize("test", ["vt", "cwe", "fwe"])
def test_naming_everything_gains_nothing_however_it_is_written(test: str, joint: str) -> None:
    item = make(f"classic/{test}", length=2048)
    text = text_of(item)
    words = re.findall(r"Let (\w+) be", text) if test == "vt" else text.split()
    sentences = re.findall(r"Let \w+ be \w+", text) or words
    for said in (words, sentences, list(dict.fromkeys(words))):
        for around in ("{}", "Answer: {}", "So: {}", "They are {}.", "({})"):
            assert grade(item.task, item.question, around.format(joint.join(said))).score == 0.0


WORDS = replace(asked("fwe"), gold=("tkrdwg", "vhpskb", "wgpskh"))
TALLY = "vhpskb: 17\nwgpskh: 9\ntkrdwg: 6\nbdqmjs: 4\njdnvkw: 3"


@pytest.mark.parametrize(
    "reply",
    [
        "Counting: vhpskb 17, wgpskh 9, tkrdwg 6, bdqmjs 4, jdnvkw 3.\n\nvhpskb, wgpskh, tkrdwg",
        "So: vhpskb, wgpskh, tkrdwg. (The fourth is bdqmjs.)",
        "vhpskb, wgpskh, tkrdwg. The fourth is bdqmjs.",
        "vhpskb, wgpskh, tkrdwg (followed by bdqmjs, jdnvkw)",
        f"{TALLY}\n\nvhpskb, wgpskh, tkrdwg",
        f"{TALLY}\n\nThe three are vhpskb, wgpskh, and tkrdwg.",
        f"{TALLY}\n\nThe most frequent ones:\n1. vhpskb (17)\n2. wgpskh (9)\n3. tkrdwg (6)",
        f"{TALLY}\n\nSo vhpskb, wgpskh and tkrdwg occur most often.",
        f"{TALLY}\n\n**Answer: vhpskb, wgpskh, tkrdwg**",
        "vhpskb = 17, wgpskh = 9, tkrdwg = 6",
        "vhpskb - 1,700 times\nwgpskh - 900 times\ntkrdwg - 600 times",
        "vhpskb appears 17 times, wgpskh appears 9 times, tkrdwg appears 6 times.",
        "| word | count |\n|---|---|\n| vhpskb | 17 |\n| wgpskh | 9 |\n| tkrdwg | 6 |",
    ],
)
def test_the_most_frequent_are_told_from_the_tally(reply: str) -> None:
    assert answered(FWE, reply, WORDS) == WORDS.gold


NAMES = replace(asked("cwe"), gold=("frozen-bay", "hollow-cup", "old-house"))


@pytest.mark.parametrize(
    "reply",
    [
        "hollow-cup, old-house, frozen-bay",
        "hollow_cup, old_house, frozen_bay",
        "`hollow_cup`, `old_house`, `frozen_bay`",
        "hollow\\_cup, old\\_house, frozen\\_bay",
        "hollow\u2011cup, old\u2011house, frozen\u2011bay",
        "Hollow\u2010Cup, Old\u2010House, Frozen\u2010Bay",
        "hollow\u2013cup, old\u2013house, frozen\u2013bay",
        "1. hollow\u2011cup (30)\n2. old\u2011house (30)\n3. frozen\u2011bay (30)",
        "red-barn 3, old-house 30, hollow-cup 30, frozen-bay 30.\n\nhollow-cup, old-house, frozen-bay",
        "hollow-cup — 30\nold-house — 30\nfrozen-bay — 30",
    ],
)
def test_names_with_any_hyphen(reply: str) -> None:
    assert answered(CWE, reply, NAMES) == NAMES.gold


A, B = "9066d8cd-1964-4f4a-9c91-21c1234f4bc0", "8beedd7e-d452-49df-b6f0-85ae64eb8aff"
KEYS = "Which {}s are kept for keen-raft and old-oak?"
CODES = replace(asked("niah", "variant=multivalue;value=uuid"), ask=KEYS.format("code"), gold=(B, A))
TWO_EACH = replace(FOUR, ask=KEYS.format("number"))


@pytest.mark.parametrize(
    "reply",
    [
        f"{A}, {B}",
        f"{A}\n{B}".upper(),
        f"{A}, {B}".replace("-", "\u2011"),
        f"`{A}`, `{B}`".replace("-", "\u2010"),
        f"keen-raft: {A}\nold-oak: {B}",
        f"The code kept for keen-raft is {A}. The code kept for old-oak is {B}.",
        f"{A} is kept for keen-raft, while {B} is kept for old-oak.",
    ],
)
def test_codes_with_any_hyphen(reply: str) -> None:
    assert answered(NIAH, reply, CODES) == CODES.gold


@pytest.mark.parametrize(
    "reply",
    [
        "keen-raft: 1111111, 2222222\nold-oak: 3333333, 4444444",
        "For keen-raft: 1111111 and 2222222; for old-oak: 3333333 and 4444444.",
        "The numbers kept for keen-raft are 1111111 and 2222222. Those kept for old-oak are 3333333 and 4444444.",
        "The numbers for keen-raft are 1111111, 2222222, while those for old-oak are 3333333, 4444444.",
        "Numbers for keen-raft:\n- 1111111\n- 2222222\n\nNumbers for old-oak:\n- 3333333\n- 4444444",
        "**keen-raft:**\n1. 1111111\n2. 2222222\n\n**old-oak:**\n1. 3333333\n2. 4444444",
        '{"keen-raft": [1111111, 2222222], "old-oak": [3333333, 4444444]}',
        "Answer:\nkeen-raft: 1111111, 2222222\nold-oak: 3333333, 4444444",
        "Answer: for keen-raft: 1111111, 2222222\nand for old-oak: 3333333, 4444444",
        "keen-raft has 1111111 and 2222222. Kept for old-oak: 3333333, 4444444",
    ],
)
def test_answers_for_each_of_several_names(reply: str) -> None:
    assert answered(NIAH, reply, TWO_EACH) == FOUR.gold


ONE = replace(asked("niah", "variant=single_1"), gold=("1111111",))


@pytest.mark.parametrize(
    "reply",
    [
        "1111111",
        "1,111,111.",
        "The number is **1111111**.",
        "One number kept for red-wolf is 1111111.",
        "<think>2222222</think>1111111",
        '{"number": 1111111}',
        "It is 2222222. Wait, no, it is 1111111.",
        "[1111111]",
        "\\boxed{1111111}",
        "Answer: 1111111\n\n<example>\n2222222",
    ],
)
def test_one_number(reply: str) -> None:
    assert grade(NIAH, ONE, reply).score == 1.0


@pytest.mark.parametrize(
    "reply", ["1111111 or 2222222", "1111111, 2222222", "1111111\n2222222\n3333333", "- 2222222\n- 1111111"]
)
def test_several_numbers_are_not_one(reply: str) -> None:
    graded = grade(NIAH, ONE, reply)
    assert (graded.status, graded.score, graded.scores["ruler"]) == ("unparsed", 0.0, 1.0)


def test_what_the_question_names_is_no_answer() -> None:
    for params in ("variant=multikey_3", "variant=single_2;value=words"):
        question = asked("niah", params)
        key = re.findall(r"kept for (\S+)\?", question.ask)[0]
        assert answered(NIAH, key, question) is None
        assert answered(NIAH, f"{key}: {question.gold[0]}", question) == question.gold
    lookup = asked("json_kv")
    task = registry.load("classic/json_kv")
    key = re.findall(r'"(.+)"', lookup.ask)[0]
    assert answered(task, key, lookup) is None
    for reply in (f'{{"{key}": "{lookup.gold}"}}', f'"{lookup.gold}"', str(lookup.gold).upper(), f"`{lookup.gold}`"):
        assert answered(task, reply, lookup) == lookup.gold


def test_two_values_of_an_object_are_none() -> None:
    item = make("classic/json_kv", length=2048)
    values = re.findall(r': "([^"]+)"', item.text)
    task, question = item.task, item.question
    assert answered(task, "\n".join(values), question) is None
    assert answered(task, f"{values[0]} or {values[1]}", question) is None
    assert task.paper_scores("\n".join(values), question) == {"helmet": 1.0}


def test_pass_keys() -> None:
    task, question = (
        registry.load("classic/passkey"),
        replace(questions_of(recipe("passkey")).questions[0], gold="71432"),
    )
    for reply in (
        "71432",
        "71,432",
        "The pass key is 71432.",
        "<think>12345</think>\n71432",
        "Today's pass key is **71432**.",
    ):
        assert answered(task, reply, question) == "71432"
    for reply in ("714321", "7143", "71432 or 12345", " ".join(map(str, range(10_000, 99_999)))):
        assert answered(task, reply, question) is None


def test_words_and_codes_are_read_as_written() -> None:
    for test in ("cwe", "fwe", "vt"):
        item = make(f"classic/{test}", index=1)
        gold = list(item.question.gold)
        for reply in (
            "\n".join(f"{n}. {word}" for n, word in enumerate(gold, 1)),
            ", ".join(f"**{word}**" for word in gold),
            json.dumps(gold),
            " and ".join(reversed(gold)).upper(),
            "The most frequent words, with how often they occur:\n"
            + "\n".join(f"- {word} (30 times)" for word in gold),
        ):
            assert grade(item.task, item.question, reply).score == 1.0, reply
    item = make("classic/cwe", index=1)
    assert grade(item.task, item.question, item.gold.replace("-", " ")).score == 1.0


@pytest.mark.parametrize(
    "part", ["1111111 ", "1,111,", "red-", "red red ", "<think>", "answer: ", "KQWZT,", "a-", "0123abcd-"]
)
@pytest.mark.sampled(3)
def test_hostile_repetition_ends(part: str) -> None:
    for test in TESTS:
        question = asked(test)
        task = registry.load(f"classic/{test}")
        for reply in (part * (300_000 // len(part)), part + " " * 300_000 + "x"):
            assert grade(task, question, reply).score == 0.0


@pytest.mark.parametrize(
    "part",
    [
        *("Answer: KQWZT\n", "(KQWZT, ", "(KQWZT) ", "not KQWZT, ", "KQWZT but ", "so: KQWZT MMZVW.\n", "KQWZT. "),
        *("wait. ", "and ", "1. ", "x:\nKQWZT\n", "KQWZT and 12345 is ", "\\boxed{KQWZT}", "((((", "12,345,"),
    ],
)
@pytest.mark.sampled(4)
def test_hostile_lists_end(part: str) -> None:
    for reply in (part * (300_000 // len(part)), part + " " * 300_000 + "x"):
        assert grade(VT, THREE, reply).score == 0.0


@pytest.mark.parametrize("test", TESTS)
def test_nothing_else_is_needed_of_a_text(test: str) -> None:
    """Without a question, or without a text, nothing can be told."""
    item = make(f"classic/{test}", length=0)
    message = item.messages()[-1]
    for content in ("", message.content.rpartition("\n")[0].partition("<text>")[0].partition("{")[0], "<text> </text>"):
        with pytest.raises(Undecidable):
            item.solve([message._replace(content=content)])


def test_published_scores_see_thinking_and_lists() -> None:
    """As published: whatever is in the reply counts."""
    assert grade(NIAH, FOUR, "<think>1111111 2222222 3333333 4444444").scores == {"ruler": 1.0}
    assert grade(NIAH, FOUR, "", "error").scores == {"ruler": 0.0}
