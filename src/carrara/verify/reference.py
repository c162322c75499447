"""Models that need no weights: what a perfect reader, a guesser and the laziest answers score.

They are part of the product: an oracle below 1 means a broken item, a task on which a lazy answer scores well measures
little, and a model near `chance` knows nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from carrara.item_id import Recipe
from carrara.items.item import Item, questions_of
from carrara.types import ANSWER, Message, Question, UndecidableError

LEARNED = 240
"""Instances of the training split from which `majority` learns the commonest answers."""


def oracle(item: Item, messages: Sequence[Message]) -> str:
    """Solves from the text that it was sent."""
    try:
        return item.task.write(item.solve(messages))
    except UndecidableError as reason:
        return f"The text does not say: {reason}"


def chance(item: Item, messages: Sequence[Message]) -> str:
    """Guess as the task's guesser does, whose mean score is the chance level."""
    context = item.context
    rng = item.recipe.key.rng("chance", item.recipe.question)
    return item.task.write(item.task.guess(rng, context.instance, item.question))


def majority(item: Item, messages: Sequence[Message]) -> str:
    """Gives the answer that is commonest for this kind of question, of those that are possible where they are known."""
    recipe = replace(item.recipe, index=0, question=0)
    given = item.task.given_count(recipe.length)
    # Items that are given by somebody, as they are, have no training split: theirs is the commonest of their answers.
    answers = _answers(replace(recipe, split="train", length=0), LEARNED) if given is None else _answers(recipe, given)
    kind = _kind(item.question)
    common = answers.get(kind) or sum(answers.values(), Counter[str]())
    return max(item.question.options or common, key=lambda answer: common[answer])


@cache
def _answers(first: Recipe, instances: int) -> dict[tuple[tuple[str, str], ...], Counter[str]]:
    found: dict[tuple[tuple[str, str], ...], Counter[str]] = {}
    for index in range(instances):
        posed = questions_of(replace(first, index=index))
        for question in posed.questions:
            found.setdefault(_kind(question), Counter())[posed.task.write(question.gold)] += 1
    return found


def _kind(question: Question[Any]) -> tuple[tuple[str, str], ...]:
    """What results are sliced by, but for what gives the answer away."""
    return tuple(sorted((name, value) for name, value in question.labels.items() if name != ANSWER))


def echo(item: Item, messages: Sequence[Message]) -> str:
    """Repeats what it was sent."""
    return messages[-1].content


REFERENCES: dict[str, Callable[[Item, Sequence[Message]], str]] = {
    "oracle": oracle,
    "chance": chance,
    "majority": majority,
    "echo": echo,
}
