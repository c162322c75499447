"""Items as files of JSON Lines: one line a question, made by several processes in a fixed order."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from carrara.export.config import ExportConfig
from carrara.export.evidence_labels import Row, with_labels
from carrara.items.bulk import bulk
from carrara.items.item import Item
from carrara.items.render import line
from carrara.util.files import whole_file
from carrara.util.log import warn_once
from carrara.util.progress import show_progress


def write_lines(config: ExportConfig, rows: Mapping[str, Row]) -> list[str]:
    """Write a file of each name, with the row of each item, and return a sentence about each file."""
    written = 0
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(config.out / name)) for name in rows]
        lines = partial(_lines, rows=[with_labels(row, config.chunk) for row in rows.values()])
        shares = bulk(config.jobs, config.n, config.pack, lines, warn_once, config.workers, config.engine)
        items = (item for share in shares for item in share)
        for texts in show_progress(items, len(config.jobs) * config.n, "items", label="exporting"):
            for file, text in zip(files, texts, strict=True):
                file.write(text)
            written += 1
    return [f"{config.out / name}: {written} items" for name in rows]


def _lines(item: Item, rows: Sequence[Row]) -> list[str]:
    return [line(item, row) for row in rows]
