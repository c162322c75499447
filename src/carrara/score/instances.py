"""Worlds that lines share: built once where they come one after the other, or not too far from each other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from carrara.core.cache import WeightedCache
from carrara.core.recipe import Recipe
from carrara.core.types import Question
from carrara.prompt.items import named, pose
from carrara.prompt.wording import Pack
from carrara.task import Task

SMALL = 256
"""What the questions of a world weigh that is the same at every length, in tokens."""
ROOM = 8192 * SMALL
"""What is kept may weigh: some eight thousand small worlds, sixteen of 128k tokens."""


class Asked(NamedTuple):
    """What grading needs of a world."""

    task: Task
    questions: Sequence[Question[Any]]


class Worlds:
    """The worlds that were asked for last."""

    def __init__(self, pack: Pack | None = None) -> None:
        self._pack = pack
        self._kept = WeightedCache(_asked, lambda world, pack: max(SMALL, world.length), ROOM)

    def asked(self, recipe: Recipe) -> Asked:
        return self._kept(*named(recipe, self._pack))


def _asked(world: Recipe, pack: Pack | None) -> Asked:
    posed = pose(world, pack)
    return Asked(posed.task, posed.questions)
