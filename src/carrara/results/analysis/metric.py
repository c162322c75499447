"""Choose the score that counts: the sound score, or the paper's own, which compares with published scores.

A paper's scorer grades replies as the paper did, with its faults. A test without a published scorer keeps its sound
score. Chance levels are those of the sound score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from carrara.core.natsort import natural
from carrara.core.result import Result

Metric = Literal["sound", "paper"]
METRICS: tuple[Metric, ...] = get_args(Metric)

PAPER = "paper"
"""The name of the paper's own score among the published scores of a reply."""
OTHERS = ("gdm", "openai")
"""Names of the metrics of other publishers, the authors of the paper first."""


def papers(task: str) -> tuple[str, ...]:
    """Return the names that the paper score of a test may have."""
    return (PAPER, task.partition("/")[0], *OTHERS)


def by_metric(results: Sequence[Result], metric: Metric) -> list[Result]:
    """Return the results with another score that counts."""
    if metric == "sound":
        return [replace(result, metric="") if result.metric else result for result in results]
    known: dict[str, set[str]] = {}
    for result in results:
        known.setdefault(result.task, set()).update(result.scores)
    names = {task: next((name for name in papers(task) if name in has), "") for task, has in known.items()}
    return [replace(result, metric=names[result.task]) for result in results]


def describe_metric(metrics: Mapping[str, str]) -> str:
    """Return a sentence about the tests whose published score counts; empty if there is none.

    Args:
        metrics: The name of the published score that counts, by test.
    """
    if not any(metrics.values()):
        return ""
    sound = sorted((task for task, name in metrics.items() if not name), key=natural)
    rest = f"; of {', '.join(sound)}, for which there is none, the sound one" if sound else ""
    return f"The score that counts is the papers' own{rest}. Chance levels are those of the sound score."
