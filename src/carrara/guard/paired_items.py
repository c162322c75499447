"""Choose the instances that are asked at two servers, turn by turn.

A turn has one instance of each capability at a length. The instances are the same for every comparison of a seed, so
an interrupted comparison resumes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from carrara.guard.guard_file import Guard, GuardItem
from carrara.item_id import ItemId, RunJob


@dataclass(frozen=True)
class PairedInstance:
    """An instance to ask at both servers."""

    first: ItemId
    """The item id of its first question."""
    capability: str
    items: tuple[GuardItem, ...] = ()
    """The items of a guard on this instance. Empty: all questions count."""

    def accepts(self, item_id: ItemId) -> bool:
        """Return whether an item is one of those that count."""
        if replace(item_id, question=0) != self.first:
            return False
        return not self.items or any(str(item_id) == item.id for item in self.items)


def turns_of_tasks(first: Mapping[str, ItemId], length: int, most: int) -> Iterator[list[PairedInstance]]:
    """Yield the turns of a length: the next instance of each capability.

    Args:
        first: The first item id of each capability, by its name.
        length: The length.
        most: The most instances.
    """
    for index in range(most // len(first)):
        yield [PairedInstance(replace(item_id, length=length, index=index), name) for name, item_id in first.items()]


def turns_of_guard(guard: Guard, length: int, most: int) -> Iterator[list[PairedInstance]]:
    """Yield the turns of a length of a guard: the next instance of each capability that has one left."""
    by_capability: dict[str, dict[ItemId, list[GuardItem]]] = {}
    for item in sorted(guard.items, key=lambda item: item.sha256):
        if item.length == length:
            own = by_capability.setdefault(item.capability, {})
            own.setdefault(replace(item.item_id, question=0), []).append(item)
    left = {name: iter(own.items()) for name, own in sorted(by_capability.items())}
    asked = 0
    while left:
        turn = list[PairedInstance]()
        for name, instances in list(left.items()):
            if found := next(instances, None):
                turn.append(PairedInstance(found[0], name, tuple(found[1])))
            else:
                del left[name]
        asked += len(turn)
        if turn and asked <= most:
            yield turn


def jobs_of(instances: Sequence[PairedInstance]) -> tuple[RunJob, ...]:
    """Return the jobs that ask these instances. Consecutive instances of a task are one job."""
    found = list[RunJob]()
    for first in sorted((one.first for one in instances), key=lambda one: (str(replace(one, index=0)), one.index)):
        if found and replace(found[-1].first, index=found[-1].first.index + found[-1].instances) == first:
            found[-1] = RunJob(found[-1].first, found[-1].instances + 1)
        else:
            found.append(RunJob(first, 1))
    return tuple(found)
