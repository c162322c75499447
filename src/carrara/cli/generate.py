"""carrara generate: write items to files."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from carrara.cli._complete import complete_tasks
from carrara.cli._flags import AllowLarge, Force, N, WorkerEngine, Workers, refuse_beside_ids
from carrara.cli._output import check_replaceable, is_items, show
from carrara.options import Flag, Folder, ItemOptions, Lengths, file_of, folder_of, lengths_of, text
from carrara.util.errors import UsageError
from carrara.util.files import whole_file
from carrara.util.log import warn_once
from carrara.util.parallel import Engine
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count, count, write_length

if TYPE_CHECKING:
    from carrara.items.item import Item
    from carrara.items.item_id import ItemId

LENGTHS, INSTANCES = "0", 20
TASKS_HELP = (
    "Tasks by name, suite or pattern, separated by commas, or `all`; or a file of item ids (.jsonl or .parquet), to "
    "render them."
)
Row = Callable[["Item"], Mapping[str, Any]]
TABLE = ".parquet"
"""The ending of files of recipes, as `carrara export datasets` writes them."""


def generate(
    tasks: Annotated[str, text("TASKS", completer=complete_tasks, help=TASKS_HELP)],
    /,
    *,
    lengths: Lengths = LENGTHS,
    n: N = INSTANCES,
    out: Annotated[Folder, text("DIR", help="Folder to write to.")],
    render: Flag = False,
    finetune: Flag = False,
    parquet: Flag = False,
    items: ItemOptions | None = None,
    workers: Workers = None,
    engine: WorkerEngine = "local",
    allow_large: AllowLarge = False,
    force: Force = False,
) -> int:
    """Write items to files: item ids, which are small and render to the same bytes anywhere, or whole prompts.

    Example: carrara generate latent_list --lengths 0,4k -n 20 --seed 7 --tokenizer gpt2 --out items --render

    Args:
        render: Write whole prompts (items.jsonl), not only item_ids.
        finetune: Write conversations with their right replies (finetune.jsonl), as fine-tuning services take them.
        parquet: Write Parquet files. The same command resumes after it was stopped; complete files are kept.
    """
    from carrara.items import render as rendering

    if render and finetune:
        raise UsageError("`render` and `finetune` write different files: give one of them")
    items = items or ItemOptions()
    folder = folder_of(out)
    from_item_ids = tasks.endswith((".jsonl", TABLE))
    if parquet and (finetune or from_item_ids):
        raise UsageError("`parquet` is for item ids and whole items of tasks that are named: leave it out")
    if parquet:
        jobs = items.item_ids(tasks, lengths_of(lengths))
        check_count(len(jobs) * n, "contexts", allow_large)
        return _write_tables(jobs, n, items, folder, render, workers, engine)
    row: Row = rendering.finetuning if finetune else rendering.render if render else rendering.item_id_row
    line = partial(rendering.line, row=row)
    path = folder / ("finetune.jsonl" if finetune else "items.jsonl" if render else "item_ids.jsonl")
    check_replaceable(path, force, is_items)
    if from_item_ids:
        refuse_beside_ids(tasks, items, lengths=lengths != LENGTHS, n=n != INSTANCES)
        what, total, shares = _from_item_ids(file_of(tasks), items, line, workers, engine)
    else:
        jobs = items.item_ids(tasks, lengths_of(lengths))
        check_count(len(jobs) * n, "contexts", allow_large)
        what, total, shares = _from_tasks(jobs, n, items, line, workers, engine)
    written = 0
    with whole_file(path) as file:
        lines = (text for share in shares for text in share)
        for text in show_progress(lines, total, "items", label="generating"):
            file.write(text)
            written += 1
    show(f"{path}: {count(written, 'item')} {what}")
    return 0


def _write_tables(
    jobs: "list[ItemId]",
    n: int,
    items: ItemOptions,
    out: Path,
    render: bool,
    workers: int | None,
    engine: Engine,
) -> int:
    """Write Parquet files. Existing files are not made again."""
    from carrara.export.shards import ShardTable, write_all
    from carrara.items import render as rendering

    whole = ShardTable("items", rendering.tabular, rendering.RENDERED)
    table = whole if render else ShardTable("item_ids", rendering.item_id_row, rendering.ITEM_ID_COLUMNS)
    folder = out / table.kind

    def path(first: "ItemId", number: int, of: int) -> Path:
        return folder / first.task / first.size("-") / f"{number:05}-of-{of:05}.parquet"

    number, written = write_all(jobs, n, items.pack, table, path, warn_once, workers, engine)
    files = list(show_progress(written, number, "files", label="generating"))
    known = sum(one.known for one in files)
    there = f", {known} of them there already" if known else ""
    show(f"{folder}: {sum(one.rows for one in files)} items in {len(files)} files{there}")
    return 0


Source = tuple[str, int, Iterator[Sequence[str]]]
"""Yield a description of the items, their approximate number, and one line for each item."""


def _from_tasks(
    jobs: "list[ItemId]",
    n: int,
    items: ItemOptions,
    line: "Callable[[Item], str]",
    workers: int | None,
    engine: Engine,
) -> Source:
    from carrara.items.bulk import bulk

    lines = bulk(jobs, n, items.pack, line, warn_once, workers, engine)
    lengths = ", ".join(map(write_length, dict.fromkeys(job.length for job in jobs)))
    return f"at {lengths} tokens by {jobs[0].tokenizer}", len(jobs) * n, lines


def _from_item_ids(
    path: Path, items: ItemOptions, line: "Callable[[Item], str]", workers: int | None, engine: Engine
) -> Source:
    """Return the items of a file of item ids, each checked against its hash."""
    from carrara.items.bulk import HashedId, remake
    from carrara.items.prompt_pack import read_pack

    try:
        rows = _read_table(path) if path.suffix == TABLE else _read_lines(path)
        item_ids = [HashedId(str(row["id"]), row.get("sha256")) for row in rows]
        if not item_ids:
            raise ValueError("it has no line")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a file of item_ids, as `carrara generate` writes it ({error})") from None
    pack = read_pack(items.prompts) if items.prompts else None
    return f"of {path}", len(item_ids), remake(item_ids, pack, line, workers, engine)


def _read_lines(path: Path) -> list[Any]:
    from carrara.util.files import DATA, content

    return [json.loads(line) for line in content(path, DATA).decode().splitlines() if line.strip()]


def _read_table(path: Path) -> list[Any]:
    """Return the ids and hashes of a Parquet file. Other columns, such as contexts, are not read."""
    from importlib import import_module

    from carrara.util.files import open_binary

    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("reading Parquet files needs pyarrow: `pip install 'carrara[parquet]'`") from None
    with open_binary(path) as file:
        rows: list[Any] = parquet.read_table(file, columns=["id", "sha256"]).to_pylist()
    return rows
