"""The job of scoring a file: read its lines, score, write and count them.

Problems with lines are reported by kind: three thousand ids of another version are one message.

    replies.jsonl: 3,000 lines (the first: 17): an id of version 1 of sync/graph, and this is version 2: …
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from carrara.results.result import Result
from carrara.runs.rescoring.lines import Lines
from carrara.runs.rescoring.parallel import ScorerPool
from carrara.runs.rescoring.scored import Trouble
from carrara.runs.rescoring.summary import ScoreCounts
from carrara.util.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

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
        """Return the first problem with the number of its line, or of what else it is. Empty if there is none."""
        return next((f"{what} {kind.first:,}: {_one_line(kind)}" for kind in self._kinds.values()), "")


@dataclass(frozen=True)
class ScoredFile:
    """The outcome of scoring a file."""

    lines: int
    tally: ScoreCounts
    troubles: Troubles


class ScoreProgress(Progress):
    """A display of the number of scored lines.

    Args:
        size: The bytes of the file, where they are known.
        console: Where to show it.
    """

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
            for number, found in batch:
                if isinstance(found, Trouble):
                    troubles.add(number, found)
                    continue
                mark = blake2b(f"{found.model}\n{found.id}".encode(), digest_size=16).digest()
                if mark in known:
                    troubles.add(number, _as_trouble(found))
                    continue
                known.add(mark)
                tally.add(found)
                scored.append(found)
            write(scored)
            progress.add(len(batch), lines.ends.popleft())
    return ScoredFile(len(known), tally, troubles)


def _as_trouble(result: Result) -> Trouble:
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
