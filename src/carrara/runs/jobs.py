"""The jobs of a run, from selections or presets: each task at its lengths, with its number of instances."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.items import registry
from carrara.items.arrangement import check_length
from carrara.items.item_id import ALL, ItemId, RunJob
from carrara.items.prompt_pack import Pack
from carrara.items.selection import Selection, item_ids
from carrara.options import ItemOptions, NamedTask, at_least, run_lengths_of, selections_of, text
from carrara.params import build, canonical, read_canonical
from carrara.runs.presets import INSTANCES, Preset, Size, preset_of
from carrara.servers.model_names import check_model, tokenizer_for
from carrara.tasks import mrcr_rows, published_graphwalks, published_longbench2, published_nolima, published_oolong
from carrara.tasks.babilong import _published_items as babilong
from carrara.tasks.classic import _ruler_items as ruler
from carrara.tasks.minerva import _snapshot as minerva
from carrara.tasks.published_rows import PublishedFile, remember_files
from carrara.tokenizers import permission
from carrara.util.errors import UsageError
from carrara.util.log import logger, warn_once
from carrara.util.quantities import LARGEST, natural, read_lengths, write_length

_SOURCES: Mapping[str, Callable[[Path], list[PublishedFile]]] = {
    "babilong": babilong.sources,
    "graphwalks": published_graphwalks.FILES.sources,
    "longbench2": published_longbench2.FILES.sources,
    "mrcr": mrcr_rows.sources,
    "minerva": minerva.sources,
    "nolima": published_nolima.sources,
    "oolong": published_oolong.sources,
    "ruler": ruler.sources,
}
"""The suites that can be run as published, each with a function that finds its files."""
_OURS: Mapping[str, Mapping[str, str]] = {
    "graphwalks": {
        published_graphwalks.PREFIX + operation: "carrara/walks" for operation in published_graphwalks.OPERATIONS
    },
    "minerva": {minerva.PREFIX + file: f"minerva/{task_name}" for file, task_name in minerva.OURS.items()},
    "nolima": dict.fromkeys(published_nolima.TASKS, "carrara/associations"),
    "oolong": dict.fromkeys(published_oolong.TASKS, "carrara/census"),
    "ruler": {ruler.PREFIX + file: task_name for file, task_name in ruler.OURS.items()},
}
"""Our tasks that ask the same as published files, by the names of the published tasks."""


def published_jobs(
    where: str, item_ids: Sequence[ItemId], lengths: Sequence[int] | None, n: int | None, asked: str
) -> Iterator[RunJob]:
    """Yield the jobs of the files at `where`, SUITE:DIR, for the requested tasks and lengths, with all rows."""
    suite, _, folder = str(where).partition(":")  # Python callers may pass anything
    if suite not in _SOURCES or not folder:
        can = ", ".join(f"{name}:DIR" for name in _SOURCES)
        raise UsageError(f"`published={where}` is none of {can}, which can be run")
    for name, is_set in (("seed", item_ids[0].seed != 0), ("split", item_ids[0].split != "test")):
        if is_set:
            raise UsageError(f"`{name}` draws other items, and published ones are as they are: leave it out")
    item_ids_by_task = {item_id.task: item_id for item_id in item_ids}
    if suite == "mrcr":  # both data sets contain the questions of our own task
        mrcr_id = item_ids_by_task.get("michelangelo/mrcr")
        item_ids_by_task = {} if mrcr_id is None else dict.fromkeys((mrcr_rows.OPENAI, mrcr_rows.GDM), mrcr_id)
    elif suite in _OURS:  # several files may belong to one of our tasks
        item_ids_by_task = {
            file: item_id
            for file, task_name in _OURS[suite].items()
            if (item_id := item_ids_by_task.get(file) or item_ids_by_task.get(task_name))
        }
    sources = _SOURCES[suite](Path(folder))
    available = {
        (source.task, source.length)
        for source in sources
        if source.task in item_ids_by_task and (lengths is None or source.length in lengths)
    }
    if not available:
        lengths_by_task: dict[str, list[int]] = {}
        for name, length in sorted({(source.task, source.length) for source in sources}):
            lengths_by_task.setdefault(name.rpartition("/")[2], []).append(length)
        has = "; ".join(f"{name} at {', '.join(map(write_length, at))}" for name, at in lengths_by_task.items())
        raise UsageError(f"{folder} has no file of {asked} at the lengths asked for; it has {has}")
    tasks_with_files = {source.task for source in sources}
    tasks = [task_name for task_name in item_ids_by_task if suite == "babilong" or task_name in tasks_with_files]
    if missing := _missing(tasks, lengths, available):
        logger.warning(f"{folder} has no file of {missing}: left out")
    data = remember_files(sources)
    for task_name, length in sorted(available, key=lambda pair: (natural(pair[0]), pair[1])):
        item_id = item_ids_by_task[task_name]
        name = babilong.PREFIX + task_name.rpartition("/")[2] if suite == "babilong" else task_name
        task = registry.load(name)
        params = canonical(build(task, name, {**read_canonical(item_id.params), "data": data}))
        yield RunJob(replace(item_id, task=name, version=task.version, params=params, length=length), n or ALL)


def _missing(tasks: list[str], lengths: Sequence[int] | None, present: set[tuple[str, int]]) -> str:
    """Describe the requested tasks and lengths that are missing. Without lengths, name the tasks that have no files."""
    short = {task: task.rpartition("/")[2] for task in tasks}
    if lengths is None:
        tasks_with_files = {task for task, _ in present}
        return ", ".join(short[task] for task in tasks if task not in tasks_with_files)
    lengths_by_absent: dict[str, list[str]] = {}
    for length in lengths:
        absent = ", ".join(short[task] for task in tasks if (task, length) not in present)
        lengths_by_absent.setdefault(absent, []).append(write_length(length))
    return "; of ".join(f"{absent} at {', '.join(where)}" for absent, where in lengths_by_absent.items() if absent)


Tasks = Annotated[str | NamedTask | Selection | RunJob | Iterable[str | NamedTask | Selection | RunJob], text("TASKS")]
"""Tasks by name, suite, pattern or preset; or loaded with their parameters; or at a length."""


def tasks_of(tasks: Tasks) -> tuple[Selection | RunJob, ...]:
    """Return selections for what the user passed as tasks. Jobs are returned unchanged."""
    if isinstance(tasks, RunJob):
        return (tasks,)
    if not isinstance(tasks, Iterable) or isinstance(tasks, str | Selection):
        return tuple(selections_of(tasks))
    selected = tuple(task for element in tasks for task in tasks_of(element))
    return selected or tuple(selections_of([]))  # raises


@frozen(kw_only=True, slots=False)
class RunItems(ItemOptions):
    """The items that a run asks."""

    group = ItemOptions.group
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(run_lengths_of))
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 0 (no filler), or the lengths of the preset.
    `max` is the largest prompt that the server reads whole, which is measured first."""
    n: Annotated[int | None, Parameter(name="-n", metavar="N")] = field(default=None, validator=at_least(1))
    """Instances for each task and length. By default 20, or as many as the preset has."""
    published: Annotated[str, text("SUITE:DIR")] = ""
    """Run the published items of babilong, graphwalks, longbench2, minerva, mrcr, nolima, oolong or ruler from files,
    unchanged."""


