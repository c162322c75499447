"""Published items in a run: the files of a folder as jobs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from carrara.items import registry
from carrara.items.item_id import ALL, ItemId, RunJob
from carrara.params import build, canonical, read_canonical
from carrara.tasks.babilong import _published_items as babilong
from carrara.tasks.classic import _ruler_items as ruler
from carrara.tasks.michelangelo import _mrcr_rows as mrcr_rows
from carrara.tasks.minerva import _snapshot as minerva
from carrara.tasks.published_rows import PublishedFile, remember_files
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import natural, write_length

_SOURCES: Mapping[str, Callable[[Path], list[PublishedFile]]] = {
    "babilong": babilong.sources,
    "mrcr": mrcr_rows.sources,
    "minerva": minerva.sources,
    "ruler": ruler.sources,
}
"""The suites that can be run as published, each with a function that finds its files."""
_OURS: Mapping[str, Mapping[str, str]] = {
    "minerva": {minerva.PREFIX + file: f"minerva/{task_name}" for file, task_name in minerva.OURS.items()},
    "ruler": {ruler.PREFIX + file: task_name for file, task_name in ruler.OURS.items()},
}
"""Our tasks that ask the same as published files, by the names of the published tasks."""


def published_jobs(
    where: str, item_ids: Sequence[ItemId], lengths: Sequence[int] | None, n: int | None, asked: str
) -> Iterator[RunJob]:
    """Return the jobs of the files at `where`, SUITE:DIR, for the requested tasks and lengths, with all rows."""
    suite, _, folder = str(where).partition(":")  # Python callers may pass anything
    if suite not in _SOURCES or not folder:
        can = ", ".join(f"{name}:DIR" for name in _SOURCES)
        raise UsageError(f"`published={where}` is none of {can}, which can be run")
    for name, other in (("seed", item_ids[0].seed != 0), ("split", item_ids[0].split != "test")):
        if other:
            raise UsageError(f"`{name}` draws other items, and published ones are as they are: leave it out")
    of = {item_id.task: item_id for item_id in item_ids}
    if suite == "mrcr":  # both data sets contain the questions of our own task
        own = of.get("michelangelo/mrcr")
        of = {} if own is None else dict.fromkeys((mrcr_rows.OPENAI, mrcr_rows.GDM), own)
    elif suite in _OURS:  # several files may belong to one of our tasks
        tasks = _OURS[suite]
        of = {file: of[task_name] for file, task_name in tasks.items() if task_name in of}
    found = _SOURCES[suite](Path(folder))
    some = {
        (source.task, source.length)
        for source in found
        if source.task in of and (lengths is None or source.length in lengths)
    }
    if not some:
        raise UsageError(f"{folder} has no file of {asked} at the lengths asked for")
    there = {source.task for source in found}
    if missing := _missing([task_name for task_name in of if suite == "babilong" or task_name in there], lengths, some):
        logger.warning(f"{folder} has no file of {missing}: left out")
    data = remember_files(found)
    for task_name, length in sorted(some, key=lambda pair: (natural(pair[0]), pair[1])):
        own, name = of[task_name], babilong.PREFIX + task_name.rpartition("/")[2] if suite == "babilong" else task_name
        task = registry.load(name)
        params = canonical(build(task, name, {**read_canonical(own.params), "data": data}))
        yield RunJob(replace(own, task=name, version=task.version, params=params, length=length), n or ALL)


def _missing(tasks: list[str], lengths: Sequence[int] | None, found: set[tuple[str, int]]) -> str:
    """Describe the requested tasks and lengths that are missing. Without lengths, name the tasks that have no files."""
    short = {task: task.rpartition("/")[2] for task in tasks}
    if lengths is None:
        there = {task for task, _ in found}
        return ", ".join(short[task] for task in tasks if task not in there)
    at: dict[str, list[str]] = {}
    for length in lengths:
        absent = ", ".join(short[task] for task in tasks if (task, length) not in found)
        at.setdefault(absent, []).append(write_length(length))
    return "; of ".join(f"{absent} at {', '.join(where)}" for absent, where in at.items() if absent)
