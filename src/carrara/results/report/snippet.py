"""What of a prompt a report shows: the facts that the answer needs, with the text around them.

Whoever can build items gives a `FindSnippet`; a page without one shows the excerpt that each reply is kept with.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from carrara.core.result import Result


class Fragment(NamedTuple):
    text: str
    kind: Literal["text", "needed", "gap"]
    """`needed` is a fact that the answer is read from; `gap` says how much is left out here."""


class Snippet(NamedTuple):
    prompt: tuple[Fragment, ...]
    """Empty where the prompt cannot be shown so."""
    read: str
    """The rule by which the answer was read; empty where none was."""


FindSnippet = Callable[[Result], Snippet | None]
