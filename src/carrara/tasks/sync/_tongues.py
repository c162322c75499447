"""Invented languages: vocabularies, and dictionaries between neighbours.

>>> from carrara.core.keys import Dice
>>> shape = Shape(languages=3, words=6, least=3, most=5, entries=4, chained=2)
>>> tongues = draw_tongues(Scribe(Dice("an example")), shape)
>>> tongues.vocabularies[0]
('oxqjv', 'fkypy', 'ikce', 'giczf', 'qfl', 'gbzsp')
>>> tongues.dictionaries[0]
{'qfl': 'nic', 'oxqjv': 'ncege', 'fkypy': 'biqti', 'giczf': 'xxjdf'}
>>> tongues.translate(tongues.chained_words(0, 2)[0], 0, 2)
'mick'
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carrara.tasks.sync._scribe import Scribe

Dictionary = Mapping[str, str]

LINKINGS = 200
"""Links between the chained words of one set of languages that are tried."""


class Shape(NamedTuple):
    """How much there is of everything."""

    languages: int
    words: int
    """Of each vocabulary."""
    least: int
    most: int
    """Letters of a word."""
    entries: int
    """Of each dictionary."""
    chained: int
    """Words of the first language that every dictionary leads on."""


@dataclass(frozen=True)
class Tongues:
    vocabularies: tuple[tuple[str, ...], ...]
    dictionaries: tuple[Dictionary, ...]
    """From each language to the next."""
    chains: tuple[tuple[str, ...], ...] = ()
    """The words of each language that all dictionaries lead on, in the order of the chains."""

    def translate(self, word: str, start: int, end: int) -> str | None:
        for dictionary in self.dictionaries[start:end]:
            if word not in dictionary:
                return None
            word = dictionary[word]
        return word

    def chained_words(self, start: int, end: int) -> list[str]:
        """Return the words of one language that can be translated into another."""
        return [word for word in self.dictionaries[start] if self.translate(word, start, end) is not None]


def letters(dictionaries: Sequence[Dictionary]) -> Mapping[str, int]:
    """The first letters of all translations of each word of the first dictionary, as bits."""
    found: dict[str, int] = {}
    for word in dictionaries[0] if dictionaries else ():
        last, bits = word, 0
        for dictionary in dictionaries:
            if last not in dictionary:
                break
            last = dictionary[last]
            bits |= 1 << ord(last[0]) - ord("a")
        found[word] = bits
    return found


def count_covered(letters: Mapping[str, int], words: Iterable[str]) -> int:
    """Return how many letters some words cover together."""
    bits = 0
    for word in words:
        bits |= letters.get(word, 0)
    return bits.bit_count()


class Coverage(NamedTuple):
    """The most letters that three words can cover."""

    size: int
    best: tuple[str, str, str]
    """Of the best triples the first in order."""
    chance: float
    """How many of all triples of words in the first dictionary are as good."""


def coverage(letters: Mapping[str, int]) -> Coverage:
    """By trying all triples, so that the optimum is proved."""
    words = sorted(letters)
    bits = np.array([letters[word] for word in words], np.uint32)
    second, third = np.triu_indices(len(words), 1)
    two = bits[second] | bits[third]
    size, ways, best, behind = -1, 0, (0, 0, 0), 0
    for first in range(len(words) - 2):
        behind += len(words) - 1 - first  # so many pairs have words up to this one
        counts = np.bitwise_count(bits[first] | two[behind:])
        most = int(counts.max())
        if most > size:
            place = behind + int(counts.argmax())
            size, ways, best = most, 0, (first, int(second[place]), int(third[place]))
        if most == size:
            ways += int(np.count_nonzero(counts == most))
    n = len(words)
    total = n * (n - 1) * (n - 2) // 6
    return Coverage(size, (words[best[0]], words[best[1]], words[best[2]]), ways / total)


def greedy(letters: Mapping[str, int], words: Sequence[str]) -> tuple[str, ...]:
    """Three words, each of which adds the most letters to those before it; of several the first in the order given."""
    chosen, bits = list[str](), 0
    for _ in range(3):
        left = [word for word in words if word not in chosen]
        chosen.append(max(left, key=lambda word: (bits | letters[word]).bit_count()))
        bits |= letters[chosen[-1]]
    return tuple(chosen)


def astray(letters: Mapping[str, int]) -> bool:
    """Return whether greed finds fewer letters than there are, whichever of equal words it takes.

    Only words are tried together that have more letters than greed found, counted with repetitions.
    """
    values = list(letters.values())
    found = max(_greedy_size(values), _greedy_size(values[::-1]))
    best = sorted(set(values), key=int.bit_count, reverse=True)
    sizes = [value.bit_count() for value in best]
    for i, one in enumerate(best):
        if 3 * sizes[i] <= found:
            break
        for j in range(i + 1, len(best)):
            if sizes[i] + 2 * sizes[j] <= found:
                break
            two = one | best[j]
            for k in range(j + 1, len(best)):
                if sizes[i] + sizes[j] + sizes[k] <= found:
                    break
                if (two | best[k]).bit_count() > found:
                    return True
    return False


def _greedy_size(values: Sequence[int]) -> int:
    bits = 0
    for _ in range(3):
        counts = [(bits | value).bit_count() for value in values]
        bits |= values[counts.index(max(counts))]
    return bits.bit_count()


def led_astray(dice: Scribe, tongues: Tongues) -> Tongues | None:
    """Return the languages with other links between their chained words, so that greed does not find the most letters.

    Greed errs in one of forty random sets of languages. Linking the same words otherwise is much faster than drawing
    all languages anew, and gives each word translations that are as random as before. None: no linking was found.
    """
    found, chains = dict(letters(tongues.dictionaries)), [list(chain) for chain in tongues.chains]
    for _ in range(LINKINGS):
        if astray(found):
            return replace(tongues, dictionaries=_link(tongues, chains), chains=tuple(map(tuple, chains)))
        for chain in chains[1:]:
            dice.shuffle(chain)
        for word, *translations in zip(*chains, strict=True):
            bits = 0
            for translation in translations:
                bits |= 1 << ord(translation[0]) - ord("a")
            found[word] = bits
    return None


def _link(tongues: Tongues, chains: Sequence[Sequence[str]]) -> tuple[Dictionary, ...]:
    return tuple(
        {**dictionary, **dict(zip(source, target, strict=True))}
        for dictionary, (source, target) in zip(tongues.dictionaries, pairwise(chains), strict=True)
    )


def draw_tongues(dice: Scribe, shape: Shape) -> Tongues:
    """Return languages without a word in common.

    Some words go all the way through the dictionaries; what else a dictionary has is drawn from the vocabularies on
    both sides, whatever its neighbours have.
    """
    new = dict[str, None]()
    while missing := shape.languages * shape.words - len(new):
        new.update(dict.fromkeys(dice.words(missing, shape.least, shape.most)))
    vocabularies = tuple(zip(*[iter(new)] * shape.words, strict=True))
    through = [dice.sample(vocabulary, shape.chained) for vocabulary in vocabularies]
    others = [_without(*both) for both in zip(vocabularies, through, strict=True)]
    dictionaries = []
    for (source, target), (left, right) in zip(pairwise(through), pairwise(others), strict=True):
        more = shape.entries - shape.chained
        pairs = [*zip(source, target, strict=True)]
        pairs += zip(dice.sample(left, more), dice.sample(right, more), strict=True)
        dictionaries.append(dict(dice.shuffled(pairs)))
    return Tongues(vocabularies, tuple(dictionaries), tuple(map(tuple, through)))


def _without(words: Sequence[str], some: Iterable[str]) -> list[str]:
    left = set(some)
    return [word for word in words if word not in left]
