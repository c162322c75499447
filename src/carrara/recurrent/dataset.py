"""Stories without end for a trainer of one's own: `torch.utils.data.IterableDataset`, in one's own tokens.

data = StoryDataset("qa1,qa2", segments=8, size=512, model=mine)      # by mine.encode, or by bytes
for sample in DataLoader(data, batch_size=None): ...
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from carrara.items.selection import Sampling, Selection, item_ids
from carrara.recurrent.stories import TOKENIZER, Stories
from carrara.recurrent.text_codec import Text
from carrara.rng import Rng


class StoryQuestion(NamedTuple):
    segment: int
    """It is asked after this one, from 0 on."""
    ids: Tensor
    answer: Tensor
    """With its end."""


class StoryRow(NamedTuple):
    ids: Tensor
    """Segments × tokens."""
    told: Tensor
    """Whether a segment tells a fact, or is filler alone."""
    questions: list[StoryQuestion]


class StoryDataset(IterableDataset[StoryRow]):
    """Of the training split. Workers of a loader never tell the same story."""

    def __init__(
        self,
        tasks: str,
        segments: int,
        size: int,
        model: Any = None,
        seed: int = 0,
        params: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.segments, self.size, self.seed = segments, size, seed
        self.tongue = Text(model)
        self.firsts = item_ids(Selection(tasks, params or {}), Sampling(seed, "train"), None, TOKENIZER)

    def __iter__(self) -> Iterator[StoryRow]:
        worker = get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        several = [Stories(first, number, workers) for first in self.firsts]
        rng = Rng("told", self.seed, number)
        while True:
            sample = rng.choice(several).sample(self.tongue, self.segments, self.size)
            yield StoryRow(
                torch.from_numpy(sample.segments),
                torch.tensor(sample.told),
                [
                    StoryQuestion(ask.segment, torch.tensor(ask.question), torch.tensor(ask.answer))
                    for ask in sample.asks
                ],
            )
