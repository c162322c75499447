"""What was found about the tests of some results, in the version that they were made with."""

from collections.abc import Iterable

from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.proof.shortcuts.kept import kept
from carrara.registry import load
from carrara.results.analysis.shortcuts import Known


def known(results: Iterable[Result]) -> list[Known]:
    tests = {(recipe.task, recipe.version) for recipe in (Recipe.parse(result.id) for result in results)}
    found = ((task, kept().get(f"{task}@{version}")) for task, version in sorted(tests))
    return [
        Known(
            task,
            load(task).capability,
            one.best.name,
            one.best.score,
            one.best.chance_level,
            one.best.declared,
            one.reach,
            one.best_declared.score if one.best_declared else None,
            load(task).guesser,
        )
        for task, one in found
        if one is not None
    ]
