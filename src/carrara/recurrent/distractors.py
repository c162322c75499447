"""Distractors: sentences of filler that are hard to tell from facts.

A memory that was trained among speeches opens its gates for a novel, where a Mary walks in a garden too. So some
sentences of the filler are changed: one to three of their words become words of the task's facts, or the sentence is
replaced by a near-fact, a fact of which one word is a word of the filler, so that it decides nothing.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from carrara.rng import Rng
from carrara.types import Segment

NEAR_FACTS = 1000
_WORD = re.compile(r"[^\W\d_]+")


class DistractorSource:
    """Changes sentences of filler into distractors.

    Args:
        facts: The facts of instances.
        filler: Sentences of filler.
        decides: A function that says whether a sentence alone decides a question.
        rng: Random numbers.
    """

    def __init__(self, facts: Iterable[str], filler: Iterable[str], decides: Callable[[str], bool], rng: Rng) -> None:
        own = tuple(dict.fromkeys(facts))
        others = [word for sentence in filler for word in _WORD.findall(sentence)]
        self.words = sorted({word for fact in own for word in _WORD.findall(fact)})
        near = (_replace_word(rng.choice(own), rng.choice(others), rng) for _ in range(NEAR_FACTS if others else 0))
        self.near_facts: Sequence[str] = [sentence for sentence in dict.fromkeys(near) if not decides(sentence)]

    def replace(self, segment: Segment, rng: Rng) -> Segment:
        """Return a distractor. It may decide a question after all, which the caller has to find out."""
        if self.near_facts and rng.chance(0.5):
            return Segment(rng.choice(self.near_facts))
        text = segment.text
        for _ in range(rng.between(1, 3) if self.words else 0):
            text = _replace_word(text, rng.choice(self.words), rng)
        return Segment(text)


def _replace_word(text: str, word: str, rng: Rng) -> str:
    """Return a text with a drawn word replaced."""
    places = [match.span() for match in _WORD.finditer(text)]
    if not places:
        return text
    start, end = rng.choice(places)
    return text[:start] + word + text[end:]
