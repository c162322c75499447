"""Stories as tensors: a batch has one number of segments, and questions stand together, a batch for each segment."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from carrara.recurrent.stories import Ask, Sample
from carrara.recurrent.vocabulary import PAD, UNTOLD


class QuestionBatch(NamedTuple):
    """The questions after one segment."""

    rows: Tensor
    """Of whom each is asked."""
    ids: Tensor
    targets: Tensor


class Batch(NamedTuple):
    ids: Tensor
    """Items × segments × tokens."""
    told: Tensor
    """Items × segments: whether it tells a fact."""
    asked: list[QuestionBatch | None]


def batch_of(samples: Sequence[Sample]) -> Batch:
    count = len(samples[0].segments)
    asked: list[QuestionBatch | None] = []
    for segment in range(count):
        found = [(row, ask) for row, one in enumerate(samples) for ask in one.asks if ask.segment == segment]
        asked.append(asked_of([row for row, _ in found], [ask for _, ask in found]) if found else None)
    return Batch(
        torch.from_numpy(np.stack([one.segments for one in samples])),
        torch.tensor([one.told for one in samples]),
        asked,
    )


def asked_of(rows: Sequence[int], asks: Sequence[Ask]) -> QuestionBatch:
    """Each question with its answer behind it, which is to be predicted from the question's end on."""
    texts = [[*ask.question, *ask.answer] for ask in asks]
    length = max(map(len, texts)) - 1
    ids = torch.full((len(asks), length), PAD)
    targets = torch.full((len(asks), length), UNTOLD)
    for row, (text, ask) in enumerate(zip(texts, asks, strict=True)):
        ids[row, : len(text) - 1] = torch.tensor(text[:-1])
        start = len(ask.question) - 1
        targets[row, start : len(text) - 1] = torch.tensor(text[start + 1 :])
    return QuestionBatch(torch.tensor(rows), ids, targets)


def merge_questions(several: Sequence[QuestionBatch]) -> QuestionBatch:
    length = max(asked.ids.shape[1] for asked in several)
    ids = [F.pad(asked.ids, (0, length - asked.ids.shape[1]), value=PAD) for asked in several]
    targets = [F.pad(asked.targets, (0, length - asked.targets.shape[1]), value=UNTOLD) for asked in several]
    return QuestionBatch(torch.cat([asked.rows for asked in several]), torch.cat(ids), torch.cat(targets))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Summed over questions, each the mean of its answer's tokens."""
    each = F.cross_entropy(logits.float().transpose(1, 2), targets, ignore_index=UNTOLD, reduction="none")
    return (each.sum(1) / (targets != UNTOLD).sum(1)).sum()


def right(logits: Tensor, targets: Tensor) -> Tensor:
    """Of each question, whether all its answer's tokens come out."""
    return ((logits.argmax(-1) == targets) | (targets == UNTOLD)).all(1)
