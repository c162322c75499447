"""SYNC's tables and figures that need more than scores."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from carrara.constants import COT
from carrara.papers.figures.definitions import Definition
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.marks import FigureData, by_task, names_of, panel_correlations
from carrara.papers.scores import SHARE, correlations_of_sync
from carrara.report.outcomes import RIGHT, error_shares
from carrara.results.result import Result
from carrara.util.quantities import read_length, write_length

ROUNDING = 0.005 + 1e-9
"""The largest error of a number that is rounded to two decimals."""
Pairs = Mapping[tuple[str, str], float]
"""The rank correlations of each two tasks."""


def chain_of_thought(definition: Definition, data: FigureData) -> Figure:
    """Return each task with free reasoning and without: one run for each, in one folder or two."""
    marks = [
        Mark(mark.model, mark.panel, mark.value, mark.part, kind, mark.low, mark.high, mark.n)
        for way, kind in (("free", "with"), ("none", "without"))
        for mark in _by_way(definition, data, way, 0)
    ]
    return definition.figure(marks)


def _by_way(definition: Definition, data: FigureData, way: str, tokens: int) -> list[Mark]:
    """Return the results with this way of reasoning, as marks at a number of reasoning tokens."""
    with_way = data.filter(lambda result: _way(result) == way).without_setting(COT)
    return with_way.own_marks(definition.tasks, lambda _: tokens, part=lambda row: write_length(row.length))


def _way(result: Result) -> str:
    """Return how a run controlled reasoning: `none` for each way of suppressing it."""
    return result.settings.get(COT, "free").partition(",")[0]


def reasoning(definition: Definition, data: FigureData) -> Figure:
    free = data.filter(lambda result: _way(result) == "free")
    rows = [row for row in free.rows(definition.tasks) if row.stat.reasoning is not None]
    names = names_of(rows)
    marks = [
        Mark(names[row.series], row.stat.reasoning or 0, row.stat.mean, definition.tasks[row.task],
             write_length(row.length), n=row.stat.n)
        for row in rows
    ]  # fmt: skip
    return definition.figure(marks)


def enforced_reasoning(definition: Definition, data: FigureData) -> Figure:
    """Return scores by the enforced tokens of reasoning: `--cot exactly:N`, and none as 0."""
    marks: list[Mark] = []
    for way in sorted(set(map(_way, data.results))):
        if way == "none" or way.startswith("exactly:"):
            marks += _by_way(definition, data, way, int(way.partition(":")[2] or 0))
    return definition.figure(marks)


def errors(definition: Definition, data: FigureData) -> Figure:
    rows = data.rows(definition.tasks)
    names = names_of(rows)
    user_marks = [
        Mark(names[row.series], row.length, share, f"{definition.tasks[row.task]} at {write_length(row.length)}", kind,
             n=row.n)
        for row in error_shares([result for result in data.results if result.task in definition.tasks])
        if row.series in names
        for kind, share in row.shares.items()
        if kind != RIGHT
    ]  # fmt: skip
    published = [
        Mark(score.name, score.length or 0, score.score / 100, f"{score.task} at {write_length(score.length or 0)}",
             score.metric.removeprefix(SHARE), published=True)
        for score in data.scores if score.share
    ]  # fmt: skip
    return definition.figure(data.combine(user_marks, published, all_published=True))


def correlations(definition: Definition, data: FigureData) -> Figure:
    """Return correlations between the tasks of the user's runs, or the paper's matrix, as printed and recomputed."""
    user_marks, notes = data.own_marks(definition.tasks), list[str]()
    pairs = _pairs(user_marks, [definition.length] if definition.length else _shared_lengths(user_marks, notes))
    if not user_marks and data.scores:
        lengths = [definition.length] if definition.length else [32 << 10, 64 << 10]
        pairs = _printed_pairs(lengths)
        recomputed = _pairs(data.published_marks(by_task(definition), tables=["Table 7"]), lengths)
        shared = [pair for pair in recomputed if pair in pairs]
        agreeing = sum(abs(recomputed[pair] - pairs[pair]) < ROUNDING for pair in shared)
        notes.append(
            f"As printed, with benchmarks that are not here. {len(shared)} pairs are of tasks whose scores the "
            f"paper prints: computed from these, {agreeing} are the same within rounding."
        )
    return definition.figure(_matrix(pairs, published=not user_marks), notes=notes)


def _shared_lengths(marks: Sequence[Mark], notes: list[str]) -> list[int]:
    """Return the lengths at which all tasks were run, and note those that are left out."""
    lengths: dict[str, set[int]] = {}
    for mark in marks:
        lengths.setdefault(mark.panel, set()).add(int(mark.x))
    shared = set.intersection(*lengths.values()) if lengths else set[int]()
    if omitted := set().union(*lengths.values()) - shared:
        notes.append(
            f"Without lengths that not all tasks were run at: {', '.join(map(write_length, sorted(omitted)))}."
        )
    return sorted(shared)


def _printed_pairs(lengths: Sequence[int]) -> Pairs:
    rhos_by_pair: dict[tuple[str, str], list[float]] = {}
    for length, first, second, rho in correlations_of_sync():
        if read_length(length) in lengths:
            rhos_by_pair.setdefault((first, second), []).append(rho)
    return {pair: fmean(rhos) for pair, rhos in rhos_by_pair.items()}


def _pairs(marks: Sequence[Mark], lengths: Sequence[int]) -> Pairs:
    """Return the mean over lengths of the correlation over all models at each length, as the paper does."""
    rhos_by_pair: dict[tuple[str, str], list[float]] = {}
    for length in lengths:
        for pair in panel_correlations(marks, length):
            rhos_by_pair.setdefault((pair.first.name, pair.second.name), []).append(pair.rho or 0.0)
    return {pair: fmean(rhos) for pair, rhos in rhos_by_pair.items()}


def _matrix(pairs: Pairs, published: bool) -> list[Mark]:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    rho_by_pair = {**pairs, **{(second, first): rho for (first, second), rho in pairs.items()}}
    rho_by_pair |= {(name, name): 1.0 for name in names}
    return [
        Mark(first, second, rho_by_pair[first, second], label=f"{rho_by_pair[first, second]:.2f}", published=published)
        for first in names
        for second in names
        if (first, second) in rho_by_pair
    ]


MAKERS = {
    "chain_of_thought": chain_of_thought,
    "reasoning": reasoning,
    "enforced_reasoning": enforced_reasoning,
    "errors": errors,
    "correlations": correlations,
}
