"""Which score counts: the sound one, or the paper's own, by which results compare with published ones.

A paper's scorer grades the same replies as the paper did, faults included, and an answer that is not read soundly may
be right by it. What has no published scorer keeps its sound score; chance levels are those of the sound one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from carrara.core.natsort import natural
from carrara.core.result import Result

Metric = Literal["sound", "paper"]
METRICS: tuple[Metric, ...] = get_args(Metric)

PAPER = "paper"
"""The name, among the published scores of a reply, of the paper's own."""
OTHERS = ("gdm", "openai")
"""Names of a paper's metric as others published it: the one of its own authors first."""


def papers(task: str) -> tuple[str, ...]:
    """The names that the score of a test's paper may have: of its suite, of whoever published it, or plainly that."""
    return (PAPER, task.partition("/")[0], *OTHERS)


def by_metric(results: Sequence[Result], metric: Metric) -> list[Result]:
    """The same results, of which another score counts."""
    if metric == "sound":
        return [replace(result, metric="") if result.metric else result for result in results]
    known: dict[str, set[str]] = {}
    for result in results:
        known.setdefault(result.task, set()).update(result.scores)
    names = {task: next((name for name in papers(task) if name in has), "") for task, has in known.items()}
    return [replace(result, metric=names[result.task]) for result in results]


def describe_metric(metrics: Mapping[str, str]) -> str:
    """What a reader has to know, of the tests and the published score that counts in each. Empty if none does."""
    if not any(metrics.values()):
        return ""
    sound = sorted((task for task, name in metrics.items() if not name), key=natural)
    rest = f"; of {', '.join(sound)}, for which there is none, the sound one" if sound else ""
    return f"The score that counts is the papers' own{rest}. Chance levels are those of the sound score."
