"""Pairs of words, written `word: partner`, and filler that consists of them."""

from collections.abc import Collection

from carrara.generators import vocabulary
from carrara.rng import Rng
from carrara.tasks.minerva._task import split_items
from carrara.types import Filler


def write_pair(word: str, partner: str) -> str:
    """Return a pair as it stands in the context."""
    return f"{word}: {partner}"


def read_pairs(context: str) -> dict[str, str]:
    """Return the partner of each word of a context.

    >>> read_pairs("oak: elm, ash: yew")
    {'oak': 'elm', 'ash': 'yew'}
    """
    return {word: partner for item in split_items(context) for word, _, partner in [item.partition(": ")]}


def pair_filler(words: str, without: Collection[str]) -> Filler:
    """Return a stream of other pairs, without some words.

    No first word comes twice. A partner may, because a long context needs more words than the dictionary has.
    """
    taken = frozenset(without)

    def add_partner(word: str, rng: Rng) -> str:
        while (partner := vocabulary.any_word(words, rng)) in taken or partner == word:
            pass
        return write_pair(word, partner)

    return vocabulary.filler(words, taken, add_partner)
