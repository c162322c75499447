"""Items of the classic tests."""

from carrara.items import registry
from carrara.items.item import Item, questions_of
from carrara.items.item_id import ItemId
from carrara.types import Question

TASKS = ("niah", "vt", "cwe", "fwe", "json_kv", "passkey", "hops")


def item_id(task: str, params: str = "", length: int = 0, index: int = 0, tokenizer: str = "gpt2") -> ItemId:
    name = f"classic/{task}"
    return ItemId(name, registry.load(name).version, params, "test", 0, index, 0, length, "chat", "", tokenizer)


def text_of(item: Item) -> str:
    context, _ = item.task.read_prompt(item.messages(), item.task.wording)
    return context


def question_of(task: str, params: str = "", index: int = 0) -> Question[tuple[str, ...]]:
    question: Question[tuple[str, ...]] = questions_of(item_id(task, params, index=index)).questions[0]
    return question
