"""Invented languages: vocabularies, and dictionaries between neighbours.

>>> from carrara.rng import Rng
>>> rng = WordRng(Rng("an example"))
>>> languages = draw_languages(rng, LanguageShape(languages=3, words=6, least=3, most=5, entries=4, chained=2))
>>> languages.vocabularies[0]
('oxqjv', 'fkypy', 'ikce', 'giczf', 'qfl', 'gbzsp')
>>> languages.dictionaries[0]
{'qfl': 'nic', 'oxqjv': 'ncege', 'fkypy': 'biqti', 'giczf': 'xxjdf'}
>>> languages.translate(0, 2)
{'qfl': 'mick', 'oxqjv': 'nmfzu', 'fkypy': 'ptqa'}

Random words are drawn many at once: an instance in which greedy choices fail takes tens of thousands of words. NumPy's
Mersenne Twister is Python's, so the same numbers come in blocks from there. A block is read as text, a letter for each
number, and split into words.
"""

from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from carrara.rng import Rng

_BLOCK = 1 << 13
_SPACE = ord(" ")

T = TypeVar("T")


class _NoSeed(ISeedSequence):
    """A seed that takes no time. It is of no use but for a generator whose state is set next."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return [0] * n_words


class WordRng(Rng):
    """Random choices that continue the stream of other random numbers, with words of random letters among them.

    The others must not be used from then on.
    """

    def __init__(self, rng: Rng) -> None:
        self._key = rng._key
        _, (*key, position), _ = rng.source.getstate()
        self._stream = np.random.RandomState(np.random.MT19937(_NoSeed()))  # type: ignore[arg-type]  # it takes any seed
        self._stream.set_state(("MT19937", key, position, 0, 0.0))
        self._unused = np.empty(0)
        """Numbers that have been drawn from the stream and not used."""
        self.random = lambda: float(self._take(1)[0])

    def draw_words(self, count: int, least: int, most: int) -> list[str]:
        """Return words of `least` to `most` letters, each as `"".join(rng.choice(…) …)` would draw it."""
        self._fill(count * (most + 1))
        numbers = self._unused[: count * (most + 1)]
        text = bytearray((numbers * 26).astype(np.uint8) + np.uint8(ord("a")))
        # The numbers that a word takes which begins at each number: one for its length, and one for each letter.
        sizes = ((numbers * (most - least + 1)).astype(np.uint8) + np.uint8(least + 1)).tobytes()
        end = 0
        for _ in range(count):
            text[end] = _SPACE
            end += sizes[end]
        self._unused = self._unused[end:]
        return text[:end].decode().split()

    def shuffle(self, items: MutableSequence[T]) -> None:
        if items:
            self.shuffle_each([items])

    def shuffle_each(self, lists: Sequence[MutableSequence[T]]) -> None:
        """Shuffle one list after the other, none of which is empty."""
        numbers = iter(self._take(sum(map(len, lists)) - len(lists)).tolist())
        for items in lists:
            for i in range(len(items) - 1, 0, -1):
                j = int(next(numbers) * (i + 1))
                items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        if 4 * k >= len(items):
            return super().sample(items, k)
        places: dict[int, None] = {}
        while len(places) < k:
            places.update(dict.fromkeys((self._take(k - len(places)) * len(items)).astype(np.intp).tolist()))
        return [items[i] for i in places]

    def _take(self, count: int) -> "np.typing.NDArray[np.float64]":
        self._fill(count)
        numbers, self._unused = self._unused[:count], self._unused[count:]
        return numbers

    def _fill(self, count: int) -> None:
        """Have `count` unused numbers, at least."""
        if len(self._unused) < count:
            self._unused = np.concatenate([self._unused, self._stream.random_sample(max(_BLOCK, count))])


Dictionary = Mapping[str, str]


class LanguageShape(NamedTuple):
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
    """Words of the first language that all dictionaries together translate into the last one."""


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


def draw_languages(rng: WordRng, shape: LanguageShape) -> Languages:
    """Draw languages without a word in common.

    Some words go all the way through the dictionaries. The other entries of a dictionary are drawn from the
    vocabularies on both sides, independently of its neighbours.
    """
    new = dict[str, None]()
    while missing := shape.languages * shape.words - len(new):
        new.update(dict.fromkeys(rng.draw_words(missing, shape.least, shape.most)))
    vocabularies = tuple(zip(*[iter(new)] * shape.words, strict=True))
    chains = [rng.sample(vocabulary, shape.chained) for vocabulary in vocabularies]
    unchained = [_remove(vocabulary, chain) for vocabulary, chain in zip(vocabularies, chains, strict=True)]
    dictionaries = []
    for (source, target), (source_rest, target_rest) in zip(pairwise(chains), pairwise(unchained), strict=True):
        count = shape.entries - shape.chained
        pairs = [*zip(source, target, strict=True)]
        pairs += zip(rng.sample(source_rest, count), rng.sample(target_rest, count), strict=True)
        dictionaries.append(dict(rng.shuffled(pairs)))
    return Languages(vocabularies, tuple(dictionaries), tuple(map(tuple, chains)))


def _remove(words: Sequence[str], unwanted: Iterable[str]) -> list[str]:
    """Return the words without some of them."""
    excluded = set(unwanted)
    return [word for word in words if word not in excluded]
