"""Answers from a closed list of words: places, people, yes and no, numbers up to three.

>>> places = Choices({"garden": "garden", "kitchen": "kitchen", "office": "office"})
>>> places.read("Mary went from the kitchen to the garden."), places.read("The garden or the kitchen.")
('garden', None)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from carrara.grading.reading import plain, spoken, stated

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ARTICLE = r"(?:(?:in|at|to)\s+)?(?:(?:the|an?)\s+)?"
_LONGEST = 20_000


@dataclass(frozen=True)
class Choices:
    words: Mapping[str, str]
    """What may be said, in lower case, and the answer that it stands for."""

    @cached_property
    def _word(self) -> str:
        longest_first = sorted(self.words, key=lambda word: (-len(word), word))
        return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._word, re.IGNORECASE)

    @cached_property
    def _side_by_side(self) -> re.Pattern[str]:
        between = rf"\s*(?:,\s*or\b|,\s*and\b|,|/|\bor\b)\s*{_ARTICLE}"
        return re.compile(rf"({self._word}){between}(?=({self._word}))", re.IGNORECASE)

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        return re.compile(rf"{_ARTICLE}({self._word})", re.IGNORECASE)

    def find(self, text: str) -> list[str]:
        """The answers said in a text, in order; whole words only, the longest first."""
        return [self.words[found[0].lower()] for found in self._pattern.finditer(text)]

    def whole(self, text: str) -> str | None:
        """The answer that a text is, and nothing else."""
        found = self._alone.fullmatch(text.strip())
        return self.words[found[1].lower()] if found else None

    def read(self, reply: str) -> str | None:
        """The one answer that a reply gives; None if it gives none, or leaves it open.

        Beside what `stated` reads, an answer may stand inside a sentence: then the last sentence that names any counts,
        and in it the last one, unless it stands beside another as an alternative or in a list.
        """
        answer = stated(reply, self.whole, self.find)
        if answer is not None:
            return answer
        for sentence in reversed(_SENTENCE.split(spoken(reply))):
            line = plain(sentence[:_LONGEST])
            found = self.find(line)
            if found:
                return None if self._leaves_open(line) else found[-1]
        return None

    def _leaves_open(self, line: str) -> bool:
        return any(
            self.words[one.lower()] != self.words[other.lower()] for one, other in self._side_by_side.findall(line)
        )
