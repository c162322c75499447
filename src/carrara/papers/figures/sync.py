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


def chain_of_thought(one: Definition, data: FigureData) -> Figure:
    """Return each task with free reasoning and without: one run for each, in one folder or two."""
    marks = [
        Mark(mark.model, mark.panel, mark.value, mark.part, kind, mark.low, mark.high, mark.n)
        for way, kind in (("free", "with"), ("none", "without"))
        for mark in _by_way(one, data, way, 0)
    ]
    return one.figure(marks)


def _by_way(one: Definition, data: FigureData, way: str, tokens: int) -> list[Mark]:
    """Return the results with this way of reasoning, as marks at a number of reasoning tokens."""
    own = data.filter(lambda result: _way(result) == way).without_setting(COT)
    return own.own_marks(one.tasks, lambda _: tokens, part=lambda row: write_length(row.length))


def _way(result: Result) -> str:
    """Return how a run controlled reasoning: `none` for each way of suppressing it."""
    return result.settings.get(COT, "free").partition(",")[0]


def reasoning(one: Definition, data: FigureData) -> Figure:
    free = data.filter(lambda result: _way(result) == "free")
    rows = [row for row in free.rows(one.tasks) if row.stat.reasoning is not None]
    names = names_of(rows)
    marks = [
        Mark(names[row.series], row.stat.reasoning or 0, row.stat.mean, one.tasks[row.task], write_length(row.length),
             n=row.stat.n)
        for row in rows
    ]  # fmt: skip
    return one.figure(marks)


def enforced_reasoning(one: Definition, data: FigureData) -> Figure:
    """Return scores by the enforced tokens of reasoning: `--cot exactly:N`, and none as 0."""
    marks: list[Mark] = []
    for way in sorted(set(map(_way, data.results))):
        if way == "none" or way.startswith("exactly:"):
            marks += _by_way(one, data, way, int(way.partition(":")[2] or 0))
    return one.figure(marks)


def errors(one: Definition, data: FigureData) -> Figure:
    rows = data.rows(one.tasks)
    names = names_of(rows)
    own = [
        Mark(names[row.series], row.length, share, f"{one.tasks[row.task]} at {write_length(row.length)}", kind,
             n=row.n)
        for row in error_shares([result for result in data.results if result.task in one.tasks])
        if row.series in names
        for kind, share in row.shares.items()
        if kind != RIGHT
    ]  # fmt: skip
    published = [
        Mark(score.name, score.length or 0, score.score / 100, f"{score.task} at {write_length(score.length or 0)}",
             score.metric.removeprefix(SHARE), published=True)
        for score in data.scores if score.share
    ]  # fmt: skip
    return one.figure(data.combine(own, published, all_published=True))


def correlations(one: Definition, data: FigureData) -> Figure:
    """Return correlations between the tasks of the user's runs, or the paper's matrix, as printed and recomputed."""
    own, notes = data.own_marks(one.tasks), list[str]()
    pairs = _pairs(own, [one.length] if one.length else _shared_lengths(own, notes))
    if not own and data.scores:
        lengths = [one.length] if one.length else [32 << 10, 64 << 10]
        pairs = _printed_pairs(lengths)
        anew = _pairs(data.published_marks(by_task(one), tables=["Table 7"]), lengths)
        shared = [pair for pair in anew if pair in pairs]
        same = sum(abs(anew[pair] - pairs[pair]) < ROUNDING for pair in shared)
        notes.append(
            f"As printed, with benchmarks that are not here. {len(shared)} pairs are of tasks whose scores the "
            f"paper prints: computed from these, {same} are the same within rounding."
        )
    return one.figure(_matrix(pairs, published=not own), notes=notes)


def _shared_lengths(marks: Sequence[Mark], notes: list[str]) -> list[int]:
    """Return the lengths at which all tasks were run, and note those that are left out."""
    lengths: dict[str, set[int]] = {}
    for mark in marks:
        lengths.setdefault(mark.panel, set()).add(int(mark.x))
    shared = set.intersection(*lengths.values()) if lengths else set[int]()
    if others := set().union(*lengths.values()) - shared:
        notes.append(f"Without lengths that not all tasks were run at: {', '.join(map(write_length, sorted(others)))}.")
    return sorted(shared)


def _printed_pairs(lengths: Sequence[int]) -> Pairs:
    found: dict[tuple[str, str], list[float]] = {}
    for at, first, second, rho in correlations_of_sync():
        if read_length(at) in lengths:
            found.setdefault((first, second), []).append(rho)
    return {pair: fmean(rhos) for pair, rhos in found.items()}


def _pairs(marks: Sequence[Mark], lengths: Sequence[int]) -> Pairs:
    """Return the mean over lengths of the correlation over all models at each length, as the paper does."""
    found: dict[tuple[str, str], list[float]] = {}
    for length in lengths:
        for pair in panel_correlations(marks, length):
            found.setdefault((pair.first.name, pair.second.name), []).append(pair.rho or 0.0)
    return {pair: fmean(rhos) for pair, rhos in found.items()}


def _matrix(pairs: Pairs, published: bool) -> list[Mark]:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    both = {**pairs, **{(second, first): rho for (first, second), rho in pairs.items()}}
    both |= {(name, name): 1.0 for name in names}
    return [
        Mark(first, second, both[first, second], label=f"{both[first, second]:.2f}", published=published)
        for first in names
        for second in names
        if (first, second) in both
    ]


MAKERS = {
    "chain_of_thought": chain_of_thought,
    "reasoning": reasoning,
    "enforced_reasoning": enforced_reasoning,
    "errors": errors,
    "correlations": correlations,
}
