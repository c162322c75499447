"""Carrara measures what language models can really do with a long context.

    >>> import carrara
    >>> t = carrara.load("latent_list", complexity=5)
    >>> i = t.item("1k", index=3, tokenizer="gpt2")
    >>> i.prompt.tokens, i.grade(i.gold).score
    (1024, 1.0)

Each name is loaded when it is first used.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from carrara._version import __version__

if TYPE_CHECKING:
    from carrara.export.taskset import CarraraTaskset
    from carrara.items.grading import Grade
    from carrara.items.item import Item
    from carrara.operations.audit import audit
    from carrara.operations.compare import compare
    from carrara.operations.figures import figure
    from carrara.operations.guard import check_guard, compare_servers, make_guard
    from carrara.operations.plan import plan
    from carrara.operations.profile import profile
    from carrara.operations.results import Results
    from carrara.operations.run import read, run
    from carrara.operations.tasks import find, item, load
    from carrara.operations.train import train
    from carrara.readers.reader import Reading
    from carrara.task import Instance, Rng, Sweep, Task
    from carrara.types import Question, Segment, UndecidableError
    from carrara.util.errors import CarraraError, LengthError, PluginError, RunError, UsageError

__all__ = [
    "CarraraError",
    "Grade",
    "Instance",
    "Item",
    "LengthError",
    "PluginError",
    "Question",
    "Reading",
    "Results",
    "Rng",
    "RunError",
    "Segment",
    "Sweep",
    "Task",
    "UndecidableError",
    "UsageError",
    "__version__",
    "audit",
    "check_guard",
    "compare",
    "compare_servers",
    "figure",
    "find",
    "item",
    "load",
    "make_guard",
    "plan",
    "profile",
    "read",
    "run",
    "train",
]
if find_spec("verifiers"):
    __all__ += ["CarraraTaskset"]  # verifiers looks for the one taskset of a package among these names

_PLACES = {
    "carrara.util.errors": ("CarraraError", "LengthError", "PluginError", "RunError", "UsageError"),
    "carrara.types": ("Segment", "Question", "UndecidableError"),
    "carrara.operations.audit": ("audit",),
    "carrara.operations.compare": ("compare",),
    "carrara.operations.figures": ("figure",),
    "carrara.operations.guard": ("check_guard", "compare_servers", "make_guard"),
    "carrara.items.grading": ("Grade",),
    "carrara.items.item": ("Item",),
    "carrara.operations.plan": ("plan",),
    "carrara.operations.profile": ("profile",),
    "carrara.operations.results": ("Results",),
    "carrara.operations.run": ("read", "run"),
    "carrara.operations.tasks": ("find", "item", "load"),
    "carrara.operations.train": ("train",),
    "carrara.readers.reader": ("Reading",),
    "carrara.export.taskset": ("CarraraTaskset",),
    "carrara.task": ("Instance", "Rng", "Sweep", "Task"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'carrara' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACE_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
