"""The base of tasks that ask for the whole context, copied or changed."""

import re
from collections.abc import Callable, Sequence

from carrara.answers import Words
from carrara.answers.number_words import ORDINALS
from carrara.generators import vocabulary
from carrara.generators.fitting import fill
from carrara.rng import Rng
from carrara.types import LengthBudget, UndecidableError
from carrara.util.errors import LengthError

_ORDINAL = re.compile(r"([0-9]{1,9})(?:st|nd|rd|th)")


def write_ordinal(n: int) -> str:
    """Return the ordinal of a number: a word for a small one.

    >>> write_ordinal(2), write_ordinal(11), write_ordinal(22)
    ('second', '11th', '22nd')
    """
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def read_ordinal(text: str) -> int:
    """Return the number of an ordinal. Raises UndecidableError.

    >>> read_ordinal("second"), read_ordinal("22nd")
    (2, 22)
    """
    if text in ORDINALS:
        return ORDINALS.index(text) + 1
    if match := _ORDINAL.fullmatch(text):
        return int(match[1])
    raise UndecidableError(f"{text} is no ordinal")


ITEMS = 40
"""The number of items in a context of length 0."""
LARGEST = 1000
"""The largest number in a context of numbers. The smallest one is 0."""


def edit_answer(items: Sequence[str], result: Sequence[str], substitute: str = "") -> Words:
    """Return the right answer, with the lists that a reply can state without doing the task.

    The substitute is the word that takes the place of others, or empty.
    """
    trivial: dict[str, tuple[str, ...]] = {}
    if items != result:
        trivial["the context as it is"] = tuple(items)
    if substitute:
        trivial["one word over and over"] = (substitute,) * result.count(substitute)
    return Words(tuple(result), trivial)


def draw_items(budget: LengthBudget | None, draw: Callable[[], str], number: int, least: int = 2) -> list[str]:
    """Return as many items as fill a length, or `number` without one. Raises LengthError where `least` have no room."""
    if budget is None:
        return vocabulary.some(draw, number)
    items = fill(budget, draw) if budget.budget > 0 else []
    if len(items) < least:
        raise LengthError(f"it has room for {len(items)} words", part=f"there is room for {len(items)} words")
    return items


def draw_numbers(budget: LengthBudget | None, rng: Rng, number: int) -> list[str]:
    """Return as many whole numbers as fill a length, some of them more than once.

    The numbers that complete the length are all of one kind. They are shuffled with the others, so that they do not
    stand at the end.
    """
    return rng.shuffled(draw_items(budget, Numbers(rng), number))


class Numbers(vocabulary.Drawing):
    _texts = tuple(map(str, range(LARGEST + 1)))

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def __call__(self) -> str:
        return self._rng.choice(self._texts)

    def several(self, n: int) -> list[str]:
        texts, random = self._texts, self._rng.random
        return [texts[int(random() * len(texts))] for _ in range(n)]
