"""Read the inputs of a comparison: models, readers or arrangements in folders of runs and in Inspect logs of any task.

In a log of another task, an item is its sample, and its score is the number from its scorer. Inspect's grades C, I, P
and N are 1, 0, a half and 0. If a score is not such a number, or there are several, the user names a scorer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from carrara.constants import READER, WHOLE
from carrara.results.comparison import By, Side
from carrara.results.result import Result
from carrara.results.series import DRAWN, Series, as_drawn, models_of
from carrara.runs.log_files import DamagedLogError, header, logs, samples
from carrara.runs.replies import LOGS, read_results, replies_in
from carrara.runs.settings import settings_in
from carrara.types import Arrange
from carrara.util.errors import UsageError, nearest

Report = Callable[[DamagedLogError], None]
"""A function for a log that cannot be read, called before the other logs are read."""
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def sides(places: Sequence[Path], scorer: str = "", damaged: Report | None = None, by: By = "model") -> list[Side]:
    return sides_of([(str(place), results_in(place, scorer, damaged)) for place in places], by)


def sides_of(results_by_place: Sequence[tuple[str, Sequence[Result]]], by: By = "model") -> list[Side]:
    """Return a side for each model with its settings, or for each reader or arrangement of the only model.

    A side in several runs is a side for each run. The reader `whole` and the arrangement `block` come first.

    Raises:
        UsageError: There are several models, and readers or arrangements are to be compared.
    """
    names = iter(_NAMES[by]([result for _, results in results_by_place for result in results]))
    results_by_side: dict[tuple[Series, str], list[Result]] = {}
    for place, results in results_by_place:
        for result in results:
            results_by_side.setdefault((next(names), place), []).append(result)
    several = [series for series, _ in results_by_side]
    sides = [
        Side(str(series) if several.count(series) == 1 else f"{series} [{place}]", results, series, place)
        for (series, place), results in results_by_side.items()
    ]
    if by == "reader":
        return sorted(sides, key=lambda side: READER in side.results[0].settings)
    if by == "arrangement":  # their items differ by nothing else, and are paired
        ordered = sorted(sides, key=lambda side: _ARRANGEMENTS.index(side.results[0].arrange))
        return [replace(side, results=list(map(as_drawn, side.results))) for side in ordered]
    return sides


def _readers(results: Sequence[Result]) -> list[Series]:
    without = [
        replace(result, settings={name: value for name, value in result.settings.items() if name != READER})
        for result in results
    ]
    return _of_one_model([result.settings.get(READER, WHOLE) for result in results], without, "readers")


def _arrangements(results: Sequence[Result]) -> list[Series]:
    return _of_one_model([result.arrange or DRAWN for result in results], results, "arrangements")


def _of_one_model(names: Sequence[str], results: Sequence[Result], kind: str) -> list[Series]:
    """Return names of a kind of sides, with the settings of the model if these differ among the results."""
    models = models_of(results)
    distinct = dict.fromkeys(model.model for model in models)
    if len(distinct) > 1:
        raise UsageError(
            f"there are {len(distinct)} models ({', '.join(distinct)}), and only {kind} of one model are compared: "
            "give the runs of one model"
        )
    return [Series(name, model.variant) for name, model in zip(names, models, strict=True)]


_NAMES: Mapping[By, Callable[[Sequence[Result]], list[Series]]] = {
    "run": models_of,
    "model": models_of,
    "reader": _readers,
    "arrangement": _arrangements,
}
_ARRANGEMENTS: tuple[Arrange, ...] = ("block", "riffle", "")


def results_in(place: Path, scorer: str, damaged: Report | None = None) -> list[Result]:
    """Return the results of a folder or of one log. A damaged log is an error, unless `damaged` handles it."""
    if not place.exists():
        raise UsageError(f"there is no {place}; give folders of runs, or logs of Inspect")
    if place.is_file():
        if place.suffix != ".eval":
            raise UsageError(f"{place} is no log of Inspect: they end with .eval (`inspect log convert` makes one)")
        paths, own_results = [place], [reply.result for reply in replies_in(place)]
    else:
        paths, own_results = logs(place / LOGS if (place / LOGS).is_dir() else place), read_results(place, damaged)
    results = [*own_results, *(result for path in paths for result in _read_other_results(path, scorer, damaged))]
    if not results:
        raise UsageError(f"there are no results in {place}")
    return results


def _read_other_results(path: Path, scorer: str, damaged: Report | None) -> list[Result]:
    try:
        return list(_other_results(path, scorer))
    except DamagedLogError as error:
        if damaged is None:
            raise
        damaged(error)
        return []


def _other_results(path: Path, scorer: str = "") -> Iterator[Result]:
    """Yield the results of a log's samples that Carrara did not write. Carrara's own samples are left out."""
    log = header(path)
    settings = settings_in(log)
    for sample in samples(path):
        if "task" not in (sample.get("metadata") or {}):
            try:
                yield _result(path, log, settings, sample, scorer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DamagedLogError(
                    path, f"the sample {str(sample.get('id'))[:200]} is not one that Inspect writes"
                ) from error


def _result(path: Path, log: EvalLog, settings: Mapping[str, str], sample: Mapping[str, Any], scorer: str) -> Result:
    error = (sample.get("error") or {}).get("message")
    scores = sample.get("scores") or {}
    failed = bool(error) or not scores
    task = "/".join(filter(None, ("inspect", log.eval.task.replace("/", "."))))
    args = ",".join(f"{name}={value}" for name, value in sorted(log.eval.task_args.items()))
    item = f"{task}({args})@{log.eval.task_version}/{sample['id']}"
    return Result(
        id=f"{item}.{sample.get('epoch', 1)}",
        task=task,
        version=0,
        model=log.eval.model,
        length=0,
        tokens=0,
        tokenizer="",
        context_id=item,
        instance_id=item,
        status="error" if failed else "ok",
        score=0.0 if failed else _score(path, scores, scorer),
        chance_level=0.0,
        ask=str(sample.get("input") or "")[:1000],
        gold=str(sample.get("target") or "")[:1000],
        reply=str((sample.get("output") or {}).get("completion") or ""),
        error=error or (None if scores else "it was not scored"),
        settings=settings,
    )


def _score(path: Path, scores: Mapping[str, Any], scorer: str) -> float:
    name, _, part = scorer.partition(".")
    if scorer and name not in scores:
        raise UsageError(f"{path} has no scorer {name!r}{nearest(name, scores)}; it has {', '.join(scores)}")
    if not scorer and len(scores) > 1:
        raise UsageError(f"{path} has several scorers: say which, --scorer {' or --scorer '.join(scores)}")
    name = name or next(iter(scores))
    value = (scores[name] or {}).get("value")
    if isinstance(value, dict):
        if part not in value:
            named = " or --scorer ".join(f"{name}.{key}" for key in value)
            raise UsageError(f"the scorer {name} of {path} gives several numbers: say which, --scorer {named}")
        value = value[part]
    value = GRADES.get(value, value) if isinstance(value, str) else value
    if isinstance(value, bool | int | float) and 0 <= float(value) <= 1:
        return float(value)
    raise UsageError(f"the scorer {name} of {path} gives {str(value)[:60]!r}, which is no score from 0 to 1")
