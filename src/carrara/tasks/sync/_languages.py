"""Invented languages: vocabularies, and dictionaries between neighbours.

>>> from carrara.rng import Rng
>>> rng = WordRng(Rng("an example"))
>>> languages = draw_languages(rng, Shape(languages=3, words=6, least=3, most=5, entries=4, chained=2))
>>> languages.vocabularies[0]
('oxqjv', 'fkypy', 'ikce', 'giczf', 'qfl', 'gbzsp')
>>> languages.dictionaries[0]
{'qfl': 'nic', 'oxqjv': 'ncege', 'fkypy': 'biqti', 'giczf': 'xxjdf'}
>>> languages.translate(0, 2)
{'qfl': 'mick', 'oxqjv': 'nmfzu', 'fkypy': 'ptqa'}
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from carrara.tasks.sync._random_words import WordRng

Dictionary = Mapping[str, str]


class Shape(NamedTuple):
    """The size of each part of a set of languages."""

    languages: int
    words: int
    """Words of each vocabulary."""
    least: int
    most: int
    """Letters of a word."""
    entries: int
    """Words of each dictionary."""
    chained: int
    """Words of the first language that all dictionaries together lead to the last one."""


@dataclass(frozen=True)
class Languages:
    """A row of languages with dictionaries between neighbours."""

    vocabularies: tuple[tuple[str, ...], ...]
    dictionaries: tuple[Dictionary, ...]
    """From each language to the next."""
    chains: tuple[tuple[str, ...], ...] = ()
    """The chained words of each language, in the order of the chains."""

    def translate(self, start: int, end: int) -> Dictionary:
        """Translate the words of the language `start` that the dictionaries lead on to the language `end`."""
        words = self.dictionaries[start]
        for dictionary in self.dictionaries[start + 1 : end]:
            words = {word: dictionary[last] for word, last in words.items() if last in dictionary}
        return words

    def relink(self, chains: Sequence[Sequence[str]]) -> "Languages":
        """Return these languages with other links between their chained words."""
        dictionaries = tuple(
            {**dictionary, **dict(zip(source, target, strict=True))}
            for dictionary, (source, target) in zip(self.dictionaries, pairwise(chains), strict=True)
        )
        return replace(self, dictionaries=dictionaries, chains=tuple(map(tuple, chains)))


def draw_languages(rng: WordRng, shape: Shape) -> Languages:
    """Draw languages without a word in common.

    Some words go all the way through the dictionaries. The other entries of a dictionary are drawn from the
    vocabularies on both sides, independently of its neighbours.
    """
    new = dict[str, None]()
    while missing := shape.languages * shape.words - len(new):
        new.update(dict.fromkeys(rng.draw_words(missing, shape.least, shape.most)))
    vocabularies = tuple(zip(*[iter(new)] * shape.words, strict=True))
    chains = [rng.sample(vocabulary, shape.chained) for vocabulary in vocabularies]
    others = [_remove(*both) for both in zip(vocabularies, chains, strict=True)]
    dictionaries = []
    for (source, target), (left, right) in zip(pairwise(chains), pairwise(others), strict=True):
        more = shape.entries - shape.chained
        pairs = [*zip(source, target, strict=True)]
        pairs += zip(rng.sample(left, more), rng.sample(right, more), strict=True)
        dictionaries.append(dict(rng.shuffled(pairs)))
    return Languages(vocabularies, tuple(dictionaries), tuple(map(tuple, chains)))


def _remove(words: Sequence[str], some: Iterable[str]) -> list[str]:
    """Return the words without some of them."""
    unwanted = set(some)
    return [word for word in words if word not in unwanted]
