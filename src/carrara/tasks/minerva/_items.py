"""Contexts that are one long list of words or numbers, all of which matter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from carrara.answers.kinds import Answers
from carrara.answers.listing import Copy, Words
from carrara.core.errors import Unreachable
from carrara.core.keys import Dice
from carrara.core.types import Room, World
from carrara.parts.fitting import filled
from carrara.parts.layout import Told
from carrara.tasks.minerva._minerva import Minerva, P
from carrara.text import vocabulary

ITEMS = 40
"""Of a context without a length."""
LARGEST = 1000
"""Of the numbers in a context, from 0."""


@dataclass(frozen=True)
class Source:
    """A context, and what is to become of it."""

    items: tuple[str, ...]
    result: tuple[str, ...]
    fields: Mapping[str, str]
    labels: Mapping[str, str]
    part: str = "ask"
    """Of the wording: what asks for it."""
    y: str = ""
    """What takes the place of others."""


class Edit(Minerva[P, Source, Words]):
    """Tests that ask for the whole context, copied or changed."""

    sized = True
    answers: Answers[Words] = Copy()

    def asks(self, hidden: Source) -> str:
        return hidden.part

    def fields(self, hidden: Source) -> Mapping[str, str]:
        return hidden.fields

    def gold(self, hidden: Source) -> Words:
        trivial: dict[str, tuple[str, ...]] = {}
        if hidden.items != hidden.result:
            trivial["the context as it is"] = hidden.items
        if hidden.y:
            trivial["one word over and over"] = (hidden.y,) * hidden.result.count(hidden.y)
        return Words(hidden.result, trivial)

    def reference(self, gold: Words) -> str:
        """One text, as the context is."""
        return self.write(gold)

    def needs(self, world: World[Source]) -> Sequence[int]:
        return range(len(world.updates))

    def shown(self, hidden: Source) -> World[Source]:
        """The world of a context."""
        return World(hidden, Told(hidden.items))


def listed(room: Room | None, draw: Callable[[], str], items: int, least: int = 2) -> tuple[str, ...]:
    """As many things as fill a room, or so many where there is none."""
    if room is None:
        return tuple(vocabulary.some(draw, items))
    found = filled(room, draw) if room.budget > 0 else []
    if len(found) < least:
        raise Unreachable(f"it has room for {len(found)} words", part=f"there is room for {len(found)} words")
    return tuple(found)


def numbers(room: Room | None, dice: Dice, items: int) -> tuple[str, ...]:
    """Whole numbers; one may come again. They are shuffled: those that make up a length come last, all of one kind."""
    return tuple(dice.shuffled(listed(room, lambda: str(dice.between(0, LARGEST)), items)))
