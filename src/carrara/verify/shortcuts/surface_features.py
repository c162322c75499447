"""The view of a text without understanding: words as strings, with their positions and frequencies.

>>> segments = ("Mary went to the park.", "Mary took the milk.")
>>> view = TextView(segments, "Where is Mary?", ("park", "the office"), ("mary",))
>>> view.times("mary"), view.places("the park"), view.times("the office")
(2, [4], 0)
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrara.items.item import Item
from carrara.util.unicode import HAN

_WORD = re.compile(rf"(?:(?<![\w)])-(?=[0-9]))?[^\W_{HAN}]+(?:['’_-][^\W_{HAN}]+)*|[{HAN}]")
"""Words. Each Chinese character is one, because no spaces show where words end."""
_QUOTED = re.compile(r'"([^"\n]+)"')
_NUMBER = re.compile(r"-?[0-9]+")
_JOINTS = (", ", ",", "\n", " ")
CLOSED = 24
"""The number of different answers up to which they may be memorized."""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case. Most segments of some contexts are one word, which is handled first."""
    is_word = text.isascii() and text.isalnum()
    return [text.casefold()] if is_word else [word.casefold() for word in _WORD.findall(text)]


Reply = str | int | Sequence[str] | None
"""The answer of a heuristic: a text, a number, or several words. None if it has no answer."""


@dataclass(frozen=True)
class TextView:
    """The context and the question of an item, as words."""

    segments: Sequence[str]
    """The segments of the context, in order."""
    ask: str
    options: Sequence[str]
    """The possible answers, if they are a closed list."""
    named: Sequence[str]
    """The words that this question names and others of its task do not."""
    lead: str = ""
    """The text with which the prompt asks a reply to begin, if answers do."""

    @cached_property
    def segment_words(self) -> list[list[str]]:
        """The words of each segment."""
        return [words(segment) for segment in self.segments]

    @cached_property
    def question_words(self) -> Counter[str]:
        """The words of the question."""
        return Counter(words(self.ask))

    @cached_property
    def words(self) -> list[str]:
        return [word for segment in self.segment_words for word in segment]

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        index = defaultdict[str, list[int]](list)
        for place, word in enumerate(self.words):
            index[word].append(place)
        return index

    @cached_property
    def segment_of_word(self) -> list[int]:
        """The segment of each word."""
        return [n for n, segment in enumerate(self.segment_words) for _ in segment]

    def places(self, text: str) -> list[int]:
        """Return the positions at which a text occurs as whole words.

        If it begins with an article, that may be another one.
        """
        sought = words(text)
        while len(sought) > 1 and sought[0] in ("the", "a", "an"):
            sought = sought[1:]
        if not sought:
            return []
        first, size = sought[0], len(sought)
        return [at for at in self._index.get(first, ()) if size == 1 or self.words[at : at + size] == sought]

    def times(self, text: str) -> int:
        return len(self.places(text))

    @cached_property
    def counted(self) -> Counter[str]:
        """The words of the context, in the order of their first occurrence."""
        return Counter(self.words)

    @cached_property
    def numbers(self) -> list[int]:
        return [int(word) for word in self.words if _NUMBER.fullmatch(word) and len(word) < 19]


def _common_start(first: str, second: str) -> str:
    """Return the common beginning of two texts."""
    differ = (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return first[: next(differ, min(len(first), len(second)))]


@dataclass(frozen=True)
class Form:
    """The form of the answers to a kind of questions, and the common words of their questions."""

    golds: Counter[str]
    lead: str
    """The beginning of all answers."""
    separator: str | None
    """The separator of several words, if most answers have several."""
    several: int
    """The number of words in most answers."""
    common: frozenset[str]
    """The words that most questions have."""

    @classmethod
    def of(cls, items: Sequence[Item]) -> "Form":
        written = [item.gold for item in items]
        prefix = _common_start(min(written), max(written))
        lead = prefix[: prefix.rfind(": ") + 2] if ": " in prefix else ""
        bare = [gold.removeprefix(lead) for gold in written]
        joints = Counter(next((separator for separator in _JOINTS if separator in gold), None) for gold in bare)
        separator, most = joints.most_common(1)[0]
        sizes = Counter(len(gold.split(separator)) for gold in bare) if separator else Counter({1: len(bare)})
        questions_with = Counter(word for item in items for word in {*words(item.question.ask)})
        common = frozenset(word for word, times in questions_with.items() if 2 * times > len(items))
        return cls(Counter(bare), lead, separator if 2 * most > len(bare) else None, sizes.most_common(1)[0][0], common)

    @cached_property
    def closed(self) -> tuple[str, ...]:
        """The memorized answers, the most frequent first, if they recur."""
        known = 4 * len(self.golds) <= self.golds.total() and len(self.golds) <= CLOSED
        return tuple(gold for gold, _ in self.golds.most_common()) if known else ()

    @cached_property
    def numeric(self) -> bool:
        return all(map(_NUMBER.fullmatch, self.golds))

    def reply(self, answer: str | int | Iterable[str]) -> str:
        if isinstance(answer, str | int):
            return f"{self.lead}{answer}"
        return self.lead + (self.separator or ", ").join(answer)

    def view(self, item: Item) -> TextView:
        question = item.question
        template = item.prompt.template
        segments = [segment.text for segment in item.prompt.packing]
        if template.closing:
            segments.append(template.after[: template.closing])
        quoted = [name for several in _QUOTED.findall(question.ask) for name in re.split(r",\s*", several)]
        named = quoted or [word for word in words(question.ask) if word not in self.common]
        lead = f"{template.lead} " if template.lead and item.gold.startswith(f"{template.lead} ") else ""
        return TextView(segments, question.ask, question.options or self.closed, tuple(named), lead)
