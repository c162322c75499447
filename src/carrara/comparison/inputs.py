"""Read what is to be compared: the models in folders of runs, and in Inspect logs of any task."""

from collections.abc import Callable, Sequence
from pathlib import Path

from carrara.comparison.statistics import Side
from carrara.core.errors import UsageError
from carrara.core.result import Result
from carrara.logs.inspect_logs import results_of
from carrara.logs.log_files import DamagedLogError, logs
from carrara.logs.replies import LOGS, read_results, replies_in
from carrara.results.analysis.series import Series, models_of

Report = Callable[[DamagedLogError], None]
"""What to do with a log that cannot be read before the others are."""


def sides(places: Sequence[Path], scorer: str = "", damaged: Report | None = None) -> list[Side]:
    return sides_of([(str(place), results_in(place, scorer, damaged)) for place in places])


def sides_of(held: Sequence[tuple[str, Sequence[Result]]]) -> list[Side]:
    """Return a side for each model with its settings; a model in several places has a side for each place."""
    models = iter(models_of([result for _, results in held for result in results]))
    found: dict[tuple[Series, str], list[Result]] = {}
    for place, results in held:
        for result in results:
            found.setdefault((next(models), place), []).append(result)
    several = [model for model, _ in found]
    return [
        Side(str(model) if several.count(model) == 1 else f"{model} [{place}]", results)
        for (model, place), results in found.items()
    ]


def results_in(place: Path, scorer: str, damaged: Report | None = None) -> list[Result]:
    """Return the results of a folder or of one log. A damaged log is an error, unless `damaged` says what to do."""
    if not place.exists():
        raise UsageError(f"there is no {place}; give folders of runs, or logs of Inspect")
    if place.is_file():
        if place.suffix != ".eval":
            raise UsageError(f"{place} is no log of Inspect: they end with .eval (`inspect log convert` makes one)")
        paths, own = [place], [reply.result for reply in replies_in(place)]
    else:
        paths, own = logs(place / LOGS if (place / LOGS).is_dir() else place), read_results(place, damaged)
    found = [*own, *(result for path in paths for result in _others(path, scorer, damaged))]
    if not found:
        raise UsageError(f"there are no results in {place}")
    return found


def _others(path: Path, scorer: str, damaged: Report | None) -> list[Result]:
    try:
        return list(results_of(path, scorer))
    except DamagedLogError as error:
        if damaged is None:
            raise
        damaged(error)
        return []
