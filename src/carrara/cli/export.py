"""carrara export: write items for other programs."""

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from carrara.cli._flags import AllowLarge, N, Selection, WorkerEngine, Workers
from carrara.cli._messages import words_given
from carrara.cli._output import show
from carrara.options import Folder, ItemOptions, Lengths, check_whole, folder_of, lengths_of, text
from carrara.util.errors import LengthError, UsageError
from carrara.util.files import is_remote
from carrara.util.log import warn_once
from carrara.util.parallel import Engine
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count

if TYPE_CHECKING:
    from carrara.export.shards import Row
    from carrara.item_id import ItemId
    from carrara.items.item import Item

Format = Literal["datasets", "batch", "lm-eval", "serving"]
FORMAT_HELP = (
    "`datasets`, Parquet files with a card, Croissant and eval.yaml, as the hub has them; `batch`, requests for "
    "OpenAI's batch interface and vLLM's run-batch, whose results `carrara score` reads; `lm-eval`, tasks for "
    "lm-evaluation-harness (--include_path DIR --tasks carrara), scored as they are here; `serving`, prompts of exact "
    "lengths for `vllm bench serve` and `sglang.bench_serving`."
)


@dataclass(frozen=True)
class _Export:
    """The items to export, the folder to write to, and the processes that do the work."""

    format: Format
    jobs: "list[ItemId]"
    """The first item of each task at each length."""
    n: int
    items: ItemOptions
    out: Path
    model: str
    max_tokens: int | None
    workers: int | None
    engine: Engine

    @property
    def has_own_text(self) -> bool:
        """Return whether prompts may contain text that we are not free to publish."""
        from carrara.export.about import TEXTS

        return any(name in TEXTS for name in self.items.params)

    def about(self) -> str:
        """Return the card of the folder, with the command that made it."""
        from carrara.export.about import about

        name, given = self.out.resolve().name, list(words_given())  # the name of the folder, without its path
        for at in [at for at, word in enumerate(given) if word == "--out" or word.startswith("--out=")]:
            given[at : at + (2 if given[at] == "--out" else 1)] = ["--out", name]
        return about(f"carrara {shlex.join(given)}", self.has_own_text, self.items.split)


def export(
    format: Annotated[Format, Parameter(help=FORMAT_HELP)],
    tasks: Selection,
    /,
    *,
    lengths: Lengths = "0",
    n: N = 20,
    out: Annotated[Folder, text("DIR", help="Folder to write to.")],
    model: Annotated[str, text("NAME", help="Model of batch requests, as its server calls it.")] = "",
    max_tokens: Annotated[int | None, Parameter(metavar="N")] = None,
    items: ItemOptions | None = None,
    workers: Workers = None,
    engine: WorkerEngine = "local",
    allow_large: AllowLarge = False,
) -> int:
    """Write items for other programs: a data set of the hub, batch requests, tasks of a harness, loads for servers.

    Example: carrara export datasets latent_list,qa1 --lengths 4k,32k -n 50 --tokenizer o200k --out data/mine

    Args:
        max_tokens: Most tokens of a reply, reasoning included. By default the server's own limit, and in loads as many
            as the answer has.
    """
    from carrara.export.about import check_folder

    items = items or ItemOptions()
    folder = folder_of(out)
    if max_tokens is not None:
        check_whole("max_tokens", max_tokens, 1)
    if format == "lm-eval" and is_remote(folder):
        raise UsageError(f"lm-eval reads a folder of its own machine: give one in place of {folder}")
    check_folder(folder)
    jobs = items.item_ids(tasks, lengths_of(lengths))
    check_count(len(jobs) * n, "contexts", allow_large)
    if format == "batch" and not model:
        raise UsageError("`model` is lacking: a request names the model that it is for, as its server calls it")
    if format != "batch" and model:
        raise UsageError(f"`model` is for batch requests: {format} names none")
    given = _Export(format, jobs, n, items, folder, model, max_tokens, workers, engine)
    if format == "lm-eval":
        return _write_harness_tasks(given)
    return _write_datasets(given) if format == "datasets" else _write_requests(given)


def _write_harness_tasks(given: _Export) -> int:
    from carrara.export import harness
    from carrara.export.about import CARD
    from carrara.items.item import left_out

    tasks = []
    for job in given.jobs:
        try:
            tasks.append(harness.harness_task(job, given.n, given.items.prompts, given.max_tokens))
        except LengthError as reason:
            if len(given.jobs) == 1:
                raise
            warn_once(left_out(job, reason))
    if not tasks:
        raise UsageError("none of these tasks has an instance of these lengths: ask for greater ones")
    if len({one.name for one in tasks}) < len(tasks):
        raise UsageError("two of these tasks have one name: export them into two folders")
    files = harness.write(given.out, tasks, given.items.prompts)
    (given.out / CARD).write_text(given.about(), "utf-8")
    show(f"{given.out}: {len(files) - 1} tasks; lm_eval run --include_path {given.out} --tasks carrara --model …")
    return 0


def _write_requests(given: _Export) -> int:
    from contextlib import ExitStack

    from carrara.export.about import CARD
    from carrara.export.requests import RequestSettings, rows
    from carrara.items.bulk import bulk
    from carrara.util.files import whole_file

    forms = rows(given.format, RequestSettings(given.model, given.max_tokens))
    written = 0
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(given.out / name)) for name in forms]
        lines = partial(_lines, rows=list(forms.values()))
        shares = bulk(given.jobs, given.n, given.items.pack, lines, warn_once, given.workers, given.engine)
        items = (one for share in shares for one in share)
        for texts in show_progress(items, len(given.jobs) * given.n, "items", label="exporting"):
            for file, text in zip(files, texts, strict=True):
                file.write(text)
            written += 1
    (given.out / CARD).write_text(given.about(), "utf-8")
    for name in forms:
        show(f"{given.out / name}: {written} items")
    return 0


def _lines(item: "Item", rows: "list[Row]") -> list[str]:
    """Return a line for each file."""
    from carrara.items.render import line

    return [line(item, row) for row in rows]


def _write_datasets(given: _Export) -> int:
    from carrara.export import hub
    from carrara.export.shards import write_all

    names = [(hub.split_of(job), job.size()) for job in given.jobs]
    if len(set(names)) < len(names):
        raise UsageError("two of these tasks have one name, and a split has only one: export them into two folders")
    talking = [hub.talks(job, given.items.pack) for job in given.jobs]
    hub.check_other(given.out, set(map(hub.config_of, given.jobs, talking)))
    written = []
    for conversations in (False, True):
        own = [job for job, talks in zip(given.jobs, talking, strict=True) if talks == conversations]
        if not own:
            continue

        def path(first: "ItemId", number: int, of: int, talks: bool = conversations) -> Path:
            return hub.path_of(given.out, first, talks, number, of)

        table = hub.table(conversations)
        number, made = write_all(own, given.n, given.items.pack, table, path, warn_once, given.workers, given.engine)
        by_path = {(hub.config_of(job, conversations), hub.split_of(job)): job for job in own}
        for one in show_progress(made, number, "files", label="exporting"):
            place = one.path.parent.name, one.path.name.rsplit("-", 3)[0]
            written.append((by_path[place], conversations, one))
    found = hub.splits(given.out, written)
    hub.describe(given.out, given.out.resolve().name, given.about(), given.has_own_text, found)
    total = sum(one.rows for one in found)
    configs = len({one.config for one in found})
    show(f"{given.out}: {total} questions in {len(found)} splits, of {configs} configurations")
    return 0
