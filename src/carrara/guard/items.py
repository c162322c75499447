"""Items of a guard: the jobs that ask them, the grading of replies, and the region of the evidence."""

from collections.abc import Iterable
from dataclasses import replace

from carrara.items.item_id import ItemId, RunJob
from carrara.results.result import Result
from carrara.results.scores import headline

BATCH = 8
"""The number of instances that are asked at once."""
BATCHES = 3
"""The most batches of a capability at a length, until twice as many items were right as are wanted."""
RIGHT = 0.9
"""The least score of a right reply. A list of ten may lack one."""
WIDE = 0.5
"""The share of the context above which evidence is in no single region."""
REGIONS = "the beginning", "the middle", "the end"
THROUGHOUT = "all of it"


def jobs_for(ids: Iterable[str]) -> tuple[RunJob, ...]:
    """Return the jobs that ask these items. Questions on one instance are asked together."""
    return tuple(RunJob(first, 1) for first in dict.fromkeys(replace(ItemId.parse(id), question=0) for id in ids))


def is_right(result: Result) -> bool:
    return result.status == "ok" and headline(result) >= RIGHT


def region_of(result: Result) -> str:
    """Return the region of the context in which the evidence stands."""
    if result.places is None or result.places[1] - result.places[0] > WIDE:
        return THROUGHOUT
    return REGIONS[min(2, int(3 * (result.places[0] + result.places[1]) / 2))]
