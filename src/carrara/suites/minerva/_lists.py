"""Lists with names, among which words are dealt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from carrara import vocabulary
from carrara.errors import Unreachable
from carrara.parts.fitting import filled
from carrara.parts.layout import Told, dealt, line, placed
from carrara.types import Room, World

LEAST = 2
"""Words of each list."""


class Needle(NamedTuple):
    """A word that is asked about, in one of the lists, at a share of the way through it."""

    word: str
    list: int
    share: float


@dataclass(frozen=True)
class Lists:
    lists: tuple[tuple[str, ...], ...]
    asked: tuple[Needle, ...]
    answer: str
    labels: Mapping[str, str]


def name(n: int) -> str:
    return f"List {n + 1}"


def lists_of(
    room: Room | None,
    draw: Callable[[], str],
    items: int,
    parts: int,
    needles: Sequence[Needle],
    what: str,
    least: int = LEAST,
) -> list[list[str]]:
    """Words in so many parts, with needles among them. `what` says which part of a grid it is."""
    if room is None:
        words = vocabulary.some(draw, max(items, least * parts))
    else:
        words = filled(room, draw) if room.budget > 0 else []
    if len(words) < least * parts:
        raise Unreachable(f"{what} leaves room for {len(words)} words", part=f"{what} leaves too little room for words")
    lists = dealt(words, parts)
    for needle in needles:
        lists[needle.list] = placed(lists[needle.list], needle.word, needle.share)
    return lists


def told(hidden: Lists) -> World[Lists]:
    return World(hidden, Told([line(name(n), words) for n, words in enumerate(hidden.lists)]))
