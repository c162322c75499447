"""Sources of a conversation's drafts: the built-in generator, which never ends, or a bank, which does."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import product
from math import ceil
from typing import Protocol

from carrara.generators.bank import BUILT_IN, Bank, bank
from carrara.generators.forms import FORMATS, DraftKey, moods, styles, topics, write
from carrara.rng import Rng
from carrara.util.errors import ExhaustedError, UsageError

_SENTENCE_END = re.compile(r"(?<!\n\d)(?<!\n\d\d)[.!?][\"')\]]*(?=\s)")
"""The end of a sentence, except for the full stop after a number in a list."""
_PARTS = ("format", "topic", "style", "mood")


class DraftSource(Protocol):
    def keys(self, count: int) -> Sequence[DraftKey]:
        """Return the keys with at least this many drafts."""

    def drafts(self, key: DraftKey, count: int, rng: Rng) -> list[str]:
        """Return a number of different drafts for one key."""

    def any(self, keys: Sequence[DraftKey], rng: Rng) -> Iterator[tuple[DraftKey, str]]:
        """Yield drafts for several keys at random, without repetition. Raise `ExhaustedError` if there are no more."""

    def must_last(self, keys: Sequence[DraftKey], room: int, cost: Callable[[DraftKey, str], int]) -> None:
        """Raise `ExhaustedError` if all drafts for some keys cost less than that together."""


def source(name: str, depth: int) -> DraftSource:
    """Return the generator or a bank. Keys have this many parts: format and topic, then style, then mood."""
    return Writer(depth) if name == BUILT_IN else _banked(bank(name), depth)


@dataclass(frozen=True)
class Writer:
    depth: int

    def keys(self, count: int) -> Sequence[DraftKey]:
        return _all_keys(self.depth)

    def drafts(self, key: DraftKey, count: int, rng: Rng) -> list[str]:
        drafts: dict[str, None] = {}
        while len(drafts) < count:
            drafts[write(key, rng)] = None
        return list(drafts)

    def any(self, keys: Sequence[DraftKey], rng: Rng) -> Iterator[tuple[DraftKey, str]]:
        if not keys:
            raise ExhaustedError("no topic is left to fill a conversation with: ask for fewer keys or examples")
        seen: set[bytes] = set()
        while True:
            key = rng.choice(keys)
            draft = write(key, rng)
            if (mark := blake2b(draft.encode(), digest_size=8).digest()) not in seen:
                seen.add(mark)
                yield key, draft

    def must_last(self, keys: Sequence[DraftKey], room: int, cost: Callable[[DraftKey, str], int]) -> None:
        """Return at once, because the generator never ends."""


@lru_cache
def _all_keys(depth: int) -> Sequence[DraftKey]:
    return [DraftKey(*parts) for parts in product(*(FORMATS, topics(), styles(), moods())[:depth])]


@dataclass(frozen=True, eq=False)
class BankDrafts:
    bank: Bank
    depth: int

    @cached_property
    def _writings(self) -> Mapping[DraftKey, list[str]]:
        writings: dict[DraftKey, list[str]] = {}
        for key, text in self.bank.entries:
            if all(key[: self.depth]):
                writings.setdefault(DraftKey(*key[: self.depth]), []).append(text)
        if not writings:
            parts = " and ".join(_PARTS[: self.depth])
            raise UsageError(
                f"the writings {self.bank.hash} have no piece with {parts}: ask for a smaller depth than {self.depth}, "
                f"or give their entries a {_PARTS[self.depth - 1]}"
            )
        self._check_names(writings)
        return writings

    def _check_names(self, keys: Mapping[DraftKey, object]) -> None:
        """Raise for two keys that a request names alike."""
        names: dict[str, DraftKey] = {}
        for key in keys:
            if (first_key := names.setdefault(str(key).casefold(), key)) != key:
                raise UsageError(
                    f"the writings {self.bank.hash} have two keys that a request cannot tell apart, {tuple(first_key)} "
                    f"and {tuple(key)}: give them one name"
                )

    def keys(self, count: int) -> Sequence[DraftKey]:
        return sorted(key for key, texts in self._writings.items() if len(texts) >= count)

    def drafts(self, key: DraftKey, count: int, rng: Rng) -> list[str]:
        texts = self._writings.get(key, [])
        if len(texts) < count:
            raise UsageError(
                f"the writings {self.bank.hash} have {len(texts)} drafts of {key.with_article}, and not {count}"
            )
        return rng.sample(texts, count)

    def any(self, keys: Sequence[DraftKey], rng: Rng) -> Iterator[tuple[DraftKey, str]]:
        pieces = self._pieces(keys)
        yield from rng.shuffled(pieces)
        raise self._exhausted(pieces, "and a few more are needed")

    def must_last(self, keys: Sequence[DraftKey], room: int, cost: Callable[[DraftKey, str], int]) -> None:
        pieces, have = self._pieces(keys), 0
        for piece in pieces:
            have += cost(*piece)
            if have >= room:
                return
        more = ceil((room - have) * len(pieces) / max(1, have))
        raise self._exhausted(pieces, f"{have:,} tokens of the {room:,} that it takes: about {more:,} more are needed")

    def _pieces(self, keys: Sequence[DraftKey]) -> list[tuple[DraftKey, str]]:
        return [(key, text) for key in keys for text in self._writings[key]]

    def _exhausted(self, pieces: Sequence[object], why: str) -> ExhaustedError:
        return ExhaustedError(
            f"the writings {self.bank.hash} have {len(pieces):,} pieces on other topics to fill this conversation "
            f"with, {why}; have them written (`carrara corpus write`), or ask for a smaller length"
        )


_banked = lru_cache(maxsize=8)(BankDrafts)


def shorten(drafts: Iterator[tuple[DraftKey, str]], rng: Rng) -> Iterator[tuple[DraftKey, str]]:
    """Yield drafts, each cut at a drawn sentence.

    Drafts of one sentence are left out, because it might be there whole.
    """
    for key, draft in drafts:
        if ends := [match.end() for match in _SENTENCE_END.finditer(draft)]:
            yield key, draft[: rng.choice(ends)]
