"""Minerva's tables and figures that need more than scores."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from carrara.papers.figures.definitions import Definition, paper_data
from carrara.papers.figures.figure import Figure, Mark
from carrara.papers.figures.marks import FigureData, names_of
from carrara.papers.scores import PublishedScore
from carrara.results.cards import same_length
from carrara.results.intervals import wilson
from carrara.results.rows import score_categories
from carrara.util.quantities import natural, write_length

USUAL = 4 << 10
"""The length of the paper's contexts."""
VARIATION = ", prompt variation 2"
"""The suffix in the paper's name of a task with another wording."""


def one_length(definition: Definition, data: FigureData) -> Figure:
    """Return models by tasks, each at its length nearest to the paper's.

    The table has differences if the paper prints scores.
    """
    user_marks = _at_usual_length(definition.tasks, data)
    notes = _length_notes(definition.tasks, data)
    if not definition.published:
        return definition.figure(user_marks, notes=notes)
    published = data.published_marks(
        dict.fromkeys(definition.tasks.values(), ""),
        lambda score: score.task,
        keep=_at_own_length(definition.tasks, data, (USUAL, 0, None)),
    )
    nearest = {definition.tasks[task]: length for task, length in _nearest(definition.tasks, data).items()}
    marks = data.combine(user_marks, published, all_published=True, by=lambda mark: mark.x)
    return definition.figure(with_differences(marks, nearest), notes=notes)


def _at_usual_length(tasks: Mapping[str, str], data: FigureData, suffix: str = "") -> list[Mark]:
    near = _near(tasks, data)
    return [mark for task in tasks for mark in near.own_marks({task: ""}, lambda row: f"{tasks[row.task]}{suffix}")]


def _nearest(tasks: Iterable[str], data: FigureData) -> dict[str, int]:
    """Return, for each task, the length that is nearest to the usual one."""
    lengths: dict[str, set[int]] = {}
    for result in data.results:
        lengths.setdefault(result.task, set()).add(result.length)
    return {task: min(lengths[task], key=lambda length: abs(length - USUAL)) for task in tasks if task in lengths}


def _near(tasks: Iterable[str], data: FigureData) -> FigureData:
    """Return the results of each task at the length that is nearest to the usual one."""
    nearest = _nearest(tasks, data)
    return data.filter(lambda result: nearest.get(result.task) == result.length)


def _at_own_length(
    tasks: Mapping[str, str], data: FigureData, lengths: Collection[int | None] = ()
) -> Callable[[PublishedScore], bool]:
    """Return whether a published score is at one of these lengths, and at the length of its task's run."""
    nearest = {tasks[task]: length for task, length in _nearest(tasks, data).items()}

    def keep(score: PublishedScore) -> bool:
        run_length = nearest.get(score.task.removesuffix(VARIATION))
        return (not lengths or score.length in lengths) and (
            run_length is None or same_length(run_length, score.length)
        )

    return keep


def _length_notes(tasks: Mapping[str, str], data: FigureData) -> list[str]:
    lengths = sorted({result.length for result in data.results if result.task in tasks})
    if len(lengths) < 2:
        return []
    return [f"At the length nearest to 4k of those that were run: {', '.join(map(write_length, lengths))}."]


def with_differences(marks: Iterable[Mark], lengths: Mapping[str, int] = MappingProxyType({})) -> list[Mark]:
    """Label each mark with its value and, in brackets, its difference from the task that the paper compares it with.

    Args:
        marks: Scores by task. A model that lacks the other task has no bracket.
        lengths: The length that each task was run at. The user's scores at two lengths are not subtracted.
    """
    baselines: Mapping[str, str] = paper_data("minerva")["baselines"]
    marks = list(marks)
    values = {(mark.model, mark.published, mark.x): mark.value for mark in marks}
    labelled = []
    for mark in marks:
        baseline = baselines.get(str(mark.x), "")
        is_comparable = mark.published or lengths.get(str(mark.x)) == lengths.get(baseline)
        baseline_value = values.get((mark.model, mark.published, baseline)) if is_comparable else None
        change = "" if baseline_value is None else f" ({mark.value - baseline_value:+.2f})".replace("-", "−")
        labelled.append(replace(mark, label=f"{mark.value:.2f}{change}"))
    return labelled


