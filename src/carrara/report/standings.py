"""The leaderboard as text and as records."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from carrara.report.table import rounded
from carrara.results.leaderboard import Standing
from carrara.util.quantities import natural, write_length
from carrara.util.sanitize import distinct, short
from carrara.util.table import table


def standing_lines(standings: Sequence[Standing], costs: Sequence[float] | None = None) -> Iterator[str]:
    """Yield the lines of the leaderboard.

    Args:
        costs: The cost of the tokens of each line, where prices are known.
    """
    names = distinct(str(line.series) for line in standings)
    columns = breakdown(standings)
    lacking = not all(line.has_all_replies for line in standings)
    reasons = any(line.reason for line in standings)
    yield from table(
        ["place", "model", "score", "95 % interval", "area", "effective length", *(short(name, 20) for name in columns),
         "chance", "cells", *(["replies"] if lacking else []), "tokens", *(["cost"] if costs else []),
         *(["why no place"] if reasons else [])],
        [
            [
                "–" if line.place is None else str(line.place),
                names[str(line.series)],
                rounded(line.mean, 3),
                "–" if line.low is None else f"{line.low:.3f}-{line.high:.3f}",
                rounded(line.area, 3),
                line.effective.sentence if line.effective else "–",
                *(rounded(scores.get(name), 3) for scores in [line.suites or line.tasks] for name in columns),
                rounded(line.chance_level, 3),
                str(line.cells) if line.is_complete else f"{line.cells} of {line.of}",
                *([replies(line)] if lacking else []),
                f"{line.sent + (line.received or 0):,}",
                *([f"{costs[place]:,.2f}"] if costs else []),
                *([short(line.reason, 200)] if reasons else []),
            ]
            for place, line in enumerate(standings)
        ],
    )  # fmt: skip
    yield from remarks(standings)


def breakdown(standings: Sequence[Standing]) -> list[str]:
    """Return the columns that divide the score: the suites, or the tasks if these have no length in common."""
    if any(line.lengths for line in standings):
        suites = sorted({suite for line in standings for suite in line.suites})
        return suites if len(suites) > 1 else []
    return sorted({task for line in standings for task in line.tasks}, key=natural)


def remarks(standings: Sequence[Standing]) -> Iterator[str]:
    """Yield sentences about the limits of the score."""
    if standings and not standings[0].lengths:
        yield "The tasks have no length in common, so there is no mean over them: each task has its own column."
    elif standings and len(standings[0].tasks) > 1:
        lengths = ", ".join(map(write_length, standings[0].lengths))
        yield f"The score is the mean over the tasks at the lengths that all of them have: {lengths}."
    if not all(line.is_complete for line in standings):
        yield "A cell is a task at a length. The cells that count are those that most models have."
        yield "A model that lacks one of them has no place."
    if not all(line.has_all_replies for line in standings):
        yield "Replies that are lacking count as wrong where it is known that their items were asked."


def replies(line: Standing) -> str:
    """Return the number of replies, and of how many items if some have none."""
    return f"{line.replies:,}" if line.has_all_replies else f"{line.replies:,} of {line.items:,}"


def record(line: Standing, cost: float | None = None) -> dict[str, Any]:
    """Return a line of the leaderboard for JSON."""
    named = asdict(line)
    model, variant = named.pop("series")
    del named["effective"]
    return {
        "place": named.pop("place"),
        "model": model,
        **({"variant": variant} if variant else {}),
        **named,
        **({} if cost is None else {"cost": cost}),
        "effective_length": line.effective and line.effective.record(),
    }
