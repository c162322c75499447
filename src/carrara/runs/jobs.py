"""The jobs of a run, from selections or presets: each task at its lengths, with its number of instances."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

from attrs import converters, field, frozen
from cyclopts import Group, Parameter

from carrara.items.arrangement import check_length
from carrara.items.item_id import ItemId, RunJob
from carrara.items.prompt_pack import Pack
from carrara.items.selection import Selection, item_ids
from carrara.options import ItemOptions, NamedTask, at_least, lengths_of, selections_of, text
from carrara.runs.presets import INSTANCES, Preset, Size, preset_of
from carrara.servers.model_names import check_model, tokenizer_for
from carrara.tokenizers import permission
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.quantities import read_lengths

Tasks = Annotated[str | NamedTask | Selection | RunJob | Iterable[str | NamedTask | Selection | RunJob], text("TASKS")]
"""Tasks by name, suite, pattern or preset; or loaded with their parameters; or at a length."""


def tasks_of(given: Tasks) -> tuple[Selection | RunJob, ...]:
    """Return selections for what the user passed as tasks. Jobs are returned unchanged."""
    if isinstance(given, RunJob):
        return (given,)
    if not isinstance(given, Iterable) or isinstance(given, str | Selection):
        return tuple(selections_of(given))
    found = tuple(one for each in given for one in tasks_of(each))
    return found or tuple(selections_of([]))  # raises


@Parameter(name="*", group=Group("Items", sort_key=20))
@frozen(kw_only=True, slots=False)
class RunItems(ItemOptions):
    """The items that a run asks."""

    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default 0 (no filler), or the lengths of the preset."""
    n: Annotated[int | None, Parameter(name="-n", metavar="N")] = field(default=None, validator=at_least(1))
    """Instances for each task and length. By default 20, or as many as the preset has."""
    published: Annotated[str, text("SUITE:DIR")] = ""
    """Run the published items of babilong, mrcr, minerva or ruler from their files in a folder, unchanged."""


def jobs_of(tasks: Sequence[Selection | RunJob], items: RunItems, model: str) -> tuple[RunJob, ...]:
    """Return the jobs of tasks for a model. Existing jobs are returned unchanged."""
    pack = items.sampling.pack()
    resolved = [one if isinstance(one, RunJob) else _resolve(one, items, pack) for one in tasks]
    check_model(model)  # report an unknown task before an unknown model
    found = list[RunJob]()
    for one in resolved:
        found += [one] if isinstance(one, RunJob) else _jobs(one, items, model)
    return tuple(found)


@dataclass(frozen=True)
class _Resolution:
    """A selection with the tasks, lengths and preset that it resolves to."""

    tasks: str
    first: Sequence[ItemId]
    """The first item id of each task, which names no tokenizer yet."""
    preset: Preset | None
    lengths: Sequence[int] | None


def _resolve(asked: Selection, wanted: RunItems, pack: Pack | None) -> _Resolution:
    preset, lengths, selection = None, wanted.lengths, Selection(asked.tasks, {**asked.params, **wanted.params})
    asked = selection
    if found := preset_of(asked.tasks):
        preset, tasks = found
        if preset.from_files and tasks == preset.selection:
            if "data" in asked.params or wanted.published:
                tasks = preset.all_tasks
            else:
                warn_once(f"{asked.tasks} runs {preset.without_files}")
        selection = Selection(tasks, asked.params if wanted.published else preset.params_beside(asked.params))
        if wanted.published:  # a preset then gives only tasks and lengths, because the items themselves are given
            lengths = lengths or tuple(read_lengths(preset.lengths))
    return _Resolution(selection.tasks, item_ids(selection, wanted.sampling, pack, ""), preset, lengths)


def _jobs(one: _Resolution, wanted: RunItems, model: str) -> Iterable[RunJob]:
    own = one.preset.tokenizer if one.preset else ""
    tokenizer = wanted.tokenizer or own or tokenizer_for(model)
    permission.allow(tokenizer)
    first = [replace(item_id, tokenizer=tokenizer) for item_id in one.first]
    if wanted.published:
        if any(wanted.arrange):
            raise UsageError("`arrange` makes other items, and published ones are as they are: leave it out")
        from carrara.runs.published import published_jobs

        return published_jobs(wanted.published, first, one.lengths, wanted.n, one.tasks)
    return _jobs_of(first, one.preset, one.lengths, wanted)


def _jobs_of(
    first: Iterable[ItemId], preset: Preset | None, lengths: Sequence[int] | None, wanted: RunItems
) -> Iterator[RunJob]:
    for item_id in first:
        sizes = preset.sizes(item_id.task, lengths) if preset else [Size(at, INSTANCES) for at in lengths or [0]]
        for size, arrange in product(sizes, wanted.arrange):
            at = replace(item_id, length=size.length, index=size.first, arrange=arrange)
            check_length(at)
            yield RunJob(at, wanted.n or size.instances)
