"""Filler that is hard to tell from what counts: words of the task in it, and sentences that are nearly facts.

A memory that has learned to pass over speeches opens for a novel, where a Mary walks in a garden too. So some sentences
of the text that stories are told in are changed: one to three of their words become words of the task's own facts, or
the sentence is replaced by a fact of which one word is a word of the text, and which tells nothing any more.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from carrara.rng import Rng
from carrara.types import Segment

NEAR = 1000
"""Sentences that are nearly facts."""
_WORD = re.compile(r"[^\W\d_]+")


class Strewing:
    def __init__(self, facts: Iterable[str], text: Iterable[str], tells: Callable[[str], bool], rng: Rng) -> None:
        own = tuple(dict.fromkeys(facts))
        theirs = [word for sentence in text for word in _WORD.findall(sentence)]
        self.words = sorted({word for fact in own for word in _WORD.findall(fact)})
        near = (_replace_word(rng.choice(own), rng.choice(theirs), rng) for _ in range(NEAR if theirs else 0))
        self.near: Sequence[str] = [sentence for sentence in dict.fromkeys(near) if not tells(sentence)]

    def replace(self, piece: Segment, rng: Rng) -> Segment:
        """Another piece in its place. It may say something after all, which its story has to find out."""
        if self.near and rng.chance(0.5):
            return Segment(rng.choice(self.near))
        text = piece.text
        for _ in range(rng.between(1, 3) if self.words else 0):
            text = _replace_word(text, rng.choice(self.words), rng)
        return Segment(text)


def _replace_word(text: str, word: str, rng: Rng) -> str:
    """A text of which one word is another."""
    places = [match.span() for match in _WORD.finditer(text)]
    if not places:
        return text
    start, end = rng.choice(places)
    return text[:start] + word + text[end:]
