"""Count replies by status, so that no reply is dropped silently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from carrara.core.result import STATUSES, Status
from carrara.results.analysis import Row, Series
from carrara.results.chart import status_bar
from carrara.results.sanitize import short
from carrara.results.style import SeriesStyle, Styles

MEANING: Mapping[Status, str] = {
    "ok": "an answer was read from the reply",
    "unparsed": "a reply in which no answer was found",
    "truncated": "cut off at the limit of its tokens",
    "refused": "the model declined",
    "called": "the model called a tool instead of answering",
    "filtered": "withheld by a content filter",
    "overflow": "the prompt did not fit the model",
    "error": "no reply: the request failed",
}


@dataclass(frozen=True)
class StatusCounts:
    style: SeriesStyle
    task: str
    length: int | None
    """None: all of them."""
    n: int
    counts: tuple[int, ...]
    """In the order of `statuses_of`."""
    bar: Markup


def statuses_of(rows: Sequence[Row]) -> list[Status]:
    """Return the statuses that occur, and `ok` always: its absence is news."""
    return [s for s in STATUSES if s == "ok" or any(row.stat.statuses.get(s) for row in rows)]


def status_counts(rows: Sequence[Row], styles: Styles, *, by_length: bool) -> list[StatusCounts]:
    """Return the counts for each task and series, and for each length if they are wanted by length."""
    shown = statuses_of(rows)
    groups: dict[tuple[str, Series, int | None], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.series, row.length if by_length else None), []).append(row)
    found = []
    for (task, series, length), own in sorted(
        groups.items(), key=lambda item: (item[0][0], styles[item[0][1]].number, item[0][2] or 0)
    ):
        counts = {status: sum(row.stat.statuses.get(status, 0) for row in own) for status in shown}
        found.append(
            StatusCounts(
                style=styles[series],
                task=short(task),
                length=length,
                n=sum(counts.values()),
                counts=tuple(counts.values()),
                bar=status_bar(counts),
            )
        )
    return found
