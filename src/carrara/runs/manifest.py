"""The manifest of a run folder: the items that a complete run has. It shows how much of an interrupted run is missing.

    plan.json   [{"model": "openai/gpt-4o", "settings": {}, "of": "michelangelo/latent_list@1/test-0-0.0/4k/chat/o200k",
                  "task": "michelangelo/latent_list", "length": 4096, "question": 0, "instances": [[0, 20]]}, …]

The logs store the replies, and have nothing of tasks that were not begun. The latest command counts: if it asks for
fewer instances than an earlier one, the run is complete with these. Each shard of a run writes a file of its own
(plan-1-of-4.json), which also has the range of all instances. So the instances of a shard that was not begun count as
missing.
"""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from inspect_ai.dataset import Sample

from carrara.items.item_id import ItemId, RunJob
from carrara.results.completeness import Completeness
from carrara.results.result import Result, Subject, task_of
from carrara.runs.config import Shard
from carrara.runs.sharding import Block
from carrara.types import Arrange
from carrara.util.errors import UsageError
from carrara.util.files import Limit, content, is_remote, whole_file
from carrara.util.log import warn_skipped

PLAN = "plan.json"
SHARDS = "plan-*-of-*.json"
FARTHEST = 1 << 24
"""The largest index of an instance that a manifest may have."""
LIMIT = Limit(16 << 20, "it is not a plan that a run wrote")
"""The most bytes that are read. A row takes some 250 bytes, which allows for 60,000 rows."""


@dataclass(frozen=True)
class ManifestEntry:
    """The instances of a task at a length that a model is to answer."""

    model: str
    settings: dict[str, str]
    of: str
    """The item id of instance 0. Other indices give the item ids of the other instances."""
    task: str
    length: int
    question: int
    instances: list[list[int]]
    """Ranges of indices, each with its excluded end."""
    block: list[int] | None = None
    """For a shard: its own range."""
    whole: list[int] | None = None
    """For a shard: the range of all shards."""
    cards: list[str] | None = None
    """The model cards that it was asked for, if any."""
    window: int | None = None
    """The tokens that the model takes, prompt and answer together, if they were known before the run."""
    crowded: int | None = None
    """How many of the prompts leave no room for their answers in it. None: none."""

    @property
    def subject(self) -> Subject:
        return self.model, tuple(sorted(self.settings.items()))

    @property
    def key(self) -> tuple[Subject, str, int]:
        return self.subject, self.of, self.question

    def __contains__(self, index: int) -> bool:
        return any(first <= index < end for first, end in self.instances)

    def __len__(self) -> int:
        return sum(end - first for first, end in self.instances)


def entries(
    subject: Subject,
    samples: Iterable[Sample],
    blocks: Mapping[RunJob, Block],
    cards: Sequence[str] = (),
    window: int | None = None,
    crowded: Container[str] = (),
) -> list[ManifestEntry]:
    """Return the manifest of a run. For a shard, it has the blocks of its jobs.

    Args:
        cards: The model cards that it was asked for.
        window: The tokens that the model takes, if they are known.
        crowded: The items whose prompts leave no room for their answers in it.
    """
    blocks_by_place = {(job.first.length, _group(replace(job.first, length=0))): block for job, block in blocks.items()}
    indices_by_place: dict[tuple[str, str, int, int], set[int]] = {}
    crowded_in = Counter[tuple[str, str, int, int]]()
    for sample in samples:
        item_id, meta = ItemId.parse(str(sample.id)), sample.metadata or {}
        place = _group(item_id), task_of(meta["task"], meta["part"]), int(meta["length"]), item_id.question
        indices_by_place.setdefault(place, set()).add(item_id.index)
        crowded_in[place] += str(sample.id) in crowded
    model, settings = subject
    rows = []
    for (of, task, length, question), indices in indices_by_place.items():
        without = crowded_in[of, task, length, question] or None
        block = blocks_by_place.get((length, _group(replace(ItemId.parse(of), length=0))))
        own, whole = (list(part) for part in block) if block else (None, None)
        rows.append(
            ManifestEntry(
                model=model,
                settings=dict(settings),
                of=of,
                task=task,
                length=length,
                question=question,
                instances=_ranges(indices),
                block=own,
                whole=whole,
                cards=[*cards] or None,
                window=window,
                crowded=without,
            )
        )
    return rows


