"""One batch: what is told, what is asked after each segment, and the gradients of what was answered.

Gradients go back through all segments, or through so many (`through`): then what was read before them is taken as it
is, and only they are held. With `anew` a segment is read a second time on the way back, instead of being held.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from carrara.recurrent.batches import Batch, QuestionBatch, loss_of, merge_questions, right
from carrara.recurrent.device import uses_half_precision
from carrara.recurrent.protocol import State, each, join_states, rows, tensors
from carrara.recurrent.settings import Settings, Stage


class StepResult(NamedTuple):
    loss: float
    told: float
    """The loss of the questions after the last segment, and the share of them that are right."""
    right: float
    opened: float | None
    """How far gates were open on segments that tell nothing, where there are such."""


def together(behind: Sequence[tuple[State, QuestionBatch]]) -> Iterator[tuple[State, QuestionBatch]]:
    """Questions after several segments, as if they were asked after one: many at once take little longer than a few.

    Their order stays. States that grow with the text are alike only after one and the same segment.
    """
    for _, alike in groupby(behind, lambda one: [tensor.shape[1:] for tensor in tensors(one[0])]):
        states, asked = zip(*alike, strict=True)
        yield join_states(list(states)), merge_questions(asked)


class Lesson:
    """A model at its lesson: gradients are left in its parameters."""

    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model: Any = model
        self.device, self.through, self.anew = device, settings.through, settings.anew
        self.halved = uses_half_precision(settings.precision, device)

    def learn(self, batch: Batch, stage: Stage) -> StepResult:
        items, segments, _ = batch.ids.shape
        ids, blank = batch.ids.to(self.device), ~batch.told.to(self.device)
        count = sum(len(asked.rows) for asked in batch.asked if asked)
        state, total = self.model.init(items), 0.0
        gates: list[Tensor] = []
        for first in range(0, segments, self.through or segments):
            part = range(first, min(segments, first + (self.through or segments)))
            loss = torch.zeros((), device=self.device)
            behind: list[tuple[State, QuestionBatch]] = []
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.halved):
                for segment in part:
                    state = self._read(state, ids[:, segment])
                    if hasattr(state, "opened"):
                        gate = state.opened.float().mean(1)
                        cost = stage.shut + stage.noise * blank[:, segment]
                        loss = loss + (cost * gate).sum() / (items * segments)
                        gates.append(gate.detach())
                    if asked := batch.asked[segment]:
                        behind.append((rows(state, asked.rows.to(self.device)), asked))
                for states, several in together(behind):
                    logits = self.model.step(states, several.ids.to(self.device), keep=False)[1]
                    targets = several.targets.to(self.device)
                    loss = loss + loss_of(logits, targets) / count
                if stage.inside and segments == 1:
                    assert asked is not None
                    loss = loss + stage.inside * self._inside(ids[:, 0], asked)
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
            state = each(state, Tensor.detach)
        assert asked is not None  # a story asks something after its last segment
        last = slice(-len(asked.rows), None)
        opened = torch.stack(gates, 1)[blank] if gates else None
        return StepResult(
            total,
            float(loss_of(logits[last].detach(), targets[last])) / len(asked.rows),
            float(right(logits[last], targets[last]).float().mean()),
            float(opened.mean()) if opened is not None and len(opened) else None,
        )

    def _read(self, state: State, ids: Tensor) -> State:
        if self.anew:
            return checkpoint(self.model.step, state, ids, tell=False, use_reentrant=False)[0]
        return self.model.step(state, ids, tell=False)[0]

    def _inside(self, ids: Tensor, asked: QuestionBatch) -> Tensor:
        """The loss of answers right behind the text, where no memory is needed: reading is learned before keeping."""
        order = {int(row): place for place, row in enumerate(asked.rows.tolist())}  # one question of each
        places = torch.tensor(sorted(order.values()))
        whole = torch.cat([ids[asked.rows[places]], asked.ids[places].to(self.device)], 1)
        _, logits = self.model.step(self.model.init(len(places)), whole, keep=False)
        targets = asked.targets[places].to(self.device)
        return loss_of(logits[:, ids.shape[1] :], targets) / len(places)
