"""One batch: what is told, what is asked after each segment, and the gradients of what was answered.

Gradients go back through all segments, or through so many (`through`): then what was read before them is taken as it
is, and only they are held. With `anew` a segment is read a second time on the way back, instead of being held.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from carrara.core.errors import UsageError
from carrara.recurrent.batches import Asked, Batch, loss_of, right
from carrara.recurrent.protocol import State, each, rows
from carrara.recurrent.settings import Settings, Stage


class Result(NamedTuple):
    loss: float
    told: float
    """The loss of the questions after the last segment, and the share of them that are right."""
    right: float
    opened: float | None
    """How far gates were open on segments that tell nothing, where there are such."""


class Lesson:
    """A model at its lesson: gradients are left in its parameters."""

    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model: Any = model
        self.device, self.through, self.anew = device, settings.through, settings.anew
        self.halved = halved(settings.precision, device)

    def learn(self, batch: Batch, stage: Stage) -> Result:
        items, segments, _ = batch.ids.shape
        ids, blank = batch.ids.to(self.device), ~batch.told.to(self.device)
        count = sum(len(asked.rows) for asked in batch.asked if asked)
        state, total = self.model.init(items), 0.0
        gates: list[Tensor] = []
        for first in range(0, segments, self.through or segments):
            part = range(first, min(segments, first + (self.through or segments)))
            loss = torch.zeros((), device=self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.halved):
                for segment in part:
                    state = self._read(state, ids[:, segment])
                    if hasattr(state, "opened"):
                        gate = state.opened.float().mean(1)
                        cost = stage.shut + stage.noise * blank[:, segment]
                        loss = loss + (cost * gate).sum() / (items * segments)
                        gates.append(gate.detach())
                    if asked := batch.asked[segment]:
                        logits = self._answers(state, asked)
                        ending = loss_of(logits, asked.targets.to(self.device))
                        loss = loss + ending / count
                if stage.inside and segments == 1:
                    assert asked is not None
                    loss = loss + stage.inside * self._inside(ids[:, 0], asked)
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
            state = each(state, Tensor.detach)
        assert asked is not None  # a story asks something after its last segment
        opened = torch.stack(gates, 1)[blank] if gates else None
        return Result(
            total,
            float(ending.detach()) / len(asked.rows),
            float(right(logits, asked.targets.to(self.device)).float().mean()),
            float(opened.mean()) if opened is not None and len(opened) else None,
        )

    def _read(self, state: State, ids: Tensor) -> State:
        if self.anew:
            return checkpoint(self.model.step, state, ids, tell=False, use_reentrant=False)[0]
        return self.model.step(state, ids, tell=False)[0]

    def _answers(self, state: State, asked: Asked) -> Tensor:
        chosen = rows(state, asked.rows.to(self.device))
        found: Tensor = self.model.step(chosen, asked.ids.to(self.device), keep=False)[1]
        return found

    def _inside(self, ids: Tensor, asked: Asked) -> Tensor:
        """The loss of answers right behind the text, where no memory is needed: reading is learned before keeping."""
        order = {int(row): place for place, row in enumerate(asked.rows.tolist())}  # one question of each
        places = torch.tensor(sorted(order.values()))
        whole = torch.cat([ids[asked.rows[places]], asked.ids[places].to(self.device)], 1)
        _, logits = self.model.step(self.model.init(len(places)), whole, keep=False)
        targets = asked.targets[places].to(self.device)
        return loss_of(logits[:, ids.shape[1] :], targets) / len(places)


def halved(precision: str, device: torch.device) -> bool:
    """Whether products are made with half the bits: where the machine is much faster with them."""
    if precision == "auto":
        return device.type != "cpu" or bool(torch.cpu._is_amx_tile_supported())
    if precision not in ("float32", "bfloat16"):
        raise UsageError(f"precision={precision} is none of auto, float32, bfloat16")
    return precision == "bfloat16"
