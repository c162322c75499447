"""What is seen of a training: a line where it goes on by itself, a bar where somebody watches, and a curve to keep."""

import sys
import time
from multiprocessing import parent_process
from types import TracebackType
from typing import TYPE_CHECKING

from carrara.core.log import logger

if TYPE_CHECKING:
    from carrara.recurrent.training import Training

EVERY = 20.0
"""Seconds between two lines."""


class Watching:
    def __init__(self, training: "Training") -> None:
        self.told, self.stage = 0.0, -1
        self.shown = sys.stderr.isatty() and parent_process() is None
        """Whether one line is written over and over: not by one of several side by side."""
        at = training.at
        if at.total:
            logger.info(f"{training.folder} goes on at step {at.total:,}")

    def __enter__(self) -> "Watching":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown and self.told:
            print(file=sys.stderr)

    def __call__(self, training: "Training") -> None:
        at = training.at
        now = time.monotonic()
        if now - self.told < (1.0 if self.shown else EVERY) and at.stage == self.stage:
            return
        self.told, self.stage = now, at.stage
        line = said(training)
        if self.shown:
            print(f"\r{line:<100}", end="", file=sys.stderr, flush=True)
        else:
            logger.info(f"{training.folder.name}: {line}")


def said(training: "Training") -> str:
    """Where a training is, in one line."""
    at, stages = training.at, training.settings.stages
    speed = at.tokens / at.seconds if at.seconds else 0.0
    if training.done:
        return f"trained: step {at.total:,}, loss {at.loss:.3f}, right {at.right:.3f}, {speed:,.0f} tokens/s"
    stage = stages[at.stage]
    fewest, most = stage.segments
    left = (stage.steps - at.step) * stage.batch * stage.size * (fewest + most) / 2
    left += sum(one.steps * one.batch * one.size * sum(one.segments) / 2 for one in stages[at.stage + 1 :])
    where = f"stage {at.stage + 1} of {len(stages)} ({fewest}-{most} × {stage.size}), step {at.total:,}"
    if not speed:
        return where
    return (
        f"{where}: loss {at.loss:.3f}, right {at.right:.3f}, open {at.opened:.4f}, {speed:,.0f} tokens/s, "
        f"at most {left / speed / 60:.0f} min left"
    )
