"""Answers from a closed list of words: places, people, yes and no, numbers up to three.

>>> places = Choices({"garden": "garden", "kitchen": "kitchen", "office": "office"})
>>> places.read("Mary went from the kitchen to the garden."), places.read("The garden or the kitchen.")
('garden', None)
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from carrara.grading.reading import Found, affirmed, beside, plain, spoken, stated, tidy

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ARTICLE = r"(?:(?:in|at|to)\s+)?(?:(?:the|an?)\s+)?"


@dataclass(frozen=True)
class Choices:
    words: Mapping[str, str]
    """What may be said, in lower case, and the answer that it stands for."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.words, key=lambda word: (-len(word), word))
        return re.compile(
            rf"(?<![\w-]){_ARTICLE}(?<![\w-])({'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE
        )

    def find(self, text: str) -> Iterator[Found[str]]:
        """The answers said in a text, in order; whole words only, the longest first."""
        for found in self._pattern.finditer(text):
            yield Found(found.start(), found.end(), self.words[found[1].lower()])

    def whole(self, text: str) -> str | None:
        """The answer that a text is, and nothing else."""
        found = self._pattern.fullmatch(text)
        return self.words[found[1].lower()] if found else None

    def read(self, reply: str) -> str | None:
        """The one answer that a reply gives; None if it gives none, or leaves it open.

        Beside what `stated` reads, an answer may stand inside a sentence: then the last sentence that names any counts,
        and in it the last one, unless it stands beside another as an alternative or in a list.
        """
        answer = stated(reply, self.whole, self.find)
        if answer is not None:
            return answer
        for sentence in reversed(_SENTENCE.split(plain(tidy(spoken(reply))))):
            found = affirmed(sentence, self.find)
            if found:
                return None if self._leaves_open(sentence, found) else found[-1].answer
        return None

    def _leaves_open(self, text: str, found: list[Found[str]]) -> bool:
        return any(
            one.answer != other.answer and text[one.end : other.start].strip() and beside(text, one, other)
            for one, other in pairwise(found)
        )
