"""Michelangelo's figures. The paper prints curves, and numbers only for guessing."""

from collections.abc import Sequence
from math import exp
from statistics import fmean

from carrara.papers.figures.definitions import Definition
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.marks import FigureData, names_of, panel_correlations
from carrara.papers.scores import PublishedScore
from carrara.results.curve_crossing import crossings as find_crossings
from carrara.results.result import Result
from carrara.results.scores import headline, replies_in_mean
from carrara.results.series import Series, series_of
from carrara.util.quantities import write_length


def cumulative(definition: Definition, data: FigureData) -> Figure:
    """Return cumulative scores (section 3.2): at each length the mean of all contexts up to it."""
    shown = data.filter(definition.shows)
    marks = shown.own_marks(dict.fromkeys(definition.tasks, ""), cumulative=True)
    return definition.figure(marks, levels=_guessing(definition, data.scores, shown.results))


def _guessing(definition: Definition, scores: Sequence[PublishedScore], results: Sequence[Result]) -> dict[str, float]:
    """Return the printed score of guessing, if the paper prints it for the same kinds of items."""
    [task] = definition.tasks
    task_results = [result for result in results if result.task == task]
    printed = [score for score in scores if score.ours == task and not score.share]
    if task == "michelangelo/latent_list":
        kinds = {result.labels.get("complexity", "") for result in task_results}
        if kinds != {"1", "5", "20"}:
            [kind] = kinds if len(kinds) == 1 else [""]
            printed = [score for score in scores if score.task == f"Latent List, complexity {kind}"]
    if task == "michelangelo/idk" and all(result.labels.get("answer") == "unknown" for result in task_results):
        printed = []
    return {f"guessing, as printed: {score.score:g} %": score.score / 100 for score in printed[:1]}


def crossings(definition: Definition, data: FigureData) -> Figure:
    """Return scores at each length, and where curves cross (sections 5.3 and 5.4)."""
    rows = data.rows(definition.tasks)
    names = names_of(rows)
    curve_crossings = find_crossings([result for result in data.results if result.task in definition.tasks])
    marks = data.own_marks(dict.fromkeys(definition.tasks, ""))
    return definition.figure(marks, notes=[crossing.describe(names) for crossing in curve_crossings])


def correlations(definition: Definition, data: FigureData) -> Figure:
    """Return Spearman's correlation of the three tasks.

    It uses cumulative scores at the longest length that all models have.
    """
    marks = data.own_marks(definition.tasks, cumulative=True)
    lengths: dict[tuple[str, str], set[float | str]] = {}
    for mark in marks:
        lengths.setdefault((mark.model, mark.panel), set()).add(mark.x)
    shared = set.intersection(*lengths.values()) if lengths else set[float | str]()
    if not shared:
        return definition.figure([])
    longest = max(shared, key=float)
    pair_marks: list[Mark] = []
    for pair in panel_correlations(marks, longest):
        for first, second in ((pair.first.name, pair.second.name), (pair.second.name, pair.first.name)):
            rho = pair.rho or 0.0
            pair_marks.append(Mark(first, second, rho, low=pair.low, high=pair.high, n=pair.n, label=f"{rho:.2f}"))
    if pair_marks:
        pair_marks += [Mark(name, name, 1.0, label="1") for name in dict.fromkeys(mark.panel for mark in marks)]
    return definition.figure(pair_marks, title=f"{definition.title} up to {write_length(int(longest))}")


def replies(definition: Definition, data: FigureData) -> Figure:
    """Return the share of each kind of reply to questions whose answer cannot be known."""
    rows = data.filter(definition.shows).rows(definition.tasks)
    marks = []
    names = names_of(rows)
    for row in rows:
        name = names[row.series]
        read = row.stat.answers_read / row.stat.n
        shares = {
            "does not know, rightly": row.stat.mean,
            "an answer made up": max(0.0, read - row.stat.mean),
            "no answer": 1 - read,
        }
        length = write_length(row.length)
        marks += [Mark(name, row.length, share, length, kind, n=row.stat.n) for kind, share in shares.items()]
    return definition.figure(marks)


def chance(definition: Definition, data: FigureData) -> Figure:
    """Return the scores of guessers on the same items, item by item."""
    results = [result for result in data.results if result.task in definition.tasks]
    kinds = {
        "a draft of that topic or format (chance level)": [
            result.chance_level for result in {result.id: result for result in results}.values()
        ],
        "of all replies": [headline(result) for result in replies_in_mean(results)],
    }
    marks = []
    for kind, values in kinds.items():
        for step in range(20):
            low = step / 20
            count = sum(low <= value < low + 0.05 or (step == 19 and value == 1) for value in values)
            marks.append(Mark("all models", low, count, kind, n=len(values)))
    return definition.figure(marks if results else [])


def perplexity(definition: Definition, data: FigureData) -> Figure:
    """Return the cost of the prompt's tokens beside the error rate, by length (section 6.1)."""
    measured = data.filter(lambda result: result.task in definition.tasks and result.nats is not None)
    rows = measured.rows(definition.tasks)
    series, marks, notes = series_of(measured.results), list[Mark](), list[str]()
    cost: dict[tuple[Series, str, int], list[float]] = {}
    for result in measured.results:
        cost.setdefault((series(result), result.task, result.length), []).append(result.nats or 0.0)
    names = names_of(rows)
    for row in rows:
        name = names[row.series]
        nats = cost[row.series, row.task, row.length]
        task = definition.tasks[row.task]
        marks.append(Mark(name, row.length, exp(fmean(nats)), f"{task}: perplexity of the prompt", n=len(nats)))
        marks.append(Mark(name, row.length, 1 - row.stat.mean, f"{task}: error", n=row.stat.n))
    for panel in dict.fromkeys(mark.panel for mark in marks):
        for model in dict.fromkeys(mark.model for mark in marks):
            curve = sorted((float(mark.x), mark.value) for mark in marks if (mark.model, mark.panel) == (model, panel))
            if len(curve) > 1:
                notes.append(
                    f"{panel}, {model}: {curve[0][1]:.3g} at the shortest length, {curve[-1][1]:.3g} at the longest."
                )
    return definition.figure(marks, notes=notes)


MAKERS = {
    "cumulative": cumulative,
    "crossings": crossings,
    "correlations": correlations,
    "replies": replies,
    "chance": chance,
    "perplexity": perplexity,
}
