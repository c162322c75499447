"""A tokenizer whose counts do not add up."""

from collections.abc import Sequence

import pytest

from carrara import tokenizers


class Crooked:
    """Joins tokens across lines by their content, so that no sum of parts is the count of the whole."""

    name = "crooked"
    chat = None
    opening = 0

    def count(self, text: str) -> int:
        return len(text) // 4 + text.count("1\n")

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@pytest.fixture
def crooked(monkeypatch: pytest.MonkeyPatch) -> str:
    known = tokenizers.get
    monkeypatch.setattr(tokenizers, "get", lambda name: Crooked() if name == "crooked" else known(name))
    return "crooked"
