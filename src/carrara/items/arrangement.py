"""Arrangements: the needed facts of an instance spread through the context (`riffle`), or without filler between them
(`block`).

Both have the same facts, the same stream of filler and the same number of tokens. A share of the filler is drawn for
each instance, and is the same in both: `block` puts all needed facts there, and `riffle` divides the filler into equal
stretches and puts a needed fact at this share of each. So the needed facts are anywhere in the context equally often in
both, and only their distance differs.

The places of the other facts depend on whether the order of the facts has a meaning (`Instance.unordered`):

- Without a meaning, the others stay where they were drawn in both arrangements, and only the needed ones move. The
  needed facts of a block are adjacent.
- With a meaning, as in a story, the order of all facts is kept. The positions of the others are stretched with those of
  the needed ones. Facts between the first and the last needed fact are part of the block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from carrara.items.item_id import ItemId
from carrara.task.suite import SuiteTask
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
    unordered: bool = False
    """Whether the order of the facts has no meaning."""

    def shares(self, drawn: Sequence[float], share: float) -> tuple[float, ...]:
        """Return the share of the filler before each fact.

        Args:
            drawn: The shares that were drawn for the facts, ascending.
            share: The share that was drawn for the instance.
        """
        targets = self._targets(share)
        if self.unordered:
            return tuple(targets.get(n, at) for n, at in enumerate(drawn))
        ends = [(-1, 0.0, 0.0), *((n, drawn[n], to) for n, to in targets.items()), (len(drawn), 1.0, 1.0)]
        placed_shares = list[float]()
        for (first, start, low), (last, end, high) in pairwise(ends):
            if first >= 0:
                placed_shares.append(low)
            for n in range(first + 1, last):
                part = (drawn[n] - start) / (end - start) if end > start else (n - first) / (last - first)
                placed_shares.append(low + part * (high - low))
        return tuple(placed_shares)

    def _targets(self, share: float) -> dict[int, float]:
        """Return the shares that are set. In a story, the positions of all others follow from them."""
        if self.kind == "block":
            together = self.needed if self.unordered else (self.needed[0], self.needed[-1])
            return dict.fromkeys(together, share)
        return {n: (turn + share) / len(self.needed) for turn, n in enumerate(self.needed)}

    def order(self, shares: Sequence[float]) -> Sequence[int]:
        """Return the facts in their order in the context, given the share of the filler before each."""
        if not self.unordered:
            return range(len(shares))
        needed = frozenset(self.needed)
        return sorted(range(len(shares)), key=lambda n: (shares[n], n in needed))

    def closed_gaps(self, order: Sequence[int]) -> range:
        """Return the gaps without filler, each as the number of facts before it: those inside the block."""
        if self.kind != "block":
            return range(0)
        return range(order.index(self.needed[0]) + 1, order.index(self.needed[-1]) + 1)

    def find_violation(self, segments: Iterable[Segment]) -> str:
        """Return how segments differ from the arrangement. Empty if they do not.

        Filler stands between each two needed facts of a `riffle`, and between none of a `block`. No other fact stands
        there either, if the order of the facts has no meaning.
        """
        needed, before, has_filler, has_fact = frozenset(self.needed), -1, False, False
        for segment in segments:
            if segment.fact not in needed:
                has_filler |= segment.fact is None
                has_fact |= segment.fact is not None
                continue
            if before not in (-1, segment.fact):
                if has_filler != (self.kind == "riffle"):
                    return "filler stands between needed facts" if has_filler else "needed facts stand together"
                if has_fact and self.unordered and self.kind == "block":
                    return "other facts stand between needed facts"
            before, has_filler, has_fact = segment.fact, False, False
        return ""


def check_length(item_id: ItemId) -> None:
    """Raise `UsageError` for an item id whose facts are to be arranged in no filler."""
    if item_id.arrange and not item_id.length:
        raise UsageError(
            f"`arrange={item_id.arrange}` places facts among filler, and length 0 has none: ask for greater lengths"
        )


def check_task(item_id: ItemId, task: SuiteTask) -> None:
    """Raise `LengthError` if a task has no facts among filler that could be arranged."""
    if not item_id.arrange:
        return
    check_length(item_id)
    if task.given_count(item_id.length) is not None:
        _refuse(item_id, f"the items of {item_id.task} are read from files, unchanged", "name tasks that make items")
    if task.is_sized:
        _refuse(item_id, f"the context of {item_id.task} is its structure, without filler", "name tasks with filler")


def arrangement_of(
    item_id: ItemId, task: SuiteTask, instance: Instance, questions: Sequence[Question[object]]
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
    return Arrangement(item_id.arrange, tuple(needed), instance.unordered)


def _refuse(item_id: ItemId, why: str, remedy: str, part: str = "") -> None:
    raise LengthError(f"`arrange={item_id.arrange}` cannot be met: {why}; {remedy}", part or why)
