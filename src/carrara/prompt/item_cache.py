"""The items of a run, built once and kept while they are wanted: most are recipes, so keeping them costs little."""

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import ParamSpec, TypeVar

import anyio

from carrara.core.cache import WeightedCache
from carrara.core.errors import UsageError
from carrara.core.recipe import Recipe
from carrara.core.types import Message
from carrara.prompt.items import KEPT, Context, Item, context_of, weight
from carrara.prompt.wording import Pack

QUICK = 1 << 12
"""Tokens of a prompt, and letters of a reply, up to which they are worked on at once: a thread takes longer to call."""

_PACKS: dict[str, Pack] = {}
_RENDERING = Lock()
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def know(pack: Pack | None) -> None:
    """Let items of this prompt pack be built by their ids."""
    if pack is not None:
        _PACKS[pack.hash] = pack


def kept(first: Recipe, pack: Pack | None) -> Context:
    """The context of a recipe that asks its first question, and was made with this prompt pack."""
    know(pack)
    return _context(first)


def _made(first: Recipe) -> Context:
    if first.pack and first.pack not in _PACKS:
        raise UsageError(f"{first} was made with a prompt pack of hash {first.pack}: give it with `prompts`")
    return context_of(first, _PACKS.get(first.pack))


def _item(id: str) -> Item:
    recipe = Recipe.parse(id)
    return _context(replace(recipe, question=0)).item(recipe.question)


_context = WeightedCache(_made, weight, KEPT)
item_of = WeightedCache(_item, lambda id: weight(Recipe.parse(id)), KEPT)


def quick(id: str) -> bool:
    return item_of(id).prompt.tokens <= QUICK


def messages_of(id: str) -> list[Message]:
    """The prompt of an item, for threads beside the event loop, unless it is quick.

    One at a time: rendering is bound by the interpreter's lock, and each text under way costs its size in memory.
    """
    if quick(id):
        return item_of(id).messages()
    with _RENDERING:
        return item_of(id).messages()


async def beside(at_once: bool, work: Callable[_Given, _Found], *args: _Given.args, **options: _Given.kwargs) -> _Found:
    """Work in a thread, so that replies arrive and limits of time run meanwhile; or at once, where it is short."""
    if at_once:
        return work(*args, **options)
    return await anyio.to_thread.run_sync(lambda: work(*args, **options))
