"""Stories without end for a user's own trainer, as `torch.utils.data.IterableDataset`, in the tokens of any model.

data = StoryDataset("qa1,qa2", segments=8, size=512, model=mine)      # by mine.encode, or by bytes
for row in DataLoader(data, batch_size=None): ...
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import IterableDataset, get_worker_info

from carrara.items.selection import Sampling, Selection, item_ids
from carrara.recurrent.stories import TOKENIZER, Sample, SegmentQuestion, Stories
from carrara.recurrent.text_codec import Text
from carrara.recurrent.vocabulary import IGNORED, PAD
from carrara.rng import Rng


class QuestionBatch(NamedTuple):
    """The questions after one segment, each with its answer."""

    rows: Tensor
    """The story of each question, by its number in the batch."""
    ids: Tensor
    """Questions × tokens: the question and its answer, without the last token."""
    targets: Tensor
    """The next token at each position of the answer, and `IGNORED` at the others."""


class Batch(NamedTuple):
    ids: Tensor
    """Stories × segments × tokens."""
    has_facts: Tensor
    """Stories × segments: whether the segment states a fact."""
    questions: list[QuestionBatch | None]
    """The questions after each segment. None where there are none."""


def batch_of(samples: Sequence[Sample]) -> Batch:
    """Return stories as a batch."""
    count = len(samples[0].segments)
    questions: list[QuestionBatch | None] = []
    for segment in range(count):
        row_questions = [
            (row, question)
            for row, sample in enumerate(samples)
            for question in sample.questions
            if question.segment == segment
        ]
        questions.append(
            question_batch([row for row, _ in row_questions], [question for _, question in row_questions])
            if row_questions
            else None
        )
    return Batch(
        torch.from_numpy(np.stack([sample.segments for sample in samples])),
        torch.tensor([sample.has_facts for sample in samples]),
        questions,
    )


def question_batch(rows: Sequence[int], questions: Sequence[SegmentQuestion]) -> QuestionBatch:
    """Return questions as a batch, each followed by its answer."""
    texts = [[*question.question, *question.answer] for question in questions]
    length = max(map(len, texts)) - 1
    ids = torch.full((len(questions), length), PAD)
    targets = torch.full((len(questions), length), IGNORED)
    for row, (text, question) in enumerate(zip(texts, questions, strict=True)):
        ids[row, : len(text) - 1] = torch.tensor(text[:-1])
        start = len(question.question) - 1
        targets[row, start : len(text) - 1] = torch.tensor(text[start + 1 :])
    return QuestionBatch(torch.tensor(rows), ids, targets)


def merge_questions(batches: Sequence[QuestionBatch]) -> QuestionBatch:
    """Return several batches of questions as one."""
    length = max(batch.ids.shape[1] for batch in batches)
    ids = [F.pad(batch.ids, (0, length - batch.ids.shape[1]), value=PAD) for batch in batches]
    targets = [F.pad(batch.targets, (0, length - batch.targets.shape[1]), value=IGNORED) for batch in batches]
    return QuestionBatch(torch.cat([batch.rows for batch in batches]), torch.cat(ids), torch.cat(targets))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the sum over the questions of the mean cross-entropy of their answers' tokens."""
    each = F.cross_entropy(logits.float().transpose(1, 2), targets, ignore_index=IGNORED, reduction="none")
    return (each.sum(1) / (targets != IGNORED).sum(1)).sum()


def is_right(logits: Tensor, targets: Tensor) -> Tensor:
    """Return for each question whether the most probable tokens are the answer."""
    return ((logits.argmax(-1) == targets) | (targets == IGNORED)).all(1)


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
        all_stories = [Stories(first, number, workers) for first in self.firsts]
        rng = Rng("told", self.seed, number)
        while True:
            sample = rng.choice(all_stories).sample(self.codec, self.segments, self.size)
            yield StoryRow(
                torch.from_numpy(sample.segments),
                torch.tensor(sample.has_facts),
                [
                    StoryQuestion(question.segment, torch.tensor(question.question), torch.tensor(question.answer))
                    for question in sample.questions
                ],
            )
