"""The values of figures: replies of the user's models and published scores, both as marks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from carrara.papers.figures.definitions import Definition
from carrara.papers.figures.figure import Mark
from carrara.papers.scores import GUESSER, PublishedScore, distinct_scores
from carrara.params import read_canonical
from carrara.report.style import styles_of
from carrara.results.cards import same_length
from carrara.results.correlation import Column, Correlation, correlations
from carrara.results.result import Result
from carrara.results.rows import Row, accumulate, drop_unscored, summarize
from carrara.results.series import Series, item_id_of

MOST_PUBLISHED = 8
"""The number of published models in a figure by default: those with most values, and the best of them."""
SPECIAL = frozenset({"phrasing", "words", "steps", "window"})
"""Parameters that a figure is about. Runs with one of these belong to that figure."""


@dataclass(frozen=True)
class FigureData:
    """The results and scores from which figures are made."""

    results: Sequence[Result]
    """The replies, with the requested score as the one that counts."""
    scores: Sequence[PublishedScore]
    """Scores of papers, shown beside the user's models or alone."""
    models: Collection[str] = ()
    """The requested published models. Empty: all of a figure that has no others, or the best beside the user's."""
    only_best: bool = False
    """Whether the best published models are requested, also of a figure that has no others."""

    def at_lengths(self, lengths: Collection[int]) -> "FigureData":
        """Return the results at these lengths, or at a paper's length near one of them."""
        return replace(
            self,
            results=[result for result in self.results if result.length in lengths],
            scores=[score for score in self.scores if any(same_length(length, score.length) for length in lengths)],
        )

    def filter(self, keep: Callable[[Result], bool]) -> "FigureData":
        """Return the data with fewer replies."""
        return replace(self, results=[result for result in self.results if keep(result)])

    def without_setting(self, setting: str) -> "FigureData":
        """Return the data without a setting of the model, which then separates no series."""
        return replace(
            self,
            results=[
                replace(result, settings={name: value for name, value in result.settings.items() if name != setting})
                for result in self.results
            ],
        )

    def with_label(self, parameter: str, default: str = "") -> "FigureData":
        """Return the data with a parameter of the tasks as a label, which then separates no series."""
        return replace(self, results=[_add_label(result, parameter, default) for result in self.results])

    def rows(self, tasks: Collection[str], by: Sequence[str] = (), cumulative: bool = False) -> list[Row]:
        """Return the user's results on these tasks, at each length and by these labels."""
        scored = drop_unscored(_usual([result for result in self.results if result.task in tasks]))
        if cumulative:
            return accumulate(scored)
        return [row for row in summarize(scored, by) if row.stat.scored]

    def own_marks(
        self,
        tasks: Mapping[str, str],
        x: Callable[[Row], float | str] = lambda row: row.length,
        *,
        by: Sequence[str] = (),
        part: Callable[[Row], str] = lambda _: "",
        cumulative: bool = False,
    ) -> list[Mark]:
        """Return a mark for each row of these tasks, whose panels are named."""
        order = list(tasks)
        rows = sorted(self.rows(tasks, by, cumulative), key=lambda row: order.index(row.task))
        names = names_of(rows)
        return [mark_of(row, names[row.series], x(row), tasks[row.task], part(row)) for row in rows]

    def published_marks(
        self,
        tasks: Mapping[str, str],
        x: Callable[[PublishedScore], float | str] | None = None,
        *,
        tables: Collection[str] = (),
        keep: Callable[[PublishedScore], bool] = lambda _: True,
    ) -> list[Mark]:
        """Return a mark for each score that a paper prints for these tasks, with the paper's names.

        Args:
            tasks: For each name of a task its panel.
            x: The place of a score. By default its length; a score without a length has no mark.
            tables: The paper's tables to take scores from; empty: all of them.
            keep: Whether a score is wanted.
        """
        return [
            Mark(
                model=score.name,
                x=x(score) if x else score.length or 0,
                value=score.score / 100,
                panel=tasks[score.task],
                published=True,
            )
            for score in distinct_scores([score for score in self.scores if not tables or score.table in tables])
            if keep(score)
            and score.task in tasks
            and not score.name.startswith(GUESSER)
            and (x or score.length is not None)
        ]

    def combine(
        self,
        user_marks: Sequence[Mark],
        published: Sequence[Mark],
        all_published: bool = False,
        by: Callable[[Mark], float | str] = lambda mark: mark.panel,
    ) -> list[Mark]:
        """Return the user's marks with the requested published ones, or with the best of them.

        Args:
            user_marks: The marks of the user's runs.
            published: Published marks. Beside the user's marks, only those stand that belong to what was run.
            all_published: Whether to show all published marks if the user has none.
            by: What a mark belongs to.
        """
        run = {by(mark) for mark in user_marks}
        published = [mark for mark in published if not user_marks or by(mark) in run]
        if self.models or (all_published and not user_marks and not self.only_best):
            return [*user_marks, *self.select(published)]
        best = _best(published, MOST_PUBLISHED)
        return [*user_marks, *(mark for mark in published if mark.model in best)]

    def select(self, published: Sequence[Mark]) -> list[Mark]:
        """Return the marks of the requested models. Without a request, return all marks."""
        return [
            mark
            for mark in published
            if not self.models or any(model.lower() in mark.model.lower() for model in self.models)
        ]


