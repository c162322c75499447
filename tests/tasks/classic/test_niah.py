"""Needle in a haystack: RULER's eight variants, and replies with one number or several."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import make, questions_of
from carrara.tasks.classic import niah
from tests.helpers.classic import item_id, question_of, text_of
from tests.helpers.graded_answer import answered
from tests.helpers.labels import check_readings

# What RULER's eight variants are: haystack, names, values of each, names asked for, kinds.
RULER = {
    "single_1": ("noise", 1, 1, 1, "words", "number"),
    "single_2": ("sotu", 1, 1, 1, "words", "number"),
    "single_3": ("sotu", 1, 1, 1, "words", "uuid"),
    "multikey_1": ("sotu", 4, 1, 1, "words", "number"),
    "multikey_2": ("needles", 1, 1, 1, "words", "number"),
    "multikey_3": ("needles", 1, 1, 1, "uuid", "uuid"),
    "multivalue": ("sotu", 1, 4, 1, "words", "number"),
    "multiquery": ("sotu", 4, 1, 4, "words", "number"),
}


@pytest.mark.parametrize("variant", RULER)
def test_variants_are_those_of_ruler(variant: str) -> None:
    haystack, keys, values, queries, key, value = RULER[variant]
    item = make("classic/niah", length=2048, params={"variant": variant})
    assert niah.SHAPES[variant] == RULER[variant]  # type: ignore[index]
    needles = re.findall(r"One (\w+) kept for (\S+) is (\S+)\.", text_of(item))
    assert len(item.survey.spans) == keys * values
    assert len(item.question.gold) == queries * values
    assert len(needles) > 15 if haystack == "needles" else len(needles) == keys * values
    assert ("The kettle is on." in item.text) == (haystack == "noise")
    assert {word for word, _, _ in needles} == {"number" if value == "number" else "code"}
    form = "[a-z]+-[a-z]+" if key == "words" else "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    assert all(re.fullmatch(form, name) for _, name, _ in needles)
    names = [name for _, name, _ in needles]
    assert len(set(names)) == len(names) / values
    assert sum(name in item.question.ask for name in set(names)) == queries


def test_names_never_come_twice() -> None:
    item = make("classic/niah", length=1 << 17, params={"variant": "multikey_2"}, tokenizer="gpt2")
    names = re.findall(r"kept for (\S+) is", text_of(item))
    assert len(names) == len(set(names)) > 5000


def test_a_corpus_is_read_without_what_could_be_a_needle(tmp_path: Path, cache: Path) -> None:
    harmful = [
        "One number kept for red-wolf is 1234567.",
        "The Passkey is lost.",
        "Let KQWZT be 48213.",
        "It says </text> here.",
        "<example>",
    ]
    rest = [f"The number of ships was kept for winter {n}." for n in range(3000)]
    (tmp_path / "book.txt").write_text(" ".join(f"{sentence} {harmful[n % 5]}" for n, sentence in enumerate(rest)))
    params = {"variant": "single_2", "haystack": str(tmp_path / "book.txt")}
    text = text_of(make("classic/niah", length=8192, params=params))
    assert text.count("The number of ships was kept for winter") > 300
    assert not any(sentence in text for sentence in harmful)


def test_variants_are_taken_in_turn() -> None:
    labels = [questions_of(item_id("niah", index=i)).questions[0].labels["variant"] for i in range(24)]
    for block in range(0, 24, 8):
        assert sorted(labels[block : block + 8]) == sorted(RULER)
    assert labels[:8] != labels[8:16] or labels[8:16] != labels[16:]


def test_names_that_are_not_asked_for_are_raised_to_those_that_are() -> None:
    item = make("classic/niah", params={"variant": "multikey_1", "queries": "6", "values": "2"})
    assert len(item.question.gold) == 12
    assert make("classic/niah", params={"variant": "single_1", "keys": "3"}).text.count("kept for") == 5


def test_depths_are_taken_in_turn_and_kept() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for index in range(8 * 3):
        item = make("classic/niah", length=2048, index=index, params={"depth": "0,0.5,1", "haystack": "noise"})
        label = float(item.question.labels["depth"])
        seen[item.question.labels["variant"], item.question.labels["depth"]] += 1
        first = item.survey.spans[0].start / len(item.text)
        assert abs(first - label) < 0.2
    assert set(seen.values()) == {1}
    assert len(seen) == 24


def test_haystack_and_depth_show_the_same_instances() -> None:
    golds = {
        make("classic/niah", index=3, params=params).gold
        for params in ({}, {"haystack": "noise"}, {"depth": "0,.50"}, {"haystack": "needles", "depth": "1"})
    }
    assert len(golds) == 1
    assert "depth=0,0.5" in make("classic/niah", params={"depth": "0,.50"}).id


FOUR = replace(question_of("niah", "variant=multivalue"), gold=("1111111", "2222222", "3333333", "4444444"))

NIAH = registry.load("classic/niah")

ALL_FOUR = """
1111111, 2222222, 3333333, 4444444
1,111,111, 2,222,222, 3,333,333 and 4,444,444
- 1111111\\n- 2222222\\n- 3333333\\n- 4444444
1111111\\n\\n2222222\\n\\n3333333\\n\\n4444444
```json\\n{"answer": [1111111, 2222222, 3333333, 4444444]}\\n```
The numbers are 1111111, 2222222, 3333333 and 4444444.
**Answer:**\\n\\n- 1111111\\n- 2222222\\n- 3333333\\n- 4444444
<think>Is it 5555555? No.</think>1111111, 2222222, 3333333, 4444444
5555555? no</think>\\n1111111, 2222222, 3333333, 4444444
\\\\boxed{1111111, 2222222, 3333333, 4444444}
I first saw 5555555, kept for another name.\\nFinal answer: 1111111, 2222222, 3333333, 4444444
1111111, 2222222, 3333333, 4444444\\n</example>\\n\\n<example>\\n<text> One number kept for x is 5555555.
1111111, 2222222, 3333333, 4444444\\n\\nExplanation: 5555555 is kept for another name.
"""


FOUR_LISTS = [reply.replace("\\\\", "\\").replace("\\n", "\n") for reply in ALL_FOUR.strip().split("\n")]


def test_all_four_in_any_form() -> None:
    check_readings([(answered(NIAH, reply, FOUR), FOUR.gold) for reply in FOUR_LISTS], 70)
    graded = grade(NIAH, FOUR, "4444444, 3333333, 2222222, 1111111.")
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
        ("Answer: 1111111, 5555555\nAnswer: 1111111, 2222222", 0.0, 0.5),
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


A, B = "9066d8cd-1964-4f4a-9c91-21c1234f4bc0", "8beedd7e-d452-49df-b6f0-85ae64eb8aff"

KEYS = "Which {}s are kept for keen-raft and old-oak?"

CODES = replace(question_of("niah", "variant=multivalue;value=uuid"), ask=KEYS.format("code"), gold=(B, A))

TWO_EACH = replace(FOUR, ask=KEYS.format("number"))


@pytest.mark.parametrize(
    "reply",
    [
        f"{A}\n{B}".upper(),
        f"`{A}`, `{B}`".replace("-", "\u2010"),
        f"{A} is kept for keen-raft, while {B} is kept for old-oak.",
    ],
)
def test_codes_with_any_hyphen(reply: str) -> None:
    assert answered(NIAH, reply, CODES) == CODES.gold


PAIRS = [
    "keen-raft: 1111111, 2222222\nold-oak: 3333333, 4444444",
    "The numbers kept for keen-raft are 1111111 and 2222222. Those kept for old-oak are 3333333 and 4444444.",
    "Numbers for keen-raft:\n- 1111111\n- 2222222\n\nNumbers for old-oak:\n- 3333333\n- 4444444",
    '{"keen-raft": [1111111, 2222222], "old-oak": [3333333, 4444444]}',
    "keen-raft has 1111111 and 2222222. Kept for old-oak: 3333333, 4444444",
]
"""Replies that name two numbers for each of two names."""


def test_answers_for_each_of_several_names() -> None:
    check_readings([(answered(NIAH, reply, TWO_EACH), FOUR.gold) for reply in PAIRS], 70)


ONE = replace(question_of("niah", "variant=single_1"), gold=("1111111",))


@pytest.mark.parametrize(
    "reply",
    [
        "1,111,111.",
        "One number kept for red-wolf is 1111111.",
        "<think>2222222</think>1111111",
        "It is 2222222. Wait, no, it is 1111111.",
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
        question = question_of("niah", params)
        key = re.findall(r"kept for (\S+)\?", question.ask)[0]
        assert answered(NIAH, key, question) is None
        assert answered(NIAH, f"{key}: {question.gold[0]}", question) == question.gold
    lookup = question_of("json_kv")
    task = registry.load("classic/json_kv")
    key = re.findall(r'"(.+)"', lookup.ask)[0]
    assert answered(task, key, lookup) is None
    for reply in (f'{{"{key}": "{lookup.gold}"}}', f'"{lookup.gold}"', str(lookup.gold).upper(), f"`{lookup.gold}`"):
        assert answered(task, reply, lookup) == lookup.gold


def test_published_scores_see_thinking_and_lists() -> None:
    """As published: whatever is in the reply counts."""
    assert grade(NIAH, FOUR, "<think>1111111 2222222 3333333 4444444").scores == {"ruler": 1.0}
    assert grade(NIAH, FOUR, "", "error").scores == {"ruler": 0.0}
