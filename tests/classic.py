"""Items of the classic tests."""

from carrara.core.recipe import Recipe
from carrara.prompt.items import Item
from carrara.tasks.classic import _classic

TESTS = ("niah", "vt", "cwe", "fwe", "json_kv", "passkey")


def recipe(test: str, params: str = "", length: int = 0, index: int = 0, tokenizer: str = "gpt2") -> Recipe:
    return Recipe(f"classic/{test}", 2, params, "test", 0, index, 0, length, "chat", "", tokenizer)


def text_of(item: Item) -> str:
    return _classic.split_prompt(item.messages())[0]