def scores(definition: Definition, data: FigureData) -> list[Mark]:
    """Return the scores that a definition describes."""
    shown = data.filter(definition.shows)
    panels = definition.tasks if definition.panels else dict.fromkeys(definition.tasks, "")
    published_panels = {name: panels[task] for task, name in definition.tasks.items()}
    marks = shown.own_marks(panels, lambda row: definition.tasks[row.task] if definition.x == "task" else row.length)
    published = data.published_marks(published_panels, tables=definition.tables) if definition.tables else []
    if definition.models:
        published = [mark for mark in published if any(part in mark.model for part in definition.models)]
    return data.combine(marks, published, definition.all_published)


def by_task(definition: Definition) -> dict[str, str]:
    """Return the paper's own names of the tasks, each its own panel."""
    return {name: name for name in definition.tasks.values()}


def common(marks: Iterable[Mark], by: Callable[[Mark], float | str] = lambda mark: mark.panel) -> set[float | str]:
    """Return the keys that all models of these marks have. `by` returns the key of a mark."""
    keys_by_model: dict[tuple[str, bool], set[float | str]] = {}
    for mark in marks:
        keys_by_model.setdefault((mark.model, mark.published), set()).add(by(mark))
    return set.intersection(*keys_by_model.values()) if keys_by_model else set()


def mark_of(row: Row, model: str, x: float | str, panel: str = "", part: str = "") -> Mark:
    return Mark(
        model=model,
        x=x,
        value=row.stat.mean,
        panel=panel,
        part=part,
        low=row.stat.low,
        high=row.stat.high,
        n=row.stat.n,
    )


def names_of(rows: Sequence[Row]) -> dict[Series, str]:
    """Return the short name of each series."""
    return {series: style.name for series, style in styles_of(rows).items()}


def _best(marks: Iterable[Mark], count: int) -> list[str]:
    """Return the models with most marks, and the best of these."""
    values: dict[str, list[float]] = {}
    for mark in marks:
        values.setdefault(mark.model, []).append(mark.value)
    return sorted(values, key=lambda model: (-len(values[model]), -sum(values[model]), model))[:count]


def mean_of(marks: Sequence[Mark]) -> list[Mark]:
    """Return for each model and x the mean over all panels, each with the same weight, if the model has all of them."""
    panels = {mark.panel for mark in marks}
    groups: dict[tuple[str, bool, float | str], dict[str, Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.model, mark.published, mark.x), {})[mark.panel] = mark
    return [
        Mark(
            model,
            x,
            sum(mark.value for mark in marks_by_panel.values()) / len(marks_by_panel),
            published=published,
        )
        for (model, published, x), marks_by_panel in groups.items()
        if len(marks_by_panel) == len(panels)
    ]


def panel_correlations(marks: Iterable[Mark], length: float | str) -> list[Correlation]:
    """Return the rank correlation of each two panels, over the models that have both at this length."""
    columns: dict[str, dict[str, float]] = {}
    for mark in marks:
        if mark.x == length:
            columns.setdefault(mark.panel, {})[mark.model] = mark.value
    pairs = correlations([Column(panel, "", values) for panel, values in columns.items()])
    return [pair for pair in pairs if pair.rho is not None]


def _usual(results: Sequence[Result]) -> list[Result]:
    """Return results without runs that were made for a specific figure, if their tasks were also run without it."""
    usual = {(r.model, r.task) for r in results if not _is_special(r)}
    return [r for r in results if (r.model, r.task) not in usual or not _is_special(r)]


def _is_special(result: Result) -> bool:
    item_id = item_id_of(result.id)
    return item_id is not None and not SPECIAL.isdisjoint(read_canonical(item_id.params))


def _add_label(result: Result, parameter: str, default: str) -> Result:
    item_id = item_id_of(result.id)
    if item_id is None:
        return replace(result, labels={parameter: default, **result.labels})
    parameters = read_canonical(item_id.params)
    value = parameters.pop(parameter, default)
    reduced_id = replace(item_id, params=";".join(f"{key}={value}" for key, value in parameters.items()))
    return replace(result, id=str(reduced_id), labels={parameter: value, **result.labels})
