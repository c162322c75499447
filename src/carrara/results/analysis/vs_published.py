"""A model of one's own beside the published ones: for each test and length that both have, who scored what.

Published scores are by the papers' own metrics, so that a model of ours is ranked by what the paper's scorer gives the
same replies, where there is one. The sound score and its interval stand beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.results.analysis.cells import CellScore
from carrara.results.analysis.metric import papers
from carrara.results.published.scores import Score, counting

SAME = 0.05
"""Lengths may differ by so much: papers take k for 1,000 or for 1,024, and count by other tokenizers."""


@dataclass(frozen=True)
class RankedModel:
    """A model's place on a board: ours, or a published one."""

    model: str
    score: float
    """What it is ranked by, from 0 to 1."""
    ours: CellScore | None
    published: Score | None


@dataclass(frozen=True)
class Ranking:
    """One test at one length, as it was posed, the best model first."""

    test: str
    what: str
    length: int
    paper: str
    places: tuple[RankedModel, ...]


def rankings(own: Iterable[CellScore], scores: Iterable[Score]) -> list[Ranking]:
    published = [score for score in counting(list(scores)) if score.ours]
    groups: dict[str, list[CellScore]] = {}
    for one in own:
        groups.setdefault(one.what, []).append(one)
    found = []
    for what, mine in groups.items():
        test, length = mine[0].test, mine[0].length
        theirs = [score for score in published if score.ours == test and same_length(length, score.length)]
        for paper in dict.fromkeys(score.paper for score in theirs):
            places = [RankedModel(str(one.model), _ranked(one), one, None) for one in mine]
            places += [
                RankedModel(score.name, score.score / 100, None, score) for score in theirs if score.paper == paper
            ]
            places.sort(key=lambda place: -place.score)
            found.append(Ranking(test, what, length, paper, tuple(places)))
    return found


def unpublished(own: Iterable[CellScore], found: Sequence[Ranking]) -> list[str]:
    """What of ours no paper has."""
    shown = {board.what for board in found}
    return [what for what in dict.fromkeys(one.what for one in own) if what not in shown]


def same_length(ours: int, theirs: int | None) -> bool:
    """Whether a score was measured at our length. One that belongs to no length stands beside all."""
    return theirs is None or abs(ours - theirs) <= SAME * max(ours, theirs)


def by_paper(one: CellScore) -> float | None:
    """What the paper's scorer gives the same replies, where there is one."""
    published = one.stat.published
    return next((published[name] for name in papers(one.test) if name in published), None)


def _ranked(one: CellScore) -> float:
    score = by_paper(one)
    return one.stat.mean if score is None else score
