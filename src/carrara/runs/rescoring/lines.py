"""Numbered lines of a file or pipe in batches of a few megabytes, as they arrive."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

BLOCK = 1 << 20
"""Bytes that are read at once. From a pipe, fewer may arrive."""
LINES, BYTES = 256, 4 << 20
"""The approximate size of a batch. A single line may be longer."""
LONGEST = 64 << 20
"""The most bytes of a line. A longer line is not a reply, and would have to be held in memory."""
BOM = b"\xef\xbb\xbf"

Batch = list[tuple[int, bytes | None]]
"""Lines with their numbers from 1, as in editors. None stands for a line that is too long."""


@dataclass
class Lines:
    """The non-empty lines of a file."""

    file: BinaryIO
    waits: bool
    """Whether it is a pipe, which may make the reader wait. An empty batch is yielded before every read."""
    ends: deque[int] = field(default_factory=deque[int])
    """The bytes up to the end of each non-empty batch that was yielded. The caller removes them."""

    def batches(self) -> Iterator[Batch]:
        number, at, end, line_parts, size = 0, 0, 0, list[bytes](), 0
        while True:
            if self.waits:
                yield []
            # the bytes that a pipe has; a reader with `read` alone gives as many as it likes
            block = self.file.read1(BLOCK) if hasattr(self.file, "read1") else self.file.read(BLOCK)
            *ended, rest = block.split(b"\n")
            batch: Batch = []
            weight = 0
            if not block and (line_parts or size):
                ended = [b""]  # the last line, without a line break
            for segment in ended:
                number += 1
                size += len(segment)
                at += size + 1
                line = b"".join([*line_parts, segment]) if size <= LONGEST else None
                line_parts, size = [], 0
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
                line_parts.append(rest)
            else:
                line_parts = []
