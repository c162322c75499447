"""The leaderboard: a line for each model, the best first.

A cell is one task with its settings at one length. The score is the mean over tasks of the mean over the lengths that
all tasks have in common, because a mean over tasks at different lengths means nothing. If the tasks have no length in
common, there is no score and no rank, and each task has a column. A prompt that did not fit counts 0.

Models are compared on the same cells. The cells that count are those of one of the models, chosen so that as many
replies as possible are compared: the number of cells times the number of models that have them all is the greatest. A
model that lacks one of them is listed after the others, without a rank.
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from carrara.results.effective import BaseScore, EffectiveLength, Requirements, counts, judge
from carrara.results.intervals import wilson
from carrara.results.result import NO_REPLY, Result
from carrara.results.scores import Stat, stat
from carrara.results.series import Series, group_by_cell
from carrara.util.quantities import count, natural, write_length

TaskSetting = tuple[str, str]
"""The name and the settings of a task."""
Cell = tuple[TaskSetting, int]
NAMED = 3
"""The most tasks that the reason for a missing rank names."""


@dataclass(frozen=True)
class Standing:
    """A line of the leaderboard."""

    series: Series
    place: int | None
    """The rank, which models with the same mean share. None for a model that lacks a cell that counts, and if the tasks
    have no length in common."""
    cells: int
    of: int
    lengths: tuple[int, ...]
    """The lengths that all tasks have in common."""
    tasks: Mapping[str, float]
    """The score of each task: the mean over the common lengths, or over its own lengths if there are no common ones."""
    mean: float | None
    """The score. None: the tasks have no length in common, or the model has no cell that counts. The same holds for the
    following numbers, up to the suites."""
    low: float | None
    high: float | None
    chance_level: float | None
    area: float | None
    """The area under the score over the logarithm of the length, as a share of its range: the mean over the tasks. None
    without lengths."""
    area_low: float | None
    area_high: float | None
    effective: EffectiveLength | None
    """The effective length of the mean of the tasks. None where fewer than two lengths are common."""
    suites: Mapping[str, float]
    replies: int
    """The replies to the items of the cells that count."""
    items: int
    """The items of these cells: in each, as many as the model with most of them was asked."""
    sent: int
    """Tokens of prompts, by the server's own count if it reports one."""
    received: int | None
    """Tokens of replies, with reasoning, if all of them are known."""
    seconds: float | None
    """The mean seconds of a reply, if known."""
    reason: str = ""
    """Why the model has no rank. Empty if it has one, and if the tasks have no length in common."""

    @property
    def is_complete(self) -> bool:
        """Whether the model has every cell that counts."""
        return self.cells == self.of

    @property
    def has_all_replies(self) -> bool:
        """Whether there is a reply to every item of the cells that the model has."""
        return self.replies >= self.items


def leaderboard(results: Sequence[Result], requirements: Requirements | None = None) -> list[Standing]:
    """Return the lines, the best first."""
    results_by_model: dict[Series, dict[Cell, list[Result]]] = {}
    unmeasured: dict[Series, set[Cell]] = {}
    for (task, variant, length, model), replies in group_by_cell(results).items():
        cell, cells = ((task, variant), length), results_by_model.setdefault(model, {})
        if counts(stat(replies)):
            cells[cell] = replies
        else:
            unmeasured.setdefault(model, set()).add(cell)
    counted_cells = _choose_cells([frozenset(cells) for cells in results_by_model.values()])
    lengths: dict[TaskSetting, set[int]] = {}
    for setting, length in counted_cells:
        lengths.setdefault(setting, set()).add(length)
    common = sorted(set.intersection(*lengths.values())) if lengths else []
    if common:
        counted_cells = frozenset(cell for cell in counted_cells if cell[1] in common)
    most_replies = {
        cell: max(len(cells[cell]) for cells in results_by_model.values() if cell in cells) for cell in counted_cells
    }
    lines = [
        replace(
            _standing(
                model,
                {cell: replies for cell, replies in cells.items() if cell in counted_cells},
                common,
                len(counted_cells),
                most_replies,
                requirements or Requirements(),
            ),
            reason=_reason(counted_cells, cells.keys(), unmeasured.get(model, set())),
        )
        for model, cells in results_by_model.items()
        if counted_cells
    ]
    ordered = sorted(lines, key=lambda line: (not line.is_complete, -(line.mean or 0.0), natural(str(line.series))))
    means = [line.mean for line in ordered if line.is_complete and line.mean is not None]
    return [
        replace(line, place=1 + means.index(line.mean)) if line.is_complete and line.mean is not None else line
        for line in ordered
    ]


def _choose_cells(cells_by_model: Sequence[frozenset[Cell]]) -> frozenset[Cell]:
    """
    >>> a, b, c = [((("test", ""), length)) for length in (1, 2, 3)]
    >>> sorted(length for _, length in _choose_cells([frozenset({a, b}), frozenset({a, b}), frozenset({a, c})]))
    [1, 2]
    """
    return max(
        dict.fromkeys(cells_by_model),
        key=lambda cells: (len(cells) * sum(cells <= other_cells for other_cells in cells_by_model), len(cells)),
        default=frozenset(),
    )


def _reason(counted_cells: Set[Cell], measured: Set[Cell], unmeasured: Set[Cell]) -> str:
    """Return why a model has no rank. Empty if it has each cell that counts.

    >>> cells = {(("suite/one", ""), length) for length in (0, 1024, 4096)}
    >>> _reason(cells, {(("suite/one", ""), 0)}, {(("suite/one", ""), 1024)})
    'lacks suite/one at 4k; nothing was measured of suite/one at 1k'
    >>> _reason(cells, {(("suite/one", ""), 2048)}, set())
    'lacks suite/one at 0, 1k, 4k; has suite/one at 2k'
    """
    parts = []
    if lacking := counted_cells - measured - unmeasured:
        parts.append(f"lacks {_write_cells(lacking)}")
    if failed := counted_cells & unmeasured:
        parts.append(f"nothing was measured of {_write_cells(failed)}")
    if parts and measured and not counted_cells & measured:
        parts.append(f"has {_write_cells(measured)}")
    return "; ".join(parts)


