"""Words for contexts: of an English dictionary, common ones, gibberish, or a list of the user's.

A task names its words in a parameter: `dictionary`, `common`, `gibberish`, or the path of a list with one word a line.
An id has to mean the same everywhere, so it names a list by the hash of its words (`vocabulary_name`), and the list is
stored by it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from unicodedata import category, normalize

from carrara.answers.cues import NO_WORDS, SPOKEN_FOR
from carrara.rng import Key, Rng, digest
from carrara.tokenizers.costs import costs
from carrara.types import Filler, FiniteFillerStream, Segment, SegmentGroup, TokenCosts
from carrara.util.cache import cache_file, cache_folder
from carrara.util.data import lines
from carrara.util.errors import ExhaustedError, UsageError
from carrara.util.files import SMALL, content
from carrara.util.unicode import unicode14

KINDS = ("dictionary", "common", "gibberish")
ENDLESS = ("dictionary", "gibberish")
"""Kinds that never end. After all words of the dictionary, at a million tokens, two words are joined."""

_JOINTS = "-'’"
_HASH = re.compile(r"[0-9a-f]{16}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

_FEW = 16
"""The share of drawn words up to which a shuffle uses a dictionary of swaps."""
AT_ONCE = 64
"""The number of words that are drawn together."""
LEAST = 2
"""The least tokens of a word with its comma, by any tokenizer."""

Draw = Callable[[], str]
"""A function that returns the next word."""


class Drawing(ABC):
    """A supply of items, which can return many at once faster than one after the other."""

    @abstractmethod
    def __call__(self) -> str:
        """Return the next item. Raise `ExhaustedError` if there is none."""

    @abstractmethod
    def several(self, n: int) -> list[str]:
        """Return a number of items, or as many as there are."""


class Supply(Drawing):
    """Words of a list in random order, without repetition: a shuffle that goes only as far as needed."""

    def __init__(
        self, words: Sequence[str], rng: Rng, without: Collection[str] = (), parts: Sequence[str] = ()
    ) -> None:
        self.words, self._rng, self._without, self._parts = words, rng, without, parts
        self._shuffled = self._shuffle()
        self._joined: set[str] = set()

    def __call__(self) -> str:
        for word in self._shuffled:
            return word
        if self._parts:
            return self._compound()
        raise ExhaustedError(
            f"the list has {len(self.words):,} words, and this context needs more, none of them twice: ask for a "
            f"shorter one, or name a longer list with words=dictionary or words=FILE"
        )

    def several(self, n: int) -> list[str]:
        words = list(islice(self._shuffled, n))
        with suppress(ExhaustedError):
            while len(words) < n:
                words.append(self())
        return words

    def _shuffle(self) -> Iterator[str]:
        """Yield the words of the list in random order.

        Contexts may have hundreds of thousands. The first swaps of the shuffle are stored in a dictionary, later ones
        in the order of the whole list.
        """
        words, size, without, random = self.words, len(self.words), self._without, self._rng.random
        moved: dict[int, int] = {}
        few = size // _FEW
        for first in range(few):
            place = first + int(random() * (size - first))
            chosen, last = moved.get(place, place), moved.pop(first, first)
            if place != first:
                moved[place] = last
            if (word := words[chosen]) not in without:
                yield word
        order = list(range(size))
        for place, chosen in moved.items():
            order[place] = chosen
        for first in range(few, size):
            place = first + int(random() * (size - first))
            chosen, order[place] = order[place], order[first]
            if (word := words[chosen]) not in without:
                yield word

    def _compound(self) -> str:
        """Return two words joined, such as `garden-ladder`.

        They are used when all words of the dictionary were drawn.
        """
        while True:
            word = "-".join(self._rng.sample(self._parts, 2))
            if word not in self._joined and word not in self._without:
                self._joined.add(word)
                return word


class _Stream:
    """The items that a supply has returned so far, and those that it still returns."""

    def __init__(self, words: str, rng: Rng) -> None:
        self._draw, self._drawn_words, self._lock = supply(words, rng), list[str](), Lock()
        self._costs: dict[tuple[TokenCosts, str], list[int]] = {}

    def part(self, start: int, n: int) -> list[str]:
        """Return a number of items from a position on, or as many as there are."""
        with self._lock:
            if (more := start + n - len(self._drawn_words)) > 0:
                self._drawn_words += upto(self._draw, max(more, AT_ONCE))
            return self._drawn_words[start : start + n]

    def costs(self, start: int, end: int, costs: TokenCosts, separator: str) -> list[int]:
        """Return the cost of that part."""
        with self._lock:
            known = self._costs.setdefault((costs, separator), [])
            if len(known) < end:
                known += costs(self._drawn_words[len(known) : end], separator)
            return known[start:end]

    def end(self) -> str:
        """Raise `ExhaustedError` if there was no such part."""
        return self._draw()


class WordSequence(Drawing):
    """The words of an instance from the first on. They are drawn once for all callers."""

    def __init__(self, stream: _Stream) -> None:
        self._stream, self._taken = stream, 0

    def __call__(self) -> str:
        return next(iter(self.several(1)), None) or self._stream.end()

    def several(self, n: int) -> list[str]:
        words = self._stream.part(self._taken, n)
        self._taken += len(words)
        return words

    def take_with_costs(self, n: int, costs: TokenCosts, separator: str) -> tuple[list[str], list[int]]:
        start, words = self._taken, self.several(n)
        return words, self._stream.costs(start, self._taken, costs, separator)


class _Gibberish:
    """A supply of random letters, never the same twice."""

    def __init__(self, rng: Rng, without: Collection[str] = ()) -> None:
        self._rng, self._returned = rng, set(without)

    def __call__(self) -> str:
        rng = self._rng
        while True:
            word = "".join([rng.choice(_ALPHABET) for _ in range(rng.between(3, 9))])
            if word not in self._returned and word not in SPOKEN_FOR:
                self._returned.add(word)
                return word


def supply(words: str, rng: Rng, without: Collection[str] = ()) -> Draw:
    """Return words of a kind or list, without some that the instance uses elsewhere."""
    if words == "gibberish":
        return _Gibberish(rng, without)
    return Supply(all_words(words), rng, without, _common() if words == "dictionary" else ())


def draw_words(words: str, key: Key) -> Draw:
    """Return the words of an instance.

    They are the same at every length, so a shorter context has the first of a longer one.

    They are cached for a while, because an instance that fills a length is made more than once until it fits, and
    instances of several lengths often follow one another.
    """
    return WordSequence(_stream(words, key))


@lru_cache(maxsize=2)
def _stream(words: str, key: Key) -> _Stream:
    return _Stream(words, key.rng("words"))


def any_word(words: str, rng: Rng) -> str:
    """Return one word, whatever was drawn before."""
    return _Gibberish(rng)() if words == "gibberish" else rng.choice(all_words(words))


def some(draw: Draw, n: int) -> list[str]:
    """Return a number of words. Raise `ExhaustedError` if there are fewer."""
    words = draw.several(n) if isinstance(draw, Drawing) else []
    return words + [draw() for _ in range(n - len(words))]


def upto(draw: Draw, n: int) -> list[str]:
    """Return a number of words, or as many as there are."""
    if isinstance(draw, Drawing):
        return draw.several(n)
    words: list[str] = []
    with suppress(ExhaustedError):
        while len(words) < n:
            words.append(draw())
    return words


def take_with_costs(draw: Draw, n: int, costs: TokenCosts, separator: str) -> tuple[list[str], list[int]]:
    """Return a number of words, or as many as there are, with the cost of each."""
    if isinstance(draw, WordSequence):
        return draw.take_with_costs(n, costs, separator)
    words = upto(draw, n)
    return words, costs(words, separator)


def filler(
    words: str, without: Collection[str], render: Callable[[str, Rng], str] | None = None, separator: str = ", "
) -> Filler:
    """Return other words, each as `render` states it, or alone."""
    return lambda rng, tokenizer: _Words(supply(words, rng, without), rng, words, render, costs(tokenizer), separator)


class _Words(FiniteFillerStream):
    def __init__(
        self,
        draw: Draw,
        rng: Rng,
        words: str,
        render: Callable[[str, Rng], str] | None,
        costs: TokenCosts,
        separator: str,
    ) -> None:
        self._draw, self._rng, self._words, self._render = draw, rng, words, render
        self._costs_of, self._joint = costs, separator
        self._waiting = list[SegmentGroup]()
        """Words that were drawn together, the next one last."""

    def __call__(self, gap: int) -> SegmentGroup:
        if not self._waiting:
            texts = upto(self._draw, AT_ONCE) if self._render is None else self._add(self._render)
            if not texts:
                self._draw()  # raises: there are no more
            costs = self._costs_of(texts, self._joint)
            self._waiting = [
                (Segment(text, tokens=cost),) for text, cost in zip(reversed(texts), reversed(costs), strict=True)
            ]
        return self._waiting.pop()

    def _add(self, render: Callable[[str, Rng], str]) -> list[str]:
        """Return the next words with what `render` adds. Random numbers are drawn in between."""
        draw, rng, texts = self._draw, self._rng, list[str]()
        with suppress(ExhaustedError):
            while len(texts) < AT_ONCE:
                texts.append(render(draw(), rng))
        return texts

    def must_last(self, tokens: int, cost: Callable[[SegmentGroup], int]) -> None:
        if self._words in ENDLESS or LEAST * len(all_words(self._words)) >= tokens:
            return
        while tokens > 0:
            tokens -= cost(self(0))  # raises if there are no more


def all_words(words: str) -> Sequence[str]:
    """Return all words of a kind, or of a list by its hash."""
    match words:
        case "dictionary":
            return _dictionary()
        case "common":
            return _common()
        case hash:
            return _user_words(hash)


def vocabulary_name(words: str) -> str:
    """Return the name of words in an id: a list of the user's by its content, which is stored."""
    if words in KINDS or (_HASH.fullmatch(words) and (cache_folder("words") / words).is_file()):
        return words
    try:
        text = content(Path(words), SMALL).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{words} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except UsageError as error:
        raise UsageError(
            f"words={words[:200]} is no file that can be read; give {', '.join(KINDS)}, or a list with one word a line "
            f"({str(error)[-200:]})"
        ) from None
    lines = [normalize("NFC", line.strip()) for line in text.splitlines()]
    unique_words = list(dict.fromkeys(filter(None, lines)))
    _check(words, unique_words)
    hash = f"{digest(*unique_words):016x}"
    with cache_file(cache_folder("words") / hash) as file:
        file.write("\n".join(unique_words).encode())
    return hash


