"""From what is asked for to the jobs of a run: tests by selection or preset, at their lengths, so many worlds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from carrara.core.lengths import read_lengths
from carrara.core.recipe import Recipe
from carrara.prompt.asked import Drawn, Selection, recipes
from carrara.prompt.wording import Pack
from carrara.runs.config import Job
from carrara.runs.presets import WORLDS, Preset, Size, preset_of
from carrara.servers.model_names import check_model
from carrara.servers.model_tokenizer import tokenizer_for
from carrara.tokens import permission


@dataclass(frozen=True)
class Wanted:
    """Which items a run asks."""

    tests: Sequence[Selection]
    """A selection may be a preset, or a part of one: PRESET:SELECTION."""
    lengths: Sequence[int] | None = None
    """None: 0, or the preset's."""
    n: int | None = None
    """Worlds for each test and length. None: `WORLDS`, or the preset's."""
    drawn: Drawn = field(default_factory=Drawn)
    tokenizer: str = ""
    """Nothing: the preset's, or the model's."""
    published: str = ""
    """SUITE:DIR, files whose items are run as they are."""


def jobs(wanted: Wanted, model: str) -> tuple[Job, ...]:
    """The jobs for a model."""
    pack = wanted.drawn.pack()
    resolved = [_resolve(one, wanted, pack) for one in wanted.tests]  # an unknown test is reported before the model
    check_model(model)
    return tuple(job for one in resolved for job in _jobs(one, wanted, model))


@dataclass(frozen=True)
class _Resolved:
    """A selection with what it comes to."""

    tests: str
    first: Sequence[Recipe]
    """The first recipe of each test, which names no tokenizer yet."""
    preset: Preset | None
    lengths: Sequence[int] | None


def _resolve(asked: Selection, wanted: Wanted, pack: Pack | None) -> _Resolved:
    preset, lengths, selection = None, wanted.lengths, asked
    if found := preset_of(asked.tests):
        preset, tests = found
        selection = Selection(tests, asked.params if wanted.published else preset.params_beside(asked.params))
        if wanted.published:  # of a preset these are the tests and lengths: what its items are like is given
            lengths = lengths or read_lengths(preset.lengths)
    return _Resolved(selection.tests, recipes(selection, wanted.drawn, pack, ""), preset, lengths)


def _jobs(one: _Resolved, wanted: Wanted, model: str) -> Iterable[Job]:
    own = one.preset.tokenizer if one.preset else ""
    tokenizer = wanted.tokenizer or own or tokenizer_for(model)
    permission.allow(tokenizer)
    first = [replace(recipe, tokenizer=tokenizer) for recipe in one.first]
    if wanted.published:
        from carrara.runs.published import published

        return published(wanted.published, first, one.lengths, wanted.n, one.tests)
    return _sized(first, one.preset, one.lengths, wanted.n)


def _sized(
    first: Iterable[Recipe], preset: Preset | None, lengths: Sequence[int] | None, n: int | None
) -> Iterator[Job]:
    for recipe in first:
        sizes = preset.sizes(recipe.task, lengths) if preset else (Size(at, WORLDS) for at in lengths or [0])
        for size in sizes:
            yield Job(replace(recipe, length=size.length, index=size.first), n or size.worlds)
