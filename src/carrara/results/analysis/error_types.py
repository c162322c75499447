"""Error types: in what way answers are wrong, if a test has several error types, as in SYNC's Table 5.

Shares are of all replies, so they add up to 1: right answers, each error type, and `no answer` for every reply without
an answer, whatever its status.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from carrara.core.natsort import natural
from carrara.core.result import Result
from carrara.results.analysis.series import Series, series_of
from carrara.results.analysis.summary import headline

RIGHT, SILENT, WRONG = "right", "no answer", "otherwise wrong"


@dataclass(frozen=True)
class ErrorShares:
    """The replies of one series to one test at one length."""

    task: str
    series: Series
    length: int
    n: int
    shares: dict[str, float]
    """The share of right answers, then of each error type of the test."""


def error_shares(results: Sequence[Result]) -> list[ErrorShares]:
    """Return a row for each test with error types, each series and each length."""
    series = series_of(results)
    ways: dict[str, set[str]] = {}
    for result in results:
        if result.fault:
            ways.setdefault(result.task, set()).add(result.fault)
    groups: dict[tuple[str, Series, int], Counter[str]] = {}
    for result in results:
        if result.task in ways and result.status != "error":
            groups.setdefault((result.task, series(result), result.length), Counter())[_way(result)] += 1
    found = []
    for (task, one, length), counts in sorted(groups.items(), key=lambda pair: (natural(pair[0][0]), pair[0][2])):
        n = counts.total()
        kinds = [RIGHT, *sorted(ways[task]), SILENT, *([WRONG] if _any_wrong(task, groups) else [])]
        found.append(ErrorShares(task, one, length, n, {kind: counts[kind] / n for kind in kinds}))
    return found


def _way(result: Result) -> str:
    if result.status != "ok":
        return SILENT
    return RIGHT if headline(result) == 1 else result.fault or WRONG


def _any_wrong(task: str, groups: dict[tuple[str, Series, int], Counter[str]]) -> bool:
    return any(counts[WRONG] for (name, _, _), counts in groups.items() if name == task)
