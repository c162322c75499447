"""The sentences of the classic tasks in other languages than English, and the words of names: a file for each language.

>>> data("de").NIAH["wording"]["one"]
'{word} ist für {names} hinterlegt?'
"""

from importlib import import_module
from typing import Any

from carrara.types import Language

TRANSLATIONS: tuple[Language, ...] = ("zh", "de", "es")


def data(language: Language) -> Any:
    """Return the module of a language."""
    return import_module(f"{__name__}.{language}")
