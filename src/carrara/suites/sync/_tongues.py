"""Invented languages: vocabularies, and dictionaries between neighbours.

>>> from carrara.core.keys import Dice
>>> tongues = drawn(Scribe(Dice("an example")), Shape(languages=3, words=6, least=3, most=5, entries=4, chained=2))
>>> tongues.vocabularies[0]
('oxqjv', 'fkypy', 'ikce', 'giczf', 'qfl', 'gbzsp')
>>> tongues.dictionaries[0]
{'qfl': 'nic', 'oxqjv': 'ncege', 'fkypy': 'biqti', 'giczf': 'xxjdf'}
>>> tongues.translated(tongues.chained(0, 2)[0], 0, 2)
'mick'
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from carrara.suites.sync._scribe import Scribe

Dictionary = Mapping[str, str]


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

    def translated(self, word: str, start: int, end: int) -> str | None:
        for dictionary in self.dictionaries[start:end]:
            if word not in dictionary:
                return None
            word = dictionary[word]
        return word

    def chained(self, start: int, end: int) -> list[str]:
        """The words of one language that can be translated into another."""
        return [word for word in self.dictionaries[start] if self.translated(word, start, end) is not None]


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


def covered(letters: Mapping[str, int], words: Iterable[str]) -> int:
    """How many letters some words cover together."""
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
    bits = [letters[word] for word in words]
    size, ways, best = -1, 0, (0, 0, 0)
    for a, b in combinations(range(len(words)), 2):
        two = bits[a] | bits[b]
        for c in range(b + 1, len(words)):
            count = (two | bits[c]).bit_count()
            if count > size:
                size, ways, best = count, 1, (a, b, c)
            elif count == size:
                ways += 1
    n = len(words)
    total = n * (n - 1) * (n - 2) // 6
    return Coverage(size, (words[best[0]], words[best[1]], words[best[2]]), ways / total)


def greedy(letters: Mapping[str, int], words: Sequence[str]) -> tuple[str, ...]:
    """Three words, each of which adds the most letters to those before it; of several the first in the order given."""
    chosen = list[str]()
    for _ in range(3):
        left = [word for word in words if word not in chosen]
        chosen.append(max(left, key=lambda word: covered(letters, [*chosen, word])))
    return tuple(chosen)


def astray(letters: Mapping[str, int]) -> bool:
    """Whether greed finds fewer letters than there are, whichever of equal words it takes, the first or the last.

    The most are found among words that no other one surpasses: that is quickly tried.
    """
    found = max(covered(letters, greedy(letters, words)) for words in (list(letters), list(letters)[::-1]))
    sets = sorted(set(letters.values()))
    best = [one for one in sets if not any(one != other and one | other == other for other in sets)]
    return any((a | b | c).bit_count() > found for a, b, c in combinations(best, 3))


def drawn(dice: Scribe, shape: Shape) -> Tongues:
    """Languages without a word in common.

    Some words go all the way through the dictionaries; what else a dictionary has is drawn from the vocabularies on
    both sides, whatever its neighbours have.
    """
    new = dict[str, None]()
    words = dice.words(shape.least, shape.most)
    while len(new) < shape.languages * shape.words:
        new[next(words)] = None
    vocabularies = tuple(zip(*[iter(new)] * shape.words, strict=True))
    through = [dice.sample(vocabulary, shape.chained) for vocabulary in vocabularies]
    dictionaries = []
    for k in range(shape.languages - 1):
        more = shape.entries - shape.chained
        sources, targets = (dice.sample(_without(vocabularies[n], through[n]), more) for n in (k, k + 1))
        pairs = [*zip(through[k], through[k + 1], strict=True), *zip(sources, targets, strict=True)]
        dictionaries.append(dict(dice.shuffled(pairs)))
    return Tongues(vocabularies, tuple(dictionaries))


def _without(words: Sequence[str], some: Iterable[str]) -> list[str]:
    left = set(some)
    return [word for word in words if word not in left]
