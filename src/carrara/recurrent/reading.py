"""Many items read side by side, a segment of each at a time: what is held is a state each, however long they are."""

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
    """Something that is being read, and whose it is."""

    whose: T
    segments: Iterator[Ids]
    state: State
    tokens: int = 0


class Desk(Generic[T]):
    """Where readings lie."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.readings: list[SegmentReading[T]] = []

    def lay(self, whose: T, segments: Iterator[Ids]) -> None:
        self.readings.append(SegmentReading(whose, segments, self.model.init(1)))

    def turn(self) -> list[SegmentReading[T]]:
        """Read one segment more of each. What has been read to its end leaves the desk."""
        going: list[SegmentReading[T]] = []
        ended: list[SegmentReading[T]] = []
        together: dict[int, list[tuple[SegmentReading[T], Ids]]] = {}
        for one in self.readings:
            segment = next(one.segments, None)
            if segment is None:
                ended.append(one)
            else:
                going.append(one)
                one.tokens += len(segment)
                together.setdefault(len(segment), []).append((one, segment))
        self.readings = going
        for several in together.values():  # the last segment of a text may be shorter
            state = join_states([one.state for one, _ in several])
            after = read(self.model, state, torch.from_numpy(np.stack([segment for _, segment in several])))
            for place, (one, _) in enumerate(several):
                one.state = rows(after, torch.tensor([place]))
        return ended
