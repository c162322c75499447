"""What figures are made of: replies of one's own models, and what papers print of theirs, both as marks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from carrara.core.errors import UsageError
from carrara.core.params import read_canonical
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.results.analysis.cumulative_scores import accumulate
from carrara.results.analysis.summary import Row, scored, summarize
from carrara.results.analysis.vs_published import same_length
from carrara.results.figures.figure import Mark
from carrara.results.published.scores import GUESSER, Score, counting
from carrara.results.style import styles_of

Keep = Callable[[Result], bool]

BESIDE = 8
"""Published models that stand beside one's own where it is not said which: those that have most of the figure, the
best of them first."""


OWN_FIGURE = frozenset({"phrasing", "words", "steps", "window"})
"""Parameters that some figure is about: a run with one of these belongs to it."""


@dataclass(frozen=True)
class Evidence:
    results: Sequence[Result]
    """Of which the score that was asked for counts."""
    scores: Sequence[Score]
    """Of papers: beside one's own, or alone."""
    models: Collection[str] = ()
    """Published models that were asked for; none: all of a figure that has no others, or the best beside one's own."""

    def at(self, lengths: Collection[int]) -> "Evidence":
        """Only what was measured at these lengths, or at a paper's near to one of them."""
        return replace(
            self,
            results=[result for result in self.results if result.length in lengths],
            scores=[score for score in self.scores if any(same_length(own, score.length) for own in lengths)],
        )

    def only(self, keep: Keep) -> "Evidence":
        return replace(self, results=[result for result in self.results if keep(result)])

    def plain(self, setting: str) -> "Evidence":
        """Without a setting of the model, which then tells no series apart."""
        return replace(
            self,
            results=[
                replace(result, settings={name: value for name, value in result.settings.items() if name != setting})
                for result in self.results
            ],
        )

    def posed(self, name: str, default: str = "") -> "Evidence":
        """With a parameter of the tests as a label, which then tells no series apart."""
        return replace(self, results=[_posed(result, name, default) for result in self.results])

    def rows(self, tests: Collection[str], by: Sequence[str] = (), cumulative: bool = False) -> list[Row]:
        """Own results of these tests, at each length and by these labels."""
        own = scored(_usual([result for result in self.results if result.task in tests]))
        if cumulative:
            return accumulate(own)
        return [row for row in summarize(own, by) if row.stat.scored]

    def measured(
        self,
        tests: Mapping[str, str],
        x: Callable[[Row], float | str] = lambda row: row.length,
        *,
        by: Sequence[str] = (),
        part: Callable[[Row], str] = lambda _: "",
        cumulative: bool = False,
    ) -> list[Mark]:
        """A mark for each row of these tests; the panel of each is named."""
        order = list(tests)
        rows = sorted(self.rows(tests, by, cumulative), key=lambda row: order.index(row.task))
        return [
            marked(row, name, x(row), tests[row.task], part(row)) for row, name in zip(rows, named(rows), strict=True)
        ]

    def printed(
        self,
        tests: Mapping[str, str],
        x: Callable[[Score], float | str] | None = None,
        *,
        table: Collection[str] = (),
        keep: Callable[[Score], bool] = lambda _: True,
    ) -> list[Mark]:
        """A mark for each score that a paper prints of these tests, named as the paper does, in these of its tables."""
        found = [
            score
            for score in counting([one for one in self.scores if not table or one.table in table])
            if keep(score)
            and score.test in tests
            and not score.name.startswith(GUESSER)
            and (x or score.length is not None)
        ]
        return [
            Mark(
                model=score.name,
                x=x(score) if x else score.length or 0,
                value=score.score / 100,
                panel=tests[score.test],
                published=True,
            )
            for score in found
        ]

    def together(
        self,
        own: Sequence[Mark],
        printed: Sequence[Mark],
        room: bool = False,
        by: Callable[[Mark], float | str] = lambda mark: mark.panel,
    ) -> list[Mark]:
        """Own marks, and published ones: those asked for; else the best of them, or all where there is `room` alone.

        Beside own marks only those published ones stand that belong to what was run: `by` says what a mark belongs to.
        """
        run = {by(mark) for mark in own}
        printed = [mark for mark in printed if not own or by(mark) in run]
        if self.models:
            return [*own, *self.asked(printed)]
        if room and not own:
            return list(printed)
        best = most(printed, BESIDE)
        return [*own, *(mark for mark in printed if mark.model in best)]

    def asked(self, printed: Sequence[Mark]) -> list[Mark]:
        """Of published marks those of the models that were asked for; all of them if none was."""
        return [mark for mark in printed if not self.models or _asked(mark.model, self.models)]


def common(marks: Iterable[Mark], by: Callable[[Mark], float | str] = lambda mark: mark.panel) -> set[float | str]:
    """What all models of these marks have: `by` says what a mark belongs to."""
    found: dict[tuple[str, bool], set[float | str]] = {}
    for mark in marks:
        found.setdefault((mark.model, mark.published), set()).add(by(mark))
    return set.intersection(*found.values()) if found else set()


def marked(row: Row, model: str, x: float | str, panel: str = "", part: str = "") -> Mark:
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


def named(rows: Sequence[Row]) -> list[str]:
    """The short name of each row's model, the same for all rows of a series."""
    styles = styles_of(rows)
    return [styles[row.series].name for row in rows]


def most(marks: Iterable[Mark], count: int) -> list[str]:
    """The models with most marks, and of those the best."""
    values: dict[str, list[float]] = {}
    for mark in marks:
        values.setdefault(mark.model, []).append(mark.value)
    return sorted(values, key=lambda model: (-len(values[model]), -sum(values[model]), model))[:count]


def mean_of(marks: Sequence[Mark], panel: str = "") -> list[Mark]:
    """For each model and x the mean over all panels, where it has all of them: each panel counts the same."""
    panels = {mark.panel for mark in marks}
    groups: dict[tuple[str, bool, float | str], dict[str, Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.model, mark.published, mark.x), {})[mark.panel] = mark
    return [
        Mark(model, x, sum(mark.value for mark in own.values()) / len(own), panel, published=published)
        for (model, published, x), own in groups.items()
        if len(own) == len(panels)
    ]


def _usual(results: Sequence[Result]) -> list[Result]:
    """Without runs that were made for a figure of their own, where their tests were run without that too."""
    usual = {(r.model, r.task) for r in results if not _own_figure(r)}
    return [r for r in results if (r.model, r.task) not in usual or not _own_figure(r)]


def _own_figure(result: Result) -> bool:
    recipe = _recipe(result.id)
    return recipe is not None and not OWN_FIGURE.isdisjoint(read_canonical(recipe.params))


def _posed(result: Result, name: str, default: str) -> Result:
    recipe = _recipe(result.id)
    if recipe is None:
        return replace(result, labels={name: default, **result.labels})
    given = read_canonical(recipe.params)
    value = given.pop(name, default)
    rest = replace(recipe, params=";".join(f"{key}={one}" for key, one in given.items()))
    return replace(result, id=str(rest), labels={name: value, **result.labels})


@lru_cache(maxsize=1 << 17)
def _recipe(id: str) -> Recipe | None:
    try:
        return Recipe.parse(id)
    except UsageError:  # a reply made elsewhere
        return None


def _asked(name: str, models: Collection[str]) -> bool:
    return any(model.lower() in name.lower() for model in models)
