"""Scales of rewards, by which the tasks of a mixed batch balance.

A guesser scores 0.5 on one task and 0 on another. If rewards are compared across tasks, its replies to the first
are reinforced, and those to the second are not. A scale turns scores into rewards, so that guessing pays the same
everywhere.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from os import PathLike
from pathlib import Path
from statistics import fmean, pstdev
from typing import NamedTuple

from carrara.answers.status import NEVER_ASKED
from carrara.results.result import Result
from carrara.util.errors import UsageError

CHANCE = "chance"
"""The scale that takes the chance level of each question."""

TaskScale = float | Sequence[float]
"""The scale of one task: a factor; or the mean and the standard deviation of its scores."""
RewardScale = str | PathLike[str] | Mapping[str, TaskScale] | None
"""How scores become rewards: `"chance"`; scales by task; or a folder of a run, from which they are measured. None: the
reward is the score."""
ScaleOption = str | dict[str, float | list[float]] | None
"""A `RewardScale` that a configuration file can hold."""


class _Line(NamedTuple):
    """The straight line from scores to rewards."""

    mean: float
    """The score whose reward is 0."""
    deviation: float
    """The difference of scores that is a reward of 1."""

    def reward(self, score: float) -> float:
        return (score - self.mean) / self.deviation


def scale_reward(result: Result, scale: RewardScale) -> float:
    """Return the reward of a scored reply.

    Args:
        result: The scored reply.
        scale: `"chance"`: (score - chance level) / (1 - chance level), so that a guesser earns 0 on average and a right
            answer 1. A mapping from tasks to a factor, or to the mean and the standard deviation of their scores. Or
            the folder of a run, whose replies give these means and standard deviations. None: the score.

    Returns:
        The reward.

    Raises:
        UsageError: The scale lacks the task, or is none.

    Examples:
        >>> from carrara.export.reward import score_completion
        >>> import carrara
        >>> i = carrara.item("qa6", split="train")
        >>> wrong = score_completion(i.id, "I like turtles")
        >>> scale_reward(wrong, "chance"), scale_reward(wrong, {"qa6": [0.5, 0.25]}), scale_reward(wrong, None)
        (-1.0, -2.0, 0.0)
    """
    if scale is None:
        return result.score
    if scale == CHANCE:
        # 0 means that any answer is right, so that only a reply without one can lose.
        range_above_chance = 1 - result.chance_level
        return _Line(result.chance_level, range_above_chance or 1.0).reward(result.score)
    if isinstance(scale, Mapping):
        for name in _names(result.task):
            if name in scale:
                return _line(name, scale[name]).reward(result.score)
        raise UsageError(
            f"the reward scale has none for {result.task}: add its factor, or the mean and the standard deviation of "
            f"its scores, such as {{'{result.task}': [0.5, 0.5]}}"
        )
    if not isinstance(scale, str | PathLike):
        raise UsageError(f"{scale!r} is no reward scale: give 'chance', a folder of a run, or scales by task")
    folder = Path(scale)
    measured = _measure(folder)
    if result.task not in measured:
        raise UsageError(f"{folder} has no replies to {result.task}, from which its reward scale could be measured")
    line = measured[result.task]
    if not line.deviation:
        raise UsageError(
            f"all replies to {result.task} in {folder} score {line.mean:g}, which gives no reward scale: "
            "give scales by task"
        )
    return line.reward(result.score)


def check_scale(scale: RewardScale) -> None:
    """Raise `UsageError` for a value that is no scale of rewards."""
    match scale:
        case None | "chance":
            pass
        case Mapping():
            for name, task_scale in scale.items():
                _line(name, task_scale)
        case str() | PathLike():
            _measure(Path(scale))
        case _:
            raise UsageError(f"{scale!r} is no reward scale: give 'chance', a folder of a run, or scales by task")


def _names(task: str) -> list[str]:
    """Return the names by which a mapping may have a task, the most exact first.

    >>> _names("sync/graph:shortest")
    ['sync/graph:shortest', 'graph:shortest', 'sync/graph', 'graph']
    """
    task_name = task.partition(":")[0]
    return [name for full_name in dict.fromkeys([task, task_name]) for name in (full_name, full_name.partition("/")[2])]


def _line(task: str, task_scale: TaskScale) -> _Line:
    """Return the line of a factor, or of a mean and a standard deviation."""
    numbers: list[object] = list(task_scale) if isinstance(task_scale, Sequence) else [task_scale]
    if any(isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) for value in numbers):
        numbers = []
    match numbers:
        case [int() | float() as factor] if factor > 0:
            return _Line(0.0, 1 / factor)
        case [int() | float() as mean, int() | float() as deviation] if deviation > 0:
            return _Line(mean, deviation)
    raise UsageError(
        f"{task_scale!r} is no reward scale of {task}: give a factor above 0, or the mean and the standard deviation "
        "of its scores, such as [0.5, 0.5]"
    )


@lru_cache(maxsize=16)
def _measure(folder: Path) -> Mapping[str, _Line]:
    """Return the line of each task in a folder of a run. Failed requests do not count."""
    from carrara.runs.replies import read_runs

    scores: dict[str, list[float]] = {}
    for result in read_runs([folder]):
        if result.status not in NEVER_ASKED:
            scores.setdefault(result.task, []).append(result.score)
    if not scores:
        raise UsageError(f"{folder} has no replies from which a reward scale could be measured")
    return {task: _Line(fmean(values), pstdev(values)) for task, values in scores.items()}
