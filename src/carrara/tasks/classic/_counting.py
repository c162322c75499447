"""Words by how often they occur."""

from collections import Counter
from collections.abc import Iterable

from carrara.types import UndecidableError


def most_frequent(words: Iterable[str], count: int) -> tuple[str, ...]:
    """Return the `count` words that occur more often than all others, in alphabetical order.

    >>> most_frequent("b a b c a b a d".split(), 2)
    ('a', 'b')
    """
    ranked = Counter(words).most_common(count + 1)
    if len(ranked) < count:
        raise UndecidableError(f"there are {len(ranked)} words")
    if len(ranked) > count and ranked[count - 1][1] == ranked[count][1]:
        raise UndecidableError(f"{ranked[count - 1][0]} and {ranked[count][0]} occur equally often")
    return tuple(sorted(word for word, _ in ranked[:count]))
