"""Find the items that all models fail: hard ones, or wrong ones.

The most surprising come first: if all models fail an item of a cell that they mostly answer, the item may be wrong.
"""

import math
from collections.abc import Sequence

from carrara.core.result import NEVER_ASKED, Result
from carrara.results.analysis.series import recipe_of, series_of
from carrara.results.analysis.summary import headline

HALF = 0.5
"""A lower score is a failure."""
_SURE = 0.999
"""The highest mean that is used, so that a cell without failures does not make a failure impossible."""


def unsolved_items(results: Sequence[Result]) -> list[list[Result]]:
    """Return the replies to each item that two or more models were asked and all failed, the most surprising first."""
    series = series_of(results)
    asked = [result for result in results if result.status not in NEVER_ASKED]
    items: dict[tuple[str, str, int, int], dict[object, Result]] = {}
    cells: dict[tuple[str, int, object], list[float]] = {}
    for result in asked:
        who = series(result)
        cells.setdefault((result.task, result.length, who), []).append(headline(result))
        items.setdefault((result.task, result.world_id, _question(result.id), result.length), {})[who] = result

    def surprise(key: tuple[str, str, int, int]) -> float:
        """The log probability that all fail, if each failed as often as it does on this test at this length."""
        task, _, _, length = key
        means = (math.fsum(own) / len(own) for who in items[key] for own in [cells[task, length, who]])
        return math.fsum(math.log(1 - min(_SURE, mean)) for mean in means)

    failed = [
        key for key, own in items.items() if len(own) > 1 and all(headline(result) < HALF for result in own.values())
    ]
    return [list(items[key].values()) for key in sorted(failed, key=lambda key: (surprise(key), key))]


def _question(id: str) -> int:
    recipe = recipe_of(id)
    return recipe.question if recipe else 0
