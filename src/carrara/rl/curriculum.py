"""A curriculum: one length after the other, each until prompts of it are answered well.

>>> course = Course("1k,2k", threshold=0.8, last=2)
>>> ids = [f"classic/niah@1/train-0-{n}.0/1024/chat/o200k" for n in range(4)]
>>> course.learn([(ids[0], 1.0), (ids[1], 0.5)])
>>> course.length
1024
>>> course.learn([(ids[2], 1.0), (ids[3], 0.6)])
>>> course.length
2048

It is all of plain values: pickle it beside a checkpoint, and training goes on where it was.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import Any

from carrara.item_id import Recipe
from carrara.options import Lengths, check_whole, lengths_of
from carrara.rl.reward import Completion, rewards
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import write_length

Told = tuple[str, float]
"""An item's id, and what a reply to it was worth."""


@dataclass
class Course:
    lengths: Lengths
    threshold: float = 0.8
    """The next length begins when prompts have this mean reward,"""
    last: int = 64
    """the last so many of this length; a prompt that has several replies counts once."""
    stage: int = 0
    seen: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Rewards of the last prompts, by their ids."""

    def __post_init__(self) -> None:
        self.lengths = self._steps = lengths_of(self.lengths)
        check_whole("last", self.last, 1)
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold={self.threshold!r} is no mean reward: give a number from 0 to 1")

    @property
    def length(self) -> int:
        """That of the next prompt."""
        return self._steps[self.stage]

    def learn(self, told: Iterable[Told]) -> None:
        """Go on if these make it so. Replies to prompts of another length, drawn before it went on, tell nothing."""
        for id, reward in told:
            if Recipe.parse(id).length == self.length:
                self.seen.setdefault(id, []).append(reward)
        while len(self.seen) > self.last:
            del self.seen[next(iter(self.seen))]
        if len(self.seen) < self.last or self.stage + 1 == len(self._steps):
            return
        if (mean := fmean(map(fmean, self.seen.values()))) >= self.threshold:
            self.stage += 1
            self.seen.clear()
            logger.info(
                f"the course goes on to {write_length(self.length)} tokens: the last {self.last} prompts had {mean:.3f}"
            )

    def rewards(
        self,
        completions: Sequence[Completion],
        prompts: Sequence[Any] = (),
        *,
        id: Sequence[str] | None = None,
        **_: Any,
    ) -> list[float]:
        """`carrara.rl.rewards`, and the course learns from them: a reward function for TRL."""
        found = rewards(completions, prompts, id=id)
        self.learn(_everywhere(list(zip(id or (), found, strict=True))))
        return found


def _everywhere(told: list[Told]) -> Iterable[Told]:
    """What all processes of a training were told, so that their courses stay alike: each draws all prompts."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return told
    parts: list[list[Told]] = [[]] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(parts, told)
    return chain(*parts)
