"""Items as Parquet files. One process makes each file and writes it atomically. Existing files are not made again.

    qa1/4k/00007-of-00050.parquet

The items of a file depend only on the request, and so do its bytes for one version of pyarrow. The number of processes,
the number of machines and interruptions have no effect.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from carrara.export.config import ExportConfig
from carrara.export.evidence_labels import COLUMNS, Row, with_labels
from carrara.items.bulk import LEAST_TOKENS, Share, in_order, make, shares_of
from carrara.items.item import count_existing
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.tokenizers.permission import with_permissions
from carrara.util.errors import LengthError, UsageError
from carrara.util.files import atomic_path
from carrara.util.log import warn_once
from carrara.util.parallel import Engine, parallel_map
from carrara.util.progress import show_progress

FILE = 8_000_000
"""The most tokens of a file."""
GROUP = 1_000_000
"""The most tokens of a row group, which is what a reader of a single row has to load."""
MOST = 2000
"""The most instances of a file, which is held in memory until it is written."""
ABOUT = b"carrara"
"""The key of a file's metadata."""


class File(NamedTuple):
    path: Path
    share: Share


@dataclass(frozen=True)
class WrittenFile:
    path: Path
    rows: int
    unfit: Sequence[LengthError]
    """Instances that are left out, because they cannot be made at this length."""
    known: bool
    """Whether the file existed already."""


@dataclass(frozen=True)
class ShardTable:
    """The columns of files."""

    kind: str
    """A name of the rows with all settings that change them. A file of another kind is not continued."""
    row: Row
    columns: Mapping[str, Any]
    """The types of columns by name, as `type_of` reads them."""


def write_tables(
    config: ExportConfig, firsts: Sequence[ItemId], table: ShardTable, path: Callable[[ItemId, int, int], Path]
) -> list[WrittenFile]:
    """Write the items of an export as Parquet files, with progress.

    Args:
        firsts: Those of its jobs that are written as this table.
        path: The path of the k-th of n files of a job.
    """
    if config.chunk:
        table = ShardTable(
            f"{table.kind}, labelled by {config.chunk} tokens",
            with_labels(table.row, config.chunk),
            {**table.columns, **COLUMNS},
        )
    number, written = write_all(firsts, config.n, config.pack, table, path, warn_once, config.workers, config.engine)
    return list(show_progress(written, number, "files", label="exporting"))


def write_all(
    firsts: Sequence[ItemId],
    instances: int,
    pack: Pack | None,
    table: ShardTable,
    path: Callable[[ItemId, int, int], Path],
    warn: Callable[[str], None],
    workers: int | None = None,
    engine: Engine = "local",
) -> tuple[int, Iterator[WrittenFile]]:
    """Write a number of instances from each item id on, in files that `path` names: the k-th of n files of an item id.

    Yield the number of files, and each file when it is complete.
    """
    _parquet()
    jobs = [Share(first, count_existing(first, instances)) for first in firsts]
    parts = []
    for job in jobs:
        shares = shares_of(job, FILE, MOST)
        parts.append([File(path(job.first, number, len(shares)), share) for number, share in enumerate(shares)])
    work, files = with_permissions(partial(write, table=table, pack=pack)), list(chain(*parts))
    _check_strays({file.path for file in files})
    return len(files), in_order(jobs, parts, parallel_map(work, files, workers, engine), warn)


def _check_strays(written: Set[Path]) -> None:
    """Raise if an earlier command with another number of instances left files.

    They would be read together with these.
    """
    for folder in {path.parent for path in written}:
        for path in sorted(folder.glob("*.parquet")):
            if path not in written:
                raise UsageError(f"{path} is there and holds other items: remove it, or give another `out`")


def write(file: File, table: ShardTable, pack: Pack | None) -> WrittenFile:
    """Write one file, in any process."""
    arrow, parquet = import_module("pyarrow"), _parquet()
    about = {
        "kind": table.kind,
        "columns": list(table.columns),
        "first": str(file.share.first),
        "instances": file.share.instances,
    }
    if file.path.exists():
        return _existing_file(file.path, about, parquet)
    batch = make(file.share, table.row, pack)
    schema = arrow.schema([arrow.field(name, type_of(kind, arrow)) for name, kind in table.columns.items()])
    stored_about = {**about, "unfit": [[str(error), error.part] for error in batch.unfit]}
    schema = schema.with_metadata({ABOUT: json.dumps(stored_about).encode()})
    all_rows = _rows(arrow, batch.rows, schema)
    with (
        atomic_path(file.path) as partial,
        parquet.ParquetWriter(partial, schema, compression="zstd", dictionary_pagesize_limit=1 << 30) as writer,
    ):
        # Questions on one context share it: a repeated text is stored once in a row group.
        for start, rows in _groups(batch.questions, file.share.first.length):
            writer.write_table(all_rows.slice(start, rows), row_group_size=max(1, rows))
    return WrittenFile(file.path, len(batch.rows), batch.unfit, known=False)


def _groups(questions: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the number of rows of each row group. No context is in two of them.

    >>> list(_groups([3, 3, 3, 3, 3], 400_000)), list(_groups([], 0))
    ([(0, 6), (6, 6), (12, 3)], [(0, 0)])
    """
    contexts, start = max(1, GROUP // max(length, LEAST_TOKENS)), 0
    for first in range(0, max(1, len(questions)), contexts):
        rows = sum(questions[first : first + contexts])
        yield start, rows
        start += rows


def _rows(arrow: Any, rows: Sequence[object], schema: Any) -> Any:
    try:
        return arrow.Table.from_pylist(rows, schema)
    except (OverflowError, arrow.ArrowInvalid) as error:
        raise UsageError(f"these items cannot stand in a Parquet file ({error}): is the seed below 2**63?") from None


def _existing_file(path: Path, about: Mapping[str, object], parquet: Any) -> WrittenFile:
    try:
        with path.open("rb") as file:
            metadata = parquet.read_metadata(file)
        stored_about = json.loads(metadata.metadata[ABOUT])
        unfit = [LengthError(*arguments) for arguments in stored_about.pop("unfit")]
    except (OSError, ValueError, KeyError, TypeError) as error:  # errors of pyarrow are subclasses of these
        raise UsageError(f"{path} is there and was not made here ({error}): give another `out`") from None
    if stored_about != about:
        raise UsageError(
            f"{path} holds other items ({stored_about['kind']}, {stored_about['instances']} instances from "
            f"{stored_about['first']}): give another `out`"
        )
    return WrittenFile(path, metadata.num_rows, unfit, known=True)


def type_of(kind: Any, arrow: Any) -> Any:
    """Return a type of pyarrow from its name (`string`, `int64`), a list `[kind]`, or a record `{name: kind}`."""
    if isinstance(kind, str):
        return getattr(arrow, kind)()
    if isinstance(kind, list):
        return arrow.list_(type_of(kind[0], arrow))
    return arrow.struct([(name, type_of(of, arrow)) for name, of in kind.items()])


def _parquet() -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("writing Parquet files needs pyarrow: `pip install 'carrara[parquet]'`") from None
