"""Read many items at the same time, one segment of each after the other. Only the states are in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from carrara.recurrent.protocol import State, join_states, read, rows
from carrara.recurrent.vocabulary import Ids

T = TypeVar("T")


@dataclass
class SegmentReading(Generic[T]):
    """A text that is being read."""

    owner: T
    """The object for which it is read."""
    segments: Iterator[Ids]
    state: State
    tokens: int = 0


class BatchReader(Generic[T]):
    """Reads several texts with one model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.readings: list[SegmentReading[T]] = []

    def add(self, owner: T, segments: Iterator[Ids]) -> None:
        """Add a text."""
        self.readings.append(SegmentReading(owner, segments, self.model.init(1)))

    def read_segments(self) -> list[SegmentReading[T]]:
        """Read one more segment of each text. Remove and return those that have ended."""
        going: list[SegmentReading[T]] = []
        ended: list[SegmentReading[T]] = []
        by_size: dict[int, list[tuple[SegmentReading[T], Ids]]] = {}
        for reading in self.readings:
            segment = next(reading.segments, None)
            if segment is None:
                ended.append(reading)
            else:
                going.append(reading)
                reading.tokens += len(segment)
                by_size.setdefault(len(segment), []).append((reading, segment))
        self.readings = going
        for same_size in by_size.values():  # the last segment of a text may be shorter
            state = join_states([reading.state for reading, _ in same_size])
            after = read(self.model, state, torch.from_numpy(np.stack([segment for _, segment in same_size])))
            for place, (reading, _) in enumerate(same_size):
                reading.state = rows(after, torch.tensor([place]))
        return ended
