"""Answer types: how an answer is asked for, read from a reply, compared and guessed.

A task names its type as `answer`. Each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrara.answers.kinds import Answers, FinalNumber, Number, Word
    from carrara.answers.listing import Copy, FinalHands, FinalSet, Hands, Listing, Rows, Set, Words
    from carrara.answers.naming import ListName, OneOf, YesNo

__all__ = [
    "Answers",
    "Copy",
    "FinalHands",
    "FinalNumber",
    "FinalSet",
    "Hands",
    "ListName",
    "Listing",
    "Number",
    "OneOf",
    "Rows",
    "Set",
    "Word",
    "Words",
    "YesNo",
]

_PLACES = {
    "kinds": ("Answers", "FinalNumber", "Number", "Word"),
    "listing": ("Copy", "FinalHands", "FinalSet", "Hands", "Listing", "Rows", "Set", "Words"),
    "naming": ("ListName", "OneOf", "YesNo"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'carrara.answers' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"carrara.answers.{_PLACE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
