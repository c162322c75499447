"""The job of scoring a file: read its lines, score, write and count them.

Problems with lines are reported by kind: three thousand ids of another version are one message.

    replies.jsonl: 3,000 lines (the first: 17): an id of version 1 of sync/graph, and this is version 2: …

Each scored line is kept in some forty bytes, whatever the size of its reply. The table of a run is made from these.
"""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, overload

from carrara.answers.status import Status
from carrara.items.item_id import ItemId
from carrara.results import Row, summarize
from carrara.results.result import Result
from carrara.results.scores import Stat, stat
from carrara.results.series import series_of
from carrara.runs.rescoring.lines import Lines
from carrara.runs.rescoring.parallel import ScorerPool
from carrara.runs.rescoring.scored import Trouble
from carrara.util.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console


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
        for name, values in self.scores.items():
            values.append(result.scores.get(name, math.nan))
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
        published = tuple(values[place] for values in group.scores.values())
        return self._made(group.status[place], group.score[place], group.chance_level[place], published)

    def _make(self, status: int, score: float, chance_level: float, published: tuple[float, ...]) -> Result:
        group = self._group
        scores: Mapping[str, float] = {
            name: value for name, value in zip(group.scores, published, strict=True) if not math.isnan(value)
        }
        return replace(
            group.first, status=group.statuses[status], score=score, chance_level=chance_level, scores=scores
        )


Write = Callable[[list[Result]], None]
"""A function that receives the lines that were scored since its last call."""

KINDS = 40
"""The number of kinds that are reported separately. Ids and problems may contain any text."""
SHOWN = 400
"""The most characters of a message."""


@dataclass
class _Kind:
    first: int
    message: str
    lines: int = 0


class Troubles:
    """The kinds of problems in a file, with the number of their lines and the first of them."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self.lines = 0

    def add(self, number: int, trouble: Trouble) -> None:
        kind, message = trouble
        if kind not in self._kinds and len(self._kinds) >= KINDS:
            kind, message = "others", f"other trouble, such as this: {message}"
        self._kinds.setdefault(kind, _Kind(number, message)).lines += 1
        self.lines += 1

    def describe(self, source: str) -> list[str]:
        """Return one line for each kind, in the order of the file."""
        return [_describe(source, kind) for kind in self._kinds.values()]

    def first(self, what: str = "line") -> str:
        """Return the first problem with its number, which counts lines or the objects that `what` names.

        Empty if there is none.
        """
        return next((f"{what} {kind.first:,}: {_one_line(kind)}" for kind in self._kinds.values()), "")


@dataclass(frozen=True)
class ScoredFile:
    """The outcome of scoring a file."""

    lines: int
    tally: ScoreCounts
    troubles: Troubles


class ScoreProgress(Progress):
    """A display of the number of scored lines."""

    def __init__(self, size: int | None, console: "Console | None" = None) -> None:
        super().__init__("lines scored", console=console)
        self._size, self._end = size, 0

    def add(self, lines: int, end: int) -> None:
        """Count more lines, up to a position in the file."""
        self._end = end
        self.advance(lines)

    def share(self) -> float | None:
        return self._end / self._size if self._size else None

    def notes(self) -> Iterable[str]:
        yield f"{self.done / max(self.seconds, 1e-3):,.0f} a second"


def score(lines: Lines, pool: ScorerPool, write: Write, progress: ScoreProgress) -> ScoredFile:
    """Score every line once. If several lines have the same id, the first one that can be scored counts."""
    tally, troubles = ScoreCounts(), Troubles()
    known: set[bytes] = set()
    with closing(pool.score(lines.batches())) as outcomes:
        for batch in outcomes:
            scored = []
            for number, outcome in batch:
                if isinstance(outcome, Trouble):
                    troubles.add(number, outcome)
                    continue
                mark = blake2b(f"{outcome.model}\n{outcome.id}".encode(), digest_size=16).digest()
                if mark in known:
                    troubles.add(number, _repeated_line(outcome))
                    continue
                known.add(mark)
                tally.add(outcome)
                scored.append(outcome)
            write(scored)
            progress.add(len(batch), lines.ends.popleft())
    return ScoredFile(len(known), tally, troubles)


def _repeated_line(result: Result) -> Trouble:
    return Trouble(
        "again",
        f"{result.id} has a line before, and the first that can be scored counts; replies of several models need "
        'a "model" on each line',
    )


def _describe(source: str, kind: _Kind) -> str:
    if kind.lines == 1:
        return f"{source}:{kind.first}: {_one_line(kind)}"
    return f"{source}: {kind.lines:,} lines (the first: {kind.first}): {_one_line(kind)}"


def _one_line(kind: _Kind) -> str:
    shown = kind.message if len(kind.message) <= SHOWN else f"{kind.message[:SHOWN]} …"
    return "".join(letter if letter.isprintable() else " " for letter in shown)
