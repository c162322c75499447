"""Worlds that lines share: built once where they come one after the other, or not too far from each other."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from carrara.core.recipe import Recipe
from carrara.core.types import AnyTest, Question
from carrara.prompt.items import named, pose
from carrara.prompt.wording import Pack

SMALL = 256
"""What a world weighs that is the same at every length, in tokens: it is never large."""
ROOM = 8192 * SMALL
"""What is kept may weigh: some eight thousand small worlds, sixteen of 128k tokens."""


class Asked(NamedTuple):
    """What grading needs of a world."""

    task: AnyTest
    questions: Sequence[Question[Any]]


class Worlds:
    """The worlds that were asked for last."""

    def __init__(self, pack: Pack | None = None) -> None:
        self._pack = pack
        self._kept: OrderedDict[Recipe, Asked] = OrderedDict()
        self._weight = 0

    def asked(self, recipe: Recipe) -> Asked:
        world, pack = named(recipe, self._pack)
        if world in self._kept:
            self._kept.move_to_end(world)
            return self._kept[world]
        posed = pose(world, pack)
        found = self._kept[world] = Asked(posed.task, posed.questions)
        self._weight += _weight(world)
        while self._weight > ROOM and len(self._kept) > 1:
            oldest, _ = self._kept.popitem(last=False)
            self._weight -= _weight(oldest)
        return found


def _weight(world: Recipe) -> int:
    return max(SMALL, world.length)
