"""Pairs of words that fill a context, no first word twice."""

from collections.abc import Collection

from carrara.core.keys import Dice
from carrara.core.types import Filler
from carrara.parts.layout import pair
from carrara.text import vocabulary


def other_pairs(words: str, without: Collection[str]) -> Filler:
    """Words with partners, who may come twice: a long context needs more words than a dictionary has."""
    taken = frozenset(without)

    def partnered(word: str, dice: Dice) -> str:
        while (partner := vocabulary.any_word(words, dice)) in taken or partner == word:
            pass
        return pair(word, partner)

    return vocabulary.filler(words, taken, partnered)
