"""Arrangements: the needed facts of an instance spread through the context (`riffle`), or side by side (`block`).

Both have the same facts in the same order, the same stream of filler and the same number of tokens. A share of the
filler is drawn for each instance, and is the same in both: `block` puts all needed facts there, and `riffle` divides
the filler into equal stretches and puts a needed fact at this share of each. So the needed facts are anywhere in the
context equally often in both, and only their distance differs.

The positions of the other facts are stretched with those of the needed ones. Those between the first and the last
needed fact are part of the block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from carrara.item_id import ItemId
from carrara.task import Task
from carrara.types import Arrange, Instance, Question, Segment
from carrara.util.errors import LengthError, UsageError

LEAST = 2
"""The number of needed facts below which nothing can be arranged."""


@dataclass(frozen=True)
class Arrangement:
    """An arrangement of an instance's facts."""

    kind: Arrange
    needed: tuple[int, ...]
    """The numbers of the needed facts, ascending."""

    def shares(self, drawn: Sequence[float], share: float) -> tuple[float, ...]:
        """Return the share of the filler before each fact.

        Args:
            drawn: The shares that were drawn for the facts, ascending.
            share: The share that was drawn for the instance.
        """
        ends = [(-1, 0.0, 0.0), *((n, drawn[n], to) for n, to in self._targets(share)), (len(drawn), 1.0, 1.0)]
        found = list[float]()
        for (first, start, low), (last, end, high) in pairwise(ends):
            if first >= 0:
                found.append(low)
            for n in range(first + 1, last):
                part = (drawn[n] - start) / (end - start) if end > start else (n - first) / (last - first)
                found.append(low + part * (high - low))
        return tuple(found)

    def _targets(self, share: float) -> list[tuple[int, float]]:
        """Return the shares of the needed facts that are set. The positions of all others follow from them."""
        if self.kind == "block":
            return [(self.needed[0], share), (self.needed[-1], share)]
        return [(n, (turn + share) / len(self.needed)) for turn, n in enumerate(self.needed)]

    def is_closed(self, gap: int) -> bool:
        """Return whether a gap, given the number of facts before it, is inside the block."""
        return self.kind == "block" and self.needed[0] < gap <= self.needed[-1]

    def is_met(self, segments: Iterable[Segment]) -> bool:
        """Return whether filler stands between each two needed facts (`riffle`), or between none (`block`)."""
        needed, before, has_filler = frozenset(self.needed), -1, False
        for segment in segments:
            if segment.fact is None:
                has_filler = True
            elif segment.fact in needed and segment.fact != before:
                if before >= 0 and has_filler != (self.kind == "riffle"):
                    return False
                before, has_filler = segment.fact, False
        return True


def check_length(item_id: ItemId) -> None:
    """Raise `UsageError` for an item id whose facts are to be arranged in no filler."""
    if item_id.arrange and not item_id.length:
        raise UsageError(
            f"`arrange={item_id.arrange}` places facts among filler, and length 0 has none: ask for greater lengths"
        )


def check_task(item_id: ItemId, task: Task) -> None:
    """Raise `LengthError` if a task has no facts among filler that could be arranged."""
    if not item_id.arrange:
        return
    check_length(item_id)
    if task.given_count(item_id.length) is not None:
        _refuse(item_id, f"the items of {item_id.task} are read from files, unchanged", "name tasks that make items")
    if task.is_sized:
        _refuse(item_id, f"the context of {item_id.task} is its structure, without filler", "name tasks with filler")


def arrangement_of(
    item_id: ItemId, task: Task, instance: Instance, questions: Sequence[Question[object]]
) -> Arrangement | None:
    """Return the arrangement of an instance. None: its facts stand where they were drawn.

    Raises:
        LengthError: The facts of the instance cannot be arranged.
    """
    check_task(item_id, task)
    if not item_id.arrange:
        return None
    if instance.depths is not None:
        _refuse(
            item_id,
            f"{item_id.task} sets the positions of its facts",
            "leave parameters such as `depth` out, or name other tasks",
        )
    needed = sorted({fact for question in questions for fact in question.evidence})
    if len(needed) < LEAST:
        _refuse(
            item_id,
            f"{item_id.instance_id} has {len(needed) or 'no'} needed fact{'' if len(needed) == 1 else 's'}",
            f"name tasks whose questions need {LEAST} facts or more",
            part=f"fewer than {LEAST} needed facts",
        )
    return Arrangement(item_id.arrange, tuple(needed))


def _refuse(item_id: ItemId, why: str, remedy: str, part: str = "") -> None:
    raise LengthError(f"`arrange={item_id.arrange}` cannot be met: {why}; {remedy}", part or why)
