"""Write items to files."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import field, frozen
from cyclopts import Parameter

from carrara.operations.printed import Text, is_items
from carrara.options import (
    Flag,
    ItemOptions,
    LargeOptions,
    ReplaceOptions,
    WorkerOptions,
    at_least,
    check_replaceable,
    folder_of,
    is_flag,
    is_text,
    lengths_of,
    refuse_beside_ids,
    text,
)
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.files import local_path, whole_file
from carrara.util.log import warn_once
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count, count, write_length

if TYPE_CHECKING:
    from carrara.items.item import Item
    from carrara.items.item_id import ItemId

Row = Callable[["Item"], Mapping[str, Any]]
BESIDE_IDS = ("prompts", "workers", "engine", "allow_large", "force", "render", "finetune", "parquet")
"""The settings that may be given beside a file of ids, which says what the items are."""
TABLE = ".parquet"
"""The ending of files of recipes, as `carrara export datasets` writes them."""


@frozen(kw_only=True, slots=False)
class GenerateConfig(ItemOptions, WorkerOptions, LargeOptions, ReplaceOptions):
    """The items to write, and their files."""

    group = ItemOptions.group
    tasks: Annotated[str, text("TASKS")] = field(validator=is_text, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or a file of item ids (.jsonl or .parquet), to
    render them."""
    lengths: tuple[int, ...] = field(default="0", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=20, validator=at_least(1))
    """Instances for each task and length."""
    out: Path = field(converter=folder_of)
    """Folder to write to."""
    render: Flag = field(default=False, validator=is_flag)
    """Write whole prompts (items.jsonl), not only item ids."""
    finetune: Flag = field(default=False, validator=is_flag)
    """Write conversations with their right replies (finetune.jsonl), as fine-tuning services take them."""
    parquet: Flag = field(default=False, validator=is_flag)
    """Write Parquet files. The same command resumes after it was stopped; complete files are kept."""

    @property
    def has_item_ids(self) -> bool:
        """Whether the items are those of a file of ids."""
        return self.tasks.endswith((".jsonl", TABLE))

    def jobs(self) -> "list[ItemId]":
        """Return the first item of each task at each length."""
        first = self.item_ids(self.tasks, self.lengths)
        check_count(len(first) * self.n, "contexts", self.allow_large)
        return first

    def __attrs_post_init__(self) -> None:
        if self.render and self.finetune:
            raise UsageError("`render` and `finetune` write different files: give one of them")
        if self.parquet and (self.finetune or self.has_item_ids):
            raise UsageError("`parquet` is for item ids and whole items of tasks that are named: leave it out")


@takes(GenerateConfig)
def generate(config: GenerateConfig) -> Text:
    """Write items to files: item ids, which are small and render to the same bytes anywhere, or whole prompts."""
    from carrara.items import render as rendering

    if config.parquet:
        return _write_tables(config)
    row: Row = rendering.finetuning if config.finetune else rendering.render if config.render else rendering.item_id_row
    line = partial(rendering.line, row=row)
    name = "finetune" if config.finetune else "items" if config.render else "item_ids"
    path = config.out / f"{name}.jsonl"
    check_replaceable(path, config.force, is_items)
    source, total, shares = _from_item_ids(config, line) if config.has_item_ids else _from_tasks(config, line)
    written = 0
    with whole_file(path) as file:
        lines = (text for share in shares for text in share)
        for text in show_progress(lines, total, "items", label="generating"):
            file.write(text)
            written += 1
    return Text([f"{path}: {count(written, 'item')} {source}"])


def _write_tables(config: GenerateConfig) -> Text:
    """Write Parquet files. Existing files are not made again."""
    from carrara.export.shards import ShardTable, write_all
    from carrara.items import render as rendering

    item_table = ShardTable("items", rendering.tabular, rendering.RENDERED)
    table = item_table if config.render else ShardTable("item_ids", rendering.item_id_row, rendering.ITEM_ID_COLUMNS)
    folder = config.out / table.kind

    def path(first: "ItemId", number: int, total: int) -> Path:
        return folder / first.task / first.size("-") / f"{number:05}-of-{total:05}.parquet"

    number, written = write_all(
        config.jobs(), config.n, config.pack, table, path, warn_once, config.workers, config.engine
    )
    files = list(show_progress(written, number, "files", label="generating"))
    known = sum(file.known for file in files)
    existing = f", {known} of them there already" if known else ""
    return Text([f"{folder}: {sum(file.rows for file in files)} items in {len(files)} files{existing}"])


Source = tuple[str, int, Iterator[Sequence[str]]]
"""A description of items, their approximate number, and their lines in batches."""


def _from_tasks(config: GenerateConfig, line: "Callable[[Item], str]") -> Source:
    from carrara.items.bulk import bulk

    jobs = config.jobs()
    lines = bulk(jobs, config.n, config.pack, line, warn_once, config.workers, config.engine)
    lengths = ", ".join(map(write_length, dict.fromkeys(job.length for job in jobs)))
    return f"at {lengths} tokens by {jobs[0].tokenizer}", len(jobs) * config.n, lines


def _from_item_ids(config: GenerateConfig, line: "Callable[[Item], str]") -> Source:
    """Return the items of a file of item ids, each checked against its hash."""
    from carrara.items.bulk import HashedId, remake
    from carrara.items.prompt_pack import read_pack

    refuse_beside_ids(config.tasks, config, GenerateConfig, BESIDE_IDS)
    path = local_path(config.tasks)
    try:
        rows = _read_table(path) if path.suffix == TABLE else _read_lines(path)
        item_ids = [HashedId(str(row["id"]), row.get("sha256")) for row in rows]
        if not item_ids:
            raise ValueError("it has no line")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a file of item_ids, as `carrara generate` writes it ({error})") from None
    pack = read_pack(config.prompts) if config.prompts else None
    return f"of {path}", len(item_ids), remake(item_ids, pack, line, config.workers, config.engine)


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
