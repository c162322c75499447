"""A curriculum of lengths for training with rewards."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import Any

from carrara.export.reward import Completion, score_completions
from carrara.export.scale import RewardScale, check_scale, scale_reward
from carrara.items.item_id import ItemId
from carrara.options import Lengths, check_whole, lengths_of
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import write_length

ScoredLength = tuple[str, float]
"""The id of an item, and the score of a reply to it."""


@dataclass
class Curriculum:
    """A curriculum: one length after the other, each until its prompts are answered well.

    A curriculum has only plain values. Pickle it with a checkpoint to resume a training.

    Examples:
        >>> from carrara.export import Curriculum
        >>> curriculum = Curriculum("1k,2k", threshold=0.8, last=2)
        >>> ids = [f"classic/niah@1/train-0-{n}.0/1024/chat/o200k" for n in range(2)]
        >>> curriculum.learn([(ids[0], 1.0), (ids[1], 0.7)])
        >>> curriculum.length
        2048
    """

    lengths: Lengths
    """Tokens of the prompts, in the order of the curriculum, such as `1k,2k`."""
    threshold: float = 0.8
    """The mean score of the last prompts at which the next length begins."""
    last: int = 64
    """The number of last prompts that count. A prompt with several replies counts once."""
    stage: int = 0
    """The position of the present length among `lengths`."""
    seen: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """The scores of the last prompts, by their ids."""
    scale: RewardScale = None
    """How a score becomes a reward, as in `carrara.export.rewards`. The curriculum itself goes by scores."""

    def __post_init__(self) -> None:
        self.lengths = self._steps = lengths_of(self.lengths)
        check_whole("last", self.last, 1)
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold={self.threshold!r} is no mean score: give a number from 0 to 1")
        check_scale(self.scale)

    @property
    def length(self) -> int:
        """The length of the next prompt."""
        return self._steps[self.stage]

    def learn(self, told: Iterable[ScoredLength]) -> None:
        """Take the scores of replies, and go on to the next length if they are high enough.

        Replies to prompts of another length, which were drawn earlier, are ignored.

        Args:
            told: The ids of items, each with the score of a reply.

        Examples:
            >>> curriculum = Curriculum("1k,2k", threshold=0.8, last=1)
            >>> curriculum.learn([("classic/niah@1/train-0-0.0/1024/chat/o200k", 0.5)])
            >>> curriculum.length
            1024
        """
        for id, reward in told:
            if ItemId.parse(id).length == self.length:
                self.seen.setdefault(id, []).append(reward)
        while len(self.seen) > self.last:
            del self.seen[next(iter(self.seen))]
        if len(self.seen) < self.last or self.stage + 1 == len(self._steps):
            return
        if (mean := fmean(map(fmean, self.seen.values()))) >= self.threshold:
            self.stage += 1
            self.seen.clear()
            logger.info(
                f"the curriculum goes on to {write_length(self.length)} tokens: "
                f"the last {self.last} prompts had {mean:.3f}"
            )

    def rewards(
        self,
        completions: Sequence[Completion],
        prompts: Sequence[Any] = (),
        *,
        id: Sequence[str] | None = None,
        **_: Any,
    ) -> list[float]:
        """Return the rewards of `carrara.export.rewards`, and learn from them. This is a reward function for TRL.

        Args:
            completions: The replies, as texts or messages.
            prompts: The prompts, which are ignored.
            id: The ids of the items.

        Returns:
            The rewards. Without a scale they are the scores, from 0 to 1.

        Examples:
            >>> import carrara
            >>> i = carrara.item("niah", "1k", split="train")
            >>> Curriculum("1k,2k").rewards([i.gold], id=[i.id])
            [1.0]
        """
        results = score_completions(completions, id)
        self.learn(_gather_scores([(result.id, result.score) for result in results]))
        return [scale_reward(result, self.scale) for result in results]


def _gather_scores(scores: list[ScoredLength]) -> Iterable[ScoredLength]:
    """Return the rewards of all processes of a training, so that each takes the same course.

    Each process draws all prompts.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return scores
    parts: list[list[ScoredLength]] = [[]] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(parts, scores)
    return chain(*parts)
