"""Lists with names, among which words are dealt."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from carrara.core.errors import Unreachable
from carrara.core.types import Room, World
from carrara.parts.fitting import filled
from carrara.parts.layout import Told, line, placed
from carrara.text import vocabulary

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
    """Words in so many parts, with needles among them: `least` in each, and none has two more than another.

    So the length of a list says nothing of what is in it. `what` says which part of a grid it is.
    """
    held = Counter(needle.list for needle in needles)
    wanted = sum(max(least, held[part]) for part in range(parts)) - len(needles)
    if room is None:
        words = vocabulary.some(draw, max(items - len(needles), wanted))
    else:
        words = filled(room, draw) if room.budget > 0 else []
    if len(words) < wanted:
        raise Unreachable(
            f"{what} leaves room for {len(words)} words beside the {len(needles)} asked for, and takes {wanted}",
            part=f"{what} leaves too little room for words",
        )
    others = iter(words)
    lists = [list(islice(others, size)) for size in _sizes(len(words) + len(needles), parts, held)]
    for needle in needles:
        lists[needle.list] = placed(lists[needle.list], needle.word, needle.share)
    return lists


def _sizes(words: int, parts: int, held: Mapping[int, int]) -> list[int]:
    """How many words each part gets beside its needles."""
    sizes = [(n + 1) * words // parts - n * words // parts for n in range(parts)]
    for part, needles in held.items():
        while sizes[part] < needles:  # of lines of one word, one needs two
            sizes[part] += 1
            sizes[max(range(parts), key=sizes.__getitem__)] -= 1
    return [size - held.get(n, 0) for n, size in enumerate(sizes)]


def world_of(hidden: Lists) -> World[Lists]:
    return World(hidden, Told([line(name(n), words) for n, words in enumerate(hidden.lists)]))
