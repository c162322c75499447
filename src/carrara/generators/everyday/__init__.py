"""Everyday sentences in several languages: harmless filler that needs no file, and does not repeat for long.

A sentence has a subject, an act, a time and an ending. The lists of all languages have the same meanings in the same
order, so the same random numbers give translations of the same sentence.

>>> for code in ("en", "de", "es", "zh"):
...     print(next(everyday_sentences(Rng("everyday"), code)))
The dressmaker greeted the passers-by in winter, as every year.
Die Schneiderin grüßte im Winter die Passanten, wie jedes Jahr.
La modista saludó a los transeúntes en invierno, como cada año.
裁缝冬天向路人打了招呼，年年如此。
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from carrara.rng import Rng
from carrara.types import Language

_ROUNDS = 4
_MASK = (1 << 32) - 1


class _Lists(NamedTuple):
    subjects: tuple[str, ...]
    acts: tuple[tuple[str, str], ...]
    """Each with the part before a time in the middle of the sentence, and the part after it."""
    times: tuple[str, ...]
    endings: tuple[str, ...]
    orders: tuple[str, ...]
    """The order of the parts. A part with a capital begins the sentence."""


def everyday_sentences(rng: Rng, language: Language) -> Iterator[str]:
    """Yield sentences without end. None comes a second time before all 768,000 have come."""
    lists = _lists(language)
    sizes = [len(part) for part in lists]
    total = 1
    for size in sizes:
        total *= size
    while True:
        for number in _permutation(rng, total):
            places = []
            for size in sizes:
                number, place = divmod(number, size)
                places.append(place)
            yield _write(lists, *places)


def _write(lists: _Lists, subject: int, act: int, time: int, ending: int, order: int) -> str:
    first, rest = lists.acts[act]
    parts = {"subject": lists.subjects[subject], "time": lists.times[time]}
    parts |= {name.capitalize(): text[0].upper() + text[1:] for name, text in parts.items()}
    return lists.orders[order].format(**parts, first=first, rest=rest, ending=lists.endings[ending])


@cache
def _lists(language: Language) -> _Lists:
    words = import_module(f"{__name__}.{language}")

    def lines(text: str) -> tuple[str, ...]:
        return tuple(line.strip() for line in text.strip().splitlines())

    acts = tuple((first, rest) for act in lines(words.ACTS) for first, _, rest in [act.partition("|")])
    return _Lists(lines(words.SUBJECTS), acts, lines(words.TIMES), words.ENDINGS, words.ORDERS)


def _permutation(rng: Rng, count: int) -> Iterator[int]:
    """Yield every number below a count once, in an order that takes no memory and shows no pattern (Feistel)."""
    bits = (count - 1).bit_length() // 2 + 1
    low = (1 << bits) - 1
    keys = [rng.below(_MASK) for _ in range(_ROUNDS)]
    for number in range(1 << 2 * bits):
        left, right = number >> bits, number & low
        for key in keys:
            left, right = right, left ^ ((right ^ key) * 0x9E3779B1 & _MASK) >> 15 & low
        if (permuted := left << bits | right) < count:
            yield permuted
