"""BABILong's tables and figures that need more than scores."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

from carrara.papers.figures.definitions import Definition
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.marks import FigureData, common, mark_of, mean_of, names_of, scores
from carrara.papers.scores import MEAN, claimed_length, read_times
from carrara.results.rows import PLACE, label_evidence
from carrara.results.scores import RECALL
from carrara.results.series import series_of
from carrara.util.errors import UsageError
from carrara.util.quantities import natural, write_length

CHECKPOINT = "carrara/recurrent:"
_SEED = re.compile(r"[-_.]?(?:seed)?[0-9]+$")


def means(one: Definition, data: FigureData) -> Figure:
    """Return the mean over the tasks that all own models were run on. Published means are over the same tasks."""
    single = data.own_marks(one.tasks)
    tasks, notes = _common_tasks(single, one)
    own = mean_of([mark for mark in single if mark.panel in tasks])
    published = data.published_marks({MEAN: ""}, tables=["Table 2"])
    if len(tasks) < len(one.tasks):
        wanted = data.select(published) if data.models else []
        published = mean_of(data.published_marks({task: task for task in tasks}, tables=["Table 4"]))
        known = {mark.model for mark in published}
        if only := list(dict.fromkeys(mark.model for mark in wanted if mark.model not in known)):
            missing = [task for task in one.tasks.values() if task not in tasks]
            raise UsageError(
                f"of {', '.join(only)} only the mean of QA1 to QA5 is published, and {', '.join(missing)} was not run; "
                f"run the missing tasks, or leave the model out of `published`"
            )
        if data.scores:
            notes.append(f"Published means are computed from the paper's Table 4, over {', '.join(tasks)} too.")
    left = sorted({int(mark.x) for mark in single} - {int(mark.x) for mark in own})
    if left:
        notes.append(f"Not shown, because not all of these tasks were run there: {', '.join(map(write_length, left))}.")
    title = one.title.format(
        score="mean accuracy" if len(tasks) > 1 else "accuracy",
        tasks="QA1 to QA5" if len(tasks) == len(one.tasks) else ", ".join(tasks),
    )
    return one.figure(data.combine(own, published, all_published=True), title=title, notes=notes)


def _common_tasks(
    marks: Sequence[Mark], one: Definition, by: Callable[[Mark], float | str] = lambda mark: mark.panel
) -> tuple[list[str], list[str]]:
    """Return the tasks that all models were run on, and a note if some are left out.

    If nothing was run, all tasks are returned.

    Raises:
        UsageError: The models have no task in common.
    """
    tasks = list(one.tasks.values())
    if not marks:
        return tasks, []
    shared = common(marks, by)
    found = [task for task in tasks if task in shared]
    run = [task for task in tasks if any(by(mark) == task for mark in marks)]
    if not found:
        raise UsageError(
            f"{one.name} compares models on the same tasks, and no task was run with all of them; run each of "
            f"{', '.join(run)} with every model, or give fewer folders"
        )
    if len(found) == len(tasks):
        return found, []
    left = [task for task in run if task not in found]
    more = f"; not {', '.join(left)}, which only some models were run on" if left else ""
    return found, [f"Only of {', '.join(found)}, which {'was' if len(found) == 1 else 'were'} run{more}."]


def curves(one: Definition, data: FigureData) -> Figure:
    marks = scores(one, data)
    return one.figure(marks, notes=_used_lengths(marks, max(one.levels.values())))


def _used_lengths(marks: Sequence[Mark], satisfactory: float) -> list[str]:
    """Return the length that each model uses, by BABILong's own rule, and its share of the claimed length.

    The paper's models are included if there are no others.
    """
    marks, notes = [mark for mark in marks if not mark.published] or marks, list[str]()
    for panel in dict.fromkeys(mark.panel for mark in marks):
        found = []
        for model in dict.fromkeys(mark.model for mark in marks):
            if own := {mark.x: mark.value for mark in marks if mark.panel == panel and mark.model == model}:
                length = _longest(own, satisfactory)
                found.append(f"{model} {_used_length(model, length)}" if length is not None else f"{model} nothing")
        notes.append(f"{panel}, satisfactory up to: {'; '.join(found)}.")
    return notes


def _longest(by_length: dict[float | str, float], satisfactory: float) -> int | None:
    """Return the longest length at which a model is satisfactory, as at all shorter lengths that were run."""
    found = None
    for length in sorted(by_length, key=float):
        if by_length[length] < satisfactory:
            break
        found = int(length)
    return found


def _used_length(model: str, length: int) -> str:
    window = claimed_length(model)
    share = f" ({100 * length / window:.0f} % of its claimed {write_length(window)})" if window and length else ""
    return f"{write_length(length)}{share}" if length else "no filler"


def retrieval(one: Definition, data: FigureData) -> Figure:
    """Return whether retrieval found all evidence, and the score of the model."""
    complete = "all that is needed was found"
    marks: list[Mark] = []
    rows = data.rows(one.tasks)
    names = names_of(rows)
    for row in rows:
        name = names[row.series]
        if RECALL in row.stat.recall:
            marks.append(Mark(name, row.length, row.stat.recall[RECALL], complete, n=row.stat.n))
        marks.append(mark_of(row, name, row.length, "accuracy, QA1"))
    recall = data.published_marks({"QA1, recall": complete}, tables=["Figure 3a"])
    accuracy = [
        mark
        for mark in data.published_marks({"QA1": "accuracy, QA1"}, tables=["Figure 3a", "Table 4"])
        if "RAG" in mark.model or mark.model.startswith("gpt-4-")
    ]
    return one.figure(data.combine(marks, [*recall, *accuracy]))


def seeds(one: Definition, data: FigureData) -> Figure:
    """Group trainings that differ only in their seed: checkpoints in folders that differ in the number at their end."""
    groups: dict[tuple[str, str, float | str], list[float]] = {}
    for row in data.filter(lambda result: result.model.startswith(CHECKPOINT)).rows(one.tasks):
        training = Path(row.model.removeprefix(CHECKPOINT)).name
        groups.setdefault((_SEED.sub("", training), one.tasks[row.task], row.length), []).append(row.stat.mean)
    several = {key: own for key, own in groups.items() if len(own) > 1}
    marks = []
    for (name, panel, length), own in several.items():
        mean, spread = fmean(own), stdev(own)
        low, high = max(0.0, mean - spread), min(1.0, mean + spread)
        marks.append(Mark(name, length, mean, panel, low=low, high=high, n=len(own)))
    counts = " or ".join(map(str, sorted({len(own) for own in several.values()})))
    note = f"Points are means of {counts} trainings, bars one standard deviation; n counts trainings."
    return one.figure(marks, notes=[note])


def refusals(one: Definition, data: FigureData) -> Figure:
    """Return the scores with both denominators: all replies, and the answered ones."""
    rows = data.rows(one.tasks)
    own = []
    names = names_of(rows)
    for row in rows:
        name = names[row.series]
        own.append(mark_of(row, name, row.length, part="all replies"))
        if row.stat.attempts_mean is not None:
            own.append(Mark(name, row.length, row.stat.attempts_mean, part="answered", n=row.stat.attempts))
    published = [
        Mark("gemini-1.5-pro-002", score.length or 0, score.score / 100, published=True,
             part="answered" if "w/o" in score.model else "all replies")
        for score in data.scores if score.table in one.tables
    ]  # fmt: skip
    return one.figure(data.combine(own, published, all_published=True))


def without_filler(one: Definition, data: FigureData) -> Figure:
    """Return the twenty tasks without filler, with medians over the models."""
    own = data.filter(lambda result: result.length == 0)
    single = own.own_marks(dict.fromkeys(one.tasks, ""), lambda row: one.tasks[row.task])
    published = data.published_marks(
        dict.fromkeys(one.tasks.values(), ""),
        lambda score: score.task,
        tables=one.tables,
        keep=lambda score: score.length == 0,
    )
    notes = list[str]()
    if single:
        tasks, notes = _common_tasks(single, one, lambda mark: mark.x)
        if published:
            known = {mark.x for mark in published}
            found = [task for task in tasks if task in known]
            if not found:
                raise UsageError(
                    f"babilong-figure-6 has published scores of QA1 to QA5 alone, and {', '.join(tasks)} were run; "
                    "run some of QA1 to QA5, or leave out `published`"
                )
            if found != tasks:
                notes = [f"Only of {', '.join(found)}, which were run and are published: medians are over the same."]
            tasks = found
        single = [mark for mark in single if mark.x in tasks]
        published = [mark for mark in published if mark.x in tasks]
        counts = Counter(mark.model for mark in published)
        published = [mark for mark in published if counts[mark.model] == len(tasks)]
    marks = data.combine(single, published, all_published=True, by=lambda mark: mark.x)
    return one.figure(sorted(marks, key=lambda mark: natural(str(mark.x))), notes=notes)


def times(one: Definition, data: FigureData) -> Figure:
    rows = data.rows(one.tasks)
    tasks, notes = _common_tasks(data.own_marks(one.tasks), one)
    names = names_of(rows)
    series = series_of(data.results)
    spent: dict[tuple[str, int], list[float]] = {}
    for result in data.results:
        if one.tasks.get(result.task) in tasks and result.seconds is not None and series(result) in names:
            spent.setdefault((names[series(result)], result.length), []).append(result.seconds)
    own = [Mark(name, length, fmean(all_), n=len(all_)) for (name, length), all_ in sorted(spent.items())]
    published = [Mark(time.model, time.length, time.seconds, published=True) for time in read_times()]
    return one.figure(data.combine(own, published if data.scores else []), notes=notes)


def places(one: Definition, data: FigureData) -> Figure:
    """Return scores by the position of the last fact of the evidence. Runs with a `window` are included."""
    own = data.filter(lambda result: result.task in one.tasks and result.places is not None).with_label("window")
    marks = replace(own, results=label_evidence(own.results)).own_marks(
        one.tasks, lambda row: row.labels[PLACE], by=[PLACE], part=lambda row: write_length(row.length)
    )
    order = sorted({str(mark.x) for mark in marks}, key=natural)
    return one.figure(sorted(marks, key=lambda mark: natural(mark.panel)), order=order)


MAKERS = {
    "means": means,
    "curves": curves,
    "retrieval": retrieval,
    "seeds": seeds,
    "refusals": refusals,
    "without_filler": without_filler,
    "times": times,
    "places": places,
}
