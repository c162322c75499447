"""Scores that need no understanding: those of trivial baselines, and those of the shortcuts that the audit found.

A trivial baseline is a reply that does not do the task, such as `yes` to everything or the whole context. A task on
which it scores well measures something else, and a published score that it fools measures nothing. These scores depend
on the questions only, not on the models that were asked.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from carrara.answers.status import OWN_SCORE
from carrara.results.intervals import effective_n, wilson
from carrara.results.result import Result
from carrara.types import Guesser
from carrara.util.quantities import natural

WELL = 0.1
"""The least distance above the chance level of a trivial reply that scores well. Every table shows the chance level, so
a reply at that level is not worth a warning."""
FOOLED, BY = 0.5, 0.3
"""A paper score is fooled if a trivial reply reaches `FOOLED` by it, and our score of the reply is lower by `BY`."""
AGREEMENT = 0.05
"""Lengths whose means differ by less share a line."""


class BestBaseline(NamedTuple):
    name: str
    score: float

    @property
    def shown_name(self) -> str:
        """The name, if the score is above 0 with three digits. Replies that score 0 have no best one."""
        return self.name if self.score >= 0.0005 else ""


def best(trivial: Mapping[str, Mapping[str, float]]) -> BestBaseline | None:
    """Return the reply with the highest score of ours, the first of several. None if there are no such replies."""
    return highest(BestBaseline(name, scores[OWN_SCORE]) for name, scores in trivial.items())


def highest(baselines: Iterable[BestBaseline | None]) -> BestBaseline | None:
    return max(filter(None, baselines), key=lambda baseline: baseline.score, default=None)


def means(results: Iterable[Result]) -> Mapping[str, Mapping[str, float]]:
    """Return the mean scores of each trivial reply, over the questions that have it."""
    scores_by_reply: dict[str, dict[str, list[float]]] = {}
    for result in results:
        for reply, scores in result.trivial.items():
            for name, score in scores.items():
                scores_by_reply.setdefault(reply, {}).setdefault(name, []).append(score)
    return {
        reply: {name: math.fsum(values) / len(values) for name, values in scores.items()}
        for reply, scores in scores_by_reply.items()
    }


@dataclass(frozen=True)
class TrivialBaseline:
    """A trivial reply to the questions of one task, at lengths where its scores agree."""

    task: str
    name: str
    lengths: tuple[int, ...]
    n: int
    """The questions that have this trivial reply."""
    score: float
    """Its mean score, by our own scoring."""
    low: float
    """The lower end of the interval of our score."""
    chance_level: float
    published: Mapping[str, float]

    @property
    def scores_well(self) -> bool:
        """Whether the score is far enough above the chance level, and significantly so."""
        return round(self.score - self.chance_level, 2) >= WELL and self.low > self.chance_level

    @property
    def fools(self) -> list[str]:
        """The paper scores that the reply fools."""
        return [
            name
            for name, published_score in self.published.items()
            if round(published_score, 2) >= FOOLED and round(published_score - self.score, 2) >= BY
        ]


def trivial_baselines(results: Sequence[Result]) -> list[TrivialBaseline]:
    """Return a line for each task and reply, or for each length if the lengths differ.

    A question counts once, however many models were asked.
    """
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in {result.id: result for result in results if result.trivial}.values():
        for name in result.trivial:
            groups.setdefault((result.task, name), []).append(result)
    baselines = []
    for (task, name), group in sorted(groups.items(), key=lambda item: natural(item[0][0])):
        lengths = sorted({result.length for result in group})
        lines = [_line(task, name, [result for result in group if result.length == length]) for length in lengths]
        baselines += [_line(task, name, group)] if _scores_agree(lines) else lines
    return baselines


def _line(task: str, name: str, results: Sequence[Result]) -> TrivialBaseline:
    scores = means(results)[name]
    instances: dict[str, list[float]] = {}
    for result in results:
        instances.setdefault(result.instance_id, []).append(result.trivial[name][OWN_SCORE])
    return TrivialBaseline(
        task=task,
        name=name,
        lengths=tuple(sorted({result.length for result in results})),
        n=len(results),
        score=scores[OWN_SCORE],
        low=wilson(scores[OWN_SCORE], effective_n(list(instances.values())))[0],
        chance_level=math.fsum(result.chance_level for result in results) / len(results),
        published={score: mean for score, mean in scores.items() if score != OWN_SCORE},
    )


def _scores_agree(lines: Sequence[TrivialBaseline]) -> bool:
    scores_by_length = [{OWN_SCORE: line.score, **line.published} for line in lines]
    names = dict.fromkeys(name for scores in scores_by_length for name in scores)
    return all(
        all(name in scores for scores in scores_by_length)
        and max(scores[name] for scores in scores_by_length) - min(scores[name] for scores in scores_by_length)
        < AGREEMENT
        for name in names
    )


class ShortcutFinding(NamedTuple):
    """The audit's findings about one task with its default parameters, at 4k tokens."""

    task: str
    measures: str
    """The capability that the task measures, in a few words."""
    name: str
    """The name of the best shortcut."""
    score: float
    chance_level: float
    declared: str
    """The reason that the task gives for a declared shortcut: for example, that it asks to find a string."""
    reach: float
    """The score of the oracle on the tenth of the context that helps it most."""
    declared_score: float | None = None
    """The score of the best shortcut that the task declares, which a usable base score has to exceed."""
    guesser: Guesser = "without context"
    """The knowledge of the guesser whose mean score is the chance level."""
