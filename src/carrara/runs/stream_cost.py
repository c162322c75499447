"""The cost of reading items with a streaming model: state, speed and memory, from its replies."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from carrara.constants import MEASURED
from carrara.runs.replies import LoggedReply


class Cost(NamedTuple):
    """The cost for one task at one length."""

    task: str
    length: int
    n: int
    score: float
    state: int
    """The most bytes that are kept of one item."""
    speed: float
    """The model's own tokens in a second, for all items together."""
    resident: int
    """The largest memory of the process so far."""


def costs(replies: Sequence[LoggedReply]) -> list[Cost]:
    """Return the costs by task and length, in the order of the runs."""
    measurements: defaultdict[tuple[str, int], list[tuple[float, dict[str, Any]]]] = defaultdict(list)
    for reply in replies:
        measured = (reply.output.get("metadata") or {}).get(MEASURED)
        if measured:
            result = reply.result
            measurements[result.task, result.length].append((result.score, measured))
    return [
        Cost(
            task,
            length,
            len(several),
            fmean(score for score, _ in several),
            max(stats["state"] for _, stats in several),
            sum(stats["tokens"] for _, stats in several) / max(1e-9, _span([stats for _, stats in several])),
            max(stats["resident"] for _, stats in several),
        )
        for (task, length), several in sorted(measurements.items())
    ]


def _span(several: Sequence[dict[str, Any]]) -> float:
    return float(max(measured["ended"] for measured in several) - min(measured["began"] for measured in several))
