"""What trivial replies score: always yes, the context as it is, every word.

Whoever replies so does not do the task, so that a test on which such a reply scores well measures something else, and a
published score that one of them fools measures nothing. They depend on the questions alone, not on who was asked.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from carrara.core.natsort import natural
from carrara.core.result import SOUND, Result
from carrara.results.analysis.intervals import effective_n, wilson

WELL = 0.1
"""By how much a trivial reply has to rise above the chance level to score well. Always yes, where half of the answers
are yes, is at the chance level: that is said beside every score, and is no news."""
FOOLED, BY = 0.5, 0.3
"""A published score is fooled if a trivial reply has so much by it, and by so much more than soundly."""
ALIKE = 0.05
"""Lengths whose means differ by less stand in one line."""


class BestBaseline(NamedTuple):
    name: str
    score: float

    @property
    def said(self) -> str:
        """Its name, where it scores anything that three digits show: of those that score nothing none is the best."""
        return self.name if self.score >= 0.0005 else ""


def best(trivial: Mapping[str, Mapping[str, float]]) -> BestBaseline | None:
    """The reply with the highest sound score, the first of several; None if there are no such replies."""
    return highest(BestBaseline(name, scores[SOUND]) for name, scores in trivial.items())


def highest(found: Iterable[BestBaseline | None]) -> BestBaseline | None:
    return max(filter(None, found), key=lambda one: one.score, default=None)


def means(results: Iterable[Result]) -> Mapping[str, Mapping[str, float]]:
    """Each reply's mean scores, over the questions to which it is one."""
    found: dict[str, dict[str, list[float]]] = {}
    for result in results:
        for reply, scores in result.trivial.items():
            for name, score in scores.items():
                found.setdefault(reply, {}).setdefault(name, []).append(score)
    return {
        reply: {name: math.fsum(several) / len(several) for name, several in scores.items()}
        for reply, scores in found.items()
    }


@dataclass(frozen=True)
class TrivialBaseline:
    """A trivial reply to the questions of one test, at lengths where it scores alike."""

    task: str
    name: str
    lengths: tuple[int, ...]
    n: int
    """Questions to which it is a reply."""
    sound: float
    low: float
    """The lower end of the sound score's interval."""
    chance_level: float
    published: Mapping[str, float]

    @property
    def scores_well(self) -> bool:
        """Whether it rises above the chance level by enough, and by more than which answers happened to be drawn
        explains."""
        return round(self.sound - self.chance_level, 2) >= WELL and self.low > self.chance_level

    @property
    def fools(self) -> list[str]:
        """The published scores that it fools."""
        return [
            name
            for name, score in self.published.items()
            if round(score, 2) >= FOOLED and round(score - self.sound, 2) >= BY
        ]


def trivial_baselines(results: Sequence[Result]) -> list[TrivialBaseline]:
    """For each test and reply one line, or one for each length where these differ. A question counts once, whoever was
    asked it."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in {result.id: result for result in results if result.trivial}.values():
        for name in result.trivial:
            groups.setdefault((result.task, name), []).append(result)
    found = []
    for (task, name), group in sorted(groups.items(), key=lambda item: natural(item[0][0])):
        lengths = sorted({result.length for result in group})
        lines = [_line(task, name, [result for result in group if result.length == length]) for length in lengths]
        found += [_line(task, name, group)] if _alike(lines) else lines
    return found


def _line(task: str, name: str, results: Sequence[Result]) -> TrivialBaseline:
    scores = means(results)[name]
    worlds: dict[str, list[float]] = {}
    for result in results:
        worlds.setdefault(result.world_id, []).append(result.trivial[name][SOUND])
    return TrivialBaseline(
        task=task,
        name=name,
        lengths=tuple(sorted({result.length for result in results})),
        n=len(results),
        sound=scores[SOUND],
        low=wilson(scores[SOUND], effective_n(list(worlds.values())))[0],
        chance_level=math.fsum(result.chance_level for result in results) / len(results),
        published={score: mean for score, mean in scores.items() if score != SOUND},
    )


def _alike(lines: Sequence[TrivialBaseline]) -> bool:
    each = [{SOUND: line.sound, **line.published} for line in lines]
    names = dict.fromkeys(name for scores in each for name in scores)
    return all(
        all(name in scores for scores in each)
        and max(scores[name] for scores in each) - min(scores[name] for scores in each) < ALIKE
        for name in names
    )
