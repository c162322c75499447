"""Contexts in which one word comes again and again, and every other word once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrara.core.keys import Key
from carrara.core.types import Piece, World
from carrara.parts.asking import PHRASING, WORDS, check_phrasing
from carrara.tasks.minerva._params import check_numbers
from carrara.text import vocabulary
from carrara.text.turns import in_turn


@dataclass(frozen=True)
class Params:
    words: str = field(default="dictionary", metadata=WORDS)
    """What the words are: dictionary, common, gibberish, or the path of a list."""
    times: tuple[int, ...] = (2, 4, 8, 16, 32)
    """How often the word comes, taken in turn."""
    phrasing: tuple[int, ...] = field(default=(1,), metadata=PHRASING)
    """How it is asked: 1 or 2, or both of each context."""

    def __post_init__(self) -> None:
        check_numbers("times", self.times, 1)
        check_phrasing(2, self.phrasing)


@dataclass(frozen=True)
class Repeated:
    word: str
    times: int
    chances: tuple[int, ...]
    """What the number may be, for whoever guesses."""
    last: str
    labels: Mapping[str, str]


def repeated(key: Key, params: Params, told: bool) -> World[Repeated]:
    """The word's number of times is a label if it may be told."""
    times = in_turn(key, "times", params.times)
    word, first, last = drawn = vocabulary.some(vocabulary.drawn(params.words, key), 3)
    return World(
        structure=Repeated(word, times, params.times, last, {"times": str(times)} if told else {}),
        opening=(Piece(first),),
        updates=tuple((Piece(word, update=n),) for n in range(times)),
        filler=vocabulary.filler(params.words, drawn),
    )
