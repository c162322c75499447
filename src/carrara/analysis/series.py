"""Which results belong together: one model, asked in one way.

A directory may hold one model run twice, with other parameters, another tokenizer, another style or another prompt
pack. Averages over such a mixture mean nothing, so that a model's results are kept apart by whatever differs between
them, and that difference becomes part of the name: `SmolLM2` and `SmolLM2 (base)`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from carrara.errors import UsageError
from carrara.recipe import Recipe
from carrara.results import Result


class Series(NamedTuple):
    model: str
    variant: str = ""
    """What tells it from the same model's other series on that test; empty if there is only one."""

    def __str__(self) -> str:
        return f"{self.model} ({self.variant})" if self.variant else self.model


class _Setting(NamedTuple):
    """How a test was posed. Seeds are not among it: they give more items of the same kind."""

    version: str
    params: str
    split: str
    style: str
    pack: str
    tokenizer: str


def series_of(results: Sequence[Result]) -> Callable[[Result], Series]:
    """What names the series of each of these results."""
    settings: dict[tuple[str, str], dict[_Setting, None]] = {}
    for result in results:
        settings.setdefault((result.model, result.task), {})[_setting(result)] = None
    names: dict[tuple[str, str, _Setting], Series] = {}
    for (model, task), found in settings.items():
        differing = [i for i in range(len(_Setting._fields)) if len({setting[i] for setting in found}) > 1]
        for setting in found:
            variant = ", ".join(setting[i] for i in differing if setting[i])
            names[model, task, setting] = Series(model, variant)
    return lambda result: names[result.model, result.task, _setting(result)]


def _setting(result: Result) -> _Setting:
    return _read(result.id, result.version, result.tokenizer)


@lru_cache(maxsize=1 << 17)
def _read(id: str, version: int, tokenizer: str) -> _Setting:
    try:
        recipe = Recipe.parse(id)
    except UsageError:  # a reply made elsewhere: nothing more is known of it
        return _Setting(f"version {version}", "", "", "", "", tokenizer)
    return _Setting(
        f"version {version}",
        recipe.params or "default parameters",
        recipe.split,
        recipe.style,
        f"prompts {recipe.pack[:8]}" if recipe.pack else "own prompts",
        tokenizer,
    )
