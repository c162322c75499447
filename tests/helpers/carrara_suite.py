"""Items of the tests of Carrara's own suite."""

from typing import Any

from carrara.items import registry
from carrara.items.item import Item, questions_of
from carrara.items.item_id import ItemId
from carrara.types import Instance, Question


def item_id(task: str, params: str = "", length: int = 0, index: int = 0, tokenizer: str = "gpt2") -> ItemId:
    name = f"carrara/{task}"
    return ItemId(name, registry.load(name).version, params, "test", 0, index, 0, length, "chat", "", tokenizer)


def instance_of(item: Item) -> Instance:
    return questions_of(item.item_id).instance


def question_of(task: str, params: str = "", index: int = 0) -> Question[Any]:
    return questions_of(item_id(task, params, index=index)).questions[0]


def text_of(item: Item) -> str:
    context, _ = item.task.read_prompt(item.messages(), item.task.wording)
    return context
