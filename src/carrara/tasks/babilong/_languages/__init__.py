"""Words and sentences of qa1 to qa3 in other languages than English: a file of data for each language.

Nouns have their article, which shows their gender. A template of a sentence has slots: `{who}`, `{place:into}` for a
noun in one of the language's `FORMS`, and `[…]` for what may be left out.
"""

from importlib import import_module
from typing import Any

from carrara.types import Language

TRANSLATIONS: tuple[Language, ...] = ("zh", "de", "es")


def data(language: Language) -> Any:
    """Return the module of a language."""
    return import_module(f"{__name__}.{language}")
