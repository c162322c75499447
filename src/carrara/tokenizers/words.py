"""Words as tokens: each word, digit or punctuation mark is one. Small recurrent models read them.

>>> split("Mary's 12 apples, (a.pop)")
["mary's", '1', '##2', 'apples', '##,', '(', '##a', '##.', '##pop', '##)']
"""

import re
from collections.abc import Sequence

from carrara.tokenizers.base import ChatFormat

GLUE = "##"
"""The mark before a token that follows another without a space."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d|[^\w\s]|_")


class Words:
    name = "words"
    chat: ChatFormat | None = None
    opening = 0

    def count(self, text: str) -> int:
        return sum(1 for _ in _TOKEN.finditer(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def split(text: str) -> list[str]:
    """Return the tokens of a text in lower case."""
    tokens, end = [], 0
    for match in _TOKEN.finditer(text.lower()):
        start = match.start()
        tokens.append(GLUE + match[0] if start == end and start else match[0])
        end = match.end()
    return tokens


def join(words: Sequence[str]) -> str:
    """Return the text of tokens.

    >>> join(split("[-1, 22]"))
    '[-1, 22]'
    """
    return "".join(word[len(GLUE) :] if word.startswith(GLUE) else f" {word}" for word in words).strip()
