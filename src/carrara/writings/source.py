"""Where a conversation's drafts come from: the built-in writer, which never ends, or a bank, which does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Protocol

from carrara.errors import Dry
from carrara.keys import Dice, digest
from carrara.writings.bank import BUILT_IN, Bank, bank
from carrara.writings.writer import FORMATS, MOODS, STYLES, TOPICS, Key, write

_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s)")


class Source(Protocol):
    def keys(self, count: int) -> Sequence[Key]:
        """The keys with at least so many drafts."""

    def drafts(self, key: Key, count: int, dice: Dice) -> list[str]:
        """So many different drafts for one key."""

    def any(self, keys: Sequence[Key], dice: Dice) -> Iterator[tuple[Key, str]]:
        """Drafts for some keys as it comes, none twice."""


def source(name: str, depth: int) -> Source:
    """The writer or a bank. Keys have so many parts: format and topic, then style, then mood."""
    return Writer(depth) if name == BUILT_IN else _banked(bank(name), depth)


@dataclass(frozen=True)
class Writer:
    depth: int

    def keys(self, count: int) -> Sequence[Key]:
        return _written(self.depth)

    def drafts(self, key: Key, count: int, dice: Dice) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[write(key, dice)] = None
        return list(found)

    def any(self, keys: Sequence[Key], dice: Dice) -> Iterator[tuple[Key, str]]:
        seen: set[int] = set()
        while True:
            key = dice.choice(keys)
            draft = write(key, dice)
            if (mark := digest(draft)) not in seen:
                seen.add(mark)
                yield key, draft


@lru_cache
def _written(depth: int) -> Sequence[Key]:
    return [Key(*parts) for parts in product(*(FORMATS, TOPICS, STYLES, MOODS)[:depth])]


@dataclass(frozen=True, eq=False)
class Banked:
    bank: Bank
    depth: int

    @cached_property
    def _writings(self) -> Mapping[Key, list[str]]:
        found: dict[Key, list[str]] = {}
        for key, text in self.bank.entries:
            if all(key[: self.depth]):
                found.setdefault(Key(*key[: self.depth]), []).append(text)
        return found

    def keys(self, count: int) -> Sequence[Key]:
        return sorted(key for key, texts in self._writings.items() if len(texts) >= count)

    def drafts(self, key: Key, count: int, dice: Dice) -> list[str]:
        return dice.sample(self._writings[key], count)

    def any(self, keys: Sequence[Key], dice: Dice) -> Iterator[tuple[Key, str]]:
        yield from dice.shuffled([(key, text) for key in keys for text in self._writings[key]])
        raise Dry(
            f"the writings {self.bank.hash} have {sum(len(self._writings[key]) for key in keys):,} pieces to fill "
            f"a conversation with, and more are needed"
        )


_banked = lru_cache(maxsize=8)(Banked)


def shortened(text: str, dice: Dice) -> str:
    """A draft cut at one of its sentences, drawn; whole if it has but one."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: dice.choice(ends)] if ends else text
