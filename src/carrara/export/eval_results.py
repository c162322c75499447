"""Results as a file of a model's repository on the Hugging Face hub, `.eval_results/NAME.yaml`.

An entry is the mean of a task at a length, all its questions together, as `eval.yaml` of an exported data set names it
(hub.py). Published items have the id of their data set, and the score by its own rule.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from carrara._version import __version__
from carrara.export.hub import config_of, split_of
from carrara.items.item_id import ItemId
from carrara.results.result import Result
from carrara.results.scores import by_metric, stat
from carrara.results.series import item_id_of
from carrara.util.errors import UsageError
from carrara.util.quantities import count

LEAST = 10
"""The fewest contexts of a mean that is published. The report calls intervals of fewer replies wide."""
_ID = re.compile(r"(?!.*\.\.)\w[\w.-]*/\w[\w.-]*", re.ASCII)
_HUB: Mapping[str, str] = {
    "published/graphwalks-": "openai/graphwalks",
    "published/longbench-v2": "THUDM/LongBench-v2",
    "published/mrcr-openai": "openai/mrcr",
    "published/nolima": "amodaresi/NoLiMa",
    "published/oolong-real": "oolongbench/oolong-real",
    "published/oolong-synth": "oolongbench/oolong-synth",
}
"""The data sets on the hub that have the rows of published tasks, by the beginning of the task's name."""


def eval_results(results: Sequence[Result], dataset: str, missing: str) -> list[dict[str, Any]]:
    """Return the entries of a model's results.

    Args:
        dataset: The data set that `carrara export datasets` made of the items, as OWNER/NAME.
        missing: A sentence about planned replies that are missing.

    Raises:
        UsageError: The results are of several models, or a mean is not fit to be published.
    """
    if missing:
        raise UsageError(f"a run that is not complete is not published: {missing}")
    if dataset and not _ID.fullmatch(dataset):
        raise UsageError(f"`dataset={dataset}` names no data set of the hub: write OWNER/NAME")
    subjects = {result.subject for result in results}
    if len(subjects) > 1:
        raise UsageError(
            f"there are results of {len(subjects)} models or settings ({', '.join(sorted({s[0] for s in subjects}))}), "
            "and the file belongs to one model's repository: give a folder with one"
        )
    cells: dict[tuple[str, str], dict[ItemId, list[Result]]] = {}
    for result in results:
        item_id = item_id_of(result.id)
        if item_id is None:
            raise UsageError(f"{result.id!r:.100} is not the id of an item, so no data set has it: leave it out")
        kind = replace(item_id, length=result.length, seed=0, index=0, question=0)
        place = _dataset_of(kind.task, dataset), f"{config_of(kind, 'texts')}_{split_of(kind)}"
        cells.setdefault(place, {}).setdefault(kind, []).append(result)
    return [_entry(place, by_kind) for place, by_kind in cells.items()]


def _dataset_of(task: str, dataset: str) -> str:
    own = next((id for prefix, id in _HUB.items() if task.startswith(prefix)), dataset)
    if not own:
        raise UsageError(f"it is not known which data set of the hub has {task}: give `dataset`, as OWNER/NAME")
    return own


def _entry(place: tuple[str, str], by_kind: Mapping[ItemId, Sequence[Result]]) -> dict[str, Any]:
    dataset, task_id = place
    if len(by_kind) > 1:
        raise UsageError(
            f"the items of {task_id} have {len(by_kind)} settings, and a data set has one: give one run each"
        )
    [(kind, results)] = by_kind.items()
    is_published = kind.task.startswith("published/")
    if is_published:
        results = by_metric(results, "paper")
    cell = stat(results)
    for status, why in (("error", "failed"), ("shortened", "were cut by the server")):
        if number := cell.statuses.get(status):  # type: ignore[call-overload]
            raise UsageError(
                f"{number} of {count(len(results), 'request')} of {task_id} {why}, so their mean is not published: "
                "the command of the run asks again"
            )
    if cell.contexts < LEAST or not cell.scored:
        reason = f"rests on {count(cell.contexts, 'context')}" if cell.scored else f"is none ({cell.unscored})"
        raise UsageError(f"the mean of {task_id} {reason}, and at least {LEAST} are published: run more, with `n`")
    rule = {result.metric for result in results} - {""}
    notes = [
        f"Carrara {__version__}, {kind.task} version {kind.version}",
        f"n = {cell.n}, 95 % interval {cell.low:.3f}-{cell.high:.3f}, chance level {cell.chance_level:.3f}",
        *([f"score: {', '.join(rule)}"] if rule else []),
        *([f"parameters: {kind.params}"] if kind.params and not is_published else []),
        *(f"{name}={value}" for name, value in results[0].subject[1] if name != "server"),
        *(f"{status}: {number}" for status, number in cell.others.items()),
    ]
    return {"dataset": {"id": dataset, "task_id": task_id}, "value": round(cell.mean, 4), "notes": "; ".join(notes)}
