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


def means(definition: Definition, data: FigureData) -> Figure:
    """Return the mean over the tasks that all of the user's models were run on.

    Published means are over the same tasks.
    """
    single = data.own_marks(definition.tasks)
    tasks, notes = _common_tasks(single, definition)
    user_marks = mean_of([mark for mark in single if mark.panel in tasks])
    published = data.published_marks({MEAN: ""}, tables=["Table 2"])
    if len(tasks) < len(definition.tasks):
        requested = data.select(published) if data.models else []
        published = mean_of(data.published_marks({task: task for task in tasks}, tables=["Table 4"]))
        known = {mark.model for mark in published}
        if only := list(dict.fromkeys(mark.model for mark in requested if mark.model not in known)):
            missing = [task for task in definition.tasks.values() if task not in tasks]
            raise UsageError(
                f"of {', '.join(only)} only the mean of QA1 to QA5 is published, and {', '.join(missing)} was not run; "
                f"run the missing tasks, or leave the model out of `published`"
            )
        if data.scores:
            notes.append(f"Published means are computed from the paper's Table 4, over {', '.join(tasks)} too.")
    omitted = sorted({int(mark.x) for mark in single} - {int(mark.x) for mark in user_marks})
    if omitted:
        notes.append(
            f"Not shown, because not all of these tasks were run there: {', '.join(map(write_length, omitted))}."
        )
    title = definition.title.format(
        score="mean accuracy" if len(tasks) > 1 else "accuracy",
        tasks="QA1 to QA5" if len(tasks) == len(definition.tasks) else ", ".join(tasks),
    )
    return definition.figure(data.combine(user_marks, published, all_published=True), title=title, notes=notes)


def _common_tasks(
    marks: Sequence[Mark], definition: Definition, by: Callable[[Mark], float | str] = lambda mark: mark.panel
) -> tuple[list[str], list[str]]:
    """Return the tasks that all models were run on, and a note if some are left out.

    If nothing was run, all tasks are returned.

    Raises:
        UsageError: The models have no task in common.
    """
    tasks = list(definition.tasks.values())
    if not marks:
        return tasks, []
    shared = common(marks, by)
    common_tasks = [task for task in tasks if task in shared]
    run = [task for task in tasks if any(by(mark) == task for mark in marks)]
    if not common_tasks:
        raise UsageError(
            f"{definition.name} compares models on the same tasks, and no task was run with all of them; run each of "
            f"{', '.join(run)} with every model, or give fewer folders"
        )
    if len(common_tasks) == len(tasks):
        return common_tasks, []
    omitted = [task for task in run if task not in common_tasks]
    more = f"; not {', '.join(omitted)}, which only some models were run on" if omitted else ""
    return common_tasks, [
        f"Only of {', '.join(common_tasks)}, which {'was' if len(common_tasks) == 1 else 'were'} run{more}."
    ]


def curves(definition: Definition, data: FigureData) -> Figure:
    marks = scores(definition, data)
    return definition.figure(marks, notes=_used_lengths(marks, max(definition.levels.values())))


def _used_lengths(marks: Sequence[Mark], satisfactory: float) -> list[str]:
    """Return the length that each model uses, by BABILong's own rule, and its share of the claimed length.

    The paper's models are included if there are no others.
    """
    marks, notes = [mark for mark in marks if not mark.published] or marks, list[str]()
    for panel in dict.fromkeys(mark.panel for mark in marks):
        model_notes = []
        for model in dict.fromkeys(mark.model for mark in marks):
            if values := {mark.x: mark.value for mark in marks if mark.panel == panel and mark.model == model}:
                length = _longest(values, satisfactory)
                model_notes.append(
                    f"{model} {_used_length(model, length)}" if length is not None else f"{model} nothing"
                )
        notes.append(f"{panel}, satisfactory up to: {'; '.join(model_notes)}.")
    return notes


def _longest(by_length: dict[float | str, float], satisfactory: float) -> int | None:
    """Return the longest length up to which a model is satisfactory at every length that was run."""
    longest = None
    for length in sorted(by_length, key=float):
        if by_length[length] < satisfactory:
            break
        longest = int(length)
    return longest


def _used_length(model: str, length: int) -> str:
    window = claimed_length(model)
    share = f" ({100 * length / window:.0f} % of its claimed {write_length(window)})" if window and length else ""
    return f"{write_length(length)}{share}" if length else "no filler"


def retrieval(definition: Definition, data: FigureData) -> Figure:
    """Return whether retrieval found all evidence, and the score of the model."""
    complete = "all that is needed was found"
    marks: list[Mark] = []
    rows = data.rows(definition.tasks)
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
    return definition.figure(data.combine(marks, [*recall, *accuracy]))


