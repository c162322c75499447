"""Snippets of prompts for a report: the evidence with the text around it.

A caller that can build items passes a `FindSnippet`. Without one, the page shows the excerpt that each reply has.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from carrara.core.result import Result


class Fragment(NamedTuple):
    text: str
    kind: Literal["text", "needed", "gap"]
    """`needed` is a fact of the evidence; `gap` says how much is left out."""


class Snippet(NamedTuple):
    prompt: tuple[Fragment, ...]
    """Empty if the prompt cannot be shown."""
    read: str
    """The rule by which the answer was read; empty if none was read."""


FindSnippet = Callable[[Result], Snippet | None]