def _check(source: str, words: Sequence[str]) -> None:
    """Raise unless replies with these words can be read, because each differs from the others."""
    if len(words) < 2:
        raise UsageError(f"{source} needs two words or more, one a line: it has {len(words)}")
    if odd := next((word for word in words if not _is_single_word(word)), None):
        raise UsageError(
            f"{source} has {odd[:40]!a}, which is no single word: letters and digits, with hyphens or apostrophes "
            "between them"
        )
    if reserved_words := [word for word in words if word.casefold() in NO_WORDS]:
        raise UsageError(
            f"{source} has {', '.join(reserved_words)}: replies say so where they mean no word; leave them out"
        )
    words_by_casefold: dict[str, str] = {}
    for word in words:
        if (variant := words_by_casefold.setdefault(word.casefold(), word)) != word:
            raise UsageError(
                f"{source} has {variant[:40]} and {word[:40]}, which differ by capitals alone: leave one out"
            )


def _is_single_word(word: str) -> bool:
    """Return whether a text is a word of letters, marks and digits, with joining characters only between them.

    >>> _is_single_word("o'clock"), _is_single_word("-word"), _is_single_word("two words"), _is_single_word("हिन्दी")
    (True, False, False, True)
    """
    inner = [character.isalnum() or category(character).startswith("M") for character in unicode14(word)]
    return (
        inner[0]
        and inner[-1]
        and all(is_letter or character in _JOINTS for is_letter, character in zip(inner, word, strict=True))
    )


@cache
def _user_words(hash: str) -> tuple[str, ...]:

    path = cache_folder("words") / hash
    if not path.is_file():
        raise UsageError(f"the list of words {hash} is not known here: name it once by its path, words=FILE")
    return tuple(path.read_text("utf-8").split("\n"))


@cache
def _dictionary() -> tuple[str, ...]:
    return tuple(lines("dictionary"))


@cache
def _common() -> tuple[str, ...]:
    return tuple(lines("common"))
