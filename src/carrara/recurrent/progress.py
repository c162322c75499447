"""Progress of a training.

gpt2: 340 steps · stage 2 of 3 (1-4 × 128) · loss 0.312 · accuracy 0.871 · 12,400 tokens/s · at most 12 min left
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from carrara.util.progress import Progress
from carrara.util.quantities import duration

if TYPE_CHECKING:
    from rich.console import Console

    from carrara.recurrent.settings import Stage
    from carrara.recurrent.training import Training


class TrainingProgress(Progress):
    """Shows how far a training is."""

    def __init__(self, training: "Training", console: "Console") -> None:
        super().__init__("steps", label=training.folder.name, console=console, lasting=True)
        self._training = training
        self._tokens = sum(map(_tokens, training.settings.stages))

    def update(self, training: "Training") -> None:
        """Count the steps that the training has made."""
        self.done = training.state.total

    def share(self) -> float:
        """Return the share of the tokens. It jumps where a stage ends before its last step."""
        return 1 - self._tokens_left() / self._tokens

    def seconds_left(self) -> None:
        """Return None: `notes` has an upper bound."""

    def notes(self) -> Iterator[str]:
        state, stages = self._training.state, self._training.settings.stages
        number = state.stage
        if number < len(stages):
            fewest, most = stages[number].segments
            yield f"stage {number + 1} of {len(stages)} ({fewest}-{most} × {stages[number].size})"
        if not state.seconds:
            return
        speed = state.tokens / state.seconds
        yield f"loss {state.loss:.3f}"
        yield f"accuracy {state.accuracy:.3f}"
        yield f"gates {state.gate:.4f}"
        yield f"{speed:,.0f} tokens/s"
        if number < len(stages):
            yield f"at most {duration(self._tokens_left() / speed)} left"

    def _tokens_left(self) -> float:
        state = self._training.state
        stages = self._training.settings.stages[state.stage :]
        tokens_read = _tokens(stages[0]) * state.step / stages[0].steps if stages else 0.0
        return sum(map(_tokens, stages)) - tokens_read


def _tokens(stage: "Stage") -> float:
    """Return the tokens that a stage reads at most."""
    return stage.steps * stage.batch * stage.size * sum(stage.segments) / 2
