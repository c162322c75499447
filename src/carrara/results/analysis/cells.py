"""Cells: one test at one length, with the score of each model.

Run folders mix two things, which are separated here. The settings of a model (server, temperature, retrieval, chat or
plain text) are part of the model's name. The settings of a test (parameters, version, split, wording) are part of the
test's name where the results have several. The tokenizer is part of neither, because each model has its own, unless
one model was run with two.
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
    """The settings of the test, where these results have several."""
    length: int
    model: Series
    stat: Stat

    @property
    def what(self) -> str:
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.test}{variant} at {write_length(self.length)}"


def models_of(results: Sequence[Result]) -> list[Series]:
    """Return the model of each result, with its settings."""
    asked = [_as_asked(result) for result in results]
    model = series_of(asked)
    return [model(subject) for subject in asked]


def group_by_cell(results: Sequence[Result]) -> dict[tuple[str, str, int, Series], list[Result]]:
    """Return the replies by test, settings of the test, length and model, sorted in this order."""
    posed, models = [_as_posed(result) for result in results], models_of(results)
    variant = series_of(posed)
    groups: dict[tuple[str, str, int, Series], list[Result]] = {}
    for result, test, model in zip(results, posed, models, strict=True):
        groups.setdefault((result.task, variant(test).variant, result.length, model), []).append(result)
    return dict(sorted(groups.items(), key=lambda item: (natural(item[0][0]), *item[0][1:])))


def cell_scores(results: Sequence[Result]) -> list[CellScore]:
    """Return the cells in the order of tests, lengths and models, without those that have no score."""
    found = (CellScore(*key, stat(group)) for key, group in group_by_cell(results).items())
    return [one for one in found if one.stat.scored]


def _as_posed(result: Result) -> Result:
    """The result without anything about the model."""
    recipe = recipe_of(result.id)
    id = str(replace(recipe, style="chat", tokenizer="any")) if recipe else ""
    return replace(result, id=id, model="", answered_by="", settings={}, tokenizer="any")


def _as_asked(result: Result) -> Result:
    """The result without anything about the test."""
    recipe = recipe_of(result.id)
    id = f"any/test@0/test-0-0.0/0/{recipe.style}/{recipe.tokenizer}" if recipe else ""
    return replace(result, id=id, task="any/test", version=0)


def merge(folders: Sequence[Sequence[Result]]) -> tuple[list[Result], int]:
    """Return the results of several folders, and how many replies are in more than one; the last folder's count."""
    found = {(result.subject, result.id): result for results in folders for result in results}
    return list(found.values()), sum(map(len, folders)) - len(found)
