"""What it took a streaming model to read its items: from what its replies say of themselves."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from carrara.constants import MEASURED
from carrara.logs.replies import Reply


class Cost(NamedTuple):
    """Of one task at one length."""

    task: str
    length: int
    n: int
    score: float
    state: int
    """Bytes that are kept of one item, at most."""
    speed: float
    """Of the model's own tokens, in a second, of all items together."""
    resident: int
    """The most memory that the process ever took, up to then."""


def costs(replies: Sequence[Reply]) -> list[Cost]:
    """By task and length, in the order of the runs."""
    found: defaultdict[tuple[str, int], list[tuple[float, dict[str, Any]]]] = defaultdict(list)
    for reply in replies:
        measured = (reply.output.get("metadata") or {}).get(MEASURED)
        if measured:
            result = reply.result
            found[result.task, result.length].append((result.score, measured))
    return [
        Cost(
            task,
            length,
            len(several),
            fmean(score for score, _ in several),
            max(one["state"] for _, one in several),
            sum(one["tokens"] for _, one in several) / max(1e-9, _span([one for _, one in several])),
            max(one["resident"] for _, one in several),
        )
        for (task, length), several in sorted(found.items())
    ]


def _span(several: Sequence[dict[str, Any]]) -> float:
    """Seconds from the first that was begun to the last that ended."""
    return float(max(one["ended"] for one in several) - min(one["began"] for one in several))