def add(folder: Path, new: Iterable[ManifestEntry], shard: Shard | None = None) -> None:
    """Write the manifest of a run, merged with those of earlier runs."""
    path = folder / (f"plan-{shard.number}-of-{shard.of}.json" if shard else PLAN)
    known = {entry.key: entry for entry in _read(path, warn_skipped)}
    for entry in new:
        before = known.get(entry.key)
        cards = sorted({*(entry.cards or ()), *((before.cards if before else None) or ())})
        entry = replace(entry, cards=cards or None)
        if entry.window is None and before and before.instances == entry.instances:  # nothing is left to ask
            entry = replace(entry, window=before.window, crowded=before.crowded)
        known[entry.key] = entry
    with whole_file(path) as file:
        file.write(json.dumps([_row(entry) for entry in known.values()], indent=0))


def read(folder: Path, damaged: Callable[[str], None] = warn_skipped) -> list[ManifestEntry]:
    """Return the items that the runs of a folder were to ask. Empty if no run wrote into it.

    Args:
        damaged: What to do with a sentence about rows that cannot be read. They are left out.
    """
    entries_by_key: dict[tuple[Subject, str, int], list[ManifestEntry]] = {}
    for path in (folder / PLAN, *sorted(folder.glob(SHARDS))):
        for entry in _read(path, damaged):
            entries_by_key.setdefault(entry.key, []).append(entry)
    return [
        _merge_entries(same_items) if len(same_items) > 1 or same_items[0].block else same_items[0]
        for same_items in entries_by_key.values()
    ]


def cards_in(folder: Path) -> list[str]:
    """Return the model cards that the runs of a folder were asked for."""
    entries = read(folder, damaged=lambda _: None)  # who reads the results reports what is damaged
    return sorted({card for entry in entries for card in entry.cards or ()})


def is_shared(folder: Path) -> bool:
    """Return whether shards of a run have written into a folder."""
    return any(folder.glob(SHARDS))


def _merge_entries(entries: list[ManifestEntry]) -> ManifestEntry:
    """Return the instances of all shards: those of shards that have begun, and the blocks of the others."""
    instance_ranges = [instance_range for entry in entries for instance_range in entry.instances]
    begun_blocks = [entry.block for entry in entries if entry.block]
    all_ranges = [entry.whole for entry in entries if entry.whole]
    return replace(
        entries[0],
        instances=_merge_ranges([*instance_ranges, *_without(all_ranges, begun_blocks)]),
        block=None,
        whole=None,
        window=next((entry.window for entry in entries if entry.window), None),
        crowded=sum(entry.crowded or 0 for entry in entries) or None,
    )


def _merge_ranges(ranges: Iterable[list[int]]) -> list[list[int]]:
    """Return ranges merged and in order.

    >>> _merge_ranges([[7, 9], [0, 2], [1, 3], [3, 5]])
    [[0, 5], [7, 9]]
    """
    merged: list[list[int]] = []
    for first, end in sorted(ranges):
        if first == end:
            continue
        if merged and first <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([first, end])
    return merged


def _without(ranges: Iterable[list[int]], taken: Iterable[list[int]]) -> list[list[int]]:
    """Return the parts of ranges that no other range has.

    >>> _without([[0, 10]], [[2, 4], [8, 20]])
    [[0, 2], [4, 8]]
    """
    left, taken_ranges = _merge_ranges(ranges), _merge_ranges(taken)
    for first, end in taken_ranges:
        left = [
            part
            for start, stop in left
            for part in ([start, min(stop, first)], [max(start, end), stop])
            if part[0] < part[1]
        ]
    return left


