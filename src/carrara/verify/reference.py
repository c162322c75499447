"""Models without weights: a perfect reader, a guesser, and constant answers. Their scores are references.

They are part of the product: an oracle below 1 means a broken item, a task on which a constant answer scores well
measures little, and a model near `chance` understands nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from carrara.answers.transcript import split_replies
from carrara.items.item import Item, questions_of
from carrara.items.item_id import ItemId
from carrara.task import Instance
from carrara.types import Message, Question, UndecidableError

LEARNED = 240
"""Instances of the training split from which `majority` learns the most frequent answers."""


def oracle(item: Item, messages: Sequence[Message]) -> str:
    """Return the answer that the solver reads from the prompt."""
    try:
        return item.task.write(item.solve(messages))
    except UndecidableError as reason:
        return f"The text does not say: {reason}"


def chance(item: Item, messages: Sequence[Message]) -> str:
    """Return a guess of the task's guesser, whose mean score is the chance level."""
    context = item.context
    rng = item.item_id.key.rng("chance", item.item_id.question)
    return item.task.write(item.task.guess(rng, context.instance, item.question))


def majority(item: Item, messages: Sequence[Message]) -> str:
    """Return the most frequent answer to this kind of question, among the possible ones if they are known."""
    item_id = replace(item.item_id, index=0, question=0)
    available = item.task.given_count(item_id.length)
    # Items from files have no training split: the most frequent of their own answers is used.
    answers = (
        _answers(replace(item_id, split="train", length=0), LEARNED)
        if available is None
        else _answers(item_id, available)
    )
    common = answers.get(question_kind(item.context.instance, item.question)) or sum(answers.values(), Counter[str]())
    return max(item.question.options or common, key=lambda answer: common[answer])


@cache
def _answers(first: ItemId, instances: int) -> dict[tuple[str, str], Counter[str]]:
    answers: dict[tuple[str, str], Counter[str]] = {}
    for index in range(instances):
        posed = questions_of(replace(first, index=index))
        for question in posed.questions:
            kind = question_kind(posed.instance, question)
            answers.setdefault(kind, Counter())[posed.task.write(question.gold)] += 1
    return answers


def question_kind(instance: Instance, question: Question[Any]) -> tuple[str, str]:
    """Return the kind of a question as a model sees it: its part, and which of the task's wordings it has.

    Labels are no part of it, because they may say what the right answer is like.
    """
    return question.part, instance.ask


def echo(item: Item, messages: Sequence[Message]) -> str:
    """Return the prompt itself."""
    return messages[-1].content


def reply_in_turn(name: str, item: Item, messages: Sequence[Message]) -> str:
    """Return the reply of a reference model to the last message of a conversation.

    Args:
        messages: The prompt, or what a reader made of it, and the messages and replies that followed.
    """
    follow_ups = item.prompt.template.follow_ups
    if not follow_ups or name == "echo":
        return REFERENCES[name](item, messages)
    turn = sum(message.content in follow_ups for message in messages)
    replies = split_replies(REFERENCES[name](item, messages[: len(messages) - 2 * turn]))
    return replies[turn] if turn < len(replies) else ""


REFERENCES: dict[str, Callable[[Item, Sequence[Message]], str]] = {
    "oracle": oracle,
    "chance": chance,
    "majority": majority,
    "echo": echo,
}
