"""Items that are asked: the turns of a comparison, the grading of replies, and the region of the evidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice

from carrara.guard.guard_file import Guard, GuardItem
from carrara.items.item import count_existing
from carrara.items.item_id import ItemId, RunJob
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.profiling.capabilities import Capability
from carrara.results.result import Result
from carrara.results.scores import headline

BATCH = 8
"""The number of instances that are asked at once."""
BATCHES = 3
"""The most batches of a capability at a length, until twice as many items were right as are wanted."""
RIGHT = 0.9
"""The least score of a right reply. A list of ten may lack one."""
WIDE = 0.5
"""The share of the context above which evidence is in no single region."""
REGIONS = "the beginning", "the middle", "the end"
THROUGHOUT = "all of it"


def jobs_for(ids: Iterable[str]) -> tuple[RunJob, ...]:
    """Return the jobs that ask these items. Questions on one instance are asked together."""
    return tuple(RunJob(first, 1) for first in dict.fromkeys(replace(ItemId.parse(id), question=0) for id in ids))


def is_right(result: Result) -> bool:
    return result.status == "ok" and headline(result) >= RIGHT


def region_of(result: Result) -> str:
    """Return the region of the context in which the evidence stands."""
    if result.places is None or result.places[1] - result.places[0] > WIDE:
        return THROUGHOUT
    return REGIONS[min(2, int(3 * (result.places[0] + result.places[1]) / 2))]


def first_item_ids(capabilities: Sequence[Capability], tokenizer: str) -> dict[str, ItemId]:
    """Return the first item id of each capability, by its name."""
    return {
        capability.name: item_ids(Selection(capability.task, dict(capability.params)), Sampling(), None, tokenizer)[0]
        for capability in capabilities
    }


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
    """
    drawn = {name: _draw(replace(item_id, length=length)) for name, item_id in first.items()}
    for _ in range(most // len(first)):
        turn = [PairedInstance(item_id, name) for name, ids in drawn.items() for item_id in islice(ids, 1)]
        if len(turn) < len(first):  # the mean over the tasks needs all of them
            return
        yield turn


def _draw(first: ItemId) -> Iterator[ItemId]:
    """Yield the instances of a task in random order, none twice."""
    existing, seen, draws = count_existing(first, INSTANCES), set[int](), 0
    while len(seen) < existing:
        name = f"{replace(first, index=0, length=0).instance_id} {draws}"
        index = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % existing
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
