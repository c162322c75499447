"""Where in its context an answer is read from, as labels that results are sliced by.

`place` is where the last needed update stands, `distance` how far the first is before it, `needed` how many there are.
"""

from collections.abc import Iterable
from dataclasses import replace

from carrara.core.result import Result

PARTS = 5
PLACE, DISTANCE, NEEDED = "place", "distance", "needed"


def label_bins(results: Iterable[Result]) -> list[Result]:
    """The same, with these labels where that is known."""
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
