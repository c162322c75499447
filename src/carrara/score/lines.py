"""A file, or what comes through a pipe, as numbered lines in batches: as they arrive, a few megabytes at a time."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

BLOCK = 1 << 20
"""Bytes that are read at once; of a pipe, what is there."""
LINES, BYTES = 256, 4 << 20
"""Of a batch, about: a single line may be longer."""
LONGEST = 64 << 20
"""Bytes of a line: what is longer is no reply, and would have to be held in memory whole."""
BOM = b"\xef\xbb\xbf"

Batch = list[tuple[int, bytes | None]]
"""Lines with their numbers, from 1 as editors count; None stands for a line that is too long."""


@dataclass
class Lines:
    """The lines of a file that are not empty."""

    file: BinaryIO
    waits: bool
    """Whether it is a pipe, where more may be long in coming: an empty batch stands before every read."""
    ends: deque[int] = field(default_factory=deque[int])
    """The bytes up to the end of each batch that was given and is not empty: to be taken away by whoever counts."""

    def batches(self) -> Iterator[Batch]:
        number, at, end, held, size = 0, 0, 0, list[bytes](), 0
        while True:
            if self.waits:
                yield []
            # what is there, of a pipe; a reader that only knows `read` gives as much as that
            block = self.file.read1(BLOCK) if hasattr(self.file, "read1") else self.file.read(BLOCK)
            *ended, rest = block.split(b"\n")
            batch: Batch = []
            weight = 0
            if not block and (held or size):
                ended = [b""]  # the last line, which nothing ends
            for segment in ended:
                number += 1
                size += len(segment)
                at += size + 1
                line = b"".join([*held, segment]) if size <= LONGEST else None
                held, size = [], 0
                if number == 1 and line is not None:
                    line = line.removeprefix(BOM)
                if line is None or line.strip():
                    batch.append((number, line))
                    weight += len(line or b"")
                    end = at
                if len(batch) >= LINES or weight >= BYTES:
                    self.ends.append(end)
                    yield batch
                    batch, weight = [], 0
            if batch:
                self.ends.append(end)
                yield batch
            if not block:
                return
            size += len(rest)
            if size <= LONGEST:
                held.append(rest)
            else:
                held = []