def jobs_of(
    tasks: Sequence[Selection | RunJob], items: RunItems, model: str, measure: Callable[[], int] | None = None
) -> tuple[RunJob, ...]:
    """Return the jobs of tasks for a model. Existing jobs are returned unchanged.

    Args:
        measure: Measures the length `max`.
    """
    pack = items.sampling.pack()
    lengths = items.lengths
    if lengths and LARGEST in lengths and measure and not all(isinstance(task, RunJob) for task in tasks):
        lengths = tuple(dict.fromkeys(measure() if length == LARGEST else length for length in lengths))
    resolved = [task if isinstance(task, RunJob) else _resolve(task, items, pack, lengths) for task in tasks]
    check_model(model)  # report an unknown task before an unknown model
    jobs = list[RunJob]()
    for task in resolved:
        jobs += [task] if isinstance(task, RunJob) else _jobs(task, items, model)
    return tuple(jobs)


@dataclass(frozen=True)
class _Resolution:
    """A selection with the tasks, lengths and preset that it resolves to."""

    tasks: str
    first: Sequence[ItemId]
    """The first item id of each task, which names no tokenizer yet."""
    preset: Preset | None
    lengths: Sequence[int] | None


def _resolve(requested: Selection, items: RunItems, pack: Pack | None, lengths: Sequence[int] | None) -> _Resolution:
    requested = Selection(requested.tasks, {**requested.params, **items.params})
    preset, selection = None, requested
    if preset_and_tasks := preset_of(requested.tasks):
        preset, tasks = preset_and_tasks
        if preset.from_files and tasks == preset.selection:
            if "data" in requested.params or items.published:
                tasks = preset.all_tasks
            else:
                warn_once(f"{requested.tasks} runs {preset.without_files}")
        preset_params = requested.params if items.published else preset.params_beside(tasks, requested.params)
        selection = Selection(tasks, preset_params)
        if items.published:  # a preset then gives only tasks and lengths, because the items themselves are given
            lengths = lengths or tuple(read_lengths(preset.lengths))
    return _Resolution(selection.tasks, item_ids(selection, items.sampling, pack, ""), preset, lengths)


def _jobs(resolution: _Resolution, items: RunItems, model: str) -> Iterable[RunJob]:
    preset_tokenizer = resolution.preset.tokenizer if resolution.preset else ""
    tokenizer = items.tokenizer or preset_tokenizer or tokenizer_for(model)
    permission.allow(tokenizer)
    first = [replace(item_id, tokenizer=tokenizer) for item_id in resolution.first]
    if items.published:
        if any(items.arrange):
            raise UsageError("`arrange` makes other items, and published ones are as they are: leave it out")

        jobs = published_jobs(items.published, first, resolution.lengths, items.n, resolution.tasks)
        return _of_card(jobs, resolution.preset, items.published) if resolution.preset else jobs
    return _jobs_of(first, resolution.preset, resolution.lengths, items)


def _of_card(jobs: Iterable[RunJob], preset: Preset, published: str) -> Sequence[RunJob]:
    """Return the jobs of published files that ask what the preset's card asks."""
    jobs = [job._replace(card=preset.card) for job in jobs if preset.published in ("", job.first.task)]
    if not jobs:
        raise UsageError(
            f"`published={published}` has no rows of {preset.published}, which card:{preset.card} asks: give the files "
            "that its maker used"
        )
    return jobs


def _jobs_of(
    first: Iterable[ItemId], preset: Preset | None, lengths: Sequence[int] | None, items: RunItems
) -> Iterator[RunJob]:
    for item_id in first:
        sizes = preset.sizes(item_id.task, lengths) if preset else [Size(at, INSTANCES) for at in lengths or [0]]
        for size, arrange in product(sizes, items.arrange):
            at = replace(item_id, length=size.length, index=size.first, arrange=arrange)
            check_length(at)
            yield RunJob(at, items.n or size.instances, preset.card if preset else "")
