"""The words of BABILong's prompts: examples that are right and say nothing of an item, rules and chance levels that
hold."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from typing import NamedTuple, get_args

import pytest

from carrara.rng import Key
from carrara.tasks.babilong import _lexicon as lexicon
from carrara.tasks.babilong._facts import WHENS, Way
from carrara.tasks.babilong._grammar import read, read_question, split_statements
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.babilong._words import OFFICIAL, VOCABULARIES, Vocabulary
from tests.helpers.babi import official

STORIES = 1000
CHANCE_LEVELS = (7, 8, 9, 10, 17, 19, 20)
"""Tasks with an answer that is commoner than others, in some stories at least."""
KNOWN = {20: {"athletic", "gymnasium"}}
"""Where a mood leads has to be known to the solver: one example is from the words of fresh stories."""


class Example(NamedTuple):
    facts: tuple[str, ...]
    question: str
    answer: str


def examples(number: int) -> list[Example]:
    text = load_task(number).wording["examples"]
    found = re.findall(r"<example>\n(.+)\nQuestion: (.+)\nFINAL ANSWER: (.+)\n</example>", text)
    assert len(found) == text.count("<example>") == text.count("</example>")
    return [Example(tuple(split_statements(facts)), question, answer) for facts, question, answer in found]


@pytest.mark.parametrize("number", TASKS)
def test_examples_are_right(number: int) -> None:
    for example in examples(number):
        assert all(read(fact) for fact in example.facts)
        assert load_task(number).solution(example.facts, example.question).answer == example.answer


def words(value: object) -> Iterator[str]:
    """Every word in a fact, a question or a list of words."""
    if isinstance(value, str):
        yield from value.casefold().split()
    elif isinstance(value, tuple | list | dict):
        for part in value.items() if isinstance(value, dict) else value:
            yield from words(part)


def taken() -> set[str]:
    """The official words and those of fresh stories; of phrases the whole, for `box` may be part of another word."""
    lists: list[object] = [getattr(lexicon, name) for name in vars(lexicon) if name.isupper()]
    lists += [getattr(cast, field.name) for cast in OFFICIAL for field in fields(cast)]
    found: set[str] = set()
    for some in lists:
        pairs = [*some, *(part for pair in some.values() for part in pair)] if isinstance(some, dict) else some
        assert isinstance(pairs, tuple | list)
        found.update(str(word).casefold() for word in pairs)
    return found


@pytest.mark.parametrize("number", TASKS)
def test_examples_use_words_of_no_story(number: int) -> None:
    structure = {*words(WHENS), *words(list(get_args(Way))), "he", "she", "they", "none"}
    others = taken()
    assert {"mary", "kitchen", "walking stick", "photo album", "red square", "hungry"} <= others
    for example in examples(number):
        said = [astuple(fact) for fact in map(read, example.facts) if fact]
        query = read_question(example.question)
        assert query is not None
        own = {*words(said), *words(astuple(query)), *words(example.answer)} - structure
        assert own & others <= KNOWN.get(number, set()), example


def test_moods_lead_where_the_instruction_says() -> None:
    """No story tells where a mood leads, so the instruction of task 20 has to."""
    instruction = load_task(20).wording["instruction"]
    said = re.search(r"People act.*?\.", instruction)
    assert said
    for mood, (place, _) in lexicon.MOTIVES.items():
        assert re.search(rf"\bthe {mood}\b(?: and the thirsty)?(?: go)? to the {place}\b", said[0])


@pytest.mark.parametrize("number", TASKS)
def test_no_example_is_official(number: int) -> None:
    shown = {sentence for example in examples(number) for sentence in (*example.facts, example.question)}
    for told in official(number):
        assert shown.isdisjoint(told.facts)
        assert shown.isdisjoint(question.text for question in told.questions)


@pytest.mark.parametrize("sound", [False, True], ids=["official", "sound"])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("number", CHANCE_LEVELS)
@pytest.mark.sampled(1)
def test_chance_level_is_the_share_of_the_commonest_answer(number: int, vocabulary: Vocabulary, sound: bool) -> None:
    """No more and no less, beyond sampling error; a fresh cast has no common answer but numbers and the like."""
    task = replace(load_task(number), vocab=vocabulary, sound=sound, haystack="none")
    golds: dict[tuple[float, int, str], Counter[str]] = {}
    for index in range(STORIES):
        key = Key(f"babilong/qa{number}", task.version, "", "test", 0, index)
        question = task.questions(task.generate(key.rng("world")))[0]
        told = re.sub(r"(?<=will |.did )\w+", "…", question.ask) if number == 20 else ""  # the question tells a mood
        golds.setdefault((question.chance_level, len(question.options), told), Counter())[question.gold] += 1
    for (chance_level, *_), answers in golds.items():
        share = answers.most_common(1)[0][1] / answers.total()
        error = (chance_level * (1 - chance_level) / answers.total()) ** 0.5
        assert share <= chance_level + 4 * error
        assert share >= chance_level - 4 * error or (vocabulary == "fresh" and number == 20)
