"""One training step: read the segments of a batch, ask the questions after each, and compute gradients.

Gradients go back through all segments, or through a number of them (`backprop`): the state before these is a constant,
and only their activations are in memory. With `recompute`, a segment is read again on the way back, instead of keeping
its activations.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from carrara.recurrent.dataset import Batch, QuestionBatch, is_right, loss_of, merge_questions
from carrara.recurrent.device import uses_half_precision
from carrara.recurrent.protocol import State, join_states, map_tensors, rows, tensors
from carrara.recurrent.settings import Settings, Stage


class StepResult(NamedTuple):
    loss: float
    final_loss: float
    """The mean loss of the questions after the last segment."""
    accuracy: float
    """The share of the questions after the last segment whose answer is right."""
    gate: float | None
    """The mean opening of the gates on segments without facts. None: there are no gates or no such segments."""


class _Sizes(NamedTuple):
    """The numbers by which a step's costs are divided."""

    stories: int
    questions: int
    final_questions: int


def join_questions(
    states_with_questions: Sequence[tuple[State, QuestionBatch]],
) -> Iterator[tuple[State, QuestionBatch]]:
    """Yield questions after several segments in few batches, in order: a large batch takes little longer than a small.

    States that grow with the text have the same shape only after the same segment.
    """
    for _, same in groupby(states_with_questions, lambda pair: [tensor.shape[1:] for tensor in tensors(pair[0])]):
        states, questions = zip(*same, strict=True)
        yield join_states(list(states)), merge_questions(questions)


class TrainStep:
    """Computes the gradients of a model's parameters."""

    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model: Any = model
        self.device, self.backprop, self.recompute = device, settings.backprop, settings.recompute
        self.halved = uses_half_precision(settings.precision, device)

    def run(self, batches: Sequence[Batch], stage: Stage) -> StepResult:
        """Add the gradients of a batch that is divided into parts. The division does not change them."""
        sizes = _Sizes(
            sum(len(batch.ids) for batch in batches),
            sum(len(questions.rows) for batch in batches for questions in batch.questions if questions),
            sum(len(batch.questions[-1].rows) for batch in batches if batch.questions[-1]),
        )
        results = [self._run_part(batch, stage, sizes) for batch in batches]
        gates = [result.gate for result in results if result.gate is not None]
        return StepResult(
            sum(result.loss for result in results),
            sum(result.final_loss for result in results),
            sum(result.accuracy for result in results),
            fmean(gates) if gates else None,
        )

    def _run_part(self, batch: Batch, stage: Stage, sizes: _Sizes) -> StepResult:
        items, segments, _ = batch.ids.shape
        ids, blank = batch.ids.to(self.device), ~batch.has_facts.to(self.device)
        state, total = self.model.init(items), 0.0
        gates: list[Tensor] = []
        for first in range(0, segments, self.backprop or segments):
            part = range(first, min(segments, first + (self.backprop or segments)))
            loss = torch.zeros((), device=self.device)
            states_with_questions: list[tuple[State, QuestionBatch]] = []
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.halved):
                for segment in part:
                    state = self._read(state, ids[:, segment])
                    if hasattr(state, "gates"):
                        gate = state.gates.float().mean(1)
                        cost = stage.gate_penalty + stage.noise_penalty * blank[:, segment]
                        loss = loss + (cost * gate).sum() / (sizes.stories * segments)
                        gates.append(gate.detach())
                    if questions := batch.questions[segment]:
                        states_with_questions.append((rows(state, questions.rows), questions))
                for states, joined in join_questions(states_with_questions):
                    logits = self.model.step(states, joined.ids.to(self.device), update=False)[1]
                    targets = joined.targets.to(self.device)
                    loss = loss + loss_of(logits, targets) / sizes.questions
                if stage.in_segment_loss and segments == 1:
                    assert questions is not None
                    loss = loss + stage.in_segment_loss * self._in_segment_loss(ids[:, 0], questions) / sizes.stories
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
            state = map_tensors(state, Tensor.detach)
        assert questions is not None  # there is a question after the last segment of each story
        last = slice(-len(questions.rows), None)
        empty = torch.stack(gates, 1)[blank] if gates else None
        return StepResult(
            total,
            float(loss_of(logits[last].detach(), targets[last])) / sizes.final_questions,
            float(is_right(logits[last], targets[last]).float().sum()) / sizes.final_questions,
            float(empty.mean()) if empty is not None and len(empty) else None,
        )

    def _read(self, state: State, ids: Tensor) -> State:
        if self.recompute:
            return checkpoint(self.model.step, state, ids, predict=False, use_reentrant=False)[0]
        return self.model.step(state, ids, predict=False)[0]

    def _in_segment_loss(self, ids: Tensor, questions: QuestionBatch) -> Tensor:
        """Return the loss of answers that follow the segment, where no memory is needed: reading is learned first."""
        order = {int(row): place for place, row in enumerate(questions.rows.tolist())}  # one question of each story
        places = torch.tensor(sorted(order.values()))
        stories = questions.rows[places].to(self.device)
        texts = torch.cat([ids[stories], questions.ids[places].to(self.device)], 1)
        _, logits = self.model.step(self.model.init(len(places)), texts, update=False)
        targets = questions.targets[places].to(self.device)
        return loss_of(logits[:, ids.shape[1] :], targets)
