"""The items that compared servers may be asked."""

import pytest

from carrara.guard.items import first_item_ids, turns_of_tasks
from carrara.profiling.capabilities import select
from carrara.util.quantities import read_lengths
from tests.helpers.reading_server import by_text, guard_ids

TASKS, LENGTHS = "finding,babilong/qa1", "1k,4k"


@pytest.fixture(scope="module")
def ids() -> dict[str, str]:
    """Whatever may be asked, by its text's hash."""
    made = guard_ids(TASKS, LENGTHS)  # for a guard
    drawn = [
        str(turn[0].first)
        for first in first_item_ids(select(TASKS), "gpt2").values()
        for length in read_lengths(LENGTHS)
        for turn in turns_of_tasks({"": first}, length, 40)
    ]
    return made | by_text(drawn)
