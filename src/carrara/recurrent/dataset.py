"""Stories without end for a user's own trainer, as `torch.utils.data.IterableDataset`, in the tokens of any model.

data = StoryDataset("qa1,qa2", segments=8, size=512, model=mine)      # by mine.encode, or by bytes
for row in DataLoader(data, batch_size=None): ...
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
    """A question on a story."""

    segment: int
    """The number of the segment after which it is asked, from 0 on."""
    ids: Tensor
    answer: Tensor
    """The tokens of the answer, with its end."""


class StoryRow(NamedTuple):
    """A story with its questions."""

    ids: Tensor
    """Segments × tokens."""
    has_facts: Tensor
    """Whether each segment states a fact, or is filler alone."""
    questions: list[StoryQuestion]


class StoryDataset(IterableDataset[StoryRow]):
    """Stories of the train split. Workers of a loader never return the same story.

    Args:
        tasks: Tasks by name, suite or pattern, separated by commas.
        segments: The number of segments of a story.
        size: The tokens of a segment.
        model: A model with `encode`. None: tokens are bytes.
        seed: The number that selects the instances.
        params: Parameters of the tasks.
    """

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
        self.codec = Text(model)
        self.firsts = item_ids(Selection(tasks, params or {}), Sampling(seed, "train"), None, TOKENIZER)

    def __iter__(self) -> Iterator[StoryRow]:
        worker = get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        several = [Stories(first, number, workers) for first in self.firsts]
        rng = Rng("told", self.seed, number)
        while True:
            sample = rng.choice(several).sample(self.codec, self.segments, self.size)
            yield StoryRow(
                torch.from_numpy(sample.segments),
                torch.tensor(sample.has_facts),
                [
                    StoryQuestion(one.segment, torch.tensor(one.question), torch.tensor(one.answer))
                    for one in sample.questions
                ],
            )
