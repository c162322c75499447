"""The items of a run, built once and kept while they are wanted: they are recipes, so keeping them costs little."""

from functools import lru_cache
from threading import Lock

from carrara.core.errors import UsageError
from carrara.core.recipe import Recipe
from carrara.core.types import Message
from carrara.prompt.items import Item, rebuild
from carrara.prompt.wording import Pack

_PACKS: dict[str, Pack] = {}
_KEPT = 1024
_RENDERING = Lock()


def know(pack: Pack | None) -> None:
    """Let items of this prompt pack be built by their ids."""
    if pack is not None:
        _PACKS[pack.hash] = pack


@lru_cache(maxsize=_KEPT)
def item_of(id: str) -> Item:
    wanted = Recipe.parse(id).pack
    if wanted and wanted not in _PACKS:
        raise UsageError(f"{id} was made with a prompt pack of hash {wanted}: give it with `prompts`")
    return rebuild(id, _PACKS.get(wanted))


def messages_of(id: str) -> list[Message]:
    """The prompt of an item, for threads beside the event loop.

    One at a time: rendering is bound by the interpreter's lock, and each text under way costs its size in memory.
    """
    with _RENDERING:
        return item_of(id).messages()