def categories(definition: Definition, data: FigureData) -> Figure:
    """Return the mean of the tasks of each category."""
    results = [result for result in data.results if result.task.startswith("minerva/")]
    rows = FigureData(results, ()).rows({result.task for result in results})
    names = names_of(rows)
    category_scores = score_categories(rows)
    length = min(
        (score.length for score in category_scores), key=lambda length: (abs(length - USUAL), length), default=0
    )
    marks = [
        Mark(names[score.series], score.category, score.mean, low=score.low, high=score.high, n=len(score.tasks))
        for score in category_scores
        if score.length == length
    ]
    return definition.figure(
        marks, title=f"{definition.title}, at {write_length(length)}" if length else definition.title
    )


def presence(definition: Definition, data: FigureData) -> Figure:
    """Return the scores on present and absent sequences, by their length."""
    sized = data.filter(lambda result: "size" in result.labels)
    has_several_lengths = len({result.length for result in sized.results}) > 1
    marks = sized.own_marks(
        dict.fromkeys(definition.tasks, ""),
        lambda row: int(row.labels["size"]),
        by=["size", "answer"],
        part=lambda row: (
            ("present" if row.labels["answer"] == "yes" else "absent")
            + (f", {write_length(row.length)}" if has_several_lengths else "")
        ),
    )
    groups: dict[tuple[str, float | str, str], list[Mark]] = {}
    for mark in marks:  # a sequence is absent in several ways
        groups.setdefault((mark.model, mark.x, mark.part), []).append(mark)
    return definition.figure([_pool(group) for group in groups.values()])


def _pool(marks: list[Mark]) -> Mark:
    n = sum(mark.n or 0 for mark in marks)
    mean = sum(mark.value * (mark.n or 0) for mark in marks) / n
    low, high = wilson(mean, n)
    return replace(marks[0], value=mean, low=low, high=high, n=n)


def gibberish(definition: Definition, data: FigureData) -> Figure:
    """Return the scores on words and on gibberish, `-p words=gibberish`."""
    names: Mapping[str, str] = paper_data("minerva")["word_tests"]
    word_results = data.filter(lambda r: r.task in definition.tasks and r.labels.get("of", "words") == "words")
    word_results = word_results.with_label("words", "dictionary")
    kinds = {
        "gibberish": word_results.filter(lambda result: result.labels["words"] == "gibberish"),
        "words": word_results.filter(lambda result: result.labels["words"] != "gibberish"),
    }
    marks = [
        mark for kind, of_kind in kinds.items() for mark in _at_usual_length(definition.tasks, of_kind, f", {kind}")
    ]
    lengths = {
        f"{definition.tasks[task]}, {kind}": length
        for kind, of_kind in kinds.items()
        for task, length in _nearest(definition.tasks, of_kind).items()
    }

    def keep(score: PublishedScore) -> bool:
        length = lengths.get(names.get(score.task, ""))
        return length is None or same_length(length, score.length)

    published = data.published_marks(
        dict.fromkeys(names, ""), lambda score: names[score.task], tables=definition.tables, keep=keep
    )
    shown = data.combine(marks, published, all_published=True, by=lambda mark: mark.x)
    return definition.figure(with_differences(shown, lengths))


def steps(definition: Definition, data: FigureData) -> Figure:
    defaults: Mapping[str, str] = paper_data("minerva")["steps"]
    marks: list[Mark] = []
    for task, panel in definition.tasks.items():
        unfilled = data.filter(lambda result, task=task: result.task == task and not result.length)  # type: ignore[misc]
        labelled = unfilled.with_label("steps", defaults[task])
        marks += labelled.own_marks({task: panel}, lambda row: int(row.labels["steps"]), by=["steps"])
    return definition.figure(marks)


def phrasings(definition: Definition, data: FigureData) -> Figure:
    """Return the scores on the same question in two wordings, `-p phrasing=1,2`."""
    labelled = _near(definition.tasks, data).with_label("phrasing", "1")
    marks = labelled.own_marks(definition.tasks, lambda row: f"wording {row.labels['phrasing']}", by=["phrasing"])
    panels = {name + variation: name for variation in ("", VARIATION) for name in definition.tasks.values()}
    published = data.published_marks(
        panels,
        lambda score: f"wording {2 if score.task.endswith(VARIATION) else 1}",
        tables=definition.tables,
        keep=_at_own_length(definition.tasks, data),
    )
    shown = data.combine(marks, published, all_published=True)
    return definition.figure(sorted(shown, key=lambda mark: natural(str(mark.x))))


MAKERS = {
    "one_length": one_length,
    "categories": categories,
    "presence": presence,
    "gibberish": gibberish,
    "steps": steps,
    "phrasings": phrasings,
}
