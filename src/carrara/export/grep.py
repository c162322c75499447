"""The score of `grep` alone: the task's solver reads only the lines that one search for the question's words shows.

    grep -n -w -i -F -C 3 -e Mary -e football context.txt

The search is for the words of the question that are rare in the file, and for its full names, such as `Gezgib Sugvaba`.
A text is rare if it stands on at most one line in ten, or on at most ten lines. The first and the last line of the file
are shown too. If the lines do not decide the question, the score is the chance level.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from carrara.items.grading import grade
from carrara.readers.context_file import ContextFile

RARE = 10
"""A text is rare if it stands on at most one line in this many, or on at most this many lines."""
AROUND = 3
"""The lines before and after each hit, in the second search (`grep -C`)."""
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)+")


@dataclass(frozen=True)
class GrepResult:
    """The result of one search, and the score of the solver that reads the lines that it shows."""

    share: float
    """The share of the characters of the file that is shown."""
    score: float


@dataclass(frozen=True)
class Grep:
    """A search in the file of a context for the rare words and names of its question."""

    file: ContextFile

    @cached_property
    def patterns(self) -> Sequence[str]:
        """The words and names that are searched for, as the question has them."""
        most = max(RARE, len(self.file.lines) // RARE)
        return [pattern for pattern, numbers in self._lines_of.items() if 0 < len(numbers) <= most]

    def lines(self, around: int = 0) -> list[str]:
        """Return the lines that are shown.

        Args:
            around: The lines that are shown before and after each hit.

        Returns:
            The lines, in order.
        """
        lines = self.file.lines
        hits = {number for pattern in self.patterns for number in self._lines_of[pattern]}
        numbers = {n for hit in hits for n in range(hit - around, hit + around + 1)}
        numbers |= {0, len(lines) - 1}
        return [lines[n] for n in sorted(numbers) if 0 <= n < len(lines)]

    def result(self, around: int = 0) -> GrepResult:
        """Return the score of the solver that reads the lines that are shown.

        Args:
            around: The lines that are shown before and after each hit.

        Returns:
            The result.
        """
        item, lines = self.file.item, self.lines(around)
        try:
            reply = self.file.solve("\n".join(lines))
        except Exception:  # a solver may fail in any way on lines that are not the whole text
            score = item.question.chance_level
        else:
            score = grade(item.task, item.question, reply).score
        return GrepResult(sum(map(len, lines)) / max(1, sum(map(len, self.file.lines))), score)

    @cached_property
    def _lines_of(self) -> dict[str, list[int]]:
        """The numbers of the lines on which each word and each name of the question stands."""
        ask = self.file.item.question.ask
        numbers_by_text: dict[str, list[int]] = {
            text: [] for text in _distinct(_NAME.findall(ask) + _WORD.findall(ask))
        }
        by_word: dict[str, list[str]] = {}
        for pattern in numbers_by_text:
            by_word.setdefault(_WORD.findall(pattern)[0].casefold(), []).append(pattern)
        patterns = {
            text: re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
            for text in numbers_by_text
            if " " in text
        }
        for number, line in enumerate(self.file.lines):
            for word in by_word.keys() & set(_WORD.findall(line.casefold())):
                for pattern in by_word[word]:
                    if pattern not in patterns or patterns[pattern].search(line):
                        numbers_by_text[pattern].append(number)
        return numbers_by_text


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return texts without those that another one equals but for case."""
    return list({text.casefold(): text for text in reversed(texts)}.values())[::-1]
