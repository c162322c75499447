"""The leaderboard as lines of text, and as records."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from carrara.core.table import table
from carrara.results.analysis.effective import Reach
from carrara.results.analysis.leaderboard import Standing
from carrara.results.report.visible import distinct, short


def standing_lines(standings: Sequence[Standing], costs: Sequence[float] | None = None) -> Iterator[str]:
    """`costs` is what each line's tokens cost, where prices are known."""
    names = distinct(str(line.series) for line in standings)
    suites = sorted({suite for line in standings for suite in line.suites})
    shown = suites if len(suites) > 1 else []
    yield from table(
        ["place", "model", "score", "95 % interval", "area", "effective", *(short(suite, 20) for suite in shown),
         "floor", "cells", "tokens", *(["cost"] if costs else [])],
        [
            [
                "–" if line.place is None else str(line.place),
                names[str(line.series)],
                f"{line.mean:.3f}",
                f"{line.low:.3f}-{line.high:.3f}",
                "–" if line.area is None else f"{line.area:.3f}",
                _said(line.effective),
                *(f"{line.suites[suite]:.3f}" if suite in line.suites else "–" for suite in shown),
                f"{line.floor:.3f}",
                str(line.cells) if line.whole else f"{line.cells} of {line.of}",
                f"{line.sent + (line.received or 0):,}",
                *([f"{costs[place]:,.2f}"] if costs else []),
            ]
            for place, line in enumerate(standings)
        ],
    )  # fmt: skip
    if not all(line.whole for line in standings):
        yield "The cells that count are those that most models have; who lacks one is given no place."


def _said(reach: Reach | None) -> str:
    if reach is None:
        return "–"
    return f"{reach} ({reach.interval})" if reach.interval else str(reach)


def reach_record(reach: Reach) -> dict[str, Any]:
    """An effective length as JSON has it, which knows no infinity: what lies past the longest has no number."""
    ends = {name: None if math.isinf(end := getattr(reach, name)) else round(end) for name in ("low", "length", "high")}
    return {**ends, "longest": reach.lengths[-1], "open": reach.open, "fits": reach.fits}


def record(line: Standing, cost: float | None = None) -> dict[str, Any]:
    """A line as JSON has it."""
    named = asdict(line)
    model, variant = named.pop("series")
    return {
        "place": named.pop("place"),
        "model": model,
        **({"variant": variant} if variant else {}),
        **named,
        **({} if cost is None else {"cost": cost}),
        "effective": line.effective and reach_record(line.effective),
    }
