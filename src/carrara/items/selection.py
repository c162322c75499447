"""From a selection of tasks with parameters to the first item id of each task."""

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
    ids = []
    for name, task in loaded.items():
        defaults = parameters.defaults(task)
        values = {parameter: value for parameter, value in selection.params.items() if parameter in defaults}
        ids.append(
            ItemId(
                task=name,
                version=task.version,
                params=parameters.canonical(parameters.build(task, name, values)),
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
    return ids
