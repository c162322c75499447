"""From a selection of tasks with parameters to the first item id of each task.

A task may have subsets that overlap at short lengths: up to 32k, up to 128k, up to 1M (Michelangelo, section 3.2).
Each subset has its own instances and lengths, so that the short contexts can be run first and the others added. If k
subsets share a bucket of lengths, it counts 1/k in each, and the union keeps the shape of a subset.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from carrara import params as parameters
from carrara.items import registry
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, read_pack
from carrara.rng import Split
from carrara.tokenizers import permission
from carrara.types import Style
from carrara.util.errors import UsageError, nearest
from carrara.util.quantities import read_length, read_lengths

APART = 1_000_000
"""The distance between the first instances of one subset and of the next."""


@dataclass(frozen=True)
class Subset:
    upto: str
    lengths: str
    number: int

    @property
    def first(self) -> int:
        """The index of its first instance."""
        return self.number * APART

    @property
    def sizes(self) -> list[int]:
        return read_lengths(self.lengths)


SUBSETS = (
    Subset("32k", "4k,8k,12k,16k,24k,32k", 0),
    Subset("128k", "8k,16k,32k,48k,64k,96k,128k", 1),
    Subset("1M", "32k,64k,128k,192k,256k,384k,512k,768k,1M", 2),
)
"""The lengths of a curve. They are closer than doublings; the paper does not give its own."""

_BOUNDS = [read_length(subset.upto) for subset in SUBSETS]


def subset_of(index: int) -> int:
    """Return the number of the subset to which an instance belongs."""
    return index // APART


def bucket_of(length: int) -> int:
    """Return the name of a subset: up to 32k, up to 128k, up to 1M, beyond."""
    return bisect_left(_BOUNDS, length)


class Selection(NamedTuple):
    """Tasks by name, suite or pattern, with parameters. Each task uses the parameters that it has."""

    tasks: str
    params: Mapping[str, str] = {}


@dataclass(frozen=True)
class Sampling:
    """The settings by which items of any task are drawn and worded."""

    seed: int = 0
    split: Split = "test"
    style: Style = "chat"
    prompts: Path | None = None
    """The file of a prompt pack."""

    def pack(self) -> Pack | None:
        pack = read_pack(self.prompts) if self.prompts else None
        for name in pack.replaced if pack else ():
            if name not in (known := [*registry.names(), *registry.FROM_FILES]):
                raise UsageError(f"the prompt pack is for {name!r}, and no task is called so{nearest(name, known)}")
        return pack


def item_ids(selection: Selection, sampling: Sampling, pack: Pack | None, tokenizer: str) -> list[ItemId]:
    """Return the first item id of each task, at length 0."""
    permission.allow(tokenizer)
    loaded = {name: registry.load(name) for name in registry.select(selection.tasks)}
    known = {parameter for task in loaded.values() for parameter in parameters.defaults(task)}
    for parameter in selection.params:
        if parameter not in known:
            raise UsageError(
                f"no task of {selection.tasks!r} has a parameter {parameter!r}{nearest(parameter, known)}; "
                f"they have {', '.join(sorted(known)) or 'none'}"
            )
    found = []
    for name, task in loaded.items():
        own = parameters.defaults(task)
        mine = {parameter: value for parameter, value in selection.params.items() if parameter in own}
        found.append(
            ItemId(
                task=name,
                version=task.version,
                params=parameters.canonical(parameters.build(task, name, mine)),
                split=sampling.split,
                seed=sampling.seed,
                index=0,
                question=0,
                length=0,
                style=sampling.style,
                pack=pack.hash if pack else "",
                tokenizer=tokenizer,
            )
        )
    return found
