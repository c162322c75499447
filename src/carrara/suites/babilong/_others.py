"""Facts about other people and things: a haystack that differs from the needles by nothing but names.

Other stories of the same task are told, one after the other, by people (animals, figures, containers) whom the story in
question does not know. What is answered with stays the same: its places where there are people to go there, its
colours, its moods and what follows from them. So where the task's own people might be, others are too.
"""

from collections.abc import Iterator
from dataclasses import replace

from carrara.core.keys import Dice
from carrara.core.types import Filler, Piece, Tap, Unit
from carrara.suites.babilong._facts import Went
from carrara.suites.babilong._grammar import read
from carrara.suites.babilong._stories import told
from carrara.suites.babilong._words import Cast, draw_cast, individuals


def others(task: int, own: Cast, sound: bool = False) -> Filler:
    """Fact by fact; a sentence with a pronoun comes together with the one before it."""

    def opened(dice: Dice, tokenizer: str) -> Tap:
        units = _units(dice, task, own, sound)
        return lambda gap: next(units)

    return opened


def _units(dice: Dice, task: int, own: Cast, sound: bool) -> Iterator[Unit]:
    while True:
        unit: Unit = ()
        for sentence in told(dice, task, strangers(dice, task, own), sound).facts:
            match read(sentence):
                case Went(pronoun=True):
                    unit = (*unit, Piece(sentence))
                case _:
                    if unit:
                        yield unit
                    unit = (Piece(sentence),)
        yield unit


def strangers(dice: Dice, task: int, own: Cast) -> Cast:
    """A cast from the fresh words, of which none stands for anyone or anything of another cast."""
    known = set(individuals(own))
    while True:
        drawn = draw_cast(dice, task, "fresh")
        cast = replace(
            drawn,
            places=own.places if own.people else drawn.places,
            things=own.things if own.moods else drawn.things,
            colours=own.colours,
            moods=own.moods,
        )
        if known.isdisjoint(individuals(cast)):
            return cast
