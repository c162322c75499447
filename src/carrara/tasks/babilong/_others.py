"""Facts about other people and things: a haystack that differs from the needles by nothing but names.

Other stories of the same task are told, one after the other, by people (animals, figures, containers) whom the story in
question does not know. What is answered with stays the same: its places where there are people to go there, its
colours, its moods and what follows from them. So where the task's own people might be, others are too.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from carrara.core.keys import Dice
from carrara.core.types import Filler, Piece, Tap, Unit
from carrara.tasks.babilong._grammar import told_together
from carrara.tasks.babilong._teller import Story
from carrara.tasks.babilong._words import Cast, draw_cast, individuals

Tell = Callable[[Dice, Cast], Story]
"""A story about a given cast."""


def others(own: Cast, official: Cast, tell: Tell) -> Filler:
    """Fact by fact; a sentence with a pronoun comes together with the one before it."""

    def open_tap(dice: Dice, tokenizer: str) -> Tap:
        units = _units(dice, own, official, tell)
        return lambda gap: next(units)

    return open_tap


def _units(dice: Dice, own: Cast, official: Cast, tell: Tell) -> Iterator[Unit]:
    while True:
        facts = tell(dice, strangers(dice, own, official)).facts
        for together in told_together(facts):
            yield tuple(Piece(facts[i]) for i in together)


def strangers(dice: Dice, own: Cast, official: Cast) -> Cast:
    """A cast from the fresh words, as large as officially, that has nobody and nothing of a story's own cast."""
    known = set(individuals(own))
    while True:
        drawn = draw_cast(dice, official, "fresh")
        cast = replace(
            drawn,
            places=own.places if own.people else drawn.places,
            things=own.things if own.moods else drawn.things,
            colours=own.colours,
            moods=own.moods,
        )
        if known.isdisjoint(individuals(cast)):
            return cast
