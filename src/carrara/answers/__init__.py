"""Answer types: how an answer is asked for, recognised in a reply, compared and guessed.

A task names its type as `answer`. Each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrara.answers.choice import Choice, ListName, OneOf, YesNo
    from carrara.answers.extraction import Extraction, asks_for
    from carrara.answers.listing import Copy, FinalHands, FinalSet, Hands, Listing, Rows, Set, Words
    from carrara.answers.transcript import join_replies, split_replies
    from carrara.answers.types import AnswerType, FinalNumber, Number, Word

__all__ = [
    "AnswerType",
    "Choice",
    "Copy",
    "Extraction",
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
    "asks_for",
    "join_replies",
    "split_replies",
]

_MODULES = {
    "choice": ("Choice", "ListName", "OneOf", "YesNo"),
    "listing": ("Copy", "FinalHands", "FinalSet", "Hands", "Listing", "Rows", "Set", "Words"),
    "extraction": ("Extraction", "asks_for"),
    "transcript": ("join_replies", "split_replies"),
    "types": ("AnswerType", "FinalNumber", "Number", "Word"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'carrara.answers' has no attribute {name!r}")
    member = globals()[name] = getattr(import_module(f"carrara.answers.{_MODULE_OF[name]}"), name)
    return member


def __dir__() -> list[str]:
    return sorted(__all__)
