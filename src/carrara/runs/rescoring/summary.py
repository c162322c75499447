"""A summary of scored lines, as the table of a run. Each line takes some forty bytes, whatever the size of its reply.

The numbers are those of `analysis.stat`, which reads results repeatedly. They are made from arrays when it does.
"""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import overload

from carrara.answers.status import Status
from carrara.items.item_id import ItemId
from carrara.results import Row, summarize
from carrara.results.result import Result
from carrara.results.scores import Stat, stat
from carrara.results.series import series_of

ALIKE = 4096
"""Cached results for equal numbers, because most scores are 0 or 1."""


class ScoreCounts:
    """The lines so far, by the row of the table."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, int, str], _Group] = {}

    def add(self, result: Result) -> None:
        # rows do not distinguish numbers of instances and questions
        item_id = ItemId.parse(result.id)
        kind = str(replace(item_id, seed=0, index=0, question=0))
        where = result.model, result.task, result.length, kind
        if where not in self._groups:
            self._groups[where] = _Group(replace(result, id=kind, ask="", gold="", answer=None, reply="", labels={}))
        self._groups[where].add(result)

    def rows(self) -> list[Row]:
        """Return the rows of the table, in the order of every table."""
        firsts = [group.first for group in self._groups.values()]
        series = series_of(firsts)
        groups = {(series(group.first), group.first.task, group.first.length): group for group in self._groups.values()}
        rows = summarize(firsts)
        return [replace(row, stat=groups[row.series, row.task, row.length].stat()) for row in rows]


@dataclass
class _Group:
    first: Result
    statuses: list[Status] = field(default_factory=list[Status])
    status: "array[int]" = field(default_factory=lambda: array("B"))
    score: "array[float]" = field(default_factory=lambda: array("d"))
    chance_level: "array[float]" = field(default_factory=lambda: array("d"))
    context: "array[int]" = field(default_factory=lambda: array("Q"))
    scores: "dict[str, array[float]]" = field(default_factory=dict[str, "array[float]"])
    """Paper scores, by name. Not a number if a reply has none."""

    def add(self, result: Result) -> None:
        if result.status not in self.statuses:
            self.statuses.append(result.status)
        for name in result.scores:
            if name not in self.scores:
                self.scores[name] = array("d", [math.nan]) * len(self.score)
        for name, kept in self.scores.items():
            kept.append(result.scores.get(name, math.nan))
        self.status.append(self.statuses.index(result.status))
        self.score.append(result.score)
        self.chance_level.append(result.chance_level)
        self.context.append(int.from_bytes(blake2b(result.context_id.encode(), digest_size=8).digest()))

    def stat(self) -> Stat:
        contexts = map(str, self.context)
        return stat(_Results(self), lambda _: next(contexts))  # once for each, in their order


class _Results(Sequence[Result]):
    """A view of the lines of a group as results with only the fields that statistics need."""

    def __init__(self, group: _Group) -> None:
        self._group = group
        self._made = lru_cache(ALIKE)(self._make)

    def __len__(self) -> int:
        return len(self._group.score)

    def __iter__(self) -> Iterator[Result]:
        group = self._group
        published = zip(*group.scores.values(), strict=True) if group.scores else iter(lambda: (), None)
        return map(self._made, group.status, group.score, group.chance_level, published)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | Sequence[Result]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        group = self._group
        published = tuple(kept[place] for kept in group.scores.values())
        return self._made(group.status[place], group.score[place], group.chance_level[place], published)

    def _make(self, status: int, score: float, chance_level: float, published: tuple[float, ...]) -> Result:
        group = self._group
        scores: Mapping[str, float] = {
            name: value for name, value in zip(group.scores, published, strict=True) if not math.isnan(value)
        }
        return replace(
            group.first, status=group.statuses[status], score=score, chance_level=chance_level, scores=scores
        )
