"""From what is asked for to the jobs of a run: tests by selection or preset, at their lengths, so many worlds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from carrara.core.lengths import read_lengths
from carrara.core.recipe import Recipe
from carrara.engine.plan import Job
from carrara.engine.presets import WORLDS, Preset, Size, preset_of
from carrara.engine.suited import tokenizer_for
from carrara.prompt.asked import Drawn, Selection, recipes
from carrara.prompt.wording import Pack


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


def jobs(wanted: Wanted, model: str, weights: str = "") -> tuple[Job, ...]:
    """The jobs for a model; `weights` is the file that the embedded model is read from, if one is named."""
    pack = wanted.drawn.pack()
    return tuple(job for one in wanted.tests for job in _jobs(one, wanted, pack, model, weights))


def _jobs(asked: Selection, wanted: Wanted, pack: Pack | None, model: str, weights: str) -> Iterable[Job]:
    preset, lengths, selection = None, wanted.lengths, asked
    if found := preset_of(asked.tests):
        preset, tests = found
        selection = Selection(tests, asked.params if wanted.published else preset.params_beside(asked.params))
        if wanted.published:  # of a preset these are the tests and lengths: what its items are like is given
            lengths = lengths or read_lengths(preset.lengths)
    own = preset.tokenizer if preset else ""
    tokenizer = wanted.tokenizer or own or (f"gguf:{weights}" if weights else tokenizer_for(model))
    first = recipes(selection, wanted.drawn, pack, tokenizer)
    if wanted.published:
        from carrara.engine.published import published

        return published(wanted.published, first, lengths, wanted.n, selection.tests)
    return _sized(first, preset, lengths, wanted.n)


def _sized(
    first: Iterable[Recipe], preset: Preset | None, lengths: Sequence[int] | None, n: int | None
) -> Iterator[Job]:
    for recipe in first:
        sizes = preset.sizes(recipe.task, lengths) if preset else (Size(at, WORLDS) for at in lengths or [0])
        for size in sizes:
            yield Job(replace(recipe, length=size.length, index=size.first), n or size.worlds)
