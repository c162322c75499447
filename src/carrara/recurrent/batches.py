"""Batches of stories: all stories of a batch have the same number of segments, and questions are grouped by segment."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from carrara.recurrent.stories import Sample, SegmentQuestion
from carrara.recurrent.vocabulary import IGNORED, PAD


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
        found = [(row, one) for row, sample in enumerate(samples) for one in sample.questions if one.segment == segment]
        questions.append(question_batch([row for row, _ in found], [one for _, one in found]) if found else None)
    return Batch(
        torch.from_numpy(np.stack([sample.segments for sample in samples])),
        torch.tensor([sample.has_facts for sample in samples]),
        questions,
    )


def question_batch(rows: Sequence[int], questions: Sequence[SegmentQuestion]) -> QuestionBatch:
    """Return questions as a batch, each followed by its answer."""
    texts = [[*one.question, *one.answer] for one in questions]
    length = max(map(len, texts)) - 1
    ids = torch.full((len(questions), length), PAD)
    targets = torch.full((len(questions), length), IGNORED)
    for row, (text, one) in enumerate(zip(texts, questions, strict=True)):
        ids[row, : len(text) - 1] = torch.tensor(text[:-1])
        start = len(one.question) - 1
        targets[row, start : len(text) - 1] = torch.tensor(text[start + 1 :])
    return QuestionBatch(torch.tensor(rows), ids, targets)


def merge_questions(several: Sequence[QuestionBatch]) -> QuestionBatch:
    """Return several batches of questions as one."""
    length = max(batch.ids.shape[1] for batch in several)
    ids = [F.pad(batch.ids, (0, length - batch.ids.shape[1]), value=PAD) for batch in several]
    targets = [F.pad(batch.targets, (0, length - batch.targets.shape[1]), value=IGNORED) for batch in several]
    return QuestionBatch(torch.cat([batch.rows for batch in several]), torch.cat(ids), torch.cat(targets))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the sum over the questions of the mean cross-entropy of their answers' tokens."""
    each = F.cross_entropy(logits.float().transpose(1, 2), targets, ignore_index=IGNORED, reduction="none")
    return (each.sum(1) / (targets != IGNORED).sum(1)).sum()


def is_right(logits: Tensor, targets: Tensor) -> Tensor:
    """Return for each question whether the most probable tokens are the answer."""
    return ((logits.argmax(-1) == targets) | (targets == IGNORED)).all(1)
