"""Every test as an Inspect task under its own name, so that `inspect eval carrara/latent_list -T length=4k` works.

`carrara run` makes its tasks here too: what Inspect knows of a task (its name and arguments) is what it matches when a
stopped run goes on.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import get_model

from carrara import params as parameters
from carrara import suites, tokens
from carrara.engine.items import know
from carrara.engine.tasks import inspect_task
from carrara.errors import UsageError
from carrara.keys import Split
from carrara.lengths import read_length
from carrara.recipe import Recipe
from carrara.types import Style
from carrara.wording import Pack, read_pack

Maker = Callable[..., Task]


def maker(name: str) -> Maker:
    """The Inspect task function of a test."""
    short = name.rpartition("/")[2]

    def make(
        length: str | int = "0",
        n: int = 20,
        params: str = "",
        seed: int = 0,
        split: Split = "test",
        style: Style = "chat",
        tokenizer: str = "",
        prompts: str = "",
        budgeted: bool = False,
    ) -> Task:
        loaded = suites.load(name)
        pack = _pack(prompts)
        first = Recipe(
            task=name,
            version=loaded.version,
            params=parameters.canonical(loaded, parameters.build(loaded, name, parameters.read_canonical(params))),
            split=split,
            seed=seed,
            index=0,
            question=0,
            length=read_length(str(length)),
            style=style,
            pack=pack.hash if pack else "",
            tokenizer=tokenizer or tokenizer_for(str(get_model())),
        )
        return inspect_task(loaded.title, first, n, pack, budgeted)

    make.__doc__ = f"{suites.load(name).title}: {suites.load(name).capability}."
    return task(name=short)(make)


def _pack(path: str) -> Pack | None:
    pack = read_pack(Path(path)) if path else None
    know(pack)
    return pack


def tokenizer_for(model: str) -> str:
    """The tokenizer of a model, which is known or asked for, and never guessed."""
    known = tokens.for_model(model)
    if known is None:
        bundled = ", ".join(name for name, _ in tokens.names())
        raise UsageError(
            f"it is not known how {model} counts tokens: name its tokenizer with --tokenizer "
            f"(-T tokenizer= in Inspect), one of {bundled}"
        )
    return known


def all_tasks() -> dict[str, Any]:
    """Task functions by short name; a name that two suites use keeps its suite."""
    names = suites.names()
    shorts = [name.rpartition("/")[2] for name in names]
    return {short: maker(name) for name, short in zip(names, shorts, strict=True) if shorts.count(short) == 1}
