"""Outcomes of replies: their statuses, and the error types of wrong answers.

Every reply counts under one status, so none is dropped silently. If a task has several error types, as in SYNC's Table
5, their shares are of all replies, and add up to 1: right answers, each error type, and `no answer` for every reply
without an answer, whatever its status.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from carrara.answers.status import GRADED, STATUSES, Status
from carrara.report.chart import share_bar
from carrara.report.style import SeriesStyle, Styles
from carrara.results import Row, Series, series_of
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.util.quantities import natural
from carrara.util.sanitize import short

MEANING: Mapping[Status, str] = {
    "ok": "an answer was read from the reply, right or wrong",
    "unparsed": "a reply in which no answer was found, or several",
    "empty": "a reply without text, or with reasoning alone",
    "unread": "answered without a look at the text, though there were tools for it",
    "limited": "answered only when a limit of the reader was reached",
    "truncated": "cut off at the limit of its tokens",
    "refused": "the model declined",
    "called": "the model called a tool instead of answering",
    "filtered": "withheld by a content filter",
    "overflow": "the prompt did not fit the model",
    "shortened": "the server cut the prompt: no answer of the model",
    "error": "no reply: the request failed",
}
RIGHT, SILENT, WRONG = "right", "no answer", "otherwise wrong"


@dataclass(frozen=True)
class StatusCounts:
    style: SeriesStyle
    task: str
    length: int | None
    """The length. None: all of them."""
    n: int
    counts: tuple[int, ...]
    """The statuses, in the order of `statuses_of`."""
    bar: Markup


def statuses_of(rows: Sequence[Row]) -> list[Status]:
    """Return the statuses that occur, and always `ok`, because its absence matters."""
    return [s for s in STATUSES if s == "ok" or any(row.stat.statuses.get(s) for row in rows)]


def status_counts(rows: Sequence[Row], styles: Styles, *, by_length: bool) -> list[StatusCounts]:
    """Return the counts for each task and series, and for each length if they are wanted by length."""
    shown = statuses_of(rows)
    groups: dict[tuple[str, Series, int | None], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.series, row.length if by_length else None), []).append(row)
    shown_counts = []
    for (task, series, length), group in sorted(
        groups.items(), key=lambda item: (item[0][0], styles[item[0][1]].number, item[0][2] or 0)
    ):
        counts = {status: sum(row.stat.statuses.get(status, 0) for row in group) for status in shown}
        shown_counts.append(
            StatusCounts(
                style=styles[series],
                task=short(task),
                length=length,
                n=sum(counts.values()),
                counts=tuple(counts.values()),
                bar=share_bar(counts.items(), "status"),
            )
        )
    return shown_counts


@dataclass(frozen=True)
class ErrorShares:
    """The replies of one series to one task at one length."""

    task: str
    series: Series
    length: int
    n: int
    shares: dict[str, float]
    """The share of right answers, then of each error type of the task."""


def error_shares(results: Sequence[Result]) -> list[ErrorShares]:
    """Return a row for each task with error types, each series and each length."""
    series_for = series_of(results)
    error_types: dict[str, set[str]] = {}
    for result in results:
        if result.error_type:
            error_types.setdefault(result.task, set()).add(result.error_type)
    groups: dict[tuple[str, Series, int], Counter[str]] = {}
    for result in results:
        if result.task in error_types and result.status != "error":
            groups.setdefault((result.task, series_for(result), result.length), Counter())[_error_type(result)] += 1
    shares = []
    for (task, series, length), counts in sorted(groups.items(), key=lambda pair: (natural(pair[0][0]), pair[0][2])):
        n = counts.total()
        kinds = [RIGHT, *sorted(error_types[task]), SILENT, *([WRONG] if _any_wrong(task, groups) else [])]
        shares.append(ErrorShares(task, series, length, n, {kind: counts[kind] / n for kind in kinds}))
    return shares


def _error_type(result: Result) -> str:
    if result.status not in GRADED or result.answer is None:
        return SILENT
    return RIGHT if headline(result) == 1 else result.error_type or WRONG


def _any_wrong(task: str, groups: dict[tuple[str, Series, int], Counter[str]]) -> bool:
    return any(counts[WRONG] for (name, _, _), counts in groups.items() if name == task)
