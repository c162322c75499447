"""What runs measured, made comparable: each test at each length with what every model scored there.

Two things that a run folder mixes are told apart here. A model as it was asked (its server, its temperature, its
retrieval, chat or plain text) is who scored; a test as it was posed (its parameters, its version, its split, its
wording) is what was scored, and becomes part of the test's name where the results have it in several ways. A tokenizer
counts to neither, for models have their own, unless one model was run by two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrara.core.lengths import write_length
from carrara.core.natsort import natural
from carrara.core.result import Result
from carrara.results.analysis.series import Series, recipe_of, series_of
from carrara.results.analysis.summary import Stat, stat


@dataclass(frozen=True)
class CellScore:
    test: str
    variant: str
    """How it was posed, where these results have it in several ways."""
    length: int
    model: Series
    stat: Stat

    @property
    def what(self) -> str:
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.test}{variant} at {write_length(self.length)}"


def models_of(results: Sequence[Result]) -> list[Series]:
    """The model of each, as it was asked."""
    asked = [_as_asked(result) for result in results]
    model = series_of(asked)
    return [model(subject) for subject in asked]


def group_by_cell(results: Sequence[Result]) -> dict[tuple[str, str, int, Series], list[Result]]:
    """The replies of each test, as it was posed, at each length by each model, in this order."""
    posed, models = [_as_posed(result) for result in results], models_of(results)
    variant = series_of(posed)
    groups: dict[tuple[str, str, int, Series], list[Result]] = {}
    for result, test, model in zip(results, posed, models, strict=True):
        groups.setdefault((result.task, variant(test).variant, result.length, model), []).append(result)
    return dict(sorted(groups.items(), key=lambda item: (natural(item[0][0]), *item[0][1:])))


def cell_scores(results: Sequence[Result]) -> list[CellScore]:
    """In the order of tests, lengths and models; without what has no score."""
    found = (CellScore(*key, stat(group)) for key, group in group_by_cell(results).items())
    return [one for one in found if one.stat.scored]


def _as_posed(result: Result) -> Result:
    """With nothing of the model that it was posed to, or that answered."""
    recipe = recipe_of(result.id)
    id = str(replace(recipe, style="chat", tokenizer="any")) if recipe else ""
    return replace(result, id=id, model="", answered_by="", settings={}, tokenizer="any")


def _as_asked(result: Result) -> Result:
    """With nothing of what was asked."""
    recipe = recipe_of(result.id)
    id = f"any/test@0/test-0-0.0/0/{recipe.style}/{recipe.tokenizer}" if recipe else ""
    return replace(result, id=id, task="any/test", version=0)


def merge(folders: Sequence[Sequence[Result]]) -> tuple[list[Result], int]:
    """The results of several folders, and how many replies were in more than one: of those the last folder's count."""
    found = {(result.subject, result.id): result for results in folders for result in results}
    return list(found.values()), sum(map(len, folders)) - len(found)