def _read(path: Path, damaged: Callable[[str], None]) -> list[ManifestEntry]:
    """Return the rows of a manifest. Invalid rows are left out with a warning."""
    try:
        text = path.read_bytes() if is_remote(path) else content(path, LIMIT) if path.exists() else b"[]"
    except FileNotFoundError:
        return []
    except UsageError as error:
        damaged(str(error))
        return []
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        damaged(f"{path} is not a plan that a run wrote: what is missing from the results is not known")
        return []
    valid_rows, bad = list[ManifestEntry](), list[int]()
    for number, row in enumerate(rows, 1):
        try:
            valid_rows.append(_entry(**row))
        except (ValueError, TypeError, AttributeError, OverflowError):  # OverflowError: a number such as 1e999
            bad.append(number)
    if bad:
        damaged(
            f"{path}: {len(bad):,} of {len(rows):,} rows (the first: {bad[0]:,}) are none that a run wrote, and are "
            "left out: what is missing from the results may be more than is said"
        )
    return valid_rows


def _row(entry: ManifestEntry) -> dict[str, object]:
    return {name: value for name, value in asdict(entry).items() if value is not None}


def _entry(
    model: str,
    settings: dict[str, str],
    of: str,
    task: str,
    length: int,
    question: int,
    instances: list[list[int]],
    block: list[int] | None = None,
    whole: list[int] | None = None,
    cards: list[str] | None = None,
    window: int | None = None,
    crowded: int | None = None,
) -> ManifestEntry:
    """Return an entry of the expected type. A wrong type raises here instead of where the entry is used."""
    named = {str(name): str(value) for name, value in settings.items()}
    ranges = [_range(bounds) for bounds in instances]
    own, all_shards = (_range(bounds) if bounds else None for bounds in (block, whole))
    names = [*map(str, cards)] if cards else None
    takes, without = (None if tokens is None else int(tokens) for tokens in (window, crowded))
    if (takes is not None and takes < 1) or not 0 <= (without or 0) <= sum(end - first for first, end in ranges):
        raise ValueError((window, crowded))
    return ManifestEntry(
        model=str(model),
        settings=named,
        of=str(of),
        task=str(task),
        length=int(length),
        question=int(question),
        instances=ranges,
        block=own,
        whole=all_shards,
        cards=names,
        window=takes,
        crowded=without,
    )


def _range(bounds: list[int]) -> list[int]:
    first, end = map(int, bounds)
    if not 0 <= first <= end <= FARTHEST:
        raise ValueError(bounds)
    return [first, end]


def parts(folder: Path, results: Iterable[Result]) -> list[Completeness]:
    """Return, for each task at each length and in each arrangement, how much of the plan is done."""
    planned = read(folder)
    if not planned:
        return []
    by_key = {entry.key: entry for entry in planned}
    answered = dict.fromkeys(by_key, 0)
    for result in results:
        item_id = _item_id(result.id)
        key = (result.subject, _group(item_id), item_id.question) if item_id else None
        if item_id and key in by_key and item_id.index in by_key[key]:
            answered[key] += 1
    cells: dict[tuple[Subject, str, int, Arrange], list[int]] = {}
    rooms: dict[tuple[Subject, str, int, Arrange], tuple[int, int | None, str]] = {}
    for key, entry in by_key.items():
        first = _item_id(entry.of)
        place = entry.subject, entry.task, entry.length, first.arrange if first else ""
        cell = cells.setdefault(place, [0, 0])
        cell[0] += answered[key]
        cell[1] += len(entry)
        crowded = (entry.crowded or 0) + rooms.get(place, (0,))[0]
        rooms[place] = crowded, entry.window, first.tokenizer if first else ""
    return [Completeness(*place, have, planned, *rooms[place]) for place, (have, planned) in cells.items()]


def _group(item_id: ItemId) -> str:
    return str(replace(item_id, index=0, question=0))


@lru_cache(maxsize=1 << 15)
def _item_id(id: str) -> ItemId | None:
    try:
        return ItemId.parse(id)
    except UsageError:  # a reply made by another program
        return None


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """
    >>> _ranges({0, 1, 2, 5, 7, 8})
    [[0, 3], [5, 6], [7, 9]]
    """

    def runs() -> Iterator[list[int]]:
        for _, run in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
            consecutive = [number for _, number in run]
            yield [consecutive[0], consecutive[-1] + 1]

    return list(runs())
