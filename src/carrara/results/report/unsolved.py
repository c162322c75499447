"""Items that no model solves, ready for the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrara.core.result import Result
from carrara.results.analysis import series_of
from carrara.results.analysis.unsolved_items import unsolved
from carrara.results.report.failures import Failure, failure
from carrara.results.report.snippet import Look
from carrara.results.style import Styles

SHOWN = 12
ANSWERS = 8
"""Replies of one item that are shown."""


@dataclass(frozen=True)
class Puzzle:
    """An item that all fail, as the best of those models met it."""

    item: Failure
    others: tuple[Failure, ...]
    """What each said, the best model first."""
    more: int
    """Replies that are not shown."""


def puzzles(results: Sequence[Result], styles: Styles, look: Look | None = None) -> tuple[list[Puzzle], int]:
    """Some, and how many there are in all."""
    series = series_of(results)
    found = unsolved(results)
    shown = []
    for replies in found[:SHOWN]:
        ordered = sorted(replies, key=lambda one: styles[series(one)].number)
        others = [failure(one, styles[series(one)]) for one in ordered[:ANSWERS]]
        item = failure(ordered[0], styles[series(ordered[0])], look)
        shown.append(Puzzle(item, tuple(others), len(ordered) - len(others)))
    return shown, len(found)