def seeds(definition: Definition, data: FigureData) -> Figure:
    """Group trainings that differ only in their seed: checkpoints in folders that differ in the number at their end."""
    groups: dict[tuple[str, str, float | str], list[float]] = {}
    for row in data.filter(lambda result: result.model.startswith(CHECKPOINT)).rows(definition.tasks):
        training = Path(row.model.removeprefix(CHECKPOINT)).name
        groups.setdefault((_SEED.sub("", training), definition.tasks[row.task], row.length), []).append(row.stat.mean)
    repeated = {key: means for key, means in groups.items() if len(means) > 1}
    marks = []
    for (name, panel, length), means in repeated.items():
        mean, spread = fmean(means), stdev(means)
        low, high = max(0.0, mean - spread), min(1.0, mean + spread)
        marks.append(Mark(name, length, mean, panel, low=low, high=high, n=len(means)))
    counts = " or ".join(map(str, sorted({len(means) for means in repeated.values()})))
    note = f"Points are means of {counts} trainings, bars one standard deviation; n counts trainings."
    return definition.figure(marks, notes=[note])


def refusals(definition: Definition, data: FigureData) -> Figure:
    """Return the scores with both denominators: all replies, and the answered ones."""
    rows = data.rows(definition.tasks)
    user_marks = []
    names = names_of(rows)
    for row in rows:
        name = names[row.series]
        user_marks.append(mark_of(row, name, row.length, part="all replies"))
        if row.stat.attempts_mean is not None:
            user_marks.append(Mark(name, row.length, row.stat.attempts_mean, part="answered", n=row.stat.attempts))
    published = [
        Mark("gemini-1.5-pro-002", score.length or 0, score.score / 100, published=True,
             part="answered" if "w/o" in score.model else "all replies")
        for score in data.scores if score.table in definition.tables
    ]  # fmt: skip
    return definition.figure(data.combine(user_marks, published, all_published=True))


def without_filler(definition: Definition, data: FigureData) -> Figure:
    """Return the twenty tasks without filler, with medians over the models."""
    unfilled = data.filter(lambda result: result.length == 0)
    single = unfilled.own_marks(dict.fromkeys(definition.tasks, ""), lambda row: definition.tasks[row.task])
    published = data.published_marks(
        dict.fromkeys(definition.tasks.values(), ""),
        lambda score: score.task,
        tables=definition.tables,
        keep=lambda score: score.length == 0,
    )
    notes = list[str]()
    if single:
        tasks, notes = _common_tasks(single, definition, lambda mark: mark.x)
        if published:
            known = {mark.x for mark in published}
            published_tasks = [task for task in tasks if task in known]
            if not published_tasks:
                raise UsageError(
                    f"babilong-figure-6 has published scores of QA1 to QA5 alone, and {', '.join(tasks)} were run; "
                    "run some of QA1 to QA5, or leave out `published`"
                )
            if published_tasks != tasks:
                names = ", ".join(published_tasks)
                notes = [f"Only of {names}, which were run and are published: medians are over the same."]
            tasks = published_tasks
        single = [mark for mark in single if mark.x in tasks]
        published = [mark for mark in published if mark.x in tasks]
        counts = Counter(mark.model for mark in published)
        published = [mark for mark in published if counts[mark.model] == len(tasks)]
    marks = data.combine(single, published, all_published=True, by=lambda mark: mark.x)
    return definition.figure(sorted(marks, key=lambda mark: natural(str(mark.x))), notes=notes)


def times(definition: Definition, data: FigureData) -> Figure:
    rows = data.rows(definition.tasks)
    tasks, notes = _common_tasks(data.own_marks(definition.tasks), definition)
    names = names_of(rows)
    series = series_of(data.results)
    seconds: dict[tuple[str, int], list[float]] = {}
    for result in data.results:
        if definition.tasks.get(result.task) in tasks and result.seconds is not None and series(result) in names:
            seconds.setdefault((names[series(result)], result.length), []).append(result.seconds)
    user_marks = [
        Mark(name, length, fmean(values), n=len(values)) for (name, length), values in sorted(seconds.items())
    ]
    published = [Mark(time.model, time.length, time.seconds, published=True) for time in read_times()]
    return definition.figure(data.combine(user_marks, published if data.scores else []), notes=notes)


def places(definition: Definition, data: FigureData) -> Figure:
    """Return scores by the position of the last fact of the evidence. Runs with a `window` are included."""
    placed = data.filter(lambda result: result.task in definition.tasks and result.places is not None).with_label(
        "window"
    )
    marks = replace(placed, results=label_evidence(placed.results)).own_marks(
        definition.tasks, lambda row: row.labels[PLACE], by=[PLACE], part=lambda row: write_length(row.length)
    )
    order = sorted({str(mark.x) for mark in marks}, key=natural)
    return definition.figure(sorted(marks, key=lambda mark: natural(mark.panel)), order=order)


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