def _write_cells(cells: Set[Cell]) -> str:
    lengths: dict[str, list[int]] = {}
    for task, length in sorted(cells, key=lambda cell: (natural(cell[0][0]), *cell)):
        lengths.setdefault(_short_name(task), []).append(length)
    named = [
        f"{name} at {', '.join(map(write_length, task_lengths))}"
        for name, task_lengths in list(lengths.items())[:NAMED]
    ]
    return " and ".join([*named, *([count(len(lengths) - NAMED, "more task")] if len(lengths) > NAMED else [])])


def _standing(
    model: Series,
    replies_by_cell: Mapping[Cell, Sequence[Result]],
    common: Sequence[int],
    of: int,
    most_replies: Mapping[Cell, int],
    requirements: Requirements,
) -> Standing:
    curves: dict[TaskSetting, dict[int, Stat]] = {}
    for (task, length), replies in replies_by_cell.items():
        curves.setdefault(task, {})[length] = stat(replies)
    means = {task: fmean(score_stat.mean for score_stat in curve.values()) for task, curve in curves.items()}
    suites: dict[str, list[float]] = {}
    for (name, _), score in means.items():
        suites.setdefault(name.partition("/")[0], []).append(score)
    everything = [reply for replies in replies_by_cell.values() for reply in replies]
    received = [reply.output_tokens for reply in everything]
    seconds = [reply.seconds for reply in everything if reply.seconds is not None]
    shared = set.intersection(set(common), *map(set, curves.values())) if curves else set[int]()
    overall = _overall([{n: curve[n] for n in sorted(shared)} for curve in curves.values()]) if shared else _Overall()
    return Standing(
        series=model,
        place=None,
        cells=len(replies_by_cell),
        of=of,
        lengths=tuple(common),
        tasks={_short_name(task): mean for task, mean in means.items()},
        mean=overall.mean,
        low=overall.low,
        high=overall.high,
        chance_level=overall.chance_level,
        area=overall.area,
        area_low=overall.area_low,
        area_high=overall.area_high,
        effective=_effective(model, curves, common, requirements) if len(replies_by_cell) == of else None,
        suites={suite: fmean(scores) for suite, scores in sorted(suites.items())} if common else {},
        replies=sum(reply.error != NO_REPLY for reply in everything),
        items=sum(most_replies[cell] for cell in replies_by_cell),
        sent=sum(reply.tokens if reply.input_tokens is None else reply.input_tokens for reply in everything),
        received=None if None in received else sum(filter(None, received)),
        seconds=fmean(seconds) if seconds else None,
    )


def _short_name(task: TaskSetting) -> str:
    name, settings = task
    return f"{name} ({settings})" if settings else name


class _Overall(NamedTuple):
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    chance_level: float | None = None
    area: float | None = None
    area_low: float | None = None
    area_high: float | None = None


def _overall(curves: Sequence[Mapping[int, Stat]]) -> _Overall:
    """Return the means over tasks at the same lengths."""
    mean = fmean(fmean(score.mean for score in curve.values()) for curve in curves)
    areas = [area for curve in curves if (area := _area({n: score.mean for n, score in curve.items()})) is not None]
    area = fmean(areas) if areas else None
    n_independent = _independent_scores(curves)
    return _Overall(
        mean,
        *wilson(mean, n_independent),
        fmean(fmean(score.chance_level for score in curve.values()) for curve in curves),
        area,
        *((None, None) if area is None else wilson(area, n_independent)),
    )


def _independent_scores(curves: Sequence[Mapping[int, Stat]]) -> float:
    """Return the number of independent scores in the mean of tasks, whose lengths share their instances."""
    return len(curves) ** 2 / math.fsum(fmean(1 / score.n_effective for score in curve.values()) for curve in curves)


def _area(curve: Mapping[int, float]) -> float | None:
    """
    >>> _area({0: 1.0, 1024: 1.0, 4096: 0.0}), _area({0: 1.0}), _area({4096: 0.3})
    (0.5, None, 0.3)
    """
    points = sorted((math.log2(length), mean) for length, mean in curve.items() if length)
    if len(points) < 2:
        return points[0][1] if points else None
    under = math.fsum((right - left) * (a + b) / 2 for (left, a), (right, b) in pairwise(points))
    return under / (points[-1][0] - points[0][0])


def _effective(
    model: Series, curves: Mapping[TaskSetting, Mapping[int, Stat]], common: Sequence[int], requirements: Requirements
) -> EffectiveLength | None:
    """Return the effective length of the mean. None if fewer than two lengths are common to all tasks."""
    if len(common) < 2:
        return None
    stats_by_length = [[curve[length] for curve in curves.values()] for length in common]
    points = [
        (length, fmean(score.mean for score in stats), _independent_scores([{0: score} for score in stats]))
        for length, stats in zip(common, stats_by_length, strict=True)
    ]
    first = stats_by_length[0]
    tasks = [BaseScore.of(common[0], score, name, requirements) for (name, _), score in zip(curves, first, strict=True)]
    base = BaseScore(
        length=common[0],
        mean=points[0][1],
        n=sum(score.n for score in first),
        n_effective=points[0][2],
        chance_level=fmean(score.chance_level for score in first),
        shortcut=fmean(task.heuristic for task in tasks),
        min_score=requirements.min_base_score,
    )
    return judge(model, "", base, points)
