"""A reply as a reader wants to see it: what its answer was read from, and what it needed, in its surroundings.

Whoever can build items gives a `Look`; a page without one shows the excerpt that each reply is kept with.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from carrara.core.result import Result


class Fragment(NamedTuple):
    text: str
    kind: Literal["text", "needed", "gap"]
    """`needed` is an update that the answer is read from; `gap` says how much is left out here."""


class Seen(NamedTuple):
    prompt: tuple[Fragment, ...]
    """Nothing where the prompt cannot be shown so."""
    read: str
    """The rule by which the answer was read; empty where none was."""


Look = Callable[[Result], Seen | None]
