"""The leaderboard as lines of text, and as records."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from carrara.core.table import table
from carrara.results.analysis.leaderboard import Standing
from carrara.results.report.visible import distinct, short


def standing_lines(standings: Sequence[Standing]) -> Iterator[str]:
    names = distinct(str(line.series) for line in standings)
    suites = sorted({suite for line in standings for suite in line.suites})
    shown = suites if len(suites) > 1 else []
    yield from table(
        ["place", "model", "score", "95 % interval", "area", "effective", *(short(suite, 20) for suite in shown),
         "floor", "cells", "tokens"],
        [
            [
                "–" if line.place is None else str(line.place),
                names[str(line.series)],
                f"{line.mean:.3f}",
                f"{line.low:.3f}-{line.high:.3f}",
                "–" if line.area is None else f"{line.area:.3f}",
                str(line.effective or "–"),
                *(f"{line.suites[suite]:.3f}" if suite in line.suites else "–" for suite in shown),
                f"{line.floor:.3f}",
                str(line.cells) if line.whole else f"{line.cells} of {line.of}",
                f"{line.sent + (line.received or 0):,}",
            ]
            for line in standings
        ],
    )  # fmt: skip
    if not all(line.whole for line in standings):
        yield "The cells that count are those that most models have; who lacks one is given no place."


def record(line: Standing) -> dict[str, Any]:
    """A line as JSON has it."""
    named = asdict(line)
    model, variant = named.pop("series")
    return {
        "place": named.pop("place"),
        "model": model,
        **({"variant": variant} if variant else {}),
        **named,
        "effective": line.effective and {"length": line.effective.length, "open": line.effective.open},
    }
