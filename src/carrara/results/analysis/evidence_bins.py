"""Label results by where in the context the evidence stands.

`place` is the position of the last fact of the evidence, `distance` is how far the first one is before it, and `needed`
is how many facts there are.
"""

from collections.abc import Iterable
from dataclasses import replace

from carrara.core.result import Result

PARTS = 5
PLACE, DISTANCE, NEEDED = "place", "distance", "needed"


def label_bins(results: Iterable[Result]) -> list[Result]:
    """Return the results with these labels, where the positions are known."""
    return [replace(result, labels={**result.labels, **_labels(result.places)}) for result in results]


def _labels(places: tuple[float, float, int] | None) -> dict[str, str]:
    """
    >>> _labels((0.1, 0.95, 2))
    {'place': '80-100 %', 'distance': '80-100 %', 'needed': '2'}
    """
    if places is None:
        return {}
    first, last, needed = places
    apart = {DISTANCE: _part(last - first)} if needed > 1 else {}
    return {PLACE: _part(last), **apart, NEEDED: str(needed)}


def _part(share: float) -> str:
    low = min(PARTS - 1, int(share * PARTS)) * 100 // PARTS
    return f"{low}-{low + 100 // PARTS} %"
