"""Choose the instances that are asked at two servers, turn by turn.

A turn has one instance of each capability at a length. The items of a guard are asked one by one, because a guard may
have more of one capability than of another. The mean is then that over its items.

Instances are drawn at random, because a task may take the values of a parameter in turn, and the tests need independent
draws. They are the same for every comparison of a seed, so an interrupted comparison resumes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice

from carrara.guard.guard_file import Guard, GuardItem
from carrara.items.item import count_existing
from carrara.items.item_id import ItemId, RunJob

INSTANCES = 1 << 20
"""The number of instances of a task from which are drawn. A task from files has fewer."""


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
    """Yield the turns of a length: the next instance of each capability, while all of them have one.

    Args:
        first: The first item id of each capability, by its name.
        length: The length.
        most: The most instances.
    """
    drawn = {name: _draw(replace(item_id, length=length)) for name, item_id in first.items()}
    for _ in range(most // len(first)):
        turn = [PairedInstance(item_id, name) for name, several in drawn.items() for item_id in islice(several, 1)]
        if len(turn) < len(first):  # the mean over the tasks needs all of them
            return
        yield turn


def _draw(first: ItemId) -> Iterator[ItemId]:
    """Yield the instances of a task in random order, none twice."""
    among, seen, draws = count_existing(first, INSTANCES), set[int](), 0
    while len(seen) < among:
        name = f"{replace(first, index=0, length=0).instance_id} {draws}"
        index = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % among
        draws += 1
        if index not in seen:
            seen.add(index)
            yield replace(first, index=index)


def turns_of_guard(guard: Guard, length: int, most: int) -> Iterator[list[PairedInstance]]:
    """Yield the turns of a length of a guard: one instance each, in random order."""
    instances: dict[tuple[ItemId, str], list[GuardItem]] = {}
    for item in sorted(guard.items, key=lambda item: item.sha256):
        if item.length == length:
            instances.setdefault((replace(item.item_id, question=0), item.capability), []).append(item)
    for (first, capability), items in islice(instances.items(), most):
        yield [PairedInstance(first, capability, tuple(items))]


def jobs_of(instances: Sequence[PairedInstance]) -> tuple[RunJob, ...]:
    """Return the jobs that ask these instances."""
    return tuple(RunJob(one.first, 1) for one in instances)
