"""Prompts read back: the context of a prompt, and the values of its question's fields."""

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter

from carrara.types import Message, UndecidableError


def text_between(messages: Sequence[Message], opening: str, closing: str) -> tuple[str, str]:
    """Return the text between two marks of a prompt's last message, and the text after it. Raises UndecidableError."""
    _, _, rest = messages[-1].content.rpartition(opening)
    context, mark, following = rest.rpartition(closing)
    if not mark:
        raise UndecidableError("no text was found")
    return context.strip(), following.strip()


def read_names(asks: Iterable[str], question_text: str, wording: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values of the fields of one of some questions, and its name as `ask`. Raises UndecidableError."""
    for part in asks:
        if match := field_pattern(wording[part]).search(question_text):
            return {**match.groupdict(), "ask": part}
    raise UndecidableError("no question was found")


_PATTERNS: dict[str, re.Pattern[str]] = {}


def field_pattern(ask: str) -> re.Pattern[str]:
    """Return a pattern that finds a sentence with fields and what stands in them.

    >>> field_pattern('Which word follows "{word}"?').search('Say: Which word follows "oak"?')["word"]
    'oak'
    """
    if ask not in _PATTERNS:
        parts, seen = list[str](), set[str]()
        for text, name, _, _ in Formatter().parse(ask):
            parts.append(r"\s+".join(map(re.escape, re.split(r"\s+", text))))
            if name:
                parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>[^\n]+?)")
                seen.add(name)
        ending = r"(?=\n|\Z)" if parts and parts[-1].startswith("(?P") else ""
        _PATTERNS[ask] = re.compile("".join(parts) + ending)
    return _PATTERNS[ask]
