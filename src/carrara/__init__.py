"""Carrara measures what language models can really do with a long context.

    >>> import carrara
    >>> t = carrara.load("latent_list", complexity=5)
    >>> i = t.item("1k", index=3, tokenizer="gpt2")
    >>> i.prompt.tokens, i.grade(i.gold).score
    (1024, 1.0)

Each name is loaded when it is first used. What else a user imports is in these modules:

- `carrara.task`: what the author of a task needs.
- `carrara.guard`, `carrara.recurrent`, `carrara.export`: guards of servers, models with memory, other programs.
- `carrara.util.errors`: the kinds of `CarraraError`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from carrara._version import __version__

if TYPE_CHECKING:
    from carrara import export as export
    from carrara import guard as guard
    from carrara import recurrent as recurrent
    from carrara.operations.audit import audit
    from carrara.operations.compare import compare
    from carrara.operations.figures import figure
    from carrara.operations.plan import plan
    from carrara.operations.profile import profile
    from carrara.operations.run import read, run
    from carrara.operations.score import score
    from carrara.operations.tasks import find, item, load
    from carrara.task import Task
    from carrara.util.errors import CarraraError

__all__ = [
    "CarraraError",
    "Task",
    "__version__",
    "audit",
    "compare",
    "figure",
    "find",
    "item",
    "load",
    "plan",
    "profile",
    "read",
    "run",
    "score",
]

_PLACES = {
    "carrara.util.errors": ("CarraraError",),
    "carrara.operations.audit": ("audit",),
    "carrara.operations.compare": ("compare",),
    "carrara.operations.figures": ("figure",),
    "carrara.operations.plan": ("plan",),
    "carrara.operations.profile": ("profile",),
    "carrara.operations.run": ("read", "run"),
    "carrara.operations.score": ("score",),
    "carrara.operations.tasks": ("find", "item", "load"),
    "carrara.task": ("Task",),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


_ROOMS = ("export", "guard", "recurrent")
"""Packages of names of their own, such as `carrara.guard.check`."""


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"carrara.{name}")
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'carrara' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACE_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
