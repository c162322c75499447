"""Rank the models of a run among the published ones, for each task and length that both have.

Published scores use the papers' own metrics. So a model of the run is ranked by the paper score of its replies, if
there is one. Our score and its interval are shown with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrara.papers.scores import PublishedScore, distinct_scores
from carrara.results.cards import same_length
from carrara.results.scores import paper_score_names
from carrara.results.series import CellScore


@dataclass(frozen=True)
class RankedModel:
    """A model in a ranking: one of the run, or a published one."""

    model: str
    score: float
    """The score by which it is ranked, from 0 to 1."""
    ours: CellScore | None
    published: PublishedScore | None


@dataclass(frozen=True)
class ModelRanking:
    """The models on one task at one length, the best first."""

    task: str
    what: str
    length: int
    paper: str
    places: tuple[RankedModel, ...]


def rankings(cells: Iterable[CellScore], scores: Iterable[PublishedScore]) -> list[ModelRanking]:
    published = [score for score in distinct_scores(list(scores)) if score.ours]
    groups: dict[str, list[CellScore]] = {}
    for cell in cells:
        groups.setdefault(cell.what, []).append(cell)
    boards = []
    for cell_name, run_cells in groups.items():
        task, length = run_cells[0].task, run_cells[0].length
        theirs = [score for score in published if score.ours == task and same_length(length, score.length)]
        for paper in dict.fromkeys(score.paper for score in theirs):
            places = [RankedModel(str(cell.model), _rank_key(cell), cell, None) for cell in run_cells]
            places += [
                RankedModel(score.name, score.score / 100, None, score) for score in theirs if score.paper == paper
            ]
            places.sort(key=lambda place: -place.score)
            boards.append(ModelRanking(task, cell_name, length, paper, tuple(places)))
    return boards


def unpublished_cells(cells: Iterable[CellScore], boards: Sequence[ModelRanking]) -> list[str]:
    """Return the cells of the run that no paper has."""
    shown = {board.what for board in boards}
    return [cell_name for cell_name in dict.fromkeys(cell.what for cell in cells) if cell_name not in shown]


def by_paper(cell: CellScore) -> float | None:
    """Return the score that the paper's scorer gives the replies; None if there is no such scorer."""
    published = cell.stat.published
    return next((published[name] for name in paper_score_names(cell.task) if name in published), None)


def _rank_key(cell: CellScore) -> float:
    score = by_paper(cell)
    return cell.stat.mean if score is None else score
