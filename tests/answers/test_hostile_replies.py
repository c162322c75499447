"""Any reply is read soon and without an exception, and none scores more than chance without reading the context."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import sqrt
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara.items import registry
from carrara.items.grading import grade, read_impossible
from carrara.items.item import Item, contexts, make
from carrara.items.item_id import ItemId
from carrara.util.errors import LengthError
from tests.helpers.growth import grows_in_proportion

# fmt: off
PIECES = [
    *("a", "apple", "हि", "é", "1", "12", "-", "1. ", "1,234", " ", "\t", "\n", "\n\n", "\r\n", ",", ", ", ";"),
    *(".", ". ", "!", "?", ":", ": ", "=", "->", "→", " - ", "—", "|", "\"", "'", "`", "```\n", "*", "**", "_"),
    *("(", ")", "[", "]", "{", "}", "#", "$", "<think>", "</think>", "<answer>", "\\boxed{", "\\n", "…", "is "),
    *("are ", "or ", "and ", "~~", "the word ", "with ", "none", "Answer: ", "final answer", "FINAL ANSWER: "),
    *("Agent A", "A:", "Agent B: ", "Wait, ", "no words", "Sure", "List 1: ", "Explanation:", "Context:"),
    *("Question: ", "So ", "not ", "No, ", "yes", "I mean ", "<", ">", "<a>", "<yes or no>", "followed by "),
]
UNITS = [
    *PIECES,
    *("a,", "a\n", "- a\n", "a: b\n", "b" * 50, "[\"", "{\"a\":", "a, b\nor\n", "a: n/a\n", "a - b c d e\n"),
    *("‘a’, ", "no ", "\\item a ", "(a, b), ", "Part 1: a\n\n", "List 1: a, ", "the a word is ", "is a, ", "7"),
    *("8 times. ", "List 1. ", "n't ", "It is not in the context, ", "x\n\n", "“such words ", "garden, "),
    *("garden or ", "Mary ", "three hundred ", "Answer:\n", "FINAL ANSWER:\n\n", "so the ", "\n \n", "\n\t"),
    *("Therefore, ", "`a` ", "**a** ", "__a__ ", "\\text{", "> ", "<a>, ", "FINAL ANSWER: <"),
]
# fmt: on
TASKS = registry.names()
ONE_OF_EACH = list({type(registry.load(task).answer): task for task in TASKS}.values())
"""One task for each answer type."""


@cache
def item_of(task: str) -> Item:
    return make(task, length=2048 if registry.load(task).is_sized else 0, tokenizer="gpt2")


def read(task: str, reply: str) -> None:
    item = item_of(task)
    if item.task.read(reply, item.question) is None:
        read_impossible(item.task, reply, item.question)


@settings(max_examples=3 * settings().max_examples)
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_is_read_without_complaint(text: str) -> None:
    for task in ONE_OF_EACH:
        read(task, text)


@pytest.mark.parametrize("task", ONE_OF_EACH)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.sampled(10, 900)
def test_long_replies_take_time_in_proportion(unit: str, task: str) -> None:
    assert grows_in_proportion(lambda size: read(task, (unit * (size // len(unit) + 1))[:size] + "\\"), 40_000)


@pytest.mark.parametrize("task", ONE_OF_EACH)
@pytest.mark.parametrize(
    "unit", ["a,", "(", "\n", "*", "Answer: ", "1. ", "[", "a ", "x", "garden ", "garden, ", "garden or ", "a\n", "no "]
)
@pytest.mark.sampled(0, 90)
def test_a_million_characters_are_read_in_linear_time(unit: str, task: str) -> None:
    assert grows_in_proportion(lambda size: read(task, unit * (size // len(unit))), 1_000_000)


# --- replies that need no reading score no more than chance ---


def options(item: Item, separator: str, around: str = "{}") -> str:
    return around.format(separator.join(item.question.options))


def prompt(item: Item) -> str:
    return "\n".join(message.content for message in item.messages())


def context(item: Item) -> str:
    segments = (part.text for part in item.prompt.parts(counted=False) if part.segment)
    return item.prompt.template.separator.join(segments)


GAMES: dict[str, Callable[[Item], str]] = {
    "every option": lambda item: options(item, ", "),
    "every option, on lines": lambda item: options(item, "\n"),
    "every option as a sentence": lambda item: options(item, ". It is ", "It is {}."),
    "every option, or": lambda item: options(item, " or ", "The answer is {}."),
    "every option on the answer line": lambda item: options(item, " or ", "FINAL ANSWER: {}"),
    "every option on its own answer line": lambda item: options(item, "\nFINAL ANSWER: ", "FINAL ANSWER: {}"),
    "every option in a box": lambda item: options(item, "} \\boxed{", "\\boxed{{{}}}"),
    "every option in bold": lambda item: options(item, "** **", "**{}**"),
    "every option, taken back": lambda item: options(item, ". Wait, it is ", "It is {}."),
    "every option in angle brackets": lambda item: options(item, "> <", "FINAL ANSWER: <{}>"),
    "every option in angle brackets, or": lambda item: options(item, "> or <", "FINAL ANSWER: followed by <{}>"),
    "every option denied": lambda item: options(item, ", nor ", "It is not {}."),
    "the prompt": prompt,
    "the prompt, and again its question": lambda item: f"{prompt(item)}\n\n{item.question.ask}",
    "the prompt as an answer": lambda item: f"FINAL ANSWER: {prompt(item)}",
    "the question": lambda item: item.question.ask,
    "yes or no": lambda item: "yes or no",
    "yes and no": lambda item: "Yes. No.",
}
INSTANCES = 40


@cache
def items_of(task: str) -> list[Item]:
    loaded = registry.load(task)
    item_id = ItemId(task, loaded.version, "", "test", 5, 0, 0, 1024 if "minerva" in task else 0, "chat", "", "gpt2")
    found: list[Item] = []
    for index in range(INSTANCES):
        try:
            found += next(iter(contexts(replace(item_id, index=index), 1, warn=lambda _: None))).items
        except (LengthError, StopIteration):
            continue  # this instance is longer
    return found


NOT_REPEATED = [task for task in TASKS if task != "minerva/snapshot"]
"""The tasks but the one that asks for the context as it is."""


def check(task: str, game: Callable[[Item], str]) -> None:
    items = items_of(task)
    score = fmean(grade(item.task, item.question, game(item)).score for item in items)
    chance_level = fmean(item.question.chance_level for item in items)
    error = sqrt(max(chance_level * (1 - chance_level), 0.001) / len(items))
    assert score <= chance_level + 4 * error


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("task", NOT_REPEATED)
@pytest.mark.sampled(6)
def test_no_game_beats_the_chance_level(task: str, game: str) -> None:
    check(task, GAMES[game])


@pytest.mark.parametrize("lead", ["", "FINAL ANSWER: "])
@pytest.mark.parametrize("task", [task for task in NOT_REPEATED if "minerva" in task])
@pytest.mark.sampled(2)
def test_the_context_is_no_answer(task: str, lead: str) -> None:
    check(task, lambda item: lead + context(item))
